"""The report says what the result says, and how to run it again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import benzer
from benzer.errors import SettingsError
from benzer.report import report_html
from benzer.wording import likeness
from tests.corpora import collection
from tests.doors.report_page import SAMPLE, Element, Page, estimate, number, page_of, rows_of
from tests.results import SURE, all_of


@pytest.fixture(scope="module")
def sample() -> Any:
    return benzer.find_duplicates(str(SAMPLE), threshold=0.5)


# -- it says what the result says -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed, threshold", [(1, 0.3), (2, 0.5), (3, 0.8), (4, 1.0)])
def test_figures_of_the_page_are_those_of_the_result(seed: int, threshold: float) -> None:
    found = benzer.find_duplicates(collection(seed, 200), threshold=threshold, recall=SURE)
    page = page_of(found)
    tiles = {
        tile.all("dt")[0].words: number(tile.all("dd", "figure")[0].words) for tile in page.all("div", "tile")
    }
    assert tiles == {name: found.counts[name] for name in tiles}
    assert set(tiles) == {"read", "kept", "removed", "identical", "near", "short", "empty"}
    alike = found.verified >= threshold
    above, below = [*found.verified[alike], *found.decision.score], found.verified[~alike]
    shown = rows_of(page.named("similarities").all("figure")[0])
    assert sum(number(row[1]) for row in shown if row[2] == "yes") == len(above)
    lowest = max(threshold - 0.2, 0)
    near = [value for value in below if value >= lowest - 1e-9]
    assert abs(sum(number(row[1]) for row in shown if row[2] != "yes") - len(near)) <= 0
    sizes = rows_of(page.named("similarities").all("figure")[1])
    assert sum(number(row[1]) for row in sizes) == len(found.clusters)
    assert sum(number(row[2]) for row in sizes) == sum(len(one.removed) + 1 for one in found.clusters)


def test_what_is_nearly_certain_is_never_said_to_be_certain(sample: Any) -> None:
    threshold = next(at / 100 for at in range(50, 100) if sample.probability(at / 100) > 0.9995)
    found = sample.rethreshold(threshold)
    assert 0.9995 < found.probability(threshold) < 1
    page = page_of(found, recall=estimate(recall=0.9997, low=0.9996, high=1.0))
    said = [one.words for one in page.named("recall").all() if one.tag in ("title", "desc")]
    assert any("0.999" in words for words in said)
    assert not any(re.search(r"(probability|recall|Measured|guaranteed) 1\.000", words) for words in said)


def pairs_of(*parts: tuple[int, int]) -> dict[str, dict[str, list[int]]]:
    """Two sets for each part of a whole: they share so many values of so many."""
    sets = {}
    for at, (shared, whole) in enumerate(parts):
        sets[f"{at} whole"] = {"tags": list(range(1000 * at, 1000 * at + whole))}
        sets[f"{at} part"] = {"tags": list(range(1000 * at, 1000 * at + shared))}
    return sets


TAGS = benzer.Schema(tags=benzer.ValueSet())


@pytest.mark.parametrize(
    "threshold, parts, rows",
    [
        # 0.8 + 0.02 is 0.8200000000000001, so a pair of 41/50 must not be counted below it
        (0.8, [(41, 50), (42, 50), (43, 50)], ["0.82 to 0.84", "0.84 to 0.86", "0.86 to 0.88"]),
        (0.875, [(35, 40), (36, 40)], ["0.875 to 0.895", "0.895 to 0.915"]),
    ],
)
def test_a_pair_is_drawn_in_the_bar_whose_name_holds_its_similarity(
    threshold: float, parts: list[tuple[int, int]], rows: list[str]
) -> None:
    found = benzer.find_duplicates(pairs_of(*parts), threshold=threshold, schema=TAGS, method="exact")
    shown = rows_of(page_of(found).named("similarities").all("figure")[0])
    assert shown == [[row, "1", "yes"] for row in rows]


def test_candidates_too_unlike_to_be_drawn_are_counted() -> None:
    sets = pairs_of((10, 100), (30, 100), (80, 100), (95, 100))
    found = benzer.find_duplicates(
        sets, threshold=0.9, schema=TAGS, options=benzer.Options(bands=benzer.Bands(400, 1))
    )
    assert sorted(found.verified.tolist()) == [0.1, 0.3, 0.8, 0.95]
    section = page_of(found).named("similarities")
    words = "1 pair at or above the threshold, 3 candidates below it. Not drawn: 2 candidates below 0.70."
    assert words in section.all("figcaption")[0].words
    assert sum(number(row[1]) for row in rows_of(section.all("figure")[0])) == 2


@pytest.mark.parametrize("similarity, written", [(0.79999, "0.799"), (0.8, "0.800"), (0.875, "0.875")])
def test_a_similarity_below_the_threshold_never_reads_as_the_threshold(
    similarity: float, written: str
) -> None:
    assert likeness(similarity) == written


def test_of_many_alarms_of_a_kind_the_gravest_are_shown_and_the_others_counted(tmp_path: Path) -> None:
    texts = [f"the words of text {at} {at * at} and {at * 7}" for at in range(60)]
    paths = []
    for place, new in enumerate([60, *range(30)]):  # the first file has all, the others some of their own
        own = [f"something else {place} {at} {at * at}" for at in range(new)]
        rows = [{"id": f"{place}-{at}", "text": text} for at, text in enumerate([*texts, *own])]
        paths.append(tmp_path / f"{place:02}.jsonl")
        paths[-1].write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = benzer.find_duplicates(paths, threshold=0.9)
    assert len([alarm for alarm in found.alarms() if alarm.kind == "source"]) == 30
    items = [item.words for item in page_of(found).named("alarms").all("li")]
    shown = [item for item in items if item.startswith("source")]
    assert [f"{place:02}.jsonl" in item for place, item in enumerate(shown, 1)] == [True] * 10
    assert "and 20 more alarms of the kind source; found.alarms() lists all" in items


def bars_of(figure: Element) -> list[tuple[int, float]]:
    """What each bar says it counts, and how high it is drawn."""
    bars = figure.all("rect", "bar")
    said = [re.search(r"([\d,]+) (?:pair|candidate|cluster)", bar.all("title")[0].words) for bar in bars]
    return [
        (number(one[1]), float(bar.attributes["height"])) for one, bar in zip(said, bars, strict=True) if one
    ]


def scale_of(figure: Element) -> tuple[float, float]:
    """Where 0 lies on the y axis of a drawing, and how high 1 is, by the lines that its numbers stand at."""
    lines = [float(one.attributes["y1"]) for one in figure.all("line", "grid")]
    numbers = [one.words.replace("k", "e3") for one in figure.all("text", "end")]
    ticks = [(float(words), place) for words, place in zip(numbers, lines, strict=True)]
    (low, floor), (high, top) = min(ticks), max(ticks)
    assert low == 0
    for value, place in ticks:
        assert place == pytest.approx(floor - value * (floor - top) / high, abs=0.02)
    return floor, (floor - top) / high


def test_bars_and_the_curve_fit_the_numbers_at_the_axis(sample: Any) -> None:
    page = page_of(sample, recall=estimate())
    for figure in page.named("similarities").all("figure"):
        floor, unit = scale_of(figure)
        for bar, (count, height) in zip(figure.all("rect", "bar"), bars_of(figure), strict=True):
            assert height == pytest.approx(max(count * unit, min(count, 1)), abs=0.02)
            assert float(bar.attributes["y"]) + height == pytest.approx(floor, abs=0.02)
    curve = page.named("recall").all("svg")[0]
    floor, unit = scale_of(curve)
    points = [
        tuple(map(float, point.split(","))) for point in curve.all("polyline")[0].attributes["points"].split()
    ]
    for at, (_, y) in enumerate(points, 1):
        assert (floor - y) / unit == pytest.approx(sample.probability(at / 100), abs=1e-3)
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    (interval,) = curve.all("rect", "interval")
    top = float(interval.attributes["y"])
    ends = [(floor - top) / unit, (floor - top - float(interval.attributes["height"])) / unit]
    assert ends == [pytest.approx(0.9888, abs=1e-3), pytest.approx(0.961, abs=1e-3)]


def test_every_source_has_its_row(tmp_path: Path) -> None:
    texts = list(collection(7, 90).values())
    paths = []
    for place in range(3):
        rows = [json.dumps({"id": f"{place}-{at}", "text": text}) for at, text in enumerate(texts[place::3])]
        (tmp_path / f"{place}.jsonl").write_text("\n".join([*rows, *["{"] * place]), encoding="utf-8")
        paths.append(tmp_path / f"{place}.jsonl")
    found = benzer.find_duplicates(paths, threshold=0.5, options=benzer.Options(on_error="skip"))
    section = page_of(found).named("sources")
    names = ["read", "kept", "near", "identical", "short", "empty", "malformed"]
    for row, cells in zip(found.by_source(), section.all("tbody")[0].all("tr"), strict=True):
        shown = {
            one.attributes["data-name"]: one.words for one in cells.all("td") if "data-name" in one.attributes
        }
        assert cells.all("th")[0].words == row.name
        assert {name: number(shown[name]) for name in names} == {name: getattr(row, name) for name in names}
        widths = [float(bar.attributes["width"]) for bar in cells.all("rect")]
        parts = [part for part in (row.kept, row.near, row.identical) if part]
        assert widths == [pytest.approx(100 * part / row.documents, abs=0.01) for part in parts]
    listed = [one.words for one in section.all("li")]
    assert listed == [str(row) for row in found.malformed]
    assert len(listed) == 3


def test_settings_and_times_are_all_there(sample: Any) -> None:
    tables = page_of(sample).named("again").all("table")
    settings = dict(rows_of(tables[0]))
    assert settings["threshold"] == "0.5"
    assert settings["bands"] == str(sample.bands.bands)
    assert settings["schema text shingle_size"] == "3"
    flat = json.dumps(sample.settings.to_dict())
    assert len(settings) >= flat.count('": ') - 2, "but for the two mappings around"
    assert [name for name, _ in rows_of(tables[1])][: len(sample.timings)] == list(sample.timings)


def test_measured_recall_stands_beside_the_promise(sample: Any) -> None:
    words = " ".join(page_of(sample, recall=estimate()).named("recall").words.split())
    promised = f"{sample.probability(0.5):.3f}"
    for part in (
        promised,
        "0.978, between 0.961 and 0.989",
        "500 of 2,048 sampled documents",
        "489",
        "0.969",
        "0.981",
    ):
        assert part in words, part
    assert "0.812 <left> and right (both kept)" in words
    everything = page_of(sample, recall=estimate(exhaustive=True)).named("recall").words
    assert "exact: all near-duplicates" in everything
    nothing = page_of(sample, recall=estimate(recall=None)).named("recall").words
    assert "No near-duplicates among 2,048 sampled documents" in nothing
    assert "was not measured" in page_of(sample).named("recall").words


def test_the_recall_that_a_run_measures_is_shown() -> None:
    found = benzer.find_duplicates(collection(11, 200), threshold=0.5)
    measured = found.measure_recall()
    assert (
        f"{min(round(measured.recall or 0, 3), 0.999 if (measured.recall or 0) < 1 else 1):.3f}"
        in page_of(found, recall=measured).named("recall").words
    )


def test_an_exact_run_promises_without_bands() -> None:
    page = page_of(benzer.find_duplicates(collection(12, 100), threshold=0.5, method="exact"))
    assert "misses no pair" in page.named("recall").words
    assert not page.named("recall").all("svg")
    assert "method='exact'" in page.named("again").words


def test_alarms_are_told_with_their_examples(sample: Any) -> None:
    (alarm,) = sample.alarms()
    section = page_of(sample).named("alarms")
    assert [one.words for one in section.all("q")] == list(alarm.examples)
    assert alarm.message in section.words
    assert "None:" in page_of(benzer.find_duplicates({"a": "b"})).named("alarms").words


def test_clusters_are_shown_with_what_was_measured_in_them(sample: Any) -> None:
    page = page_of(sample, evidence=8)
    largest, doubtful = page.named("largest").all("article"), page.named("doubtful").all("article")
    reports = [sample.cluster_report("largest", 2), sample.cluster_report("doubtful", 6)]
    names = {report.representative for report in reports[0]}
    expected = [reports[0], [one for one in reports[1] if one.representative not in names][:4]]
    for articles, wanted in zip((largest, doubtful), expected, strict=True):
        assert [one.all("h3")[0].words for one in articles] == [one.representative for one in wanted]
        for article, report in zip(articles, wanted, strict=True):
            assert f"{report.size} documents" in article.words
            assert f"Lowest similarity inside: {likeness(report.least_similarity)}" in article.words
            assert [one.words for one in article.all("q")[:2]] == list(report.least_pair)
    bridges = page.named("bridges").all("article")
    assert [re.findall(r"kept documents (\d\.\d{3})", one.all("p")[0].words) for one in bridges] == [
        [likeness(value)] for value in sorted(sample.safety.bridges.leaders.tolist())[:2]
    ]


def test_without_evidence_no_text_of_a_document_is_shown() -> None:
    texts = {f"id{at}": f"confidential words number {at} of this secret memorandum" for at in range(3)}
    found = benzer.find_duplicates(texts, threshold=0.3)
    assert "memorandum" in report_html(found)
    assert "memorandum" not in report_html(found, evidence=0)
    with pytest.raises(SettingsError, match="evidence must be 0 or more, got -1"):
        report_html(found, evidence=-1)


@pytest.mark.parametrize("texts", [{}, {"a": ""}, {"a": "one two three"}, {"a": "x", "b": "x"}])
def test_a_page_can_be_made_of_almost_nothing(texts: dict[str, str]) -> None:
    page = page_of(benzer.find_duplicates(texts))
    assert number(page.all("dd", "figure")[0].words) == len(texts)


def test_value_sets_are_told_not_to_be_shown() -> None:
    rows = [
        {"id": at, "name": f"the very same name {at // 9}", "tags": ["a", "b", at % 5]} for at in range(30)
    ]
    schema = benzer.Schema(name=benzer.Text(), tags=benzer.ValueSet())
    page = page_of(benzer.find_duplicates(rows, schema=schema, threshold=0.6))
    assert "Not shown: tags." in page.named("largest").words


def test_what_is_known_from_an_older_collection_is_told_apart() -> None:
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    with benzer.Index.open("memory:", benzer.IndexSettings(threshold=0.8)) as index:
        index.add((f"old/{row['id']}", row["text"] or "") for row in rows[:600])
        found = benzer.find_duplicates(str(SAMPLE), against=[index])
        page = page_of(found)
    gone = {one: removal for one, removal in found.removed.items() if removal.kept_in is not None}
    tiles = {
        tile.all("dt")[0].words: number(tile.all("dd", "figure")[0].words) for tile in page.all("div", "tile")
    }
    assert tiles["known"] == len(gone) >= 590
    assert tiles["removed"] == tiles["identical"] + tiles["near"] + tiles["known"]
    (row,) = rows_of(page.named("sources").all("table")[1])
    assert row[1:] == [str(len(gone)), likeness(min(one.similarity for one in gone.values()))]
    for item in page.named("sources").all("li"):
        similarity, one, _, old, _, _ = item.words.split()
        assert gone[one].kept_id == old
        assert gone[one].similarity == pytest.approx(float(similarity), abs=0.001)
    bridges = found.safety.bridges
    assert not found.known[bridges.left].any()
    assert not found.known[bridges.right].any()


def test_a_source_that_is_all_known_is_an_alarm_with_the_old_document() -> None:
    texts = {
        f"new {at}": f"some words of text number {at} that nobody else has {at * at}" for at in range(30)
    }
    with benzer.Index.open("memory:", benzer.IndexSettings(threshold=0.8)) as index:
        index.add((one.replace("new", "old"), text) for one, text in texts.items())
        found = benzer.find_duplicates(texts, against=[index])
    (alarm,) = found.alarms()
    assert alarm.examples == ("old 0", "new 0")
    assert alarm.message.endswith(
        "loses 100.0 % of its documents (30 of 30; 0 are identical to a kept one, 30 match "
        "an older collection)"
    )
    assert "0 of 30 documents are kept. 30 (100" in report_html(found)


# -- how to run it again ----------------------------------------------------------------------------------------------

AGAIN: dict[str, dict[str, Any]] = {
    "defaults": {},
    "threshold": {"threshold": 0.6, "recall": 0.99, "options": benzer.Options(seed=7)},
    "schema": {"schema": benzer.Schema(text=benzer.Text(unit="char", shingle_size=4)), "threshold": 0.7},
    "columns": {
        "text": "id",
        "id": "id",
        "threshold": 0.3,
        "schema": benzer.Schema(text=benzer.Text(unit="char")),
    },
    "keep": {"keep": "longest", "options": benzer.Options(bucket_limit=50)},
    "bands": {
        "options": benzer.Options(bands=benzer.Bands(30, 3), minhash=benzer.MinHash("kmins", num_hashes=90))
    },
    "exact": {"method": "exact", "threshold": 0.7},
}


@pytest.mark.parametrize("settings", AGAIN.values(), ids=AGAIN.keys())
def test_the_python_code_on_the_page_gives_the_same_result(settings: dict[str, Any]) -> None:
    found = benzer.find_duplicates(str(SAMPLE), **settings)
    names: dict[str, Any] = {}
    exec(page_of(found, evidence=0).named("again").all("pre")[-1].words, names)
    assert all_of(names["found"]) == all_of(found)
    assert names["found"].settings == found.settings


def test_the_command_stands_on_the_page_without_its_passwords(sample: Any) -> None:
    command = ["benzer", "dedupe", "my docs.jsonl", "--against", "redis://reader:geheim@host/0"]
    text = report_html(sample, command=command, evidence=0)
    assert Page(text).root.named("again").all("pre")[0].words == (
        "benzer dedupe 'my docs.jsonl' --against redis://reader:***@host/0"
    )
    assert "geheim" not in text
