"""A person meets documents with ids that read alike, or that mean something in a path."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from benzer.index import Index, IndexSettings
from tests.doors.browsing import visit
from tests.doors.service import serving
from tests.doors.stories import words

SEVENS, DOTS = words(1, 30), words(2, 30)
HELD = [
    (7, " ".join(SEVENS)),
    ("7", " ".join(words(3, 30))),
    ("like the number", " ".join([*SEVENS, "more"])),
    ("..", " ".join(DOTS)),
    ("like the dots", " ".join([*DOTS, "more"])),
    (2**53 + 1, " ".join(words(4, 30))),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    path = tmp_path_factory.mktemp("ids") / "odd.benzer"
    with Index.open(path, IndexSettings(threshold=0.5)) as index:
        index.add([(id, {"text": text}) for id, text in HELD])
    with serving(path) as (client, _):
        yield client


@pytest.mark.parametrize("at, like", [(0, "like the number"), (3, "like the dots")])
def test_more_like_this_asks_for_the_document_beside_it(
    client: httpx.Client, browser: Browser, at: int, like: str
) -> None:
    with visit(browser, str(client.base_url), 1280, "light") as seen:
        page = seen.page
        page.goto("/indexes/odd")
        page.get_by_text("Find similar").nth(at).click()
        expect(page.locator("#results")).to_contain_text(like)
        page.reload()
        expect(page.locator("#results")).to_contain_text(like)


def test_a_number_that_a_browser_rounds_has_no_button_that_could_mean_another(
    client: httpx.Client, browser: Browser
) -> None:
    with visit(browser, str(client.base_url), 1280, "light") as seen:
        page = seen.page
        page.goto("/indexes/odd")
        expect(page.locator("#documents li")).to_have_count(len(HELD))
        last = page.locator("#documents li").last
        expect(last).to_contain_text("900719925474099")
        expect(last.get_by_text("Show")).to_be_visible()
        expect(last.get_by_text("Find similar")).to_have_count(0)
        expect(last.get_by_text("Remove")).to_have_count(0)


def test_a_document_called_by_two_dots_is_looked_up(client: httpx.Client, browser: Browser) -> None:
    with visit(browser, str(client.base_url), 1280, "light") as seen:
        page = seen.page
        page.goto("/indexes/odd")
        expect(page.locator("#documents li")).to_have_count(len(HELD))  # its script is there
        page.fill("#look-up-id", "..")
        page.keyboard.press("Enter")
        expect(page.locator("#documents .text").filter(visible=True)).to_contain_text(DOTS[0])


def test_the_document_that_is_removed_is_the_one_beside_the_button(
    client: httpx.Client, browser: Browser
) -> None:
    with visit(browser, str(client.base_url), 1280, "light") as seen:
        page = seen.page
        page.goto("/indexes/odd")
        for at in (0, 2):  # the number 7; then, with it gone, ".."
            button = page.locator("#documents li").nth(at).get_by_role("button", name="Remove")
            button.click()
            button.click()
            expect(page.locator("#documents li")).to_have_count(len(HELD) - (1 if at == 0 else 2))
    held = client.get("/v1/indexes/odd/documents").json()["documents"]
    assert [one["id"] for one in held] == ["7", "like the number", "like the dots", 2**53 + 1]
