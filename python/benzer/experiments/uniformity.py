"""E8: uniformity of buckets, and collisions of strings (Hanna and Hunt 2015).

The source counts, for one of its functions, the numbers from 1 to 100,000 in each bucket, by their remainder modulo
13. Its remainder has the sign of the dividend, so there are 25 buckets, and bucket 0 is twice as full. An even count
is not a merit by itself: functions that send consecutive numbers to buckets in turn fill them more evenly than
chance, but such functions are not min-wise (E6).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import comb

import numpy as np
from numpy.typing import NDArray

from benzer.experiments.base import (
    Cell,
    ExperimentFigure,
    ExperimentResult,
    Panel,
    ResultTable,
    Scale,
    Series,
    table_of,
)
from benzer.experiments.hashing import INTEGER_FAMILIES, STRING_HASHES, Linear, signed

BUCKETS = 13
ELEMENTS = 100_000
COLLECTION_SEED = 1337
ALPHABET = "abcdefghijklmnopqrstuvwxyz "
LENGTHS = {"small": (2, 3), "full": (2, 3, 4)}
FUNCTIONS = 10
EXPECTED = BUCKETS - 1
"""What chi-square is on average where chance fills the buckets: its degrees of freedom."""


def run(scale: Scale, seed: int) -> ExperimentResult:
    """Measure the buckets of the source's function, the chi-square of families, and collisions of string hashes."""
    source, families, collided = source_buckets(), evenness(seed), collisions(LENGTHS[scale])
    return ExperimentResult(
        name="E8",
        settings=(
            f"x = 1 … {ELEMENTS:,} into {BUCKETS} buckets: the source's function, and {FUNCTIONS} functions of each "
            f"family; all strings of {', '.join(map(str, LENGTHS[scale]))} characters over 27 letters"
        ),
        published="A good distribution; djb2a has few collisions.",
        finding=finding(source, families, collided),
        tables={
            "summary": summary(families),
            "source-buckets": source,
            "evenness": families,
            "collisions": collided,
        },
        figures={"buckets": figure(source, families)},
    )


def source_buckets() -> ResultTable:
    """Count the numbers that the source's first function maps to each bucket, by its remainder and by the true one.

    >>> counts = dict(zip(*map(source_buckets().column, ("bucket", "signed remainder")), strict=True))
    >>> counts[0], min(counts), max(counts), sum(counts.values())
    (7704, -12, 12, 100000)
    """
    numbers = np.arange(1, ELEMENTS + 1, dtype=np.uint64)
    values = Linear(seed=COLLECTION_SEED).values(numbers, count=1)[0]
    truncated = np.fmod(signed(values), BUCKETS) + EXPECTED
    by_sign = np.bincount(truncated, minlength=2 * BUCKETS - 1)
    unsigned = np.bincount((values % BUCKETS).astype(np.int64), minlength=BUCKETS)
    rows: list[list[Cell]] = [
        [bucket, int(by_sign[bucket + EXPECTED]), int(unsigned[bucket]) if bucket >= 0 else None]
        for bucket in range(-EXPECTED, BUCKETS)
    ]
    return table_of(("bucket", "signed remainder", "remainder"), rows)


def inputs(seed: int) -> dict[str, NDArray[np.uint64]]:
    """Return typical numbers: consecutive ones, consecutive multiples of 256, and random ones."""
    counted = np.arange(1, ELEMENTS + 1, dtype=np.uint64)
    drawn = np.random.default_rng(seed).integers(0, 2**64, ELEMENTS, dtype=np.uint64)
    return {"1, 2, 3, …": counted, "256, 512, …": counted << np.uint64(8), "random": drawn}


def by_range(values: NDArray[np.uint64], size: int) -> NDArray[np.int64]:
    """Return in which thirteenth of its range a value is; this matters for minima."""
    return np.minimum(values.astype(np.float64) * (BUCKETS / size), EXPECTED).astype(np.int64)


def by_remainder(values: NDArray[np.uint64], _size: int) -> NDArray[np.int64]:
    """Return the value modulo 13, as in the source."""
    return (values % np.uint64(BUCKETS)).astype(np.int64)


VIEWS: dict[str, Callable[[NDArray[np.uint64], int], NDArray[np.int64]]] = {
    "remainder": by_remainder,
    "range": by_range,
}


