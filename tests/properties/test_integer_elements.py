"""Estimates of sets of integers in regular patterns are as accurate as theory says.

`MinHash` takes any integers as elements, e.g. consecutive ids. Seeds are fixed. The bounds on the squared error are
six standard errors of it, so that no other choice of seeds breaks them. Those on the mean are four: chance breaks one
of a thousand in one of sixteen choices of seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from benzer import MinHash
from tests.arrays import csr_of_rows
from tests.reference.minhash import ALGORITHMS

Integers = NDArray[np.uint64]

PATTERNS: dict[str, Callable[[Integers], Integers]] = {
    "consecutive": lambda x: x,
    "consecutive from a billion": lambda x: x + np.uint64(10**9),
    "consecutive across 2^63": lambda x: x + np.uint64(2**63 - 100),
    "even": lambda x: x * np.uint64(2),
    "multiples of 10": lambda x: x * np.uint64(10),
    "multiples of 1000": lambda x: x * np.uint64(1000),
    "multiples of 1024": lambda x: x * np.uint64(1024),
    "multiples of 2^32": lambda x: x << np.uint64(32),
    "highest 16 bits": lambda x: x << np.uint64(48),
    "equal halves": lambda x: (x << np.uint64(32)) + x,
}
UNIONS = (60, 400, 2000)
SIMILARITIES = (0.2, 0.5, 0.8, 0.95)
TRIALS = {"fast": 600, "bottomk": 600, "kmins": 120}  # kmins takes 20 to 100 times as long


def pair(members: Integers, similarity: float) -> tuple[Integers, Integers, float]:
    """Two sets whose union are the members, with about this Jaccard similarity, and the exact one."""
    common = round(similarity * len(members))
    each = (len(members) - common) // 2
    union = common + 2 * each
    return members[: common + each], members[each:union], common / union


def check(minhash: MinHash, errors: NDArray[np.float64], truth: float, union: int) -> None:
    """Refuse a bias of more than four standard errors, and a squared error that is not explained by theory."""
    theory = minhash.standard_error(truth, union)
    if theory == 0.0:
        assert np.abs(errors).max() < 1e-12
        return
    trials = len(errors)
    assert abs(errors.mean()) <= 4 * theory / math.sqrt(trials)
    excess = 2 + 1 / (minhash.num_hashes * truth * (1 - truth))  # the kurtosis of a binomial share, less 1
    assert (errors**2).mean() <= theory**2 * (1 + 6 * math.sqrt(excess / trials))


@pytest.mark.parametrize("num_hashes", [64, 128, 256])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_estimates_of_integers_in_any_pattern_are_as_accurate_as_theory_over_all_seeds(
    algorithm: str, num_hashes: int
) -> None:
    cases = [
        (name, union, similarity) for name in PATTERNS for union in UNIONS for similarity in SIMILARITIES
    ]
    pairs = [pair(PATTERNS[name](np.arange(union, dtype=np.uint64)), alike) for name, union, alike in cases]
    offsets, members = csr_of_rows([side for one in pairs for side in one[:2]])
    estimates = np.empty((TRIALS[algorithm], len(cases)))
    for seed in range(TRIALS[algorithm]):
        minhash = MinHash(algorithm, num_hashes, seed)
        signatures = minhash.signatures(offsets, members)
        estimates[seed] = minhash.estimate(signatures[::2], signatures[1::2])
    for (_, union, _), (*_, truth), column in zip(cases, pairs, estimates.T, strict=True):
        check(minhash, column - truth, truth, union)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_estimates_of_many_sets_by_the_default_seed_are_as_accurate_as_theory(
    algorithm: str, pattern: str
) -> None:
    """Sets of integers that start at different places, as the sets of one collection do."""
    trials, union = TRIALS[algorithm], 400
    starts = np.random.default_rng(1).integers(0, 2**16 - union, trials, dtype=np.uint64)
    minhash = MinHash(algorithm)
    for similarity in SIMILARITIES:
        pairs = [
            pair(PATTERNS[pattern](start + np.arange(union, dtype=np.uint64)), similarity) for start in starts
        ]
        signatures = minhash.signatures(*csr_of_rows([side for one in pairs for side in one[:2]]))
        truth = pairs[0][2]
        check(minhash, minhash.estimate(signatures[::2], signatures[1::2]) - truth, truth, union)
