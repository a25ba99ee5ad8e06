"""The dry run: what would go at each threshold, estimated from a sample, held to the run itself."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from benzer import Bands, Options, find_duplicates, pricing
from benzer.clusters import Keep
from benzer.errors import SettingsError
from benzer.fields import Schema
from benzer.pipeline.reading import read
from benzer.planner import look
from benzer.pricing import Prices, price, price_read
from benzer.views.prices import HEADINGS, price_of
from benzer.wording import setting
from tests.bounds import share_deviation
from tests.corpora import collection, shuffled
from tests.reference.hashing import shingle_hashes
from tests.reference.text import Recipe
from tests.results import SURE, true_pairs

THRESHOLDS = (0.4, 0.6, 0.8)
RECIPE = Recipe("word", 3)


def before(texts: dict[str, str], threshold: float) -> dict[str, set[str]]:
    """For each document those alike that come before it."""
    place = {name: number for number, name in enumerate(texts)}
    found: dict[str, set[str]] = {name: set() for name in texts}
    for pair in true_pairs(texts, RECIPE, threshold):
        first, second = sorted(map(str, pair), key=place.__getitem__)
        found[second].add(first)
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_all_documents_asked_leave_open_only_what_chains(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At least those go that have one before them which has none; at most all that have one before them."""
    monkeypatch.setattr(pricing, "LOOKED_AT", 1000)
    made = collection(seed, 250)
    once = {frozenset(shingle_hashes(text, RECIPE)): name for name, text in reversed(made.items())}
    texts = {name: made[name] for name in reversed(once.values())}
    prices = price(texts, THRESHOLDS, documents=10**6)
    assert prices.sampled == prices.contents
    for one in prices.prices:
        earlier = before(texts, one.threshold)
        surely = sum(any(not earlier[first] for first in those) for those in earlier.values())
        assert (one.low, one.high) == (surely, sum(map(bool, earlier.values())))
        assert abs(one.removed - (one.low + one.high) / 2) <= 0.5
        run = find_duplicates(texts, threshold=one.threshold, recall=SURE)
        assert one.low <= run.counts["removed"] <= one.high


def test_what_is_counted_is_what_the_run_counts() -> None:
    texts = collection(3, 300)
    texts |= {f"again {name}": text for name, text in list(texts.items())[:50]}
    prices = price(texts, (0.8,), documents=100)
    run = find_duplicates(texts, threshold=0.8)
    assert (prices.documents, prices.empty) == (350, run.counts["empty"])
    assert prices.identical + prices.contents + prices.empty == prices.documents
    assert prices.identical == int((run.stands_for != range(350)).sum())


def test_pairs_are_those_of_different_contents() -> None:
    texts = collection(4, 200)
    run = find_duplicates(texts, threshold=0.6, recall=SURE)
    prices = price(texts, (0.6,), documents=10**6)
    assert prices.prices[0].pairs == int((run.verified >= 0.6).sum()) + len(run.decision.left)


@pytest.mark.slow
def test_the_estimates_of_samples_lie_about_the_truth() -> None:
    """Each answer is 0, 1/2 or 1, so of no more variance than that of a yes or no of the same mean."""
    texts = collection(5, 200)
    truth = price(texts, (0.6,), documents=10**6)
    share = (truth.prices[0].removed - truth.identical) / truth.contents
    seeds = 30
    near = [
        price(texts, (0.6,), documents=60, options=Options(seed=seed)).prices[0].removed
        for seed in range(seeds)
    ]
    mean = sum(one - truth.identical for one in near) / seeds / truth.contents
    assert abs(mean - share) <= share_deviation(share, seeds * 60) + 1 / truth.contents


@pytest.mark.slow
def test_the_interval_holds_what_the_run_removes() -> None:
    """At 99.9 % the chance that more than three of forty intervals fail is below 10^-7."""
    texts = collection(6, 200)
    truth = find_duplicates(texts, threshold=0.6, recall=SURE).counts["removed"]
    found = [
        price(texts, (0.6,), documents=60, options=Options(seed=s), confidence=0.999).prices[0]
        for s in range(40)
    ]
    assert sum(one.low <= truth <= one.high for one in found) >= 37
    assert all(one.low < one.removed < one.high for one in found)


