"""E5: speed of hash families that fill the signature matrix (Bergillos and others 2018, figure 3).

The source measures modular, multiplicative and murmur hashing for several sizes k of shingles. E6 measures their
quality. Times are those of this machine, the median of several runs on one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from time import perf_counter
from typing import Any

from benzer.experiments.base import (
    Cell,
    ExperimentFigure,
    ExperimentResult,
    Panel,
    ResultTable,
    Scale,
    table_of,
)
from benzer.experiments.made_texts import collection
from benzer.fields.text import Text
from benzer.minhash import MinHash

DOCUMENTS = {"small": 30, "full": 400}
RUNS = {"small": 3, "full": 15}
SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 20)
FUNCTIONS = (10, 20, 50, 100, 200, 500)
SIZE, NUM_HASHES = 9, 100
SKETCHES = {
    "modular": ("kmins", "modular"),
    "multiplicative": ("kmins", "multiplicative"),
    "murmur3_32": ("kmins", "murmur3_32"),
    "mixed": ("kmins", "mixed"),
    "fast (Benzer's default)": ("fast", "mixed"),
}


def run(scale: Scale, seed: int) -> ExperimentResult:
    """Measure the time of signatures by shingle size, and by number of functions."""
    texts = collection(DOCUMENTS[scale], seed)
    shapes = sorted({*((size, NUM_HASHES) for size in SIZES), *((SIZE, number) for number in FUNCTIONS)})
    table = table_of(
        ("shingle_size", "num_hashes", "shingles", "hash", "milliseconds", "ns a value"),
        times(texts, shapes, RUNS[scale]),
    )
    return ExperimentResult(
        name="E5",
        settings=(
            f"{DOCUMENTS[scale]:,} texts of 40 to 160 words, shingles of characters; {NUM_HASHES} functions for each "
            f"k, k = {SIZE} for each number of functions; one thread, median of {RUNS[scale]} runs on this machine"
        ),
        published="Modular hashing is twice as fast as the others.",
        finding=finding(table),
        tables={"summary": summary(table), "times": table},
        figures={"times": figure(table)},
    )


def times(texts: Sequence[str], shapes: Sequence[tuple[int, int]], runs: int) -> list[list[Cell]]:
    """Measure each sketch on all texts: one row for each shape (shingle size, functions) and sketch.

    A run measures all rows before the next begins, so that a disturbance does not affect one row alone.
    """
    sets = {size: Text(unit="char", shingle_size=size).sets(texts) for size, _ in shapes}
    rows = [(size, number, label) for size, number in shapes for label in SKETCHES]
    measured: list[list[float]] = [[] for _ in rows]
    for _ in range(runs):
        for (size, number, label), seconds in zip(rows, measured, strict=True):
            algorithm, family = SKETCHES[label]
            seconds.append(once(MinHash(algorithm, number, family=family), sets[size]))
    return [
        [size, number, shingles, label, 1e3 * middle, 1e9 * middle / (shingles * number)]
        for (size, number, label), middle in zip(rows, map(median, measured), strict=True)
        for shingles in [len(sets[size][1])]
    ]


def once(minhash: MinHash, sets: Any) -> float:
    """Return the seconds of one run on one thread."""
    began = perf_counter()
    minhash.signatures(sets[0], sets[1], threads=1)
    return perf_counter() - began


def finding(table: ResultTable) -> str:
    """Describe the times of one shape, side by side."""
    part = table.where(shingle_size=SIZE, num_hashes=NUM_HASHES)
    cost = dict(zip(*map(part.column, ("hash", "ns a value")), strict=True))
    *names, fast = SKETCHES
    families = sorted(names, key=cost.__getitem__)
    by_number = table.where(shingle_size=SIZE, hash=fast)
    whole = dict(zip(*map(by_number.column, ("num_hashes", "milliseconds")), strict=True))
    few = FUNCTIONS[0]
    return (
        f"The order depends on the arithmetic. Here, at k = {SIZE} with {NUM_HASHES} functions, the time per element "
        f"and function is {', '.join(f'{cost[name]:.2f} ns ({name})' for name in families)}: {families[-1]} takes "
        f"{cost[families[-1]] / cost[families[0]]:.1f} times as long as {families[0]}. Operations that the processor "
        f"performs on many elements at once are cheap; an exact remainder modulo a prime of 61 bits is not one of "
        f"them. fast, which assigns each element to a few slots instead of hashing it {NUM_HASHES} times, takes "
        f"{cost[fast]:.3f} ns, and {families[0]} takes {cost[families[0]]:.3f} ns. For all texts fast takes "
        f"{whole[few]:.2f} ms with {few} functions and {whole[NUM_HASHES]:.2f} ms with {NUM_HASHES}."
    )


def summary(table: ResultTable) -> ResultTable:
    """Return the milliseconds by shingle size with 100 functions, one column for each hash."""
    return table.where(num_hashes=NUM_HASHES).wide(["shingle_size", "shingles"], "hash", "milliseconds")


def figure(table: ResultTable) -> ExperimentFigure:
    """Draw the time by size of shingles, and by number of functions."""
    views = (
        (f"{NUM_HASHES} functions", "shingle size $k$", "shingle_size", table.where(num_hashes=NUM_HASHES)),
        (f"$k$ = {SIZE}", "hash functions", "num_hashes", table.where(shingle_size=SIZE)),
    )

    def panel(title: str, label: str, column: str, part: ResultTable) -> Panel:
        lines = tuple(
            part.where(hash=name).series(name, column, "milliseconds", look=look)
            for look, name in enumerate(SKETCHES)
        )
        return Panel(title, label, "milliseconds", lines, log_x=column == "num_hashes", log_y=True)

    return ExperimentFigure("E5: time to fill the signature matrix", tuple(panel(*view) for view in views))
