"""The published estimators read what their formulas say, which is not the Jaccard similarity."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from benzer import MinHash
from benzer.errors import SettingsError
from benzer.minhash import ESTIMATORS
from tests.arrays import csr, paired_sets, random_set
from tests.reference.minhash import ALGORITHMS, EMPTY
from tests.reference.similarity import jaccard

SIDES = [(set(), set()), (set(), {1}), ({1, 2, 3}, {1, 2, 3}), ({1, 2}, {3, 4})]


def sides(size: int, common: int) -> tuple[set[int], set[int]]:
    """Two random sets of one size with so many members in common."""
    members = sorted(random_set(2 * size - common, size))
    return set(members[:size]), set(members[size - common :])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("a, b", [*SIDES, sides(20, 10), sides(300, 200)])
def test_set_jaccard_is_that_of_the_two_lists_of_values(algorithm: str, a: set[int], b: set[int]) -> None:
    minhash = MinHash(algorithm, 64)
    left, right = minhash.signatures(*csr([a, b]))
    expected = jaccard(set(left.tolist()) - {EMPTY}, set(right.tolist()) - {EMPTY})
    assert float(minhash.estimate(left, right, "set_jaccard")) == expected


@pytest.mark.parametrize("a, b", [*SIDES, sides(20, 10), sides(300, 200)])
def test_overlap_counts_the_values_in_both(a: set[int], b: set[int]) -> None:
    minhash = MinHash("bottomk", 64)
    left, right = minhash.signatures(*csr([a, b]))
    expected = len(set(left.tolist()) & set(right.tolist()) - {EMPTY}) / 64 if a | b else 1.0
    assert float(minhash.estimate(left, right, "overlap")) == expected


def test_set_jaccard_of_m_equal_slots_is_m_over_2k_less_m() -> None:
    minhash = MinHash("kmins", 100)
    left, right = minhash.signatures(*csr(sides(300, 200)))
    equal = int((left == right).sum())
    assert len({*left.tolist(), *right.tolist()}) == 200 - equal
    assert float(minhash.estimate(left, right, "set_jaccard")) == equal / (200 - equal)


def mean_estimate(minhash: MinHash, common: int, each: int, estimator: str, pairs: int = 500) -> float:
    """Over random pairs that share so many members and have so many of their own."""
    left, right = (minhash.signatures(*side) for side in paired_sets(pairs, common, each, 9))
    return float(minhash.estimate(left, right, estimator).mean())


def test_overlap_reads_the_shared_part_of_sets_of_one_size() -> None:
    """As many values as members: the signature is the set, and the error is none, as published (n_h = n)."""
    assert mean_estimate(MinHash("bottomk", 128), 64, 64, "overlap") == 64 / 128
    assert mean_estimate(MinHash("bottomk", 128), 64, 64, "unbiased") == pytest.approx(1 / 3, abs=0.01)


def test_published_estimators_read_what_they_are_said_to() -> None:
    """A similarity of one half; six standard errors of a mean of 500 estimates from 128 values, and their own bias."""
    bound = 6 * math.sqrt(0.25 / (500 * 128))
    assert abs(mean_estimate(MinHash("kmins"), 1000, 500, "unbiased") - 0.5) <= bound
    assert abs(mean_estimate(MinHash("bottomk"), 1000, 500, "unbiased") - 0.5) <= bound
    assert 0.33 - bound <= mean_estimate(MinHash("kmins"), 1000, 500, "set_jaccard") <= 0.34 + bound
    assert 2 / 3 - 0.03 <= mean_estimate(MinHash("bottomk"), 1000, 500, "overlap") <= 2 / 3


def test_equal_small_sets_read_too_low_by_the_overlap() -> None:
    minhash = MinHash("bottomk", 128)
    signature = minhash.signature(range(32))
    assert float(minhash.estimate(signature, signature, "overlap")) == 32 / 128
    assert float(minhash.estimate(signature, signature)) == 1.0


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_rows_are_estimated_as_each_alone(estimator: str) -> None:
    minhash = MinHash("bottomk", 32)
    rows = minhash.signatures(*csr([set(range(start, start + 40)) for start in range(0, 50, 10)]))
    together = minhash.estimate(rows[:-1], rows[1:], estimator)
    alone = [float(minhash.estimate(a, b, estimator)) for a, b in pairwise(rows)]
    assert (together.dtype, together.tolist()) == (np.float64, alone)
    assert minhash.estimate(rows[:0], rows[:0], estimator).shape == (0,)


def test_estimators_that_do_not_fit_are_refused() -> None:
    signature = MinHash().signature([1])
    with pytest.raises(
        SettingsError, match='no estimator "cosine": choose one of unbiased, overlap, set_jaccard'
    ):
        MinHash().estimate(signature, signature, "cosine")
    with pytest.raises(SettingsError, match='"overlap" requires minhash "bottomk", got "fast"'):
        MinHash().estimate(signature, signature, "overlap")
    for estimator in ("unbiased", "set_jaccard"):
        with pytest.raises(SettingsError, match="must have one shape"):
            MinHash().estimate(np.stack([signature] * 2), np.stack([signature] * 3), estimator)