def without_time(prices: Prices) -> dict[str, Any]:
    return {**prices.to_dict(), "seconds": None}


def test_the_prices_do_not_depend_on_threads_nor_but_for_who_comes_first_on_order() -> None:
    texts = collection(7, 300)
    first = without_time(price(texts, THRESHOLDS, documents=90, threads=1))
    assert without_time(price(texts, THRESHOLDS, documents=90, threads=3)) == first
    moved = price(shuffled(texts, 1), THRESHOLDS, documents=90)
    assert [one.pairs for one in moved.prices] == [one["pairs"] for one in first["prices"]]
    assert [one.candidates for one in moved.prices] == [one["candidates"] for one in first["prices"]]


def test_methods_are_priced_as_they_are_run() -> None:
    texts = collection(8, 200)
    by_bands = price(texts, (0.8,)).prices[0]
    assert (by_bands.bands, by_bands.rows) == shape(Bands.for_recall(0.8, 0.95))
    exact = price(texts, (0.8,), recall=1.0).prices[0]
    assert (exact.method, exact.bands, exact.candidates) == ("exact", None, exact.pairs)
    assert price(texts, (0.8,), method="auto").prices[0].method in ("lsh", "exact")


def shape(bands: Bands) -> tuple[int, int]:
    return bands.bands, bands.rows


def test_a_lower_threshold_takes_more_and_costs_more() -> None:
    prices = price(collection(9, 400), documents=200).prices
    assert [one.threshold for one in prices] == list(pricing.THRESHOLDS)
    assert [one.removed for one in prices] == sorted((one.removed for one in prices), reverse=True)
    assert all(one.memory > 0 and one.seconds > 0 for one in prices)


def test_the_table_has_a_row_for_each_threshold() -> None:
    prices = price({"a": "one two three four", "b": "One two three four."}, THRESHOLDS)
    rows = [price_of(one, prices.documents).cells for one in prices.to_dict()["prices"]]
    assert [row[:4] for row in rows] == [(setting(t), "1", "50.0 %", "1 to 1") for t in THRESHOLDS]
    assert {len(row) for row in rows} == {len(HEADINGS)}
    assert json.loads(json.dumps(prices.to_dict()))["documents"] == 2


@pytest.mark.parametrize("texts", [{}, {"a": ""}, {"a": "one two three"}])
def test_next_to_nothing_has_a_price(texts: dict[str, str]) -> None:
    prices = price(texts, (0.8,))
    assert (prices.prices[0].removed, prices.prices[0].pairs) == (0, 0)
    assert prices.documents == len(texts)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"thresholds": ()}, "thresholds"),
    ({"thresholds": 0.8}, "thresholds"),
    ({"thresholds": None}, "thresholds"),
    ({"thresholds": (0.8, 1.2)}, "1.2"),
    ({"recall": 0}, "recall"),
    ({"documents": 0}, "documents"),
    ({"confidence": math.nan}, "confidence"),
    ({"method": "best"}, "best"),
    ({"schema": "text"}, "schema"),
]


@pytest.mark.parametrize("options, name", REFUSED)
def test_what_has_no_price_is_told(options: dict[str, Any], name: str) -> None:
    with pytest.raises(SettingsError, match=name):
        price({"a": "text"}, **options)


def test_a_file_is_priced(tmp_path: Path) -> None:
    texts = collection(10, 50)
    lines = (json.dumps({"id": name, "text": text}) for name, text in texts.items())
    (tmp_path / "docs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert without_time(price(str(tmp_path / "docs.jsonl"))) == without_time(price(texts))


def test_documents_that_were_read_and_looked_at_are_priced_as_those_that_were_not() -> None:
    texts, schema = collection(6, 200), Schema()
    found = read(texts, schema)
    asked = {"recall": 0.9, "schema": schema, "documents": 100, "options": Options(seed=3)}
    prices = price_read(
        found,
        [0.5, 0.8],
        keep=Keep.parse("longest"),
        method="lsh",
        spread=look(found.corpus, schema),
        **asked,
    )
    assert prices.prices == price(texts, (0.8, 0.5), keep="longest", **asked).prices
