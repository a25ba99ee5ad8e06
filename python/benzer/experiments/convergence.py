"""E6: convergence of the estimate to the true similarity (Bergillos and others 2018, figure 4).

The source compares two documents of similarity 0.6, by shingles of 9 characters, with a growing number of hash
functions. It hashes the row numbers of its matrix, i.e. shingles numbered by first occurrence. Multiplicative hashing
maps row 0 to 0 with every function, so documents that share it have the same minima. Even without row 0, consecutive
numbers are not distributed well enough for minima. Hashing shingles instead of row numbers fixes both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
from benzer.experiments.hashing import Vocabulary
from benzer.experiments.made_texts import pair_of_similarity
from benzer.fields.text import Text
from benzer.minhash import MinHash

SHINGLES = Text(unit="char", shingle_size=9)
SIMILARITY = 0.6
WORDS = 400
NUM_HASHES = (10, 20, 50, 100, 200, 500, 1000)
REPEATS = {"small": 20, "full": 200}
FAMILIES = ("modular", "multiplicative", "murmur3_32", "mixed")
HASHES, ROWS, ROWS_FROM_1 = "shingle hashes", "row numbers", "row numbers from 1"


@dataclass(frozen=True)
class Elements:
    """The two documents as sets of 64-bit numbers of one kind."""

    kind: str
    a: NDArray[np.uint64]
    b: NDArray[np.uint64]

    def estimates(self, family: str, num_hashes: int, seeds: Sequence[int]) -> NDArray[np.float64]:
        """Return the estimate for each seed (float64)."""
        estimates = []
        for seed in seeds:
            minhash = MinHash("kmins", num_hashes, seed, family)
            estimates.append(float(minhash.estimate(minhash.signature(self.a), minhash.signature(self.b))))
        return np.array(estimates)


def run(scale: Scale, seed: int) -> ExperimentResult:
    """Estimate by 10 to 1,000 functions of four families, on shingle hashes and on row numbers."""
    a, b, exact = pair_of_similarity(SIMILARITY, SHINGLES, WORDS, seed)
    seeds = [(seed + repeat) % 2**64 for repeat in range(REPEATS[scale])]
    rows: list[list[Cell]] = []
    for elements in kinds_of_elements(a, b):
        for family in FAMILIES:
            for number in NUM_HASHES:
                estimates = elements.estimates(family, number, seeds)
                rows.append([elements.kind, family, number, *measures(estimates, exact, number)])
    table = table_of(
        ("elements", "family", "num_hashes", "estimate", "mean", "low", "high", "rms_error", "theory"), rows
    )
    return ExperimentResult(
        name="E6",
        settings=(
            f"two texts of {WORDS} words with similarity {exact:.4f} by shingles of {SHINGLES.shingle_size} "
            f"characters; {len(seeds)} seeds; the source shows one"
        ),
        published="The estimate converges to the true similarity, with every hash function.",
        finding=finding(table, exact),
        tables={"summary": summary(table), "estimates": table},
        figures={"estimates": figure(table, exact)},
    )


def kinds_of_elements(a: str, b: str) -> list[Elements]:
    """Return the documents as shingle hashes, as row numbers in the order of first occurrence, and as those from 1."""
    rows = Vocabulary()
    in_a, in_b = (np.array(rows.ids(SHINGLES.shingles(text)), dtype=np.uint64) for text in (a, b))
    item = np.uint64(1)
    return [
        Elements(HASHES, SHINGLES.shingle_hashes(a), SHINGLES.shingle_hashes(b)),
        Elements(ROWS, in_a, in_b),
        Elements(ROWS_FROM_1, in_a + item, in_b + item),
    ]


def measures(estimates: NDArray[np.float64], exact: float, num_hashes: int) -> list[Cell]:
    """Return the first estimate, the mean, the range of 90 % of the estimates, the error, and its prediction."""
    low, high = np.quantile(estimates, [0.05, 0.95]).tolist()
    error = float(np.sqrt(np.mean((estimates - exact) ** 2)))
    theory = MinHash("kmins", num_hashes).standard_error(exact)
    return [float(estimates[0]), float(estimates.mean()), low, high, error, theory]


def summary(table: ResultTable) -> ResultTable:
    """Return the mean estimates, one column for each number of functions."""
    return table.wide(["elements", "family"], "num_hashes", "mean", "n_h = {}")


def finding(table: ResultTable, exact: float) -> str:
    """Describe the means at the largest number of functions."""

    def mean(kind: str, family: str) -> float:
        return float(table.where(elements=kind, family=family, num_hashes=NUM_HASHES[-1]).column("mean")[0])

    def means(kind: str, families: Sequence[str]) -> str:
        return ", ".join(f"{family} {mean(kind, family):.3f}" for family in families)

    others = [family for family in FAMILIES if family != "multiplicative"]
    furthest = max(abs(mean(HASHES, family) - exact) for family in FAMILIES)
    by_rows = table.where(elements=ROWS_FROM_1, family="multiplicative").column("mean")
    return (
        f"On shingle hashes, with {NUM_HASHES[-1]:,} functions, the means are {means(HASHES, FAMILIES)}: at most "
        f"{furthest:.3f} from the true value, {exact:.3f}. On row numbers multiplicative hashing always estimates "
        f"{mean(ROWS, 'multiplicative'):.3f}, because both documents contain row 0. If rows are counted from 1, it "
        f"estimates {min(by_rows):.3f} to {max(by_rows):.3f} with {NUM_HASHES[0]} to {NUM_HASHES[-1]:,} functions, and "
        f"the means of the others with {NUM_HASHES[-1]:,} are {means(ROWS_FROM_1, others)}: a function a x + b "
        f"preserves too much of the order of consecutive numbers, for any number of functions."
    )


def figure(table: ResultTable, exact: float) -> ExperimentFigure:
    """Draw one panel for each kind of elements, on the range of 90 % of the estimates of an unbiased family."""
    fair = 1.645 * np.array(table.where(elements=HASHES, family=FAMILIES[0]).column("theory"))
    low, high = tuple((exact - fair).tolist()), tuple((exact + fair).tolist())
    band = Series(
        "nine in ten estimates, in theory", tuple(NUM_HASHES), (exact,) * len(low), "theory", low, high
    )

    def panel(kind: str) -> Panel:
        lines = [
            table.where(elements=kind, family=family).series(family, "num_hashes", "mean", look=look)
            for look, family in enumerate(FAMILIES)
        ]
        title, level = f"on {kind}", (exact, f"true similarity {exact:.3f}")
        return Panel(title, "hash functions", "estimate", (band, *lines), log_x=True, level=level, y_to=1.02)

    title = "E6: estimated similarity, mean over seeds"
    return ExperimentFigure(title, tuple(map(panel, (HASHES, ROWS, ROWS_FROM_1))))
