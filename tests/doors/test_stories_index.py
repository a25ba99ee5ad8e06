"""A person makes an index on the pages, fills it with files, looks at it, searches it, and deletes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from benzer.index import Index
from tests.doors.browsing import visit
from tests.doors.service import serving
from tests.doors.stories import (
    COLOURED,
    VIEWS,
    agreement,
    as_shown,
    changed,
    drop,
    lines_file,
    texts,
    tiles,
    words,
)
from tests.redis_server import shared_server

FIRST = words(1, 40)
TEXTS = {"one.txt": " ".join(FIRST), "two.txt": " ".join(words(2, 40))}
LINED = " ".join(changed(FIRST, 3, 2))
ROWS = (
    {"id": "lined", "fields": {"text": LINED}},
    '{"id": "broken", "fields": ',
    {"id": "flat", "text": " ".join(words(4, 40))},
)
PAGES = ("/", "/duplicates", "/tune", "/indexes", "/docs", "/login", "/nothing")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service without an index, which keeps those that are made in files."""
    with serving("--home", tmp_path_factory.mktemp("stories") / "home") as (client, _):
        yield client


def fill(page: Page, folder: Path) -> None:
    """Drop texts, and choose a file of lines of which one is malformed."""
    drop(page, TEXTS)
    expect(page.locator("#uploads")).to_contain_text("2 documents read, 2 new; the index now has 2")
    page.set_input_files("#files", lines_file(folder / "rows.jsonl", *ROWS))
    expect(page.locator("#uploads")).to_contain_text(
        "2 documents read, 2 new; the index now has 4; 1 line skipped"
    )
    malformed = page.locator("ol.malformed > li")
    assert malformed.evaluate_all("(all) => all.map((one) => one.value)") == [2]
    assert texts(malformed) == ["expecting value at column 28"]
    expect(page.locator("#documents .documents > li")).to_have_count(4)
    assert tiles(page, "#figures")["documents"] == "4"


def search(page: Page) -> None:
    """Search the index from its page: the answer is that of the library, and both sides agree."""
    page.get_by_role("link", name="Search this index").click()
    page.get_by_role("textbox", name="Text").fill(TEXTS["one.txt"])
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator(".match")).to_have_count(2)
    with Index.open("memory:") as index:
        index.add({**TEXTS, "lined": LINED})
        alike = [one.similarity for one in index.find_similar(TEXTS["one.txt"], threshold=0.6)]
    assert texts(page.locator(".match .head .number")) == [as_shown(one) for one in alike]
    page.get_by_role("button", name="Side by side").nth(1).click()
    left, right = agreement(page.locator("figure.passage").first)
    assert left == right
    assert len(left) >= 38


def delete(page: Page) -> None:
    """Delete the index, by its name and no other."""
    page.get_by_role("button", name="Delete news…").click()
    really = page.get_by_role("button", name="Delete permanently")
    expect(really).to_be_disabled()
    page.fill("#typed", "new")
    expect(really).to_be_disabled()
    page.fill("#typed", "news")
    really.click()
    expect(page.locator("#list")).to_contain_text("No indexes yet")


def live(client: httpx.Client, browser: Browser, width: int, scheme: str, folder: Path) -> None:
    """The whole life of an index on the pages."""
    base = str(client.base_url)
    with visit(browser, base, width, scheme) as seen:
        page = seen.page
        page.goto("/indexes")
        expect(page.locator("#list")).to_contain_text("No indexes yet")
        page.fill("#name", "news")
        page.get_by_role("slider", name="Threshold").fill("0.6")
        page.get_by_role("button", name="Create index").click()

        expect(page.get_by_role("heading", name="news", exact=True)).to_be_visible()
        expect(page.locator("#documents")).to_contain_text("No documents yet")
        fill(page, folder)
        page.get_by_role("button", name="Show lined").click()
        assert texts(page.locator(".peek:visible .text")) == [LINED]
        seen.check()
        remove = page.get_by_role("button", name="Remove flat")
        remove.click()
        expect(remove).to_have_text("Remove permanently?")
        remove.click()
        expect(page.locator("#documents .documents > li")).to_have_count(3)
        expect(page.locator("#figures .tile").first).to_have_text("documents3")

        page.get_by_role("button", name="Count buckets").click()
        counted = client.get("/v1/indexes/news", params={"buckets": True}).json()["buckets"]
        expect(page.locator("#buckets")).to_contain_text(
            f"{counted['buckets']} buckets; the largest has {counted['largest']} document"
        )

        search(page)
        page.goto("/indexes/news")
        delete(page)
    assert client.get("/v1/indexes").json() == {"indexes": []}


@VIEWS
def test_an_index_is_made_filled_looked_at_searched_and_deleted(
    client: httpx.Client, browser: Browser, width: int, scheme: str, tmp_path: Path
) -> None:
    live(client, browser, width, scheme, tmp_path)


def test_an_index_in_redis_is_made_filled_searched_and_deleted_alike(
    browser: Browser, tmp_path: Path
) -> None:
    with serving("--home", f"{shared_server().url}?prefix=stories") as (client, _):
        live(client, browser, 390, "dark", tmp_path)


def test_no_page_scrolls_sideways_on_the_narrowest_screen_nor_fails_with_forced_colours(
    client: httpx.Client, browser: Browser
) -> None:
    client.post("/v1/indexes", json={"name": "a" * 64, "fields": {"w" * 60: {"type": "text"}}})
    with visit(browser, str(client.base_url), 320, "light", **COLOURED) as seen:
        for path in (*PAGES, f"/indexes/{'a' * 64}"):
            seen.page.goto(path)
            expect(seen.page.locator("[aria-busy=true]")).to_have_count(0)
            over = seen.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, path
            seen.faults[:] = [one for one in seen.faults if path != "/nothing" or "404" not in one]
    assert client.delete(f"/v1/indexes/{'a' * 64}").status_code == 204
