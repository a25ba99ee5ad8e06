"""The report stands alone, shows hostile text as text, is written whole, and fits a phone."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import benzer
from benzer.errors import OutputError
from benzer.recall import Missed
from benzer.report import report_html, write_report
from tests.browser import widths
from tests.doors.report_page import SAMPLE, Page, assert_alone, estimate, page_of


@pytest.fixture(scope="module")
def sample() -> Any:
    return benzer.find_duplicates(str(SAMPLE), threshold=0.5)


# -- it stands alone --------------------------------------------------------------------------------------------------


def test_a_page_fetches_nothing_and_runs_nothing(sample: Any) -> None:
    assert_alone(report_html(sample, command="benzer dedupe docs.jsonl"))


def test_ids_are_unique_and_every_drawing_has_a_title_and_a_description(sample: Any) -> None:
    page = page_of(sample, recall=estimate())
    ids = [one.attributes["id"] for one in page.all() if "id" in one.attributes]
    assert len(set(ids)) == len(ids)
    drawings = page.all("svg", "chart")
    assert len(drawings) == 4
    for drawing in drawings:
        title, description = (page.named(name) for name in drawing.attributes["aria-labelledby"].split())
        assert title.words
        assert len(description.words) > 20
    assert all(one.attributes["aria-label"] for one in page.all("svg", "share"))
    assert len([one for one in page.all("figure") if one.all("table")]) == 3, "each figure has its table"


# -- hostile text -----------------------------------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></head><body onload=alert(1)>",
    "<!-- -->]]>&lt;&#60;",
    "{{ 7 * 7 }}{% raw %}",
    "\x00\x1b[31m\x9b \u202e right to left \ud800",
    "'; --><svg/onload=alert(1)>",
    "a" * 5000,
]


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_shown_as_text(hostile: str, tmp_path: Path) -> None:
    words = " ".join(f"word{at} {hostile}" for at in range(30))
    rows = [{"id": f"{hostile}{at}", "text": f"{words} {at}"} for at in range(40)]
    rows += [{"id": "free", "text": ""}]
    found = benzer.find_duplicates(rows, threshold=0.5)
    missed = (Missed(hostile, hostile, 0.9, False),)
    text = report_html(found, recall=estimate(missed=missed), command=hostile.replace("\ud800", "?"))
    assert_alone(text.encode("utf-8", "replace").decode())
    assert Page(text).comments == []
    assert not re.search("[\x00\x1b\x9b\ud800]", text)
    assert "49" not in Page(text).root.named("largest").all("h3")[0].words
    if hostile.isprintable() and len(hostile) < 100:
        assert hostile in Page(text).root.named("largest").words
        assert hostile in Page(text).root.named("again").words


def test_a_hostile_file_name_is_shown_as_text(tmp_path: Path) -> None:
    path = tmp_path / "<img src=x onerror=alert(1)>.jsonl"
    path.write_text('{"id": 1, "text": "one two three"}\n{"id": \n', encoding="utf-8")
    found = benzer.find_duplicates(str(path), options=benzer.Options(on_error="skip"))
    text = report_html(found)
    assert_alone(text)
    assert path.name in Page(text).root.named("sources").words


def test_the_page_of_long_texts_and_long_ids_is_bounded() -> None:
    """20 pairs of 3 passages of 2 sides, a side of 1,500 + 2 · 1,500 + 260 + 120 characters of 5 bytes at most."""
    words = [f"w{at}<&>" for at in range(60_000)]
    texts = {
        f"{at}{'<' * 9000}": " ".join([*words[: at * 1000], *words[at * 1000 + 200 :]]) for at in range(30)
    }
    found = benzer.find_duplicates(texts, threshold=0.5)
    assert sum(map(len, texts.values())) > 10_000_000
    assert len(report_html(found)) < 20 * 3 * 2 * 4880 * 5 + 400_000


# -- the file ---------------------------------------------------------------------------------------------------------


def test_a_report_is_written_whole_and_replaces_nothing_unasked(sample: Any, tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    assert write_report(sample, path, evidence=0) == path
    before = path.read_bytes()
    assert before.startswith(b"<!doctype html>")
    with pytest.raises(OutputError, match="already exists"):
        write_report(sample, path)
    assert path.read_bytes() == before
    write_report(sample, str(path), evidence=4, replace=True)
    assert path.read_bytes() != before
    assert [one.name for one in path.parent.iterdir()] == ["report.html"]


# -- in a browser -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_sticks_out_on_a_phone_or_a_desk(sample: Any, tmp_path: Path, dark: bool) -> None:
    wide = {
        f"{'long-id-without-a-break' * 8}{at}": f"{'long' * 90} same words {at} {'x' * 300}"
        for at in range(25)
    }
    hard = benzer.find_duplicates(wide, threshold=0.2, schema=benzer.Schema(text=benzer.Text(shingle_size=1)))
    for place, found in enumerate((sample, hard)):
        page = report_html(found, recall=estimate(), command=f"benzer dedupe {'x' * 300}", evidence=8)
        folder = tmp_path / str(place)
        folder.mkdir()
        for asked, (view, laid_out, letters) in zip(
            (360, 390, 768, 1280), widths(page, [360, 390, 768, 1280], folder, dark), strict=True
        ):
            assert view == asked
            assert laid_out <= view, f"at {asked} pixels the page is {laid_out} wide"
            assert letters > 1000


def luminance(colour: str) -> float:
    """The relative luminance of a colour, as the guidelines for accessible pages define it (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_words_can_be_read_on_their_ground(scheme: int) -> None:
    style = files("benzer.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[scheme]))
    for words in ("ink", "soft", "near", "same", "warn"):
        for ground in ("ground", "panel", *(["warn-ground"] if words in ("warn", "ink", "soft") else [])):
            light, dark = sorted((luminance(colours[words]), luminance(colours[ground])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{words} on {ground}"
