"""The page to tune names each collection, has a control for each setting, and a table beside each figure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from benzer.index import Index
from tests.doors.report_page import Element
from tests.doors.service import serving
from tests.doors.test_pages import BROWSER, HOSTILE, got


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service of two indexes."""
    folder: Path = tmp_path_factory.mktemp("tune")
    for name in ("news", "a.b-c_d"):
        with Index.open(folder / f"{name}.benzer") as index:
            index.add({"a": "one two three four"})
    with serving("--home", folder) as (client, _):
        yield client


def controls(page: Element) -> dict[str, Element]:
    return {
        one.attributes["id"]: one
        for one in page.all()
        if one.tag in ("input", "select") and "id" in one.attributes
    }


def test_each_collection_can_be_chosen_and_none(client: httpx.Client) -> None:
    options = [one.words for one in controls(got(client, "/tune"))["index"].all("option")]
    assert options == ["None (curve only)", "a.b-c_d", "news"]


def test_each_slider_has_a_name_a_hint_and_a_field_for_the_exact_number(client: httpx.Client) -> None:
    page = got(client, "/tune")
    named = {one.attributes.get("for"): one.words for one in page.all("label")}
    ids = {one.attributes["id"]: one for one in page.all() if "id" in one.attributes}
    for name in ("threshold", "recall", "size"):
        slider, number = ids[name], ids[f"{name}-number"]
        assert (slider.attributes["type"], number.attributes["type"]) == ("range", "number")
        assert named[name]
        assert ids[slider.attributes["aria-describedby"]].words
        assert number.attributes["aria-label"].startswith(named[name])
        assert slider.attributes["value"] == number.attributes["value"]


def test_each_figure_has_a_table_that_says_the_same(client: httpx.Client) -> None:
    page = got(client, "/tune")
    tables = [one for one in page.all("details") if "as a table" in one.words]
    assert len(tables) == len(page.all(kind="drawn")) == 2
    assert page.named("reader").attributes["type"] == "range"


def test_the_json_twin_tells_the_curve_and_the_cost(client: httpx.Client) -> None:
    told = client.get(got(client, "/tune").named("twin").attributes["href"]).json()
    assert len(told["curve"]) == 101
    assert {"bands", "rows", "cost"} <= set(told)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_an_address_asks_for_never_reaches_the_markup(client: httpx.Client, text: str) -> None:
    asked = {"index": text, "threshold": text, "unit": text}
    answer = client.get("/tune", params=asked, headers=BROWSER)
    assert answer.text == client.get("/tune", headers=BROWSER).text
