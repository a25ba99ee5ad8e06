"""The recall of Benzer on every labelled or exact set of a folder.

`python -m benchmarks.recall_table PATH_TO_DATA` writes docs/recall.md. The folder contains one folder per set:
`docs.jsonl.xz` or `sets.jsonl.xz`, `truth_jaccard*.tsv.gz` (all pairs above a minimum similarity, exact) and for
labels `truth_pairs.tsv` or `truth_clusters.tsv`.
"""

from __future__ import annotations

import argparse
import lzma
import math
import shutil
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean

import benzer
from benchmarks import machine, report
from benchmarks.labelled import DataSet, Pair, data_sets, documents, f1, ordered
from benchmarks.scenarios import DOCS

RECALL = 0.95
SHINGLES = {
    "word3": "word 3-shingles",
    "char5": "character 5-shingles",
    "set": "values",
}


@dataclass(frozen=True, slots=True)
class Run:
    """One seed on one set."""

    recall: float
    precision: float
    greatest_difference: float
    seconds: float
    candidates: int
    found: int


@dataclass(frozen=True, slots=True)
class Row:
    """One set with one kind of shingles, over all seeds.

    `label_f1` is the F1 of the pairs found with the first seed, `label_f1_exact` that of the exact pairs; None
    without labels.
    """

    name: str
    kind: str
    documents: int
    empty: int
    threshold: float
    true_pairs: int
    runs: tuple[Run, ...]
    label_f1: float | None
    label_f1_exact: float | None

    @property
    def least_recall(self) -> float:
        return min(run.recall for run in self.runs)

    @property
    def true(self) -> int:
        """True pairs over all seeds."""
        return self.true_pairs * len(self.runs)

    @property
    def missed(self) -> int:
        """True pairs that were not found, over all seeds."""
        return sum(round((1 - run.recall) * self.true_pairs) for run in self.runs)

    @property
    def breaks_promise(self) -> bool:
        """Whether a pair is false, or chance explains the missed pairs less than once in a thousand sets."""
        return self.least_precision < 1 or chance_of_misses(self.missed, self.true) < 0.001

    @property
    def least_precision(self) -> float:
        return min(run.precision for run in self.runs)


def chance_of_misses(missed: int, pairs: int) -> float:
    """Upper bound (Chernoff) of the probability of so many misses, if each pair is found with probability RECALL.

    >>> chance_of_misses(5, 100), chance_of_misses(20, 100) < 1e-6
    (1.0, True)
    """
    share, promised = missed / max(pairs, 1), 1 - RECALL
    if share <= promised:
        return 1.0
    rest = (1 - share) * math.log((1 - share) / (1 - promised)) if share < 1 else 0.0
    return math.exp(-pairs * (share * math.log(share / promised) + rest))


def schema_of(kind: str) -> benzer.Schema:
    """The shingles of the files of true pairs."""
    if kind == "word3":
        text = benzer.Text(unit="word", shingle_size=3, tokenizer="alnum", case="lower", normalize="none")
        return benzer.Schema(text=text)
    if kind == "char5":
        raw = benzer.Text(
            unit="char", shingle_size=5, normalize="none", case="keep", punctuation="keep", whitespace="keep"
        )
        return benzer.Schema(text=raw)
    return benzer.Schema(values=benzer.ValueSet())


