"""The native sketches, merges and estimates are those of the reference, on every instruction set."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benzer import _native
from tests import texts
from tests.arrays import csr, csr_of_rows, random_set, split
from tests.isas import each_isa
from tests.native import reader, signatures
from tests.reference import hashing, minhash
from tests.reference.minhash import ALGORITHMS, EMPTY
from tests.reference.text import Recipe

SEEDS = st.sampled_from([0, 1, 42, 2**32, 2**63, 2**64 - 1])
SLOTS = st.sampled_from([1, 2, 7, 8, 15, 16, 17, 40, 64, 128])
VALUES = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**32, 2**63, 2**64 - 1]))
SMALL_SETS = st.frozensets(VALUES, max_size=12)
LARGE_SETS = st.builds(random_set, st.integers(0, 400), st.integers(0, 2**32))
SETS = st.one_of(SMALL_SETS, LARGE_SETS)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(st.lists(SETS, max_size=4), SLOTS, SEEDS)
@settings(max_examples=40)
def test_signatures_equal_the_reference(algorithm: str, sets: list[set[int]], k: int, seed: int) -> None:
    expected = [minhash.signature(algorithm, members, k, seed) for members in sets]
    for isa in each_isa():
        got = signatures(algorithm, sets, k, seed)
        assert got.dtype == np.uint32
        assert got.tolist() == expected, isa


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(st.lists(SETS, max_size=4), SLOTS, SEEDS)
@settings(max_examples=40)
def test_signatures_of_integers_equal_the_reference(
    algorithm: str, sets: list[set[int]], k: int, seed: int
) -> None:
    expected = [minhash.integer_signature(algorithm, members, k, seed) for members in sets]
    for isa in each_isa():
        assert signatures(algorithm, sets, k, seed, hashed=False).tolist() == expected, isa


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 15, 16, 17, 127, 128, 129, 400])
def test_signatures_of_every_size_equal_the_reference(algorithm: str, size: int) -> None:
    sets = [random_set(size, seed) for seed in range(3)]
    expected = [minhash.signature(algorithm, members, 128, 7) for members in sets]
    of_integers = [minhash.integer_signature(algorithm, members, 128, 7) for members in sets]
    for isa in each_isa():
        assert signatures(algorithm, sets, 128, 7).tolist() == expected, isa
        assert signatures(algorithm, sets, 128, 7, hashed=False).tolist() == of_integers, isa


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_many_slots_and_few_members(algorithm: str) -> None:
    members = random_set(3, 1)
    expected = minhash.signature(algorithm, members, 4099, 3)
    for isa in each_isa():
        assert signatures(algorithm, [members], 4099, 3).tolist() == [expected], isa


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_order_and_repeats_of_the_hashes_change_nothing(algorithm: str) -> None:
    members = sorted(random_set(300, 5))
    row = members + members[:40]
    random.Random(1).shuffle(row)
    plain = signatures(algorithm, [members], 64, 0)
    for isa in each_isa():
        assert (
            _native.signatures(algorithm, "mixed", *csr_of_rows([row]), 64, 0, 1).tolist() == plain.tolist()
        ), isa


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_number_of_threads_changes_nothing(algorithm: str) -> None:
    sets = [random_set(size, size) for size in range(0, 200, 5)]
    alone = signatures(algorithm, sets, 40, 9, threads=1)
    for threads in (0, 2, 3, 7):
        assert np.array_equal(signatures(algorithm, sets, 40, 9, threads=threads), alone)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("recipe", [Recipe(), Recipe("char", 5)], ids=["word", "char"])
@given(st.lists(texts.texts(), max_size=3))
@settings(max_examples=25)
def test_text_signatures_are_those_of_the_sets(algorithm: str, recipe: Recipe, batch: list[str]) -> None:
    sets = [hashing.shingle_hashes(text, recipe) for text in batch]
    expected = [minhash.signature(algorithm, members, 16, 5) for members in sets]
    for isa in each_isa():
        got = _native.text_signatures(reader(recipe), batch, algorithm, "mixed", 16, 5, 2)
        assert got.tolist() == expected, isa


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(SETS, SETS, SLOTS, SEEDS)
@settings(max_examples=30)
def test_merged_is_the_signature_of_the_union(
    algorithm: str, a: set[int], b: set[int], k: int, seed: int
) -> None:
    union = minhash.signature(algorithm, {*a, *b}, k, seed)
    left, right = (minhash.signature(algorithm, side, k, seed) for side in (a, b))
    assert minhash.merged(algorithm, left, right) == union
    for isa in each_isa():
        got = _native.merge_signatures(
            algorithm, np.array([left], dtype=np.uint32), np.array([right], dtype=np.uint32)
        )
        assert got.tolist() == [union], isa


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(SETS, SETS, SETS, SLOTS)
@settings(max_examples=30)
def test_estimates_equal_the_reference(
    algorithm: str, common: set[int], a: set[int], b: set[int], k: int
) -> None:
    left, right = (minhash.signature(algorithm, common | side, k, 0) for side in (a, b))
    expected = minhash.estimate(algorithm, left, right)
    for isa in each_isa():
        sides = (np.array([side], dtype=np.uint32) for side in (left, right))
        assert _native.estimate(algorithm, *sides).tolist() == [expected], isa


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_empty_sets_are_like_each_other_and_like_nothing_else(algorithm: str) -> None:
    empty, full = signatures(algorithm, [set(), {1, 2, 3}], 8, 0)
    assert empty.tolist() == [EMPTY] * 8
    rows = np.stack([empty, empty, full]), np.stack([empty, full, full])
    for isa in each_isa():
        assert _native.estimate(algorithm, *rows).tolist() == [1.0, 0.0, 1.0], isa


@given(st.lists(st.one_of(st.text(max_size=20), st.integers(-(2**70), 2**70)), max_size=8))
def test_value_sets_equal_the_reference(values: list[str | int]) -> None:
    offsets, hashes = _native.value_sets([values, []])
    assert split(offsets, hashes) == [hashing.value_set(values), []]
    assert [_native.value_set_hash(value) for value in values] == [*map(hashing.value_hash, values)]


def test_values_of_different_types_never_meet() -> None:
    assert _native.value_set_hash(7) != _native.value_set_hash("7")
    assert _native.value_set_hash("i7") != _native.value_set_hash(7)


@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_not_a_value(value: bool) -> None:
    with pytest.raises((TypeError, ValueError)):
        _native.value_set_hash(value)


def test_csr_of_nothing() -> None:
    offsets, hashes = csr([])
    assert _native.signatures("fast", "mixed", offsets, hashes, 8, 0, 1).shape == (0, 8)
