"""E7: the time and the recall of queries for the nearest of 12,000 documents (Grattan 2014).

The source stores 12,000 documents by 100 hashes in bands of 20 rows, and queries the nearest of each: all documents
that share a bucket. Its time says little without the recall: five bands of 20 rows find a pair of similarity 0.8 with
probability 0.06.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benzer.bands import Bands
from benzer.candidates import propose
from benzer.document import Document
from benzer.errors import SettingsError
from benzer.experiments.base import (
    Cell,
    ExperimentFigure,
    ExperimentResult,
    Panel,
    ResultTable,
    Scale,
    Series,
    counted,
    duration,
    table_of,
)
from benzer.experiments.exact_pairs import OneByOne, Pairs, Truth
from benzer.experiments.made_texts import collection
from benzer.fields.text import Text
from benzer.index import Index, IndexSettings
from benzer.minhash import MinHash

COUNT = {"small": 1_200, "full": 12_000}
REPEATS = {"small": 5, "full": 20}
NUM_HASHES, ROWS = 100, 20
THRESHOLD, RECALL = 0.8, 0.95
THRESHOLDS = (0.5, 0.8, 0.9)
LEAST_SHOWN, STEP = 0.25, 0.05
"""The similarities from which, and in steps of which, shares of found pairs are shown."""
SECONDS_A_PAIR = 0.01
"""What one comparison takes in the source."""


def run(scale: Scale, seed: int, texts: Sequence[str] | None = None) -> ExperimentResult:
    """Store all documents, query each, and compare with the truth; on generated texts, or on `texts` of your own."""
    texts = collection(COUNT[scale], seed) if texts is None else list(texts)
    if len(texts) < 2:
        raise SettingsError(f"experiment E7 needs at least 2 documents, got {len(texts)}: give more")
    sets = Text().sets(texts)
    truth, one_by_one = Truth.of(*sets), OneByOne.measure(*sets, seed)
    seeds = [(seed + repeat) % 2**64 for repeat in range(REPEATS[scale])]
    drawn = [MinHash("kmins", NUM_HASHES, seed).signatures(*sets) for seed in seeds]
    published, chosen = Bands.with_rows(ROWS, NUM_HASHES), Bands.for_recall(THRESHOLD, RECALL, NUM_HASHES)
    times = time_table(texts, drawn[0], (published, chosen), one_by_one, seed)
    errors = error_table(drawn[0], truth, published)
    shares = found_table(drawn, truth, (published, chosen))
    return ExperimentResult(
        name="E7",
        settings=(
            f"{len(texts):,} documents as sets of word 3-shingles; {NUM_HASHES} hashes; {name_of(published)} as in the "
            f"source, and {name_of(chosen)}, chosen for recall {RECALL} at similarity {THRESHOLD}; times and errors of "
            f"one seed, shares found as the mean of {len(seeds)} seeds"
        ),
        published="265 ms to build and 948 ms for 12,000 queries, which is somewhat shorter than 16 days.",
        finding=f"{what_is_missed(errors, shares, len(seeds))} {what_it_takes(times, one_by_one, len(texts))}",
        tables={"times": times, "errors": errors, "summary": summary(shares), "found": shares},
        figures={"found": figure(shares, (published, chosen), len(seeds))},
    )


def time_table(
    texts: Sequence[str],
    signatures: NDArray[np.uint32],
    shapes: Sequence[Bands],
    one_by_one: OneByOne,
    seed: int,
) -> ResultTable:
    """Measure the time of each method."""
    documents = [Document(number, text) for number, text in enumerate(texts)]
    rows: list[list[Cell]] = []
    Index.open("memory:").add(
        documents[:100]
    )  # what is loaded at the first use is loaded before the clock runs
    for shape in shapes:
        settings = IndexSettings(
            threshold=THRESHOLD, minhash="kmins", num_hashes=NUM_HASHES, bands=shape, seed=seed
        )
        with Index.open("memory:", settings) as index:
            steps: dict[str, Callable[[], object]] = {
                "build an index": partial(index.add, documents),
                "ask it for the nearest of each document": partial(ask_all, index, documents),
                "find all candidate pairs at once": partial(candidates, signatures, shape),
            }
            rows += [[step, name_of(shape), milliseconds(work)] for step, work in steps.items()]
    estimated = f" ({one_by_one.estimated})" if one_by_one.estimated else ""
    in_the_source = one_by_one.every * SECONDS_A_PAIR
    rows.append([f"compare every pair exactly, one thread{estimated}", None, 1000 * one_by_one.seconds])
    rows.append(["compare every pair in 10 ms, as in the source", None, 1000 * in_the_source])
    return table_of(("step", "bands", "milliseconds"), rows)


def ask_all(index: Index, documents: Sequence[Document]) -> int:
    """Query the nearest of each document, without itself; returns the number of matches."""
    return sum(map(len, index.find_candidates_batch(documents, limit=None, threads=1)))


def milliseconds(work: Callable[[], object]) -> float:
    """Measure the duration of a call."""
    began = perf_counter()
    work()
    return 1000 * (perf_counter() - began)


def candidates(signatures: NDArray[np.uint32], bands: Bands) -> Pairs:
    """Return all pairs that share a bucket of any size."""
    count = len(signatures)
    alone = np.ones(count, dtype=bool)
    proposed = propose(bands.keys(signatures), alone, bucket_limit=max(count, 2))
    return np.unique(proposed.left.astype(np.int64) * count + proposed.right)


def error_table(signatures: NDArray[np.uint32], truth: Truth, published: Bands) -> ResultTable:
    """Return both kinds of errors at several thresholds, for the published bands and for bands chosen by recall."""
    rows: list[list[Cell]] = []
    for threshold in THRESHOLDS:
        wanted = truth.at_least(threshold)
        for bands in (published, Bands.for_recall(threshold, RECALL, NUM_HASHES)):
            proposed = candidates(signatures, bands)
            hits = len(np.intersect1d(proposed, wanted, assume_unique=True))
            recall = hits / len(wanted) if len(wanted) else None
            errors = (len(proposed) - hits, len(wanted) - hits)
            rows.append([threshold, name_of(bands), len(wanted), len(proposed), *errors, recall])
    columns = (
        "threshold",
        "bands",
        "true pairs",
        "candidates",
        "false positives",
        "false negatives",
        "recall",
    )
    return table_of(columns, rows)


def found_table(drawn: Sequence[NDArray[np.uint32]], truth: Truth, shapes: Sequence[Bands]) -> ResultTable:
    """Return the share of the pairs that is found at each similarity, with the prediction of the S-curve.

    Pairs that share a document, or a shingle, are not found independently of each other, but seeds are independent:
    the standard error is that of the mean over seeds, None for one seed.

    Args:
        drawn: The signatures by each of several seeds.
        truth: The exact similarities. A row has the pairs from its similarity up to the next row's; the last one
            those of equal sets. Similarities and limits are rounded in the same way, so 17/20 is not below 0.85.
        shapes: The bands.
    """
    edges = np.arange(round(LEAST_SHOWN / STEP), round(1 / STEP) + 1) / round(1 / STEP)
    steps = np.digitize(truth.similarity, edges) - 1
    rows: list[list[Cell]] = []
    for bands in shapes:
        proposed = [candidates(signatures, bands) for signatures in drawn]
        is_found = [np.isin(truth.pairs, pairs, assume_unique=True) for pairs in proposed]
        expected = np.asarray(bands.probability(truth.similarity))
        for step in np.unique(steps[steps >= 0]).tolist():
            inside = steps == step
            shares = np.array([is_pair_found[inside].mean() for is_pair_found in is_found])
            error = float(shares.std(ddof=1)) / len(shares) ** 0.5 if len(shares) > 1 else None
            means = [float(part.mean()) for part in (truth.similarity[inside], shares, expected[inside])]
            rows.append([name_of(bands), float(edges[step]), int(inside.sum()), *means, error])
    columns = ("bands", "from", "pairs", "mean similarity", "found", "expected", "standard error")
    return table_of(columns, rows)


def what_is_missed(errors: ResultTable, shares: ResultTable, seeds: int) -> str:
    """Describe both kinds of errors at the threshold of Benzer's default."""
    published, chosen = (
        dict(zip(errors.columns, row, strict=True)) for row in errors.where(threshold=THRESHOLD).rows
    )
    true_pairs, others = int(published["true pairs"] or 0), int(chosen["false positives"] or 0)
    if not true_pairs:
        return f"No pair has similarity {THRESHOLD} or more, so none can be missed."

    def misses(row: dict[str, Cell]) -> str:
        missed = int(row["false negatives"] or 0)
        return f"find {true_pairs - missed:,} and miss {f'{missed:,}' if missed else 'none'}"

    near = shares.where(bands=published["bands"], **{"from": THRESHOLD})
    of_those = [
        f" Of {counted(number, 'pair')} among them below {THRESHOLD + STEP:.2f} they find {100 * share:.0f} % (mean "
        f"of {seeds} seeds)."
        for number, share in zip(near.column("pairs"), near.column("found"), strict=True)
    ]
    return (
        f"Of {counted(true_pairs, 'pair')} with similarity {THRESHOLD} or more the published bands "
        f"{misses(published)}.{''.join(of_those)} {chosen['bands']} {misses(chosen)}, and propose "
        f"{counted(others, 'other pair')}{', which an exact comparison removes' if others else ''}."
    )


