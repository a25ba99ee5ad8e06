"""MinHash: signatures of one set and of many, merges, estimates, and the errors that name a cure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from benzer.errors import InputError, SettingsError
from benzer.minhash import MinHash
from tests.arrays import csr, random_set
from tests.reference import minhash as reference
from tests.reference.minhash import ALGORITHMS, EMPTY

every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)


def test_the_default_is_fast_with_128_values_and_seed_0() -> None:
    assert MinHash() == MinHash("fast", 128, 0) == MinHash(algorithm="fast", num_hashes=128, seed=0)


@every_algorithm
def test_the_signature_of_one_set_is_that_of_the_reference(algorithm: str) -> None:
    members = sorted(random_set(50, 1))
    minhash, array = MinHash(algorithm, 16, 3), np.array(members, dtype=np.uint64)
    expected = reference.integer_signature(algorithm, members, 16, 3)
    got = minhash.signature(array)
    assert (got.dtype, got.shape) == (np.uint32, (16,))
    assert got.tolist() == minhash.signature(members).tolist() == expected
    of_hashes = reference.signature(algorithm, members, 16, 3)
    assert minhash.signature(array, hashed=True).tolist() == of_hashes
    assert minhash.signatures(*csr([members]), hashed=True).tolist() == [of_hashes]


@every_algorithm
def test_repeats_and_order_do_not_count(algorithm: str) -> None:
    minhash = MinHash(algorithm, 16)
    assert minhash.signature([3, 1, 2, 3, 3]).tolist() == minhash.signature([1, 2, 3]).tolist()


@every_algorithm
def test_signatures_of_many_sets_are_those_of_each(algorithm: str) -> None:
    sets = [random_set(size, size) for size in (0, 1, 5, 40, 300)]
    minhash = MinHash(algorithm, 24, 9)
    got = minhash.signatures(*csr(sets))
    assert got.tolist() == [minhash.signature(sorted(members)).tolist() for members in sets]


@every_algorithm
def test_only_the_empty_set_is_empty_in_every_slot(algorithm: str) -> None:
    assert MinHash(algorithm, 4).signature([]).tolist() == [EMPTY] * 4
    assert MinHash(algorithm, 4).signature([0]).tolist() != [EMPTY] * 4


@every_algorithm
def test_merging_is_sketching_the_union(algorithm: str) -> None:
    a, b = random_set(100, 1), random_set(30, 2)
    minhash = MinHash(algorithm, 64)
    parts = [minhash.signature(sorted(side)) for side in (a, b)]
    union = minhash.signature(sorted(a | b))
    assert minhash.merge(*parts).tolist() == union.tolist()
    assert minhash.merge(np.stack(parts), np.stack(parts[::-1])).tolist() == [union.tolist()] * 2


@every_algorithm
def test_estimates_of_rows_and_of_single_signatures(algorithm: str) -> None:
    a, b = random_set(100, 1), random_set(30, 2)
    minhash = MinHash(algorithm, 64)
    left, right = minhash.signature(sorted(a)), minhash.signature(sorted(a | b))
    expected = reference.estimate(algorithm, left.tolist(), right.tolist())
    assert float(minhash.estimate(left, right)) == expected
    rows = minhash.estimate(np.stack([left, left]), np.stack([right, left]))
    assert rows.tolist() == [expected, 1.0]


@every_algorithm
def test_empty_sets_resemble_only_each_other(algorithm: str) -> None:
    minhash = MinHash(algorithm, 8)
    empty, full = minhash.signature([]), minhash.signature([1, 2])
    assert float(minhash.estimate(empty, empty)) == 1.0
    assert float(minhash.estimate(empty, full)) == float(minhash.estimate(full, empty)) == 0.0


@every_algorithm
def test_another_seed_makes_other_signatures(algorithm: str) -> None:
    members = sorted(random_set(50, 1))
    first, second = (MinHash(algorithm, 16, seed).signature(members) for seed in (0, 1))
    assert (first != second).all()


def test_the_standard_error_is_that_of_independent_hashes() -> None:
    assert MinHash(num_hashes=128).standard_error(0.5) == pytest.approx(math.sqrt(0.25 / 128))
    assert MinHash(num_hashes=400).standard_error(0.2) == pytest.approx(0.02)
    assert MinHash().standard_error(1.0) == MinHash().standard_error(0.0) == 0.0


def test_algorithm_is_told_with_those_that_exist() -> None:
    with pytest.raises(SettingsError, match=r"superfast.*fast.*kmins.*bottomk"):
        MinHash("superfast")


@pytest.mark.parametrize("num_hashes", [0, -1, 65536, 1.5, True])
def test_num_hashes_outside_its_range_is_told(num_hashes: Any) -> None:
    with pytest.raises(SettingsError, match=rf"num_hashes .*65535.*{num_hashes}"):
        MinHash(num_hashes=num_hashes)


@pytest.mark.parametrize("num_hashes", [1, 65535])
def test_num_hashes_at_the_ends_of_its_range(num_hashes: int) -> None:
    assert MinHash(num_hashes=num_hashes).signature([1, 2]).shape == (num_hashes,)


@pytest.mark.parametrize("seed", [-1, 2**64, 0.5])
def test_a_seed_outside_its_range_is_told(seed: Any) -> None:
    with pytest.raises(SettingsError, match=f"seed .*{seed}"):
        MinHash(seed=seed)


def test_the_greatest_seed_is_a_seed() -> None:
    expected = reference.integer_signature("fast", [1, 2, 3], 8, 2**64 - 1)
    assert MinHash(num_hashes=8, seed=2**64 - 1).signature([1, 2, 3]).tolist() == expected


@every_algorithm
def test_signatures_of_another_length_are_refused(algorithm: str) -> None:
    minhash, other = MinHash(algorithm, 16), MinHash(algorithm, 8)
    for call in (minhash.estimate, minhash.merge):
        with pytest.raises(SettingsError, match=r"16.*8"):
            call(other.signature([1]), other.signature([2]))


@every_algorithm
def test_different_numbers_of_signatures_are_refused(algorithm: str) -> None:
    minhash = MinHash(algorithm, 16)
    two, three = (np.stack([minhash.signature([i]) for i in range(n)]) for n in (2, 3))
    for call in (minhash.estimate, minhash.merge):
        with pytest.raises((InputError, SettingsError, ValueError)):
            call(two, three)


WRONG_HASHES = [
    np.array([1.0]),
    np.array([-1]),
    np.array([[1]], dtype=np.uint64),
    [-1],
    [2**64],
    ["a"],
    [0.5],
]


@pytest.mark.parametrize("hashes", WRONG_HASHES, ids=repr)
def test_hashes_that_are_no_64_bit_numbers_are_refused(hashes: Any) -> None:
    with pytest.raises(InputError):
        MinHash().signature(hashes)


@pytest.mark.parametrize("offsets", [[0, 2, 1, 3], [1, 3], [0, 4], [-1, 3], [0, 2], []], ids=repr)
def test_offsets_that_do_not_fit_are_refused(offsets: list[int]) -> None:
    hashes = np.array([1, 2, 3], dtype=np.uint64)
    with pytest.raises((InputError, ValueError)):
        MinHash().signatures(np.array(offsets, dtype=np.int64), hashes)


def test_minhash_is_a_value() -> None:
    assert len({MinHash(), MinHash(), MinHash("kmins")}) == 2
    with pytest.raises(AttributeError):
        MinHash().seed = 3  # type: ignore[misc]
