"""Which documents of a collection are truly alike? Every pair, exactly: what E7 measures errors against."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benzer._native import jaccard

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
        """The truth about n sets; set i is `hashes[offsets[i]:offsets[i + 1]]`, without repeats.

        Two sets that share no element need no comparison. Cost: sorting all elements, and one comparison for
        each two sets that share one.

        >>> truth = Truth.of(np.array([0, 2, 4, 5]), np.array([1, 2, 2, 3, 9], dtype=np.uint64))
        >>> truth.pairs.tolist(), truth.similarity.tolist()
        ([1], [0.3333333333333333])
        """
        count = len(offsets) - 1
        order = np.argsort(hashes, kind="stable")
        owners = np.repeat(np.arange(count), np.diff(offsets))[order]
        starts = np.flatnonzero(np.diff(hashes[order])) + 1
        shared = [group for group in np.split(owners, starts) if len(group) > 1]
        found = [pairs_within(group, count) for group in shared]
        pairs = np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)
        left, right = (pairs // count).astype(np.uint32), (pairs % count).astype(np.uint32)
        return cls(pairs, jaccard(offsets, hashes, left, right, 0))

    def at_least(self, threshold: float) -> Pairs:
        """The pairs of at least this similarity."""
        return self.pairs[self.similarity >= threshold]


def pairs_within(documents: NDArray[np.int64], count: int) -> Pairs:
    """All pairs of some documents, given in ascending order."""
    lower, higher = np.triu_indices(len(documents), 1)
    return np.asarray(documents[lower] * count + documents[higher], dtype=np.int64)


def seconds_one_by_one(offsets: NDArray[np.int64], hashes: NDArray[np.uint64], seed: int) -> float:
    """How long it takes to compare every pair with every other, from a sample of pairs; one thread."""
    count = len(offsets) - 1
    every = count * (count - 1) // 2
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, count, size=(2, min(every, MOST_COMPARED)), dtype=np.uint32)
    began = perf_counter()
    jaccard(offsets, hashes, left, right, 1)
    return (perf_counter() - began) * every / len(left)