def what_it_takes(times: ResultTable, one_by_one: OneByOne, count: int) -> str:
    """Describe the times of the index, and of comparing every pair."""
    ask = times.where(step="ask it for the nearest of each document").column("milliseconds")
    build = times.where(step="build an index").column("milliseconds")
    every, estimated = one_by_one.every, one_by_one.estimated
    twice = ", or 16 with each pair counted twice, as in the source" if count == COUNT["full"] else ""
    return (
        f"The published bands took {build[0]:,.0f} ms to build and {ask[0]:,.0f} ms for {count:,} queries, the others "
        f"{build[1]:,.0f} and {ask[1]:,.0f} ms. An exact comparison of {'all ' if every > 1 else ''}"
        f"{counted(every, 'pair')} takes {duration(one_by_one.seconds)} on one thread"
        f"{f' ({estimated})' if estimated else ''}; at 10 ms per pair it would take "
        f"{duration(every * SECONDS_A_PAIR)}{twice}."
    )


def summary(shares: ResultTable) -> ResultTable:
    """Return the found and expected shares at each similarity, side by side for both choices of bands."""
    keys = ["from", "pairs", "mean similarity"]
    measured, expected = (
        shares.wide(keys, "bands", column, f"{column} by {{}}") for column in ("found", "expected")
    )
    rows = [(*left, *right[len(keys) :]) for left, right in zip(measured.rows, expected.rows, strict=True)]
    return ResultTable((*measured.columns, *expected.columns[len(keys) :]), tuple(rows))


