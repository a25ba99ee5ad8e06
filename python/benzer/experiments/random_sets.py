"""Random pairs of sets and the errors of sketches on them, for E1, E2 and E3."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benzer.experiments.base import Cell, ResultTable, table_of
from benzer.minhash import MinHash

COLUMNS = (
    "sets", "size", "s_r", "jaccard", "sketch", "num_hashes", "pairs", "bias", "rms_error", "rms_error_from_s_r",
    "theory",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sketch:
    """A method to estimate a Jaccard similarity: algorithm and estimator of `MinHash`; and its look in figures."""

    label: str
    look: int
    algorithm: str
    estimator: str = "unbiased"

    def estimates(self, pairs: RandomSetPairs, num_hashes: int, seed: int) -> NDArray[np.float64]:
        """Return the estimated similarity of each pair (float64)."""
        minhash = MinHash(self.algorithm, num_hashes, seed)
        signatures = minhash.signatures(*pairs.sets, hashed=True)
        return minhash.estimate(signatures[::2], signatures[1::2], estimator=self.estimator)

    def theory(self, pairs: RandomSetPairs, num_hashes: int) -> float | None:
        """Return the standard error by a formula; None for a biased estimator, which has none."""
        if self.estimator != "unbiased" or self.algorithm == "fast":
            return None
        minhash = MinHash(self.algorithm, num_hashes)
        return minhash.standard_error(pairs.jaccard, union_size=pairs.union)


MANY = Sketch("many functions", 0, "kmins")
MANY_SET_JACCARD = Sketch("many functions, set Jaccard of signatures", 1, "kmins", "set_jaccard")
ONE_OVERLAP = Sketch("one function, as published", 2, "bottomk", "overlap")
ONE_FUNCTION = Sketch("one function, unbiased", 3, "bottomk")
FAST = Sketch("fast (Benzer's default)", 4, "fast")
THEORY = r"theory: $\sqrt{J(1-J)/n_h}$"


def published_overlap(size: int, s_r: float) -> int:
    """Return the number of shared elements in the source, s_r · n; their Jaccard similarity is s_r / (2 - s_r).

    >>> shared = published_overlap(1000, 0.5)
    >>> shared, shared / (2000 - shared)
    (500, 0.3333333333333333)
    """
    return round(s_r * size)


def corrected_overlap(size: int, s_r: float) -> int:
    """Return the number of shared elements for a Jaccard similarity of s_r: 2 s_r n / (1 + s_r).

    >>> shared = corrected_overlap(1000, 0.5)
    >>> shared, round(shared / (2000 - shared), 3)
    (667, 0.5)
    """
    return round(2 * s_r * size / (1 + s_r))


GENERATORS: dict[str, Callable[[int, float], int]] = {
    "published": published_overlap,
    "corrected": corrected_overlap,
}


@dataclass(frozen=True)
class RandomSetPairs:
    """Pairs of random sets of one size with one overlap; set 2i and set 2i + 1 are a pair.

    >>> pairs = RandomSetPairs.draw("corrected", count=3, size=1000, s_r=0.5, seed=0)
    >>> pairs.union, round(pairs.jaccard, 3), len(pairs.sets[1])
    (1333, 0.5, 6000)
    """

    generator: str
    size: int
    s_r: float
    shared: int
    sets: tuple[NDArray[np.int64], NDArray[np.uint64]]

    @classmethod
    def draw(cls, generator: str, count: int, size: int, s_r: float, seed: int) -> RandomSetPairs:
        """Draw pairs from a seed; elements are 64-bit numbers, so that none are equal by chance."""
        shared = GENERATORS[generator](size, s_r)
        rng = np.random.default_rng(seed)
        elements = rng.integers(0, 2**64, size=(count, 2 * size - shared), dtype=np.uint64)
        both = np.concatenate((elements[:, :size], elements[:, size - shared :]), axis=1)
        offsets = np.arange(0, (2 * count + 1) * size, size, dtype=np.int64)
        return cls(generator, size, s_r, shared, (offsets, both.reshape(-1)))

    @property
    def union(self) -> int:
        """The number of elements of the two sets of a pair together."""
        return 2 * self.size - self.shared

    @property
    def jaccard(self) -> float:
        """The Jaccard similarity of every pair."""
        return self.shared / self.union


def measure(
    pairs: RandomSetPairs, sketches: Iterable[Sketch], num_hashes: Sequence[int], seed: int
) -> list[list[Cell]]:
    """Return the errors of each sketch with each number of hashes, as rows of `errors`."""
    return [
        errors(pairs, sketch, number, sketch.estimates(pairs, number, seed))
        for sketch in sketches
        for number in num_hashes
    ]


def errors(
    pairs: RandomSetPairs, sketch: Sketch, num_hashes: int, estimates: NDArray[np.float64]
) -> list[Cell]:
    """Return one row: root mean square error relative to the true Jaccard similarity, and to s_r as in the source."""
    return [
        pairs.generator, pairs.size, pairs.s_r, pairs.jaccard, sketch.label, num_hashes, len(estimates),
        float(estimates.mean()) - pairs.jaccard, rms(estimates - pairs.jaccard), rms(estimates - pairs.s_r),
        sketch.theory(pairs, num_hashes),
    ]  # fmt: skip


def rms(deviations: NDArray[np.float64]) -> float:
    """Return the root of the mean square.

    >>> rms(np.array([3.0, -3.0]))
    3.0
    """
    return float(np.sqrt(np.mean(deviations**2)))


def error_table(rows: Sequence[Sequence[Cell]]) -> ResultTable:
    """Return the table of errors."""
    return table_of(COLUMNS, rows)
