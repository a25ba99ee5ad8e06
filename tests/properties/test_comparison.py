"""Exact similarities, leaders and components are those of the reference."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benzer import _native
from tests.arrays import csr, random_set
from tests.isas import each_isa
from tests.reference import similarity as reference

THRESHOLDS = st.sampled_from([0.25, 0.5, 2 / 3, 0.75, 0.8, 1.0])


def positions(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """The left and the right side of some pairs."""
    table = np.array(pairs, dtype=np.uint32).reshape(-1, 2)
    return table[:, 0].copy(), table[:, 1].copy()


def jaccards(sets: list[frozenset[int]], pairs: list[tuple[int, int]], threads: int = 1) -> list[float]:
    """What the native core says of some pairs."""
    similarity: list[float] = _native.jaccard(*csr(sets), *positions(pairs), threads).tolist()
    return similarity


@given(st.lists(st.frozensets(st.integers(0, 30), max_size=20), min_size=1, max_size=12))
def test_jaccard_equals_the_reference(sets: list[frozenset[int]]) -> None:
    pairs = [(a, b) for a in range(len(sets)) for b in range(len(sets))]
    expected = [reference.jaccard(sets[a], sets[b]) for a, b in pairs]
    for isa in each_isa():
        assert jaccards(sets, pairs) == expected, isa
        assert jaccards(sets, pairs, threads=3) == expected, isa


@given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 400), st.integers(0, 2**32))
@settings(max_examples=100)
def test_jaccard_of_large_sets(common: int, left: int, right: int, seed: int) -> None:
    shared, a, b = (random_set(size, seed + i) for i, size in enumerate((common, left, right)))
    sets = [frozenset(shared | a), frozenset(shared | b)]
    expected = [reference.jaccard(*sets), reference.jaccard(*sets), 1.0]
    for isa in each_isa():
        assert jaccards(sets, [(0, 1), (1, 0), (1, 1)]) == expected, isa


@given(st.frozensets(st.sampled_from([0, 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1])))
def test_the_largest_and_least_hashes_are_ordinary_members(members: frozenset[int]) -> None:
    other = frozenset({0, 2**63, 2**64 - 1})
    for isa in each_isa():
        assert jaccards([members, other], [(0, 1)]) == [reference.jaccard(members, other)], isa


@st.composite
def judged_pairs(draw: st.DrawFn) -> tuple[list[int], dict[tuple[int, int], float]]:
    """A keep order, and the similarity of every pair."""
    count = draw(st.integers(0, 9))
    rank = draw(st.permutations(range(count)))
    grades = st.sampled_from([0.1, 0.3, 0.5, 2 / 3, 0.75, 0.8, 0.9, 1.0])
    return rank, {pair: draw(grades) for pair in combinations(range(count), 2)}


def native_leaders(
    rank: list[int], table: dict[tuple[int, int], float], threshold: float
) -> tuple[list[tuple[int, float]], int]:
    """Who leads whom when every pair is known, and how many pairs the core still wants to know."""
    pairs = sorted(table)
    left, right = positions(pairs)
    similarity = np.array([table[pair] for pair in pairs], dtype=np.float64)
    order, nothing = np.array(rank, dtype=np.uint32), np.empty(0, dtype=np.uint32)
    everyone = np.arange(len(rank), dtype=np.uint32)
    deciding = _native.Deciding(
        order, left, right, similarity, threshold, everyone, nothing, nothing.astype(np.int64)
    )
    wanted, _ = deciding.wanted()
    leader, strength = deciding.outcome()
    return list(zip(leader.tolist(), strength.tolist(), strict=True)), len(wanted)


@given(judged_pairs(), THRESHOLDS)
@settings(max_examples=300)
def test_leaders_equal_the_reference_when_all_pairs_are_known(
    judged: tuple[list[int], dict[tuple[int, int], float]], threshold: float
) -> None:
    rank, table = judged
    expected = reference.leaders(rank, reference.lookup(table), threshold)
    assert native_leaders(rank, table, threshold) == (expected, 0)


@given(judged_pairs(), THRESHOLDS)
@settings(max_examples=300)
def test_who_goes_resembles_a_kept_one_and_no_two_kept_ones_are_alike(
    judged: tuple[list[int], dict[tuple[int, int], float]], threshold: float
) -> None:
    rank, table = judged
    leaders, _ = native_leaders(rank, table, threshold)
    kept = {position for position, (leader, _) in enumerate(leaders) if leader == position}
    similarity = reference.lookup(table)
    for position, (leader, strength) in enumerate(leaders):
        assert leader in kept
        if leader != position:
            earlier = [other for other in kept if rank[other] < rank[position]]
            assert leader in earlier, "whoever speaks for a document comes before it in the keep order"
            assert strength == max(similarity(position, other) for other in earlier) >= threshold
    assert all(similarity(a, b) < threshold for a, b in combinations(sorted(kept), 2))


@given(st.integers(1, 40), st.data())
def test_components_are_named_by_their_least_member(count: int, data: st.DataObject) -> None:
    ends = st.integers(0, count - 1)
    pairs = data.draw(st.lists(st.tuples(ends, ends), max_size=60))
    got = _native.components(count, *positions(pairs)).tolist()
    assert got == reference.components(count, pairs)
