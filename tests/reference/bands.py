"""Under which keys is a signature filed, who shares one, and what will that find?"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from .hashing import K1, K2, K3, K4, MASK64, mum
from .minhash import EMPTY

NO_KEY = MASK64
BACKGROUND = ((0.02, 0.5), (0.05, 0.1), (0.1, 1e-2), (0.2, 1e-3), (0.3, 1e-4), (0.5, 1e-5))


def band_key(values: Sequence[int], band: int, field: int) -> int:
    """The hash of one band; its number and its field's number are part of it, so that bands never mix."""
    state = ((band + 1) * K1 + field * K3) & MASK64
    for value in values:
        state = mum(state ^ value, K2)
    state ^= state >> 32
    state = state * K4 & MASK64
    return 0 if state == NO_KEY else state


def band_keys(signature: Sequence[int], bands: int, rows: int, field: int = 0) -> list[int]:
    """The keys of all bands; an empty signature has none (NO_KEY everywhere)."""
    if all(value == EMPTY for value in signature):
        return [NO_KEY] * bands
    return [band_key(signature[i * rows : (i + 1) * rows], i, field) for i in range(bands)]


def candidate_pairs(keys: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """All pairs of positions that share a band key, each once, smaller first, sorted."""
    pairs: set[tuple[int, int]] = set()
    for column in zip(*keys, strict=True):
        buckets: dict[int, list[int]] = defaultdict(list)
        for position, key in enumerate(column):
            if key != NO_KEY:
                buckets[key].append(position)
        for bucket in buckets.values():
            pairs.update(combinations(bucket, 2))
    return sorted(pairs)


def candidates(keys: Sequence[Sequence[int]], limit: int) -> tuple[list[tuple[int, int]], list[list[int]]]:
    """The pairs that share a band key but no bucket of more than `limit` documents; and those large buckets.

    The buckets are in the order of band and key.

    >>> candidates([[1, 5], [1, 5], [1, 6], [2, 6]], 2)
    ([(2, 3)], [[0, 1, 2]])
    """
    large: list[list[int]] = []
    for column in zip(*keys, strict=True):
        buckets: dict[int, list[int]] = defaultdict(list)
        for position, key in enumerate(column):
            if key != NO_KEY:
                buckets[key].append(position)
        large.extend(buckets[key] for key in sorted(buckets) if len(buckets[key]) > limit)
    shared = {pair for bucket in large for pair in combinations(bucket, 2)}
    return [pair for pair in candidate_pairs(keys) if pair not in shared], large


def probability_found(similarity: float, bands: int, rows: int) -> float:
    """The probability that a pair of this similarity shares at least one band: 1 - (1 - s^r)^b.

    >>> round(probability_found(0.8, 9, 4), 3)
    0.991
    """
    return 1.0 - (1.0 - similarity**rows) ** bands


def least_bands(threshold: float, recall: float, rows: int) -> int:
    """The least number of bands of so many rows that finds a pair at the threshold with the recall."""
    if threshold == 1.0:
        return 1
    bands = max(1, math.ceil(math.log1p(-recall) / math.log1p(-(threshold**rows))) - 1)
    while probability_found(threshold, bands, rows) < recall:
        bands += 1
    return bands


def cost(bands: int, rows: int) -> float:
    """Nanoseconds a document: making the keys, and comparing what a million-document background brings."""
    chance = sum(weight * probability_found(similarity, bands, rows) for similarity, weight in BACKGROUND)
    return bands * (30 + 2 * rows) + 500 * 50000 * chance


def feasible(threshold: float, recall: float, limit: int) -> Iterator[tuple[int, int]]:
    """Every (bands, rows) that keeps the promise within so many values, with the least bands for its rows.

    More rows need no fewer bands, so the first shape that is too large ends the search.
    """
    for rows in range(1, limit + 1):
        bands = least_bands(threshold, recall, rows)
        if bands * rows > limit:
            return
        yield bands, rows


def for_recall(threshold: float, recall: float, limit: int = 1024) -> tuple[int, int]:
    """The cheapest bands that keep the promise."""
    return min(feasible(threshold, recall, limit), key=lambda shape: cost(*shape))


def pick_bands(threshold: float, num_hashes: int) -> int:
    """Least b with b ln b >= n (-ln t) (Hanna and Hunt 2015).

    >>> [pick_bands(t, 100) for t in (0.5, 0.8, 0.99)]
    [23, 10, 2]
    """
    bands = 1
    while bands * math.log(bands) < num_hashes * -math.log(threshold):
        bands += 1
    return bands
