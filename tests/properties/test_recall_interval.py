"""The interval of a measured recall holds the true recall as often as it says, and a wrong one would be told."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import comb, sqrt

import pytest

from benzer.fields import Schema
from benzer.recall import RecallEstimate, clopper_pearson, measure
from tests.bounds import deviation
from tests.recall_runs import Known, known

COLLECTIONS = 20
SEEDS = 50
ASKED = 60


@cache
def collection(number: int) -> Known:
    """One of several collections, of families that are found or missed together."""
    return known(seed=number, families=120, alone=200, largest=4 + number % 5, found=0.97)


@cache
def estimates() -> tuple[tuple[Known, RecallEstimate], ...]:
    """What is measured of each collection with each seed."""
    return tuple(
        (
            collection(number),
            measure(
                collection(number).corpus,
                collection(number).reported,
                Schema(),
                0.8,
                seed=seed,
                documents=ASKED,
            ),
        )
        for number in range(COLLECTIONS)
        for seed in range(SEEDS)
    )


def holding(interval: Callable[[RecallEstimate], tuple[float, float]]) -> int:
    """How many of the intervals hold the true recall of their collection."""
    ends = [(interval(estimate), one.document_recall) for one, estimate in estimates()]
    return sum(low <= truth <= high for (low, high), truth in ends)


def least_holding(share: float = 0.95) -> float:
    """What intervals that hold with this probability fall short of less than once in 10^9."""
    count = COLLECTIONS * SEEDS
    return count * share - deviation(count * share * (1 - share))


def of_shares(share: float, count: int) -> tuple[float, float]:
    """The interval of the textbooks, share ± 1.96 standard errors, which is too narrow near 1 (Wald)."""
    error = 1.96 * sqrt(share * (1 - share) / count)
    return share - error, share + error


def test_the_interval_holds_the_recall_in_95_of_100_samples() -> None:
    assert all(not estimate.exhaustive for _, estimate in estimates())
    assert holding(lambda one: (one.low, one.high)) >= least_holding()


def test_too_narrow_an_interval_would_be_told() -> None:
    assert holding(lambda one: of_shares(one.found / one.asked, one.asked)) < least_holding()


def test_the_mean_of_the_estimates_is_the_recall() -> None:
    """Each answer is yes with probability `recall`; those of a seed are drawn without replacement, at most as wide."""
    for number in range(COLLECTIONS):
        truth = collection(number).document_recall
        found = sum(one.found for known, one in estimates() if known is collection(number))
        asked = SEEDS * ASKED
        assert abs(found - asked * truth) <= deviation(asked * truth * (1 - truth))


@pytest.mark.parametrize("result", [0.2, 0.5, 0.8])
def test_a_document_answers_for_any_of_its_neighbours_alike(result: float) -> None:
    """Found and missed ones lie in the same families, so that a choice that knew of them would show."""
    made = known(seed=77, families=100, alone=0, largest=9, found=result, whole=0.0)
    answers = [measure(made.corpus, made.reported, Schema(), 0.8, seed=s, documents=ASKED) for s in range(20)]
    yes, asked = sum(one.found for one in answers), 20 * ASKED
    truth = made.document_recall
    assert abs(yes - asked * truth) <= deviation(asked * truth * (1 - truth))


def test_the_estimates_of_all_pairs_have_the_recall_of_pairs_as_their_mean() -> None:
    """But for the bias of a ratio, its variance over its mean, and of stopping at a success: one draw of all."""
    for number in range(COLLECTIONS):
        values = [one.pair_recall or 0.0 for known, one in estimates() if known is collection(number)]
        mean, truth = sum(values) / len(values), collection(number).pair_recall
        variance = sum((value - mean) ** 2 for value in values) / len(values)
        bias = 2 * variance + 2 * (1 - truth) / ASKED
        assert abs(mean - truth) <= 6 * sqrt(variance / len(values)) + bias


def tail(least: int, count: int, share: float) -> float:
    """The probability of at least so many yes, by its definition."""
    return sum(comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(least, count + 1))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("query", [1, 2, 7, 30])
def test_the_ends_are_where_what_was_seen_becomes_too_rare(query: int, confidence: float) -> None:
    rest = (1 - confidence) / 2
    for found in range(query + 1):
        low, high = clopper_pearson(found, query, confidence)
        assert low <= found / query <= high
        if found:
            assert tail(found, query, low) == pytest.approx(rest, rel=1e-9)
        if found < query:
            assert 1 - tail(found + 1, query, high) == pytest.approx(rest, rel=1e-9)


def test_the_ends_without_a_miss_are_those_of_the_literature() -> None:
    """Without a miss the lower end is the n-th root of 0.025 (Clopper and Pearson 1934)."""
    for asked in (1, 10, 100, 1000):
        low, high = clopper_pearson(asked, asked)
        assert (low, high) == (pytest.approx(0.025 ** (1 / asked), rel=1e-12), 1.0)
        assert clopper_pearson(0, asked) == (0.0, pytest.approx(1 - 0.025 ** (1 / asked), rel=1e-9))


@pytest.mark.parametrize("all_of_them", [5, 12, 40])
def test_drawn_without_replacement_it_holds_at_least_as_often(all_of_them: int) -> None:
    """Each draw of n of M documents, by counting: no chance is left in this test."""
    for asked in range(1, all_of_them):
        ends = [clopper_pearson(found, asked) for found in range(asked + 1)]
        for right in range(all_of_them + 1):
            ways = [
                comb(right, found) * comb(all_of_them - right, asked - found)
                for found in range(asked + 1)
                if ends[found][0] <= right / all_of_them <= ends[found][1]
            ]
            assert sum(ways) / comb(all_of_them, asked) >= 0.95
