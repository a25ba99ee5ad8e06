"""Bands: the S-curve, the choices by recall and by rule, and the errors that name a cure."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benzer.bands import Bands
from benzer.errors import SettingsError
from tests.reference import bands as reference
from tests.reference.minhash import EMPTY

THRESHOLDS = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95]
RECALLS = [0.5, 0.9, 0.95, 0.99, 0.999]


def shape(bands: Bands) -> tuple[int, int]:
    """Bands and rows."""
    return bands.bands, bands.rows


def test_probability_is_the_formula() -> None:
    for bands, rows in [(1, 1), (9, 4), (20, 5), (50, 2)]:
        for similarity in (0.0, 0.1, 0.5, 0.8, 1.0):
            expected = reference.probability_found(similarity, bands, rows)
            assert float(Bands(bands, rows).probability(similarity)) == pytest.approx(expected, abs=1e-12)


def test_probability_of_an_array_is_an_array() -> None:
    similarities = np.array([[0.0, 0.5], [0.8, 1.0]])
    got = Bands(9, 4).probability(similarities)
    expected = [[reference.probability_found(s, 9, 4) for s in row] for row in similarities.tolist()]
    assert np.allclose(got, expected, rtol=0, atol=1e-12)


def test_bands_of_one_row_multiply_the_chance_of_the_unlike() -> None:
    assert float(Bands(50, 1).probability(0.05)) == pytest.approx(0.92, abs=0.005)
    assert float(Bands(2, 1).probability(0.02)) == pytest.approx(0.04, abs=0.0005)


FIELD_SETTINGS = [
    (9, 13, 0.40), (20, 13, 0.68), (8, 8, 0.77), (26, 11, 0.90), (14, 8, 0.92), (25, 10, 0.94), (16, 8, 0.95),
    (20, 5, 1.00),
]  # fmt: skip


@pytest.mark.parametrize("bands, rows, recall", FIELD_SETTINGS)
def test_settings_found_in_the_field_have_the_recall_that_is_published(
    bands: int, rows: int, recall: float
) -> None:
    assert float(Bands(bands, rows).probability(0.8)) == pytest.approx(recall, abs=0.0051)


def test_more_bands_find_more_and_more_rows_find_less() -> None:
    assert Bands(10, 4).probability(0.6) > Bands(9, 4).probability(0.6) > Bands(9, 5).probability(0.6)


def test_the_curve_goes_from_nothing_to_all() -> None:
    curve = Bands(9, 4).curve(points=11)
    assert curve.shape == (11, 2)
    assert np.allclose(curve[:, 0], np.linspace(0, 1, 11))
    assert np.allclose(curve[:, 1], [reference.probability_found(s, 9, 4) for s in np.linspace(0, 1, 11)])
    assert Bands(9, 4).curve().shape == (101, 2)


def test_num_values_is_bands_times_rows() -> None:
    assert Bands(9, 4).num_values == 36


def test_bands_are_values() -> None:
    assert Bands(9, 4) == Bands(9, 4)
    assert hash(Bands(9, 4)) == hash(Bands(9, 4))
    with pytest.raises(AttributeError):
        Bands(9, 4).rows = 5  # type: ignore[misc]


def test_keys_are_those_of_the_reference() -> None:
    signatures = np.arange(40, dtype=np.uint32).reshape(4, 10)
    signatures[2] = EMPTY
    for field in (0, 1):
        expected = [reference.band_keys(row, 3, 3, field) for row in signatures.tolist()]
        assert Bands(3, 3).keys(signatures, field=field).tolist() == expected
    assert Bands(3, 3).keys(signatures).tolist() == Bands(3, 3).keys(signatures, field=0).tolist()


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("recall", RECALLS)
def test_for_recall_keeps_the_promise_at_the_least_cost(threshold: float, recall: float) -> None:
    chosen = Bands.for_recall(threshold, recall)
    assert float(chosen.probability(threshold)) >= recall - 1e-12
    assert chosen.num_values <= 1024
    assert shape(chosen) == reference.for_recall(threshold, recall)


@pytest.mark.parametrize("limit", [32, 64, 128, 256])
def test_for_recall_stays_within_the_given_number_of_values(limit: int) -> None:
    chosen = Bands.for_recall(0.8, 0.95, num_hashes=limit)
    assert chosen.num_values <= limit
    assert shape(chosen) == reference.for_recall(0.8, 0.95, limit)


def test_for_recall_needs_one_band_at_threshold_one() -> None:
    chosen = Bands.for_recall(1.0, 0.99)
    assert chosen.bands == 1
    assert float(chosen.probability(1.0)) == 1.0


def test_for_recall_names_the_least_number_of_values_that_would_do() -> None:
    least = reference.least_bands(0.5, 0.99, 1)
    assert least == math.ceil(math.log(0.01) / math.log(0.5))
    assert Bands.for_recall(0.5, 0.99, num_hashes=least).num_values <= least
    with pytest.raises(SettingsError, match=rf"\b{least}\b"):
        Bands.for_recall(0.5, 0.99, num_hashes=least - 1)


@pytest.mark.parametrize("recall", [-0.1, 0.0, 1.0, 1.5, math.nan])
def test_a_recall_outside_its_range_is_told(recall: float) -> None:
    with pytest.raises(SettingsError, match=f"recall .*{recall}"):
        Bands.for_recall(0.8, recall)


@pytest.mark.parametrize("threshold", [-0.1, 0.0, 1.4, math.nan])
def test_a_threshold_outside_its_range_is_told(threshold: float) -> None:
    with pytest.raises(SettingsError, match=f"threshold .*{threshold}"):
        Bands.for_recall(threshold, 0.95)


@pytest.mark.parametrize("bands, rows", [(0, 4), (9, 0), (-1, 4), (9, -2)])
def test_a_shape_without_bands_or_rows_is_refused(bands: int, rows: int) -> None:
    with pytest.raises(SettingsError, match=f"{min(bands, rows)}"):
        Bands(bands, rows)


@pytest.mark.parametrize("threshold", [0.4, 0.5, 0.6, 0.75, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("num_hashes", [20, 100, 128, 200])
def test_pick_bands_takes_the_least_number_that_satisfies_its_rule(threshold: float, num_hashes: int) -> None:
    bands = reference.pick_bands(threshold, num_hashes)
    assert shape(Bands.by_rule("pick_bands", threshold, num_hashes)) == (bands, num_hashes // bands)


def root_distance(bands: int, rows: int, threshold: float) -> float:
    """How far (1/b)^(1/r) is from the threshold."""
    return abs((1 / bands) ** (1 / rows) - threshold)


def shapes_within(num_hashes: int) -> list[tuple[int, int]]:
    """Every (bands, rows) of at most so many values."""
    return [(b, r) for b in range(1, num_hashes + 1) for r in range(1, num_hashes // b + 1)]


@pytest.mark.parametrize("threshold", [0.25, 0.5, 0.71, 0.8, 0.93])
@pytest.mark.parametrize("num_hashes", [16, 100, 128])
def test_inverse_root_comes_nearest_to_the_threshold(threshold: float, num_hashes: int) -> None:
    chosen = Bands.by_rule("inverse_root", threshold, num_hashes)
    assert chosen.num_values <= num_hashes
    nearest = min(root_distance(*other, threshold) for other in shapes_within(num_hashes))
    assert root_distance(*shape(chosen), threshold) == pytest.approx(nearest, abs=1e-12)


def error_area(bands: int, rows: int, threshold: float) -> float:
    """The area of false positives below the threshold and false negatives above it, by midpoints."""
    below = (np.arange(2000) + 0.5) / 2000 * threshold
    above = threshold + (np.arange(2000) + 0.5) / 2000 * (1 - threshold)
    found = [1 - (1 - side**rows) ** bands for side in (below, above)]
    return float(found[0].mean() * threshold + (1 - found[1]).mean() * (1 - threshold))


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.8, 0.9])
@pytest.mark.parametrize("num_hashes", [16, 64, 128])
def test_area_has_the_least_error(threshold: float, num_hashes: int) -> None:
    chosen = Bands.by_rule("area", threshold, num_hashes)
    assert chosen.num_values <= num_hashes
    least = min(error_area(*other, threshold) for other in shapes_within(num_hashes))
    assert error_area(*shape(chosen), threshold) <= least + 1e-3


@pytest.mark.parametrize("threshold, result", [(0.5, 0.55), (0.7, 0.44), (0.8, 0.40), (0.9, 0.31)])
def test_area_finds_what_is_published_of_it_and_recall_finds_more(threshold: float, result: float) -> None:
    area = Bands.by_rule("area", threshold, 128)
    assert float(area.probability(threshold)) == pytest.approx(result, abs=0.015)
    assert float(Bands.for_recall(threshold, 0.95, num_hashes=128).probability(threshold)) >= 0.95


def test_an_unknown_rule_is_told_with_those_that_exist() -> None:
    with pytest.raises(SettingsError, match=r"luck.*area.*inverse_root.*pick_bands"):
        Bands.by_rule("luck", 0.8, 128)


@pytest.mark.parametrize("rows, num_hashes, bands", [(20, 100, 5), (4, 128, 32), (5, 128, 25), (128, 128, 1)])
def test_with_rows_makes_as_many_bands_as_fit(rows: int, num_hashes: int, bands: int) -> None:
    assert shape(Bands.with_rows(rows, num_hashes)) == (bands, rows)


def test_more_rows_than_values_are_refused() -> None:
    with pytest.raises(SettingsError, match="129"):
        Bands.with_rows(129, 128)


def test_pick_bands_refuses_a_threshold_that_leaves_bands_without_a_row() -> None:
    assert reference.pick_bands(0.005, 100) > 100
    with pytest.raises(SettingsError, match=r"0\.005"):
        Bands.by_rule("pick_bands", 0.005, 100)


@pytest.mark.parametrize("rule", ["pick_bands", "inverse_root", "area"])
@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.4, math.nan])
def test_the_rules_refuse_a_threshold_outside_its_range(rule: str, threshold: float) -> None:
    with pytest.raises(SettingsError, match=f"threshold .*{threshold}"):
        Bands.by_rule(rule, threshold, 128)


@pytest.mark.parametrize("similarity", [-0.1, 1.1, math.nan])
def test_a_similarity_outside_its_range_is_told(similarity: float) -> None:
    with pytest.raises(SettingsError, match=f"similarity .*{similarity}"):
        Bands(9, 4).probability(similarity)


def test_keys_refuse_signatures_that_are_too_short() -> None:
    with pytest.raises(SettingsError, match=r"36.*35|35.*36"):
        Bands(9, 4).keys(np.zeros((2, 35), dtype=np.uint32))


@pytest.mark.parametrize("threshold", [1e-15, 1e-17, 1e-100, 1e-300, 1e-308, 5e-324])
def test_a_threshold_next_to_nothing_is_refused_and_not_searched_for_ever(threshold: float) -> None:
    with pytest.raises(SettingsError, match="needs num_hashes of at least"):
        Bands.for_recall(threshold, 0.95, 65_535)


@pytest.mark.parametrize("threshold", [1e-9, 1e-300, 5e-324])
def test_a_recall_next_to_nothing_needs_few_bands_at_any_threshold(threshold: float) -> None:
    assert Bands.for_recall(threshold, 5e-324).bands <= 2