def figure(shares: ResultTable, shapes: Sequence[Bands], seeds: int) -> ExperimentFigure:
    """Draw measured shares on the S-curves."""
    series: list[Series] = []
    for look, bands in enumerate(shapes):
        curve = bands.curve()
        part = shares.where(bands=name_of(bands))
        series.append(
            Series(f"{name_of(bands)}: S-curve", tuple(curve[:, 0]), tuple(curve[:, 1]), "curve", look=look)
        )
        series.append(
            part.series(
                f"{name_of(bands)}: found", "mean similarity", "found", kind="points", look=look,
                low=bounds(part, -2), high=bounds(part, 2),
            )
        )  # fmt: skip
    panel = Panel(
        f"pairs found, mean of {seeds} seeds ± 2 standard errors",
        "Jaccard similarity",
        "share of pairs found",
        tuple(series),
        y_from=0,
    )
    return ExperimentFigure(f"E7: what bands of {NUM_HASHES} hashes find", (panel,))


def bounds(shares: ResultTable, errors: float) -> tuple[float, ...]:
    """Return the found shares plus or minus some standard errors, within 0 and 1."""
    pairs = zip(shares.column("found"), shares.column("standard error"), strict=True)
    return tuple(min(max(share + errors * error, 0.0), 1.0) for share, error in pairs)


def name_of(bands: Bands) -> str:
    """Return the name of a choice of bands.

    >>> name_of(Bands(5, 20))
    '5 bands of 20 rows'
    """
    return f"{bands.bands} bands of {bands.rows} rows"
