"""A person asks for the likes of a text, a picture or a document, by mouse, by file, and by keys alone."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from benzer.document import Document
from benzer.index import Index, IndexSettings
from tests.doors.browsing import visit
from tests.doors.service import serving
from tests.doors.stories import VIEWS, agreement, as_shown, changed, family, texts, words
from tests.images import as_file, resized, scene

ASKED = family(7)["7-0"]
NEWS = {**family(7), **family(8)}
LOUD = "🦊" * 3 + " " + " ".join(words(20, 30))
ECHO = " ".join(changed(LOUD.split(), 21, 1)) + " 🦊🦊"
LONG = "x" * 100_000
HOSTILE = {
    "<script>bad()</script>": f"<script>bad()</script> {LOUD}",
    "<img src=x onerror=bad()>": f"<img src=x onerror=bad()> {LOUD}",
    "\u202egnp.exe": f"\u202e reversed {LOUD}",
    "🦊": ECHO,
    LONG[:200]: f"{LONG} {LOUD}",
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service of texts, of hostile texts, and of pictures that came by the service, and have small copies."""
    folder = tmp_path_factory.mktemp("stories")
    for name, documents in (("news", NEWS), ("hostile", HOSTILE)):
        with Index.open(folder / f"{name}.benzer", IndexSettings(threshold=0.6)) as index:
            index.add([Document(id, {"text": text}) for id, text in documents.items()])
    with serving("--home", folder) as (client, _):
        made = client.post(
            "/v1/indexes", json={"name": "photos", "fields": {"photo": {"type": "image"}}, "threshold": 0.3}
        )
        assert made.status_code == 201
        for seed in range(3):
            photo = {"photo": ("photo.png", as_file(scene(seed), "PNG"), "image/png")}
            assert client.put(f"/v1/indexes/photos/documents/{seed}.png", files=photo).status_code < 300
        yield client


def alike(page: Page) -> list[tuple[str, str]]:
    """The matches that a page shows: their ids and similarities, best first."""
    expect(page.locator(".match").first).to_be_visible()
    ids, numbers = texts(page.locator(".match h3")), texts(page.locator(".match .head .number"))
    return list(zip(ids, numbers, strict=True))


def library(text: str, threshold: float) -> list[tuple[str, str]]:
    """What the library finds like a text of the news."""
    with Index.open("memory:", IndexSettings(threshold=0.6)) as index:
        index.add(NEWS)
        found = index.find_similar(text, threshold=threshold)
        return [(str(one.id), as_shown(one.similarity)) for one in found]


@VIEWS
def test_a_text_is_pasted_its_likes_are_opened_and_asked_for_in_turn(
    client: httpx.Client, browser: Browser, width: int, scheme: str
) -> None:
    with visit(browser, str(client.base_url), width, scheme) as seen:
        page = seen.page
        page.goto("/?index=news")
        page.get_by_role("textbox", name="Text").fill(ASKED)
        page.get_by_role("button", name="Search", exact=True).click()
        found = library(ASKED, 0.6)
        assert alike(page) == found
        assert [id for id, _ in found] == ["7-0", "7-2", "7-8"]

        page.get_by_role("button", name="Side by side").nth(2).click()
        opened = page.locator(".match").nth(2)
        expect(opened.locator("figure.passage")).to_have_count(1)
        left, right = agreement(opened.locator("figure.passage"))
        assert left == right == [word for word in ASKED.split() if word in NEWS["7-8"].split()]
        differs = texts(opened.locator(".side").nth(1).locator("mark.differs"))
        assert " ".join(differs).split() == [
            word for word in NEWS["7-8"].split() if word not in ASKED.split()
        ]
        seen.check()

        page.get_by_role("button", name="Find similar to 7-8").click()
        expect(page.locator("#results")).to_contain_text("similar to 7-8")
        assert [id for id, _ in alike(page)] == [id for id, _ in library(NEWS["7-8"], 0.6) if id != "7-8"]
        page.go_back()
        expect(page.get_by_role("textbox", name="Text")).to_have_value(ASKED)
        expect(page.locator(".match")).to_have_count(len(found))
        assert alike(page) == found


