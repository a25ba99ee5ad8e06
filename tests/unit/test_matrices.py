"""Characteristic and signature matrices, as the literature writes them on paper."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benzer.errors import InputError, SettingsError
from benzer.experiments.matrices import (
    characteristic_matrix,
    estimated_similarities,
    permutation_minhash,
    signature_matrix,
    signature_steps,
)
from benzer.verify import jaccard
from tests.reference import classical

SETS = st.lists(st.sets(st.integers(0, 7)), min_size=1, max_size=5)
ROWS = st.lists(st.lists(st.integers(0, 99), min_size=8, max_size=8), min_size=1, max_size=4)


@given(SETS)
def test_the_columns_are_the_sets(sets: list[set[int]]) -> None:
    assert characteristic_matrix(sets).sets() == sets
    found = characteristic_matrix(sets, universe=range(8))
    assert (found.elements, found.matrix.shape) == (tuple(range(8)), (8, len(sets)))
    assert found.matrix.tolist() == [[row in one for one in sets] for row in range(8)]


def test_the_universe_has_its_order_or_the_elements_theirs() -> None:
    assert characteristic_matrix([{3}, {1, 2}]).elements == (1, 2, 3)
    assert characteristic_matrix(["ba"], universe="cab").elements == ("c", "a", "b")
    assert characteristic_matrix(["zy", {2.5, 1}, ["b", 1]]).elements == (2.5, 1, "b", "y", "z")
    assert characteristic_matrix([]).matrix.shape == (0, 0)


def test_elements_without_an_order_of_their_own_have_one_for_all_runs() -> None:
    """A set of strings is walked in another order by each process: rows must not tell in which."""
    strings = [f"s{number}" for number in range(10, 30)]
    assert characteristic_matrix([{*strings, 3, 20, 1}]).elements == (1, 20, 3, *strings)
    inner = [frozenset(strings[:size]) for size in (3, 1, 2)]  # they are in order, by what they hold
    assert characteristic_matrix([set(inner)]).elements == (inner[1], inner[2], inner[0])
    apart = [frozenset(strings[start : start + 2]) for start in range(0, 20, 2)]  # and these are not
    assert characteristic_matrix([set(apart)]).elements == tuple(apart)


def test_an_element_outside_the_universe_is_refused() -> None:
    with pytest.raises(InputError, match="'z' is in a set but not in the universe of 3 elements"):
        characteristic_matrix(["az"], universe="abc")


@given(SETS, ROWS)
def test_the_steps_are_those_of_the_reference(sets: list[set[int]], functions: list[list[int]]) -> None:
    matrix = characteristic_matrix(sets, universe=range(8))
    steps = [step.tolist() for step in signature_steps(matrix, functions)]
    assert steps == list(classical.signature_steps(sets, functions))
    assert signature_matrix(matrix, np.array(functions)).tolist() == steps[-1]


def test_a_step_and_the_next_do_not_change_each_other() -> None:
    steps = signature_steps(characteristic_matrix([{0, 1}, {0}]), [[5, 3]])
    first = next(steps)
    first[0, 0] = 1
    assert next(steps).tolist() == [[3.0, 5.0]]
    assert first.tolist() == [[1.0, 5.0]]


def test_functions_may_be_callables() -> None:
    matrix = characteristic_matrix([{0, 3}, {2}], universe=range(5))
    given_as_values = signature_matrix(matrix, [[(3 * x + 1) % 5 for x in range(5)]])
    assert np.array_equal(signature_matrix(matrix, [lambda x: (3 * x + 1) % 5]), given_as_values)


def test_without_rows_nothing_has_come_yet() -> None:
    assert signature_matrix(characteristic_matrix([set(), set()]), [[]]).tolist() == [[math.inf, math.inf]]


@given(st.sets(st.sampled_from("abcd")), st.sets(st.sampled_from("abcd")))
def test_the_share_of_permutations_that_agree_is_the_jaccard_similarity(a: set[str], b: set[str]) -> None:
    if a | b:
        agree = [x == y for x, y in (permutation_minhash([a, b], order) for order in permutations("abcd"))]
        assert sum(agree) / len(agree) == pytest.approx(jaccard(a, b), abs=1e-12)


@given(SETS, st.permutations(range(8)))
def test_a_permutation_is_a_hash_function_of_rows(sets: list[set[int]], order: list[int]) -> None:
    places = [order.index(row) for row in range(8)]
    least = signature_matrix(characteristic_matrix(sets, universe=range(8)), [places])[0]
    firsts = permutation_minhash(sets, order)
    assert [None if math.isinf(place) else order[int(place)] for place in least] == firsts
    permuted = characteristic_matrix(sets, universe=range(8)).permuted(order)
    assert permuted.elements == tuple(order)
    assert permuted.sets() == sets


def test_every_permutation_as_a_function_estimates_exactly() -> None:
    sets = [{0, 3}, {2}, {1, 3}, {0, 2, 3}]
    all_orders = np.array(list(permutations(range(4))))
    shares = estimated_similarities(signature_matrix(characteristic_matrix(sets), all_orders))
    assert shares == pytest.approx(np.array([[jaccard(a, b) for a in sets] for b in sets]))


@pytest.mark.parametrize(
    "functions, message",
    [
        ([], "functions must contain at least one function, got none"),
        ([[1, 2, 3]], r"function 0 must have a value for each of 2 rows, got \(3,\)"),
        ([[1, 2], [1, 2**53]], "function 1 has the value 9007199254740992, but matrices hold values below"),
        ([[1, -(2**53)]], "function 0 has the value -9007199254740992, but matrices hold values"),
        ([np.array([-(2**63), 1])], "function 0 has the value -9223372036854775808, but"),
        ([[1, 2**70]], f"function 0 has the value {2**70}, but"),
        ([[1, -math.inf]], "function 0 has the value -inf, but"),
        ([[1, math.nan]], "function 0 has the value nan, but"),
        ([["a", "b"]], "function 0 must return numbers, got"),
        ([["1", "2"]], "function 0 must return numbers, got"),
        ([[1, None]], "function 0 must return numbers, got"),
        ([[1j, 2]], "function 0 must return numbers, got"),
        ([[[1], [1, 2]]], "function 0 must return numbers, got"),
        ([lambda row: "a"], "function 0 must return numbers, got"),
    ],
)
def test_functions_that_do_not_fit_are_refused(functions: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        signature_matrix(characteristic_matrix([{0, 1}]), functions)
    with pytest.raises(SettingsError, match=message):
        signature_steps(characteristic_matrix([{0, 1}]), functions)


def test_an_order_that_is_no_permutation_is_refused() -> None:
    with pytest.raises(SettingsError, match="order must contain each of the rows 0 to 1 once, got"):
        characteristic_matrix([{0, 1}]).permuted([0, 0])