def main() -> None:
    arguments = _parser().parse_args()
    here = machine.describe()
    rows = []
    for data in data_sets(arguments.data, arguments.only):
        row = measure(data, range(arguments.seeds), arguments.threads)
        print(_short(row), flush=True)
        rows.append(row)
    body = markdown(rows, here, arguments.seeds, arguments.threads)
    if not arguments.dry:
        record = {"machine": here.as_dict(), "recall": RECALL, "rows": [asdict(row) for row in rows]}
        report.write_record(here.date, "recall", record)
        report.write_section(DOCS / "recall.md", "recall", body, "Recall and precision on real data")
    failed = [row for row in rows if row.breaks_promise]
    if failed:
        raise SystemExit(
            "the promise is broken on " + ", ".join(f"{row.name} ({row.kind})" for row in failed)
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", help="only the set of this name")
    parser.add_argument("--seeds", type=int, default=5, help="every set is run with the seeds 0 to SEEDS-1")
    parser.add_argument("--threads", type=int, default=0, help="0 means all cores")
    parser.add_argument("--dry", action="store_true", help="print only, write neither record nor page")
    return parser


def measure(data: DataSet, seeds: range, threads: int) -> Row:
    """Run one set with every seed and compare the result with the stored true pairs."""
    truth, labels = data.truth(), data.labels()
    runs: list[Run] = []
    label_f1 = None
    count = empty = 0
    with tempfile.TemporaryDirectory() as folder:
        source = _source(data, Path(folder))
        for seed in seeds:
            start = time.perf_counter()
            result = benzer.find_duplicates(
                source,
                threshold=data.threshold,
                recall=RECALL,
                schema=schema_of(data.kind),
                options=benzer.Options(seed=seed),
                threads=threads,
            )
            taken = time.perf_counter() - start
            found = {ordered(str(a), str(b)): similarity for a, b, similarity in result.expanded_pairs()}
            runs.append(_run(found, truth, taken, result.counts["candidates"]))
            count, empty = result.counts["documents"], result.counts["empty"]
            if labels is not None and label_f1 is None:
                label_f1 = f1(labels.restrict(found), labels.pairs)
    exact_f1 = f1(labels.restrict(truth), labels.pairs) if labels is not None else None
    return Row(
        data.name, data.kind, count, empty, data.threshold, len(truth), tuple(runs), label_f1, exact_f1
    )


def _source(data: DataSet, folder: Path) -> Path | list[benzer.Document]:
    """Texts as a JSONL file that Benzer reads itself; value sets as documents."""
    if data.kind == "set":
        return [benzer.Document(name, {"values": values}) for name, values in documents(data.file)]
    plain = folder / "docs.jsonl"
    with lzma.open(data.file) as packed, plain.open("wb") as target:
        shutil.copyfileobj(packed, target)
    return plain


def _run(found: dict[Pair, float], truth: dict[Pair, float], seconds: float, candidates: int) -> Run:
    hit = truth.keys() & found.keys()
    return Run(
        recall=len(hit) / len(truth) if truth else 1.0,
        precision=len(hit) / len(found) if found else 1.0,
        greatest_difference=max((abs(found[pair] - truth[pair]) for pair in hit), default=0.0),
        seconds=seconds,
        candidates=candidates,
        found=len(found),
    )


def _short(row: Row) -> str:
    return f"{row.name} {row.kind}: recall {row.least_recall:.4f}, precision {row.least_precision:.4f}"


_COLUMNS = (
    "set",
    "shingles",
    "documents",
    "empty",
    "threshold",
    "true pairs",
    "recall, default seed",
    "least of seeds",
    "mean",
    "precision",
    "greatest difference",
    "candidates",
    "seconds",
    "label F1",
    "of exact Jaccard",
)


def markdown(rows: list[Row], here: machine.Machine, seeds: int, threads: int) -> str:
    """The generated section of docs/recall.md."""
    caption = (
        "Pairs with exact Jaccard similarity at or above the threshold, found by "
        f"`find_duplicates(recall={RECALL})` with the truth files' own shingles, over {seeds} seeds. "
        "Precision counts a found pair as false if it is not in the truth file; the greatest difference is between "
        "Benzer's similarity and that of the truth file, which has six decimals. Label F1 compares the found pairs at "
        "this threshold with the set's human or constructed labels; the last column is that of the exact pairs "
        "at the same threshold. Candidates and seconds are means over the seeds."
    )
    threads_said = "all cores" if threads == 0 else f"{threads} threads"
    command = f"Command: `python -m benchmarks.recall_table PATH_TO_DATA`, {threads_said}."
    below = _below(rows)
    measured = f"{command} Machine: {here.sentence()}. Benzer {benzer.__version__}."
    return "\n\n".join([caption, report.table(_COLUMNS, map(_cells, rows)), below, measured])


def _below(rows: list[Row]) -> str:
    """Seeds with a recall below the guarantee, with the counts that distinguish chance from errors."""
    low = [row for row in rows if row.least_recall < RECALL]
    if not low:
        return f"No set is below {RECALL} with any seed."
    said = (
        f"{row.name}, {SHINGLES[row.kind]}: {row.missed} of {row.true} pairs missed over all seeds"
        for row in low
    )
    return (
        f"Below {RECALL} with at least one seed: {'; '.join(said)}. The recall is a probability for each "
        "pair, so a set of a few pairs can be below it by chance; the command fails if the probability of so many "
        "misses is below one in a thousand, or if a pair is false."
    )


def _cells(row: Row) -> list[object]:
    return [
        row.name,
        SHINGLES[row.kind],
        f"{row.documents:,}",
        row.empty,
        row.threshold,
        f"{row.true_pairs:,}",
        report.share(row.runs[0].recall),
        report.share(row.least_recall),
        report.share(mean(run.recall for run in row.runs)),
        report.share(row.least_precision),
        f"{max(run.greatest_difference for run in row.runs):.1e}",
        f"{mean(run.candidates for run in row.runs):,.0f}",
        report.seconds(mean(run.seconds for run in row.runs)),
        None if row.label_f1 is None else f"{row.label_f1:.3f}",
        None if row.label_f1_exact is None else f"{row.label_f1_exact:.3f}",
    ]


if __name__ == "__main__":
    main()
