"""Families of documents from templates, pages that share boilerplate, and titles: CPU seconds and memory.

`python -m benchmarks.families` makes the documents, runs `find_duplicates` on each file in a separate process, and
writes a dated record and docs/families-benchmark.md. Each scenario is compared with unrelated documents of the same
length and number, or with the time that `orjson.loads` takes to parse the same file. Runs alternate; medians count.
`--only web` measures one scenario. `--write FOLDER` only writes the files, for other tools: `python -m
benchmarks.run --file FOLDER/web-40000.jsonl` runs the peers.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import machine, report
from benchmarks.environments import python_of
from benchmarks.scale import anonymous, watched
from benchmarks.scenarios import DATA, DOCS

VOCABULARY = 60_000
DRAWS = 1 << 20
PAGE = DOCS / "families-benchmark.md"
TITLE = "Families of similar documents"
BLOCK = 10_000
COLUMNS = (
    "scenario", "documents", "MB", "CPU seconds", "compared with", "ratio", "own memory, MB", "pairs listed", "removed",
    "clusters stage",
)  # fmt: skip

PARSE = """
import json, resource, sys, orjson
def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
before = cpu()
with open(sys.argv[1], "rb") as file:
    texts = [orjson.loads(line)["text"] for line in file]
print(json.dumps({"cpu": cpu() - before, "documents": len(texts)}))
"""
"""Parses each line with orjson and takes its text."""

Words = NDArray[np.str_]
Maker = Callable[[np.random.Generator, int], Iterator[str]]


def vocabulary() -> Words:
    """Words of 2 to 6 characters."""
    return np.array([f"w{number:x}" for number in range(VOCABULARY)])


def unrelated(words: int) -> Maker:
    """Documents of random words."""

    def make(rng: np.random.Generator, count: int) -> Iterator[str]:
        known = vocabulary()
        for _ in range(count):
            yield " ".join(known[rng.integers(0, VOCABULARY, words)])

    return make


def near_copies(rng: np.random.Generator, count: int) -> Iterator[str]:
    """Copies of one text of 200 words with two adjacent words replaced: similarities of about 0.93."""
    known = vocabulary()
    template = known[rng.integers(0, VOCABULARY, 200)]
    for _ in range(count):
        words = template.copy()
        at = rng.integers(0, 198)
        words[at : at + 2] = known[rng.integers(0, VOCABULARY, 2)]
        yield " ".join(words)


def boilerplate(rng: np.random.Generator, count: int) -> Iterator[str]:
    """60 words that all share and 20 of their own: similarities of about 0.6, so no pair at 0.8."""
    known = vocabulary()
    shared = " ".join(known[rng.integers(0, VOCABULARY, 60)])
    for _ in range(count):
        yield f"{shared} {' '.join(known[rng.integers(0, VOCABULARY, 20)])}"


@cache
def draws() -> NDArray[np.int64]:
    """Numbers of words, each as frequent as a word of a language."""
    shares = np.cumsum(1 / (np.arange(VOCABULARY) + 2.7))
    return np.searchsorted(shares / shares[-1], (np.arange(DRAWS) + 0.5) / DRAWS)


def zipf(rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    """Numbers of words, with the frequencies of words of a language."""
    return draws()[rng.integers(0, DRAWS, size)]


def web(rng: np.random.Generator, count: int) -> Iterator[str]:
    """Pages of about 300 words. Half are unrelated; half belong to template families whose sizes follow a power
    law.

    A page of a family has the words of its template, with 1 % to 60 % of them, in runs, replaced by its own: some
    families consist of near-duplicates, others only share boilerplate.
    """
    known = vocabulary()
    families = max(count // 50, 1)
    sizes = 1 / np.arange(1, families + 1)
    member = np.searchsorted(np.cumsum(sizes / sizes.sum()), rng.random(count))
    alone = rng.random(count) < 0.5
    lengths = np.clip(rng.lognormal(5.6, 0.4, count), 60, 2000).astype(int)
    templates: dict[int, tuple[Words, float]] = {}
    for page in range(count):
        family = int(member[page])
        if alone[page]:
            yield " ".join(known[zipf(rng, lengths[page])])
            continue
        if family not in templates:
            templates[family] = (known[zipf(rng, lengths[page])], float(rng.uniform(0.01, 0.6)))
        template, share = templates[family]
        words, own = template.copy(), int(share * len(template))
        while own > 0:
            run = min(own, int(rng.integers(1, 12)))
            at = int(rng.integers(0, len(words) - run))
            words[at : at + run] = known[zipf(rng, run)]
            own -= run
        yield " ".join(words)


def titles(rng: np.random.Generator, count: int) -> Iterator[str]:
    """Titles of 5 to 14 words; a tenth of them repeat an earlier one with at most one word replaced."""
    known = vocabulary()
    pool: list[list[str]] = []
    for _ in range(count):
        if pool and rng.random() < 0.1:
            words = list(pool[int(rng.integers(0, len(pool)))])
            if rng.random() < 0.7:
                words[int(rng.integers(0, len(words)))] = str(known[int(zipf(rng, 1)[0])])
        else:
            words = known[zipf(rng, int(rng.integers(5, 15)))].tolist()
            if len(pool) < 100_000:
                pool.append(words)
        yield " ".join(words)


MAKERS: dict[str, Maker] = {
    "unrelated-200": unrelated(200),
    "near-copies": near_copies,
    "unrelated-80": unrelated(80),
    "boilerplate": boilerplate,
    "web": web,
    "titles": titles,
}
BESIDE = {
    "near-copies": "unrelated-200", "boilerplate": "unrelated-80", "web": "orjson", "titles": "orjson"
}  # fmt: skip
SIZES = {
    "near-copies": (2_000, 50_000, 500_000), "boilerplate": (2_000, 50_000, 500_000), "web": (40_000, 300_000),
    "titles": (1_000_000, 5_000_000),
}  # fmt: skip


def write(folder: Path, name: str, count: int) -> Path:
    """Write the documents of a scenario as JSONL, unless the file exists."""
    path = folder / f"{name}-{count}.jsonl"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with open(partial, "w", encoding="ascii") as file:
        for number, text in enumerate(MAKERS[name](np.random.default_rng(5), count)):
            file.write(f'{{"id": {number}, "text": "{text}"}}\n')
    return partial.rename(path)


def child(path: str, threads: int) -> dict[str, Any]:
    """Run once in this process."""
    from benzer import find_duplicates

    before, held = cpu(), anonymous("self")
    found = find_duplicates(path, threshold=0.8, threads=threads)
    counts = found.counts
    return {
        "cpu": cpu() - before,
        "seconds": found.timings["total"],
        "clusters": found.timings["clusters"],
        "before": held,
        **{
            name: counts[name]
            for name in ("documents", "pairs", "removed", "candidates", "oversized_buckets")
        },
    }


def cpu() -> float:
    """The CPU seconds of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def measured(kind: str, path: Path, threads: int) -> dict[str, Any]:
    """Run once in a separate process, and measure its peak anonymous memory."""
    if kind == "parse":
        command = [str(python_of("orjson")), "-c", PARSE, str(path)]
    else:
        command = [sys.executable, "-m", "benchmarks.families", "--child", str(path), str(threads)]
    return watched(command)


