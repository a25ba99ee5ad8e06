"""Exact similarities of all pairs of a collection, which E7 uses as the truth."""

from __future__ import annotations

import random
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benzer._native import jaccard
from benzer.experiments.base import counted

Pairs = NDArray[np.int64]
"""Pairs of documents, each as one number, lower position · number of documents + higher position; ascending."""

MOST_COMPARED = 500_000


@dataclass(frozen=True)
class Truth:
    """All pairs that share a shingle (int64), and their exact similarities (float64); others have 0."""

    pairs: Pairs
    similarity: NDArray[np.float64]

    @classmethod
    def of(cls, offsets: NDArray[np.int64], hashes: NDArray[np.uint64]) -> Truth:
        """Compute the truth for n sets; set i is `hashes[offsets[i]:offsets[i + 1]]`, without repetitions.

        Two sets that share no element are not compared. Takes the time of sorting all elements, and one comparison
        for each two sets that share one.

        >>> truth = Truth.of(np.array([0, 2, 4, 5]), np.array([1, 2, 2, 3, 9], dtype=np.uint64))
        >>> truth.pairs.tolist(), truth.similarity.tolist()
        ([1], [0.3333333333333333])
        """
        count = len(offsets) - 1
        order = np.argsort(hashes, kind="stable")
        owners = np.repeat(np.arange(count), np.diff(offsets))[order]
        starts = np.flatnonzero(np.diff(hashes[order])) + 1
        shared = [group for group in np.split(owners, starts) if len(group) > 1]
        groups = [pairs_within(group, count) for group in shared]
        pairs = np.unique(np.concatenate(groups)) if groups else np.empty(0, dtype=np.int64)
        left, right = (pairs // count).astype(np.uint32), (pairs % count).astype(np.uint32)
        return cls(pairs, jaccard(offsets, hashes, left, right, 0))

    def at_least(self, threshold: float) -> Pairs:
        """Return the pairs with at least this similarity."""
        return self.pairs[self.similarity >= threshold]


def pairs_within(documents: NDArray[np.int64], count: int) -> Pairs:
    """Return all pairs of some documents, given in ascending order."""
    lower, higher = np.triu_indices(len(documents), 1)
    return np.asarray(documents[lower] * count + documents[higher], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class OneByOne:
    """The cost of comparing every pair exactly, on one thread.

    Attributes:
        seconds: Time for all pairs; measured if all were `compared`, otherwise extrapolated from `compared` pairs.
    """

    seconds: float
    compared: int
    every: int

    @property
    def estimated(self) -> str:
        """Return a note on how the time was extrapolated; "" if it was measured."""
        return "" if self.compared == self.every else f"estimated from {counted(self.compared, 'pair')}"

    @classmethod
    def measure(cls, offsets: NDArray[np.int64], hashes: NDArray[np.uint64], seed: int) -> OneByOne:
        """Compare all pairs of n sets, or `MOST_COMPARED` different random pairs."""
        count = len(offsets) - 1
        left, right = distinct_pairs(count, MOST_COMPARED, seed)
        began = perf_counter()
        jaccard(offsets, hashes, left, right, 1)
        seconds = perf_counter() - began
        every = count * (count - 1) // 2
        return cls(seconds * every / len(left), len(left), every)


def distinct_pairs(count: int, most: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return at most `most` different pairs of n documents: the lower positions, the higher ones (uint32).

    Pair number h (h - 1) / 2 + l is that of the positions l < h.

    >>> distinct_pairs(3, most=10, seed=0)
    (array([0, 0, 1], dtype=uint32), array([1, 2, 2], dtype=uint32))
    """
    every = count * (count - 1) // 2
    drawn = range(every) if every <= most else random.Random(seed).sample(range(every), most)
    numbers = np.array(drawn, dtype=np.int64)
    positions = np.arange(count, dtype=np.int64)
    firsts = positions * (positions - 1) // 2
    higher = np.searchsorted(firsts, numbers, side="right") - 1
    return (numbers - firsts[higher]).astype(np.uint32), higher.astype(np.uint32)
