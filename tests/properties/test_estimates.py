"""Estimates are unbiased and as exact as theory says; bands find what their formula promises.

Seeds are fixed. The bounds hold for a random seed with a failure probability below 1e-8 (six standard errors,
or a binomial tail of 1e-9), so that a new seed cannot break them by chance.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from benzer import _native
from benzer.bands import Bands
from tests.arrays import Csr, paired_sets
from tests.reference.minhash import ALGORITHMS

NUM_HASHES = 128
SHAPES = [  # common, each of its own: J = common / (common + 2 each)
    (5, 5),
    (10, 45),
    (50, 25),
    (90, 5),
    (300, 150),
    (40, 180),
    (700, 50),
]


def jaccard(common: int, each: int) -> float:
    """The similarity of every row of `paired_sets`."""
    return common / (common + 2 * each)


def sketch(algorithm: str, sets: Csr, num_hashes: int, seed: int) -> NDArray[np.uint32]:
    """Signatures on all cores."""
    return _native.signatures(algorithm, "mixed", *sets, num_hashes, seed, 0)


def estimates(algorithm: str, common: int, each: int, pairs: int, seed: int) -> NDArray[np.float64]:
    """The estimates of so many pairs of one similarity."""
    left, right = paired_sets(pairs, common, each, seed)
    sides = (sketch(algorithm, side, NUM_HASHES, seed) for side in (left, right))
    return _native.estimate(algorithm, *sides)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("common, each", SHAPES)
def test_estimates_are_unbiased(algorithm: str, common: int, each: int) -> None:
    pairs, truth = 2000, jaccard(common, each)
    bound = 6 * math.sqrt(truth * (1 - truth) / (NUM_HASHES * pairs))
    mean = estimates(algorithm, common, each, pairs, seed=11).mean()
    assert abs(mean - truth) <= bound


def variance_ratio(algorithm: str, common: int, each: int, pairs: int) -> float:
    """The mean squared error over that of independent hashes, J (1 - J) / k."""
    truth = jaccard(common, each)
    errors = estimates(algorithm, common, each, pairs, seed=23) - truth
    return float((errors**2).mean() / (truth * (1 - truth) / NUM_HASHES))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("common, each", SHAPES)
def test_the_error_is_no_larger_than_that_of_independent_hashes(
    algorithm: str, common: int, each: int
) -> None:
    pairs, truth = 2000, jaccard(common, each)
    kurtosis = 2 + 1 / (NUM_HASHES * truth * (1 - truth))
    assert variance_ratio(algorithm, common, each, pairs) <= 1 + 6 * math.sqrt(kurtosis / pairs)


@pytest.mark.parametrize("common, each", [(5, 5), (10, 45), (50, 25), (90, 5)])
def test_fast_sketches_of_small_sets_are_more_exact_than_independent_hashes(common: int, each: int) -> None:
    assert common + 2 * each <= NUM_HASHES
    assert variance_ratio("fast", common, each, 2000) <= 0.75


@pytest.mark.parametrize("common, each", [(5, 5), (20, 10), (90, 5), (0, 60), (128, 0)])
def test_bottomk_is_exact_while_the_union_fits(common: int, each: int) -> None:
    assert common + 2 * each <= NUM_HASHES
    assert (estimates("bottomk", common, each, 200, seed=3) == jaccard(common, each)).all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_sets_of_unequal_size_are_estimated_without_bias(algorithm: str) -> None:
    """A subset of a tenth of the size: the share of equal least values alone would read far too much."""
    pairs, small, large = 2000, 60, 600
    generator = np.random.default_rng(5)
    members = np.sort(generator.integers(0, 2**64, size=(pairs, large), dtype=np.uint64), axis=1)
    chosen = generator.permuted(np.tile(np.arange(large), (pairs, 1)), axis=1)[:, :small]
    subset = np.take_along_axis(members, np.sort(chosen, axis=1), axis=1)
    sides = [
        (np.arange(pairs + 1, dtype=np.int64) * rows.shape[1], rows.reshape(-1)) for rows in (subset, members)
    ]
    got = _native.estimate(algorithm, *(sketch(algorithm, side, NUM_HASHES, 1) for side in sides))
    truth = small / large
    assert abs(got.mean() - truth) <= 6 * math.sqrt(truth * (1 - truth) / (NUM_HASHES * pairs))


def binomial_tail(hits: int, trials: int, chance: float) -> tuple[float, float]:
    """P(X <= hits) and P(X >= hits) of a binomial count, summed exactly."""
    if chance <= 0.0 or chance >= 1.0:
        certain = 0 if chance <= 0.0 else trials
        return float(certain <= hits), float(certain >= hits)
    logs = [
        math.lgamma(trials + 1) - math.lgamma(i + 1) - math.lgamma(trials - i + 1)
        + i * math.log(chance) + (trials - i) * math.log1p(-chance)
        for i in range(trials + 1)
    ]  # fmt: skip
    masses = [math.exp(value) for value in logs]
    return math.fsum(masses[: hits + 1]), math.fsum(masses[hits:])


def realised_hits(algorithm: str, shape: Bands, common: int, each: int, pairs: int) -> int:
    """How many pairs of one similarity share a band."""
    left, right = paired_sets(pairs, common, each, 31)
    keys = [
        _native.band_keys(sketch(algorithm, side, shape.num_values, 5), shape.bands, shape.rows, 0)
        for side in (left, right)
    ]
    return int((keys[0] == keys[1]).any(axis=1).sum())


@pytest.mark.parametrize("algorithm", ["fast", "kmins"])
@pytest.mark.parametrize("bands, rows", [(9, 4), (16, 8), (32, 4), (7, 3)])
@pytest.mark.parametrize("common, each", [(20, 30), (60, 20), (80, 10), (95, 3), (800, 100), (500, 250)])
def test_bands_find_what_the_formula_says(
    algorithm: str, bands: int, rows: int, common: int, each: int
) -> None:
    pairs, shape = 3000, Bands(bands, rows)
    promised = float(shape.probability(jaccard(common, each)))
    below = 0.005 if promised >= 0.95 else 0.03
    hits = realised_hits(algorithm, shape, common, each, pairs)
    assert binomial_tail(hits, pairs, promised - below)[0] >= 5e-10
    assert binomial_tail(hits, pairs, promised + 0.03)[1] >= 5e-10


def one_permutation(sets: Csr, slots: int) -> NDArray[np.float64]:
    """One-permutation hashing; an empty slot borrows from the next full one, and notes from how far."""
    offsets, hashes = sets
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    table = np.full((len(offsets) - 1, slots), np.inf)
    np.minimum.at(
        table, (rows, (hashes % np.uint64(slots)).astype(np.int64)), (hashes >> np.uint64(11)) / 2**53
    )
    for _ in range(2):
        for slot in reversed(range(slots)):
            borrowed = table[:, (slot + 1) % slots] + 1.0
            table[:, slot] = np.where(np.isinf(table[:, slot]), borrowed, table[:, slot])
    return table


def test_the_bound_of_the_error_refuses_one_permutation_hashing() -> None:
    """The bound can fail: ten members a set, and a sketch that is known to be bad at that."""
    pairs, common, each = 2000, 5, 5
    left, right = (one_permutation(side, NUM_HASHES) for side in paired_sets(pairs, common, each, 23))
    truth = jaccard(common, each)
    ratio = (((left == right).mean(axis=1) - truth) ** 2).mean() / (truth * (1 - truth) / NUM_HASHES)
    assert ratio > 1 + 6 * math.sqrt((2 + 1 / (NUM_HASHES * truth * (1 - truth))) / pairs)


def test_the_binomial_bound_refuses_a_lost_band() -> None:
    """The bound can fail: what six bands find is not what nine promise."""
    promised, lost = (float(Bands(bands, 4).probability(0.6)) for bands in (9, 6))
    assert binomial_tail(round(3000 * lost), 3000, promised - 0.03)[0] < 5e-10