def test_an_id_that_is_not_there_and_a_text_like_nothing_are_told_and_a_lower_threshold_is_offered(
    client: httpx.Client, browser: Browser
) -> None:
    far = " ".join(changed(ASKED.split(), 9, 24))
    with visit(browser, str(client.base_url), 390, "light") as seen:
        page = seen.page
        page.goto("/?index=news")
        page.get_by_role("textbox", name="Text").fill(far)
        page.get_by_role("button", name="Search", exact=True).click()
        expect(page.locator("#results .empty")).to_contain_text(
            "No document has a similarity of 0.60 or more"
        )
        page.get_by_role("button", name="Search down to 0.50").click()
        expect(page.locator("#results .empty")).to_contain_text(
            "No document has a similarity of 0.50 or more"
        )
        page.get_by_role("button", name="Search down to 0.30").click()
        assert set(alike(page)) <= set(library(far, 0.3))
        expect(page.locator("#threshold-hint")).to_contain_text("some matches can be missed")
        page.get_by_role("textbox", name="Or a document id").fill("nobody")
        page.get_by_role("button", name="Search", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("nobody")
        seen.faults[:] = [fault for fault in seen.faults if "404" not in fault]  # the browser's own line


@VIEWS
def test_a_picture_is_chosen_and_stands_beside_its_match(
    client: httpx.Client, browser: Browser, width: int, scheme: str
) -> None:
    smaller = as_file(resized(scene(1), 64, 86), "PNG")
    with visit(browser, str(client.base_url), width, scheme) as seen:
        page = seen.page
        page.goto("/?index=photos")
        photo = {"name": "smaller.png", "mimeType": "image/png", "buffer": smaller}
        page.get_by_label("photo", exact=True).set_input_files(photo)
        page.get_by_role("button", name="Search", exact=True).click()
        assert [id for id, _ in alike(page)] == ["1.png"]
        page.get_by_role("button", name="Side by side").click()
        pictures = page.locator(".opened img")
        expect(pictures).to_have_count(2)
        page.wait_for_function(
            "() => [...document.querySelectorAll('.opened img')].every((one) => one.naturalWidth > 40)"
        )


def test_keys_alone_suffice_to_search_open_and_walk(client: httpx.Client, browser: Browser) -> None:
    with visit(browser, str(client.base_url), 1280, "dark") as seen:
        page = seen.page
        page.goto("/?index=news")
        expect(page.get_by_role("textbox", name="Text")).to_be_visible()
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        page.keyboard.press("/")
        expect(page.get_by_role("textbox", name="Text")).to_be_focused()
        page.keyboard.insert_text(ASKED)
        page.keyboard.press("Control+Enter")
        expect(page.locator(".match")).to_have_count(3)
        opener = page.get_by_role("button", name="Side by side").first
        for _ in range(20):
            page.keyboard.press("Tab")
            if opener.evaluate("(one) => one === document.activeElement"):
                break
        page.keyboard.press("Enter")
        expect(opener).to_have_attribute("aria-expanded", "true")
        expect(page.locator(".match").first.locator("figure.passage")).to_be_visible()


@VIEWS
def test_hostile_documents_are_shown_as_texts_and_their_passages_agree(
    client: httpx.Client, browser: Browser, width: int, scheme: str
) -> None:
    with visit(browser, str(client.base_url), width, scheme) as seen:
        page = seen.page
        page.goto("/?index=hostile")
        page.get_by_role("textbox", name="Text").fill(LOUD)
        page.get_by_role("slider", name="Minimum similarity").fill("0.3")
        page.get_by_role("button", name="Search", exact=True).click()
        assert {id for id, _ in alike(page)} == {id.replace("\u202e", "\ufffd") for id in HOSTILE}
        for opener in page.get_by_role("button", name="Side by side").all():
            opener.click()
        expect(page.locator("figure.passage")).to_have_count(len(HOSTILE))
        for passage in page.locator("figure.passage").all():
            left, right = agreement(passage)
            assert left == right
            assert len(left) >= 28
        page.goto("/indexes/hostile")
        expect(page.locator("#documents .documents > li")).to_have_count(len(HOSTILE))
        for opener in page.get_by_role("button", name="Show").all():
            opener.click()
        held = texts(page.locator(".peek .text"))
        assert sorted(held) == sorted(HOSTILE.values())
        assert not page.locator("#documents img, #documents script").count()
