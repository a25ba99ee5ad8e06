"""Band keys and candidate pairs are those of the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benzer import _native
from benzer.candidates import propose
from tests.isas import each_isa
from tests.reference import bands as reference
from tests.reference.bands import NO_KEY
from tests.reference.minhash import EMPTY

SLOT = st.one_of(st.integers(0, EMPTY), st.sampled_from([0, 1, EMPTY - 1, EMPTY]))
SHAPES = st.sampled_from([(1, 1), (2, 1), (3, 2), (9, 4), (7, 3), (16, 8), (5, 17), (33, 1)])
LIMIT = 1000  # no bucket of these tests is that large


@st.composite
def signature_rows(draw: st.DrawFn) -> tuple[list[list[int]], int, int]:
    """Some signatures, and a shape (bands, rows) that fits into them, with slots left over or none."""
    bands, rows = draw(SHAPES)
    width = bands * rows + draw(st.integers(0, 3))
    row = st.one_of(st.lists(SLOT, min_size=width, max_size=width), st.just([EMPTY] * width))
    return draw(st.lists(row, max_size=3)), bands, rows


@given(signature_rows(), st.integers(0, 5))
def test_band_keys_equal_the_reference(made: tuple[list[list[int]], int, int], field: int) -> None:
    signatures, bands, rows = made
    expected = [reference.band_keys(signature, bands, rows, field) for signature in signatures]
    table = np.array(signatures or np.empty((0, bands * rows)), dtype=np.uint32)
    for isa in each_isa():
        got = _native.band_keys(table, bands, rows, field)
        assert got.dtype == np.uint64
        assert got.shape == (len(signatures), bands)
        assert got.tolist() == expected, isa


@st.composite
def key_tables(draw: st.DrawFn) -> list[list[int]]:
    """Rows of keys that often meet in a column, never between columns."""
    bands = draw(st.integers(1, 5))
    key = st.one_of(st.integers(0, 6), st.integers(0, 40), st.just(None))
    rows = draw(st.lists(st.lists(key, min_size=bands, max_size=bands), max_size=40))
    return [[NO_KEY if k is None else (j << 32) + k for j, k in enumerate(row)] for row in rows]


@given(key_tables())
@settings(max_examples=150)
def test_candidate_pairs_are_all_that_share_a_key(keys: list[list[int]]) -> None:
    expected = reference.candidate_pairs(keys) if keys else []
    table = np.array(keys, dtype=np.uint64).reshape(len(keys), -1 if keys else 1)
    for threads in (1, 2):
        left, right, members, ends, limit = _native.candidate_pairs(table, LIMIT, threads)
        assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected
        assert len(members) == len(ends) == 0
        assert limit == LIMIT


@pytest.mark.parametrize("key", [0, 1, NO_KEY - 1])
def test_every_number_but_one_is_a_key(key: int) -> None:
    keys = np.full((2, 1), key, dtype=np.uint64)
    left, right, *_ = _native.candidate_pairs(keys, LIMIT, 1)
    assert (left.tolist(), right.tolist()) == ([0], [1])


def test_documents_without_keys_meet_nobody() -> None:
    keys = np.full((5, 3), NO_KEY, dtype=np.uint64)
    left, right, *_ = _native.candidate_pairs(keys, LIMIT, 1)
    assert len(left) == len(right) == 0


@given(key_tables(), st.integers(2, 6))
@settings(max_examples=150)
def test_pairs_that_share_a_large_bucket_are_not_listed(keys: list[list[int]], limit: int) -> None:
    pairs, large = reference.candidates(keys, limit) if keys else ([], [])
    table = np.array(keys, dtype=np.uint64).reshape(len(keys), -1 if keys else 1)
    found = propose(table, np.ones(len(keys), dtype=bool), limit)
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == pairs
    assert [bucket.tolist() for bucket in found.large.each()] == large
    everyone = np.arange(len(keys), dtype=np.uint32)
    shared = [[bool(found.large.share(a, b)) for b in everyone[:, None]] for a in everyone[:, None]]
    assert shared == [[any(a in b_ and b in b_ for b_ in large) for b in everyone] for a in everyone]


@given(st.integers(1, 300), st.integers(1, 4), st.integers(0, 2**32))
@settings(max_examples=20)
def test_larger_tables_and_more_threads_change_nothing(count: int, bands: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    keys = generator.integers(0, 3 * count, size=(count, bands), dtype=np.uint64)
    keys += np.arange(bands, dtype=np.uint64) << np.uint64(32)
    expected = reference.candidate_pairs(keys.tolist())
    for threads in (0, 1, 3):
        left, right, *_ = _native.candidate_pairs(keys, LIMIT, threads)
        assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected


@given(key_tables(), st.integers(2, 6), st.integers(0, 3))
@settings(max_examples=100)
def test_keys_by_band_propose_what_keys_by_document_propose(
    keys: list[list[int]], limit: int, at_once: int
) -> None:
    table = np.array(keys, dtype=np.uint64).reshape(len(keys), -1 if keys else 1)
    taking_part = np.arange(len(keys)) % 4 != 1
    by_document = propose(table, taking_part, limit, 1)
    turned = np.ascontiguousarray(table.T)
    turned.flags.writeable = False  # as an array mapped from a file is
    by_band = propose(turned, taking_part, limit, 2, at_once, by_band=True)
    assert by_band.left.tolist() == by_document.left.tolist()
    assert by_band.right.tolist() == by_document.right.tolist()
    assert by_band.large.members.tolist() == by_document.large.members.tolist()
    assert by_band.large.ends.tolist() == by_document.large.ends.tolist()
