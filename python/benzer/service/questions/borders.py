"""Example pairs of a collection just above and just below a threshold.

For many documents all neighbours above a low similarity are found, so that the threshold can move without another
search. Below that similarity pairs are numerous, and pairs of random documents represent them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benzer.corpora import DocumentCorpus
from benzer.fields import Schema
from benzer.planner import SampleSpread
from benzer.recall import field_thresholds
from benzer.verify import verify

Positions = NDArray[np.uint32]

SAMPLE_SIZES = (20_000, 5_000, 1_000, 200)
"""Number of documents whose neighbours are searched; fewer if only very similar ones could be searched."""
LOW = 0.3
"""The similarity above which all pairs should be found."""
MOST_SHINGLES = 10_000_000
"""Maximum shingles in memory of these documents and of the random pairs."""
MOST_PAIRS = 200_000
"""Maximum number of expected, compared and kept pairs."""
MOST_SECONDS = 1.0
"""Maximum predicted cost of the search on one core."""
DRAWN_PAIRS = 20_000
LOOKED_THROUGH = 200
"""Number of pairs considered for each example, so that not all examples are from one cluster."""
FLOORS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class Borders:
    """Pairs of a corpus by position (uint32, `left` before `right`), ascending by their exact similarity (float64)."""

    left: Positions
    right: Positions
    similarity: NDArray[np.float64]

    @classmethod
    def of(
        cls, corpus: DocumentCorpus, schema: Schema, spread: SampleSpread, seed: int = 0, threads: int = 0
    ) -> Borders:
        """Find pairs of all similarities; deterministic for a corpus."""
        size = max(sum(spread.sizes), 1.0)
        order = corpus.sample(len(corpus), seed, threads)
        reach, floor = reach_of(spread, schema, min(len(order), max(int(MOST_SHINGLES / size), 1)))
        order = order[:reach].copy()
        query, other = corpus.exact_neighbours(order, field_thresholds(schema, floor), threads)
        near = order[query], other
        far = drawn(order, min(DRAWN_PAIRS, int(MOST_SHINGLES / (2 * size))))
        left, right = (np.concatenate(sides) for sides in zip(near, far, strict=True))
        left, right = each_once(left, right)
        similarity = verify(corpus, left, right, schema.weights, threads)
        order_by_similarity = np.lexsort((right, left, similarity))
        order_by_similarity = order_by_similarity[
            similarity[order_by_similarity] > 0
        ]  # pairs without common shingles are no useful examples
        return cls(left[order_by_similarity], right[order_by_similarity], similarity[order_by_similarity])

    def above(self, threshold: float, count: int) -> list[int]:
        """The positions of the pairs at or above the threshold, closest to it first."""
        start = int(np.searchsorted(self.similarity, threshold, "left"))
        return self._distinct(range(start, len(self.similarity)), count)

    def below(self, threshold: float, count: int) -> list[int]:
        """The positions of the pairs below the threshold, closest to it first."""
        end = int(np.searchsorted(self.similarity, threshold, "left"))
        return self._distinct(range(end - 1, -1, -1), count)

    def _distinct(self, places: Sequence[int], count: int) -> list[int]:
        """The first pairs, preferring pairs whose documents occur in no other chosen pair."""
        met: set[int] = set()
        chosen: list[int] = []
        spare: list[int] = []
        for place in places[: LOOKED_THROUGH * count]:
            if len(chosen) == count:
                break
            pair = {int(self.left[place]), int(self.right[place])}
            (spare if pair & met else chosen).append(place)
            met |= pair
        wanted = {*chosen, *spare[: count - len(chosen)]}
        return [place for place in places[: LOOKED_THROUGH * count] if place in wanted]


def reach_of(spread: SampleSpread, schema: Schema, most: int) -> tuple[int, float]:
    """The number of documents whose neighbours are searched, and the minimum similarity."""
    for count in SAMPLE_SIZES:
        floor = floor_of(spread, schema, min(count, most))
        if floor <= LOW:
            break
    return min(count, most), floor


def floor_of(spread: SampleSpread, schema: Schema, count: int) -> float:
    """The minimum similarity at which the neighbours of these documents are few and cheap enough to search."""
    part = 2 * count / max(spread.contents, 1)
    for floor in FLOORS:
        seconds = part * spread.exact_cost(field_thresholds(schema, floor))
        if part * spread.pairs(floor) <= MOST_PAIRS and seconds <= MOST_SECONDS:
            return floor
    return FLOORS[-1]


def drawn(order: Positions, wanted: int) -> tuple[Positions, Positions]:
    """Pairs of documents in hash order: each document with the following ones, up to a maximum number of pairs.

    >>> [side.tolist() for side in drawn(np.array([7, 5, 6], np.uint32), 10)]
    [[7, 5, 6], [5, 6, 7]]
    """
    count = len(order)
    steps = min(max(wanted // max(count, 1), 1), max(count // 2, 1))
    if count < 2:
        return order[:0], order[:0]
    item = np.tile(np.arange(count), steps)
    other = (item + np.repeat(np.arange(1, steps + 1), count)) % count
    return order[item][:wanted], order[other][:wanted]


def each_once(left: Positions, right: Positions) -> tuple[Positions, Positions]:
    """Distinct pairs, lower position first.

    >>> each_once(np.array([2, 1, 1], np.uint32), np.array([1, 2, 3], np.uint32))
    (array([1, 1], dtype=uint32), array([2, 3], dtype=uint32))
    """
    low, high = np.minimum(left, right).astype(np.uint64), np.maximum(left, right).astype(np.uint64)
    pairs = np.unique(low << np.uint64(32) | high)
    return (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32)