def middle(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The run with the median CPU time."""
    return sorted(runs, key=lambda run: run["cpu"])[len(runs) // 2]


def scenario(folder: Path, name: str, count: int, threads: int, repetitions: int) -> dict[str, Any]:
    """A scenario and its comparison, alternating."""
    path, other = write(folder, name, count), BESIDE[name]
    beside = path if other == "orjson" else write(folder, other, count)
    own, others = [], []
    for _ in range(repetitions):
        others.append(measured("parse" if other == "orjson" else "run", beside, threads))
        own.append(measured("run", path, threads))
    row = middle(own)
    return {
        "scenario": name,
        "bytes": path.stat().st_size,
        **row,
        "beside": other,
        "beside_cpu": median(run["cpu"] for run in others),
        "ratio": row["cpu"] / median(run["cpu"] for run in others),
    }


def cells(row: dict[str, Any]) -> list[str]:
    """A row of the table."""
    return [
        row["scenario"],
        f"{row['documents']:,}",
        f"{row['bytes'] / 1e6:,.0f}",
        f"{row['cpu']:.2f}",
        f"{row['beside']}: {row['beside_cpu']:.2f}",
        f"{row['ratio']:.2f}",
        f"{(row['peak'] - row['before']) / 1e6:,.0f}",
        f"{row['pairs']:,}",
        f"{row['removed']:,}",
        f"{row['clusters'] / row['seconds']:.0%}",
    ]


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        path, threads = sys.argv[2:]
        print(json.dumps(child(path, int(threads))))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=SIZES, help="measure one scenario")
    parser.add_argument("--most", type=int, default=10**9, help="leave out larger numbers of documents")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=3, help="runs of each; the median counts")
    parser.add_argument(
        "--folder", type=Path, default=DATA / "families", help="where the documents are written"
    )
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="only write the documents")
    parser.add_argument("--no-record", action="store_true", help="print only")
    arguments = parser.parse_args()
    cases = [
        (name, count)
        for name, sizes in SIZES.items()
        for count in sizes
        if arguments.only in (None, name) and count <= arguments.most
    ]
    if arguments.write:
        for name, count in cases:
            print(write(arguments.write, name, count))
        return
    here, rows = machine.describe(), []
    for name, count in cases:
        rows.append(scenario(arguments.folder, name, count, arguments.threads, arguments.repetitions))
        print(
            "; ".join(f"{column} {cell}" for column, cell in zip(COLUMNS, cells(rows[-1]), strict=True)),
            flush=True,
        )
    if not arguments.no_record:
        report.write_record(here.date, "families", {"machine": here.as_dict(), "rows": rows})
        caption = f"Command: `python -m benchmarks.families`. Machine: {here.sentence()}. Threads: {arguments.threads}."
        report.write_section(
            PAGE, "measured", f"{report.table(COLUMNS, map(cells, rows))}\n\n{caption}", TITLE
        )


if __name__ == "__main__":
    main()
