"""A person moves the sliders, looks at the pairs on both sides of the cut, and takes the settings away as code."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from benzer import wording
from benzer.bands import Bands
from benzer.cli.dedupe import command
from benzer.index import Index, IndexSettings
from tests.doors.browsing import visit
from tests.doors.service import serving
from tests.doors.stories import VIEWS, agreement, family, texts

DOCUMENTS = {key: text for seed in range(12) for key, text in family(seed, 50).items()}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("stories")
    with Index.open(folder / "news.benzer", IndexSettings(threshold=0.8)) as index:
        index.add(DOCUMENTS)
    with serving("--home", folder) as (client, _):
        yield client


def move(page: Page, name: str, value: float) -> None:
    """Move a slider, and wait until the page says by which bands the pairs would be found."""
    page.get_by_role("slider", name=name, exact=True).fill(str(value))
    expect(page.get_by_role("spinbutton", name=f"{name} as a number")).to_have_value(str(value))


def similarities(page: Page, place: str) -> list[float]:
    return [float(one) for one in texts(page.locator(f"{place} .example .number").filter(visible=True))]


def bars(page: Page, *looks: str) -> int:
    """How many bars of the histogram have one of these looks."""
    return page.locator(", ".join(f"#histogram .bar.{look}" for look in looks)).count()


def places(page: Page, kind: str) -> list[float]:
    """Where the bars of one look begin."""
    found = page.locator(f"#histogram .bar.{kind}")
    return [float(one) for one in found.evaluate_all("(all) => all.map((one) => one.getAttribute('x'))")]


@VIEWS
def test_a_threshold_is_found_by_looking_and_taken_away_as_code(
    client: httpx.Client, browser: Browser, width: int, scheme: str
) -> None:
    with visit(browser, str(client.base_url), width, scheme) as seen:
        page = seen.page
        page.goto("/tune")
        expect(page.get_by_role("heading", name="Just above 0.80: removed")).to_be_visible()
        below = len(places(page, "passed"))
        for threshold, recall in ((0.6, 0.95), (0.6, 0.99)):
            move(page, "Threshold", threshold)
            move(page, "Recall", recall)
            chosen = Bands.choose(threshold, recall)
            expect(page.locator("#promise")).to_contain_text(f"by {chosen.bands} bands of {chosen.rows} row")
            promised = page.locator("#promise strong").nth(1)
            expect(promised).to_have_text(wording.ratio(chosen.probability(threshold)))
            expect(page.locator("#curve .value")).to_have_text(wording.ratio(chosen.probability(threshold)))
        expect(page.get_by_role("heading", name="Just above 0.60: removed")).to_be_visible()
        above, under = similarities(page, "#above"), similarities(page, "#below")
        assert above == sorted(above)
        assert under == sorted(under, reverse=True)
        assert above
        assert under
        assert min(above) >= 0.6 > max(under)
        left, right = agreement(page.locator("#above figure.passage").first)
        assert left == right != []
        cut = float(page.locator("#histogram .threshold").get_attribute("x1") or "nan")
        assert len(places(page, "passed")) < below
        assert max(places(page, "passed")) < cut <= min(places(page, "missed")) + 1
        seen.check()

        move(page, "Length", 1)
        expect(page.locator("#python")).to_contain_text("shingle_size=1")
        expect(page.locator("#above .example").first).to_be_visible()
        tree = ast.parse(page.locator("#python").inner_text())
        calls = [ast.unparse(one) for one in ast.walk(tree) if isinstance(one, ast.Call)]
        assert any("threshold=0.6" in one and "recall=0.99" in one for one in calls)
        line = page.locator("#command-line").inner_text().replace("\\\n", " ")
        options = {name for option in command.params for name in option.opts}
        assert set(re.findall(r"--[\w-]+", line)) <= options
        assert shlex.split(line)[:2] == ["benzer", "dedupe"]
        assert shlex.split(line)[shlex.split(line).index("--shingle") + 1] == "word:1"


def test_another_shingle_size_reads_the_collection_again(client: httpx.Client, browser: Browser) -> None:
    with visit(browser, str(client.base_url), 1280, "light") as seen:
        page = seen.page
        page.goto("/tune?index=news&threshold=0.7&recall=0.95&size=3")
        expect(page.locator("#histogram-note")).to_contain_text("pairs are at least 0.70 similar")
        before = page.locator("#histogram-note strong").first.inner_text()
        with page.expect_request("**/v1/indexes/news/tune") as asked:
            move(page, "Length", 1)
        assert asked.value.post_data_json["fields"]["text"]["shingle_size"] == 1
        expect(page.locator("#histogram-note strong").first).not_to_have_text(before)
        assert float(page.locator("#histogram-note strong").first.inner_text()) > float(before)


def test_the_settings_go_along_to_a_new_index_and_to_a_search_for_duplicates(
    client: httpx.Client, browser: Browser
) -> None:
    with visit(browser, str(client.base_url), 390, "light") as seen:
        page = seen.page
        page.goto("/tune?index=&threshold=0.63&recall=0.97&unit=char&size=7")
        expect(page.locator("#command-line")).to_contain_text("--shingle char:7")
        page.get_by_role("link", name="Find duplicates in files").click()
        expect(page.get_by_role("spinbutton", name="Threshold as a number")).to_have_value("0.63")
        expect(page.get_by_role("spinbutton", name="Recall as a number")).to_have_value("0.97")
        page.go_back()
        page.get_by_role("link", name="Create an index").click()
        page.get_by_role("textbox", name="Name").first.fill("tuned")
        page.get_by_role("button", name="Create index").click()
        expect(page.get_by_role("heading", name="tuned", exact=True)).to_be_visible()
        settings = client.get("/v1/indexes/tuned").json()["settings"]
        assert (settings["threshold"], settings["recall"]) == (0.63, 0.97)
        field = settings["schema"]["text"]
        assert (field["unit"], field["shingle_size"]) == ("char", 7)
    assert client.delete("/v1/indexes/tuned").status_code == 204
