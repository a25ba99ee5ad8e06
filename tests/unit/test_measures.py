"""The similarity of single pairs: sets, sorted sequences, bags, containment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benzer.errors import InputError, SettingsError
from benzer.fields import Text
from benzer.verify import bag_jaccard, jaccard, jaccard_sorted
from tests.arrays import split
from tests.reference import classical

NUMBERS = st.lists(st.integers(0, 12), max_size=20)
LETTERS = st.text("abcd", max_size=20)


@given(NUMBERS, NUMBERS)
def test_merging_sorted_sequences_gives_the_jaccard_of_the_sets(a: list[int], b: list[int]) -> None:
    assert jaccard_sorted(sorted(a), sorted(b)) == jaccard(a, b)


@pytest.mark.parametrize(
    "a, b, expected",
    [
        ([], [], 1.0),
        ([], [1], 0.0),
        ([1, 1, 1], [1], 1.0),
        (["a", "b"], ["b", "c"], 1 / 3),
        ([(1, 2), (1, 3)], [(1, 3)], 0.5),
        (np.array([1, 4, 9]), np.array([4, 9, 16]), 0.5),
        ([1, 2], [1.0, 2.5], 1 / 3),
        ([float("-inf"), 0.0], [-0.0], 0.5),
    ],
)
def test_sorted_sequences_of_any_ordered_type(a: Any, b: Any, expected: float) -> None:
    assert jaccard_sorted(a, b) == jaccard_sorted(b, a) == expected


def test_sorted_sequences_may_be_endless_in_memory() -> None:
    def numbers(step: int) -> Iterator[int]:
        yield from range(0, 30_000, step)

    # 10,000 even-spaced by 3, 15,000 by 2, 5,000 by 6 in both.
    assert jaccard_sorted(numbers(2), numbers(3)) == 5_000 / 20_000


@pytest.mark.parametrize(
    "a, b, message",
    [
        ([1, 3, 2], [1], "element 3 of the first sequence is 2, after 3: sort it first"),
        ([1], ["a", "A"], None),
        ([1], [5, 4], "element 2 of the second sequence is 4, after 5"),
        ([1, float("nan")], [1], "element 2 of the first sequence is nan, after 1"),
        ([float("nan")], [1], "element 1 of the first sequence is nan: sort"),
        ([9, 1], [], "element 2 of the first sequence is 1, after 9"),
    ],
)
def test_what_is_not_ascending_is_refused(a: Any, b: Any, message: str | None) -> None:
    with pytest.raises(InputError if message else TypeError, match=message):
        jaccard_sorted(a, b)


@given(LETTERS, LETTERS)
def test_bags_are_compared_by_both_conventions(a: str, b: str) -> None:
    if a or b:
        for union in ("max", "sum"):
            assert bag_jaccard(a, b, union) == classical.bag_similarity(a, b, union)  # type: ignore[arg-type]


@given(LETTERS, LETTERS)
def test_the_sum_convention_is_a_function_of_the_other(a: str, b: str) -> None:
    usual = Fraction(bag_jaccard(a, b)).limit_denominator(1000)
    assert bag_jaccard(a, b, "sum") == pytest.approx(float(usual / (1 + usual)), abs=1e-15)


@given(LETTERS, LETTERS)
def test_a_field_with_frequencies_has_the_similarity_of_the_bags(a: str, b: str) -> None:
    letters = Text(unit="char", shingle_size=1, frequencies=True)
    assert jaccard(*split(*letters.sets([a, b]))) == bag_jaccard(a, b)


def test_counts_may_be_given() -> None:
    assert bag_jaccard({"a": 3, "b": 1}, Counter("aabbc")) == bag_jaccard("aaab", "aabbc") == 0.5
    assert bag_jaccard({"a": 0}, {}) == 1.0
    with pytest.raises(InputError, match="a bag contains 'a' -1 times"):
        bag_jaccard({"a": -1}, "a")


def test_an_unknown_convention_is_refused() -> None:
    with pytest.raises(SettingsError, match="union must be 'max' or 'sum', got 'min'"):
        bag_jaccard("a", "b", "min")  # type: ignore[arg-type]
