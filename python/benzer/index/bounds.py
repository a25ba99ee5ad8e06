"""An upper bound for the similarity of two documents from the common bytes of their sketches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf, lgamma, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CHANCE = 1 / 256
"""That two values which differ have one byte."""

Bounds = NDArray[np.float64]


class Agreement(NamedTuple):
    """What the sketches of one field say of all documents beside one, each an array over the documents.

    weight: what the field counts in the similarity; 0 where one of the two lacks it, or both are empty (float64).
    sketched: where both are not empty, so that `equal` says something; else they share nothing (bool).
    equal: how many bytes are equal (uint16); None for a field that compares by more than its set.
    """

    weight: NDArray[np.float64]
    sketched: NDArray[np.bool_]
    equal: NDArray[np.uint16] | None


@lru_cache(maxsize=64)
def most_similar(recall: float, slots: int) -> Bounds:
    """How similar two sets are at most whose sketches have 0, 1, ..., `slots` bytes in common (float64).

    The upper limit of Clopper and Pearson (Biometrika 26, 1934) for a binomial share, less the bytes that are
    equal by chance: two sets that are more alike than this have so few equal bytes with probability
    1 - `recall` at most. It holds for values that are independent; those of "fast" signatures vary less.

    >>> [round(float(bound), 3) for bound in most_similar(0.999, 128)[[0, 64, 127, 128]]]
    [0.049, 0.636, 1.0, 1.0]
    """
    low, high = np.zeros(slots + 1), np.ones(slots + 1)
    for _ in range(60 if recall < 1 else 0):
        middle = (low + high) / 2
        likely = _tails(slots, middle) > 1 - recall
        low, high = np.where(likely, middle, low), np.where(likely, high, middle)
    bounds: Bounds = np.clip((high - CHANCE) / (1 - CHANCE), 0.0, 1.0)
    bounds[slots] = 1.0
    bounds.setflags(write=False)
    return bounds


def _tails(slots: int, shares: Bounds) -> Bounds:
    """P(X <= i) for X of the binomial distribution of `slots` and shares[i], for i from 0 to `slots`."""
    count = np.arange(slots + 1)
    chosen = np.array([lgamma(slots + 1) - lgamma(i + 1) - lgamma(slots - i + 1) for i in count.tolist()])
    share = np.clip(shares[:, None], 1e-300, 1 - 1e-16)
    each = np.exp(chosen + count * np.log(share) + (slots - count) * np.log1p(-share))
    tails: Bounds = np.where(count <= count[:, None], each, 0.0).sum(axis=1)
    return tails


def upper_bounds(fields: Sequence[Agreement], recall: float, slots: int) -> Bounds:
    """How similar each document is at most: beyond it with probability 1 - `recall` at most (float64, n).

    Where one field tells, by `most_similar`. Where several do, by the inequality of Hoeffding (JASA 58, 1963)
    for their weighted mean, for which the fields need sketches of independent hash functions.

    >>> said = Agreement(np.ones(2), np.array([True, False]), np.array([128, 0], np.uint16))
    >>> upper_bounds([said], 0.999, 128).tolist()
    [1.0, 0.0]
    """
    table = most_similar(recall, slots)
    if len(fields) == 1 and fields[0].equal is not None:
        told = fields[0].sketched & (fields[0].weight > 0)
        return np.where(told, table[fields[0].equal], 0.0)
    total, mean, alone, squares, number = (np.zeros(len(fields[0].weight)) for _ in range(5))
    for field in fields:
        total += field.weight
        if field.equal is None:
            mean, alone = mean + field.weight, alone + field.weight
            continue
        weight = np.where(field.sketched, field.weight, 0.0)
        mean += weight * (field.equal / slots - CHANCE) / (1 - CHANCE)
        alone += weight * table[field.equal]
        squares += weight**2
        number += weight > 0
    doubt = sqrt((-log(1 - recall) if recall < 1 else inf) / (2 * slots)) / (1 - CHANCE)
    spread = np.where(squares > 0, doubt * np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)
    upper = np.where(number == 1, alone, mean + spread) / np.where(total > 0, total, 1.0)
    return np.clip(np.where(total > 0, upper, 0.0), 0.0, 1.0)