def evenness(seed: int) -> ResultTable:
    """Return the mean chi-square of several functions of each family, by remainder and by range."""
    rows: list[list[Cell]] = []
    for name in INTEGER_FAMILIES.names:
        family = INTEGER_FAMILIES.load(name)(seed=seed)
        for label, numbers in inputs(seed).items():
            values = family.values(numbers, FUNCTIONS)
            squares = [mean_chi_square(view(values, family.size)) for view in VIEWS.values()]
            rows.append([name, label, *squares])
    return table_of(("family", "elements", *(f"chi-square by {view}" for view in VIEWS)), rows)


def mean_chi_square(buckets: NDArray[np.int64]) -> float:
    """Return the mean over functions (rows) of Σ (count - expected)² / expected.

    >>> mean_chi_square(np.repeat([np.arange(13)], 2, axis=0))
    0.0
    """
    expected = buckets.shape[1] / BUCKETS
    counts = [np.bincount(row, minlength=BUCKETS) for row in buckets]
    return float(np.mean([((count - expected) ** 2 / expected).sum() for count in counts]))


def collisions(lengths: tuple[int, ...]) -> ResultTable:
    """Count the strings that share their hash with an earlier one, of all strings of some lengths."""
    rows: list[list[Cell]] = []
    for length in lengths:
        strings = ["".join(letters) for letters in product(ALPHABET, repeat=length)]
        for name in STRING_HASHES.names:
            string_hash = STRING_HASHES.load(name)()
            distinct = len(np.unique(string_hash.hashes(strings)))
            chance = comb(len(strings), 2) / 2**string_hash.bits
            rows.append([length, name, string_hash.bits, len(strings), len(strings) - distinct, chance])
    return table_of(("length", "hash", "bits", "strings", "collisions", "expected by chance"), rows)


def summary(families: ResultTable) -> ResultTable:
    """Return chi-square by range, one column for each kind of elements."""
    return families.wide(["family"], "elements", "chi-square by range", "chi-square, {}")


def finding(source: ResultTable, families: ResultTable, collided: ResultTable) -> str:
    """Describe the source's buckets, the families on consecutive numbers, and djb2a."""
    signed_counts = dict(zip(*map(source.column, ("bucket", "signed remainder")), strict=True))
    others = [count for bucket, count in signed_counts.items() if bucket]
    counted = families.where(elements="1, 2, 3, …")
    even = [
        name
        for name, square in zip(*map(counted.column, ("family", "chi-square by range")), strict=True)
        if square < EXPECTED / 4
    ]
    return (
        f"The remainder keeps the sign: bucket 0 contains {signed_counts[0]:,} numbers, the {len(others)} others "
        f"{min(others):,} to {max(others):,}. Chance would give a chi-square of about {EXPECTED}. The families "
        f"{', '.join(even)} fill the buckets much more evenly with consecutive numbers, because they use the "
        f"buckets in turn: this is structure, not quality, and E6 shows its effect. "
        f"{collisions_found(collided.where(hash='djb2a'))}"
    )


def collisions_found(djb2a: ResultTable) -> str:
    """Describe how often djb2a collides, compared with chance, by the lengths of the tested strings."""
    parts = [
        f"{collided:,} of {strings:,} strings of {length} letters ({positional(chance)} by chance)"
        for length, strings, collided, chance in zip(
            *map(djb2a.column, ("length", "strings", "collisions", "expected by chance")), strict=True
        )
    ]
    return f"djb2a collides often: {', '.join(parts)}."


def positional(number: float) -> str:
    """Format a number with two digits, without a power of ten.

    >>> positional(32.88), positional(0.00006178)
    ('33', '0.000062')
    """
    return np.format_float_positional(number, precision=2, fractional=False, trim="-")


def figure(source: ResultTable, families: ResultTable) -> ExperimentFigure:
    """Draw the source's buckets, and the chi-square of all families."""
    bars = source.series("x = 1 … 100,000", "bucket", "signed remainder", kind="bars")
    names = tuple(dict.fromkeys(families.column("family")))
    clouds = []
    for look, label in enumerate(dict.fromkeys(families.column("elements"))):
        part = families.where(elements=label)
        positions = tuple(names.index(name) + (look - 1) * 0.18 for name in part.column("family"))
        clouds.append(Series(label, positions, part.column("chi-square by range"), "points", look=look))
    even = f"mean of {FUNCTIONS} functions, buckets by range"
    level = (EXPECTED, "by chance: 12")
    return ExperimentFigure(
        "E8: how evenly buckets are filled",
        (
            Panel("the source's function, signed remainder", "bucket", "numbers", (bars,)),
            Panel(
                even, "", "chi-square", tuple(clouds), log_y=True, y_from=0.003, x_names=names, level=level
            ),
        ),
    )
