"""The arithmetic behind the page that sizes a cluster, by hand; and the page holds what the script prints."""

from __future__ import annotations

import doctest
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks import cluster_sizing as sizing
from benchmarks.cluster_sizing import PAGE, Cluster, Rates

RATES_BY_HAND = Rates(
    seconds={"sketch": 2.0, "copies": 0.5, "join": 1.0, "blocks": 0.25, "decide": 1.0, "rest": 0.25},
    cores=2,
    documents=1_000,
    text_bytes=2_000_000,
    copies=100,
    candidates=300,
    members=200,
    bands=10,
    rows=6,
)
ASKED = Cluster(
    10**9, 2_000, cores=1_000, executor_cores=4, slower=1.0, unrelated=0.0, price=0.1, network=1e15
)


def by_name(asked: Cluster) -> dict[str, sizing.Stage]:
    return {stage.name: stage for stage in sizing.stages(RATES_BY_HAND, asked)}


def test_a_row_for_each_document_and_each_band_of_an_original() -> None:
    found = by_name(ASKED)
    assert found["sketch"].rows == found["copies"].rows == 10**9
    assert found["join"].rows == pytest.approx(0.9 * 10**10)
    # keys, and each of the 0.3 billion candidates at most once for each band
    assert found["join"].shuffled == pytest.approx(0.9 * 10**10 * 16 + 10 * 3e8 * 16)
    assert found["copies"].shuffled == 24 * 10**9
    assert found["blocks"].rows == pytest.approx(3e8)
    assert found["decide"].rows == pytest.approx(2e8)
    # two hundred million have a candidate: too many to be named to all, so that the whole table is joined
    assert found["decide"].shuffled == pytest.approx((2e8 + 1e9) * 2_000)
    assert by_name(replace(ASKED, documents=10**6))["decide"].shuffled == pytest.approx(2e5 * 2_000)


def test_core_hours_are_the_measured_ones_times_the_documents() -> None:
    found = sizing.stages(RATES_BY_HAND, ASKED)
    # five seconds of two cores for a thousand documents: ten million core seconds for a billion
    assert sum(stage.core_hours for stage in found) == pytest.approx(1e7 / 3600)
    assert sizing.hours(found, ASKED) == pytest.approx(1e4 / 3600)
    assert sizing.cost(found, ASKED) == pytest.approx(1e7 / 3600 * 0.1)


def test_longer_texts_take_longer_to_sketch_and_to_compare_and_nothing_else() -> None:
    once, twice = by_name(ASKED), by_name(replace(ASKED, text_bytes=4_000))
    times = {name: twice[name].core_hours / once[name].core_hours for name in once}
    assert times == pytest.approx({"sketch": 2, "copies": 1, "join": 1, "blocks": 1, "decide": 2, "rest": 1})


def test_a_stage_waits_for_its_bytes_where_the_network_is_the_slower() -> None:
    sketch = by_name(replace(ASKED, network=1e5))["sketch"]
    # a billion texts of 2,000 bytes in, as many sketches of 56 bytes and ten keys of 8 out, 100 kB a second
    assert sketch.core_hours == pytest.approx(1e9 * (2_000 + 56 + 80) / 1e5 / 3600)
    assert sketch.bound == "network"
    assert by_name(ASKED)["sketch"].bound == "cores"
    join = by_name(replace(ASKED, network=1e6))["join"]
    assert join.transfer == pytest.approx((1e9 * 136 + 2 * (0.9e10 + 10 * 3e8) * 16) / 1e6 / 3600)


@pytest.mark.parametrize(
    "documents,way", [(10**7, "on the driver"), (10**8, "by spanning forests"), (10**9, "by stars")]
)
def test_candidates_are_grouped_where_there_is_room_for_them(documents: int, way: str) -> None:
    assert sizing.grouped(RATES_BY_HAND, replace(ASKED, documents=documents)) == way


def test_candidates_by_chance_grow_with_the_square() -> None:
    chance = replace(ASKED, unrelated=0.01)
    # ten bands of six rows: 10 · 0.01⁶ of n²/2 pairs
    assert sizing.candidates(RATES_BY_HAND, chance) == pytest.approx(3e8 + 10 * 1e-12 * 5e17)
    ten = replace(chance, documents=10**10)
    assert sizing.candidates(RATES_BY_HAND, ten) == pytest.approx(3e9 + 10 * 1e-12 * 5e19)


def test_a_band_a_pass_needs_a_tenth_of_the_disk_of_all_ten() -> None:
    whole = sizing.disk(RATES_BY_HAND, ASKED)
    assert whole == 2 * 10**9 * 10 * 16 / 250
    assert sizing.disk(RATES_BY_HAND, replace(ASKED, bands_per_pass=1)) == whole / 10
    assert sizing.disk(RATES_BY_HAND, replace(ASKED, bands_per_pass=99)) == whole


def test_the_price_of_the_example_is_that_of_the_published_run() -> None:
    assert pytest.approx(620 / (2016 * 4.5), abs=0.0005) == sizing.EXAMPLE_PRICE


def test_its_examples_hold() -> None:
    ran = doctest.testmod(sizing)
    assert (ran.attempted > 0, ran.failed) == (True, 0)


def test_the_page_holds_what_the_script_prints() -> None:
    section = f"<!-- generated: sizing -->\n{sizing.of_page()}\n<!-- end: sizing -->"
    assert section in PAGE.read_text(encoding="utf-8")


def test_the_page_has_both_sizes_and_says_what_it_supposes(tmp_path: Path) -> None:
    record = tmp_path / "rates.json"
    record.write_text(json.dumps({**asdict(RATES_BY_HAND), "machine": {}}), encoding="utf-8")
    told = sizing.of_page(record)
    assert "### 1 billion documents" in told
    assert "### 10 billion documents" in told
    assert "2 times slower than the measured one" in told
    assert "Expected pairs of ids with the same 64-bit hash: 2.7" in told
    assert sizing.of_page(tmp_path / "none.json") == sizing.NOT_MEASURED
