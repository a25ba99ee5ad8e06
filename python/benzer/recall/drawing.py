"""Draws the sampled documents and neighbours by hashes of their contents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.uint32]
Words = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
NEIGHBOURS = np.uint64(0xD1B54A32D192ED03)


def drawn(content: Words, population: Positions, draws: int, seed: int = 0) -> Positions:
    """Return the positions of a population with the lowest seeded hashes of their content, in that order.

    They are as good as a random sample without replacement, and do not depend on the order of the documents.

    Args:
        content: Content hashes (uint64, n x 2).
        population: Positions to draw from.
        draws: Maximum number of positions.
        seed: Seed of the draw.

    >>> content = np.array([[1, 5], [2, 5], [3, 5]], dtype=np.uint64)
    >>> everyone = np.arange(3, dtype=np.uint32)
    >>> sorted(drawn(content, everyone, 5).tolist()), len(drawn(content, everyone, 2))
    ([0, 1, 2], 2)
    """
    own = content[population]
    place = draw_places(own, seed)
    least = np.argpartition(place, draws - 1)[:draws] if 0 < draws < len(place) else np.arange(len(place))
    order = np.lexsort((own[least, 1], own[least, 0], place[least]))
    first: Positions = population[least[order]][:draws]
    return first


def draw_places(content: Words, seed: int) -> Words:
    """Return the order of contents in the draw: the lowest comes first, and of equal places the lowest content.

    Args:
        content: Content hashes (uint64, n x 2).
        seed: Seed of the draw.
    """
    return mixed((mixed(content[:, 0] ^ _as_word(seed)) ^ content[:, 1]) + GOLDEN)


def chosen_neighbours(query: NDArray[np.int64], left: Words, right: Words, seed: int) -> NDArray[np.bool_]:
    """Select one neighbour of each sampled document: the one with the lowest hash of both contents (uint64, n x 2)."""
    lot = mixed(left[:, 0] + NEIGHBOURS) ^ mixed(right[:, 0] ^ _as_word(seed))
    lot = mixed(lot + right[:, 1])
    order = np.lexsort((lot, query))
    chosen = np.zeros(len(query), dtype=bool)
    chosen[order[np.diff(query[order], prepend=-1) != 0]] = True
    return chosen


def distinct(query: NDArray[np.int64], other: Positions) -> tuple[NDArray[np.int64], Positions]:
    """Return each pair of a place and a position once, ascending.

    >>> distinct(np.array([1, 0, 1]), np.array([7, 9, 7], dtype=np.uint32))
    (array([0, 1]), array([9, 7], dtype=uint32))
    """
    keys = np.unique((query.astype(np.uint64) << np.uint64(32)) | other)
    return (keys >> np.uint64(32)).astype(np.int64), keys.astype(np.uint32)


def pair_keys(a: Positions, b: Positions) -> Words:
    """Return one number per pair, independent of the order of its documents."""
    low, high = np.minimum(a, b).astype(np.uint64), np.maximum(a, b).astype(np.uint64)
    keys: Words = (low << np.uint64(32)) | high
    return keys


def _as_word(seed: int) -> Words:
    return mixed(np.array([seed & (2**64 - 1)], dtype=np.uint64))


def mixed(values: Words) -> Words:
    """Mix the bits of each number (the finalizer of splitmix64; Steele, Lea, Flood 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
