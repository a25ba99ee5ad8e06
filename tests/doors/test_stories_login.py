"""A person shows a key to the pages: a wrong one is told, one that may read reads, one that may write writes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.doors.browsing import visit
from tests.doors.service import serving
from tests.doors.stories import VIEWS, words

TEXT = " ".join(words(1, 30))


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """Where a service answers that asks for keys, and a key for each scope; it holds the index `news`."""
    folder = tmp_path_factory.mktemp("stories")
    keys = {}
    for scope in ("read", "write"):
        add = ["keys", "add", str(folder / "keys"), "--name", f"{scope}er", "--scope", scope]
        ran = subprocess.run(
            [sys.executable, "-m", "benzer", *add], capture_output=True, text=True, check=True
        )
        keys[scope] = ran.stdout.split()[-1]
    with serving("--home", folder / "home", "--keys", folder / "keys") as (client, _):
        client.headers["Authorization"] = f"Bearer {keys['write']}"
        assert client.post("/v1/indexes", json={"name": "news"}).status_code == 201
        document = {"id": "one", "fields": {"text": TEXT}}
        assert client.post("/v1/indexes/news/documents", json={"documents": [document]}).status_code == 200
        yield str(client.base_url), keys


def log_in(page: Page, key: str) -> None:
    page.get_by_role("textbox", name="Key").fill(key)
    page.get_by_role("button", name="Log in").click()


@VIEWS
def test_a_key_that_may_read_leads_where_one_wanted_to_go_and_shows_nothing_that_writes(
    guarded: tuple[str, dict[str, str]], browser: Browser, width: int, scheme: str
) -> None:
    base, keys = guarded
    with visit(browser, base, width, scheme) as seen:
        page = seen.page
        page.goto("/indexes/news")
        assert page.url.startswith(f"{base}/login")
        seen.check()
        log_in(page, "wrong")
        expect(page.locator("#wrong")).to_contain_text("Unknown key")
        seen.faults[:] = [fault for fault in seen.faults if "401" not in fault]  # the browser's own line
        seen.check()
        log_in(page, keys["read"])
        expect(page.get_by_role("heading", name="news", exact=True)).to_be_visible()
        assert page.url == f"{base}/indexes/news"
        expect(page.locator("#documents")).to_contain_text("one")
        expect(page.get_by_text("Your key has read access only")).to_be_visible()
        for control in ("Choose files", "Remove one", "Delete news…", "Add document"):
            expect(page.get_by_role("button", name=control)).to_have_count(0)
        seen.check()
        page.goto("/?index=news")
        page.get_by_role("textbox", name="Text").fill(TEXT)
        page.get_by_role("button", name="Search", exact=True).click()
        expect(page.locator(".match .number").first).to_have_text("1.000")
        cookie = seen.page.context.cookies()[0]
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        assert page.evaluate("() => document.cookie") == ""
        page.get_by_role("button", name="Log out").click()
        page.goto("/indexes/news")
        assert page.url.startswith(f"{base}/login")


def test_a_key_that_may_write_adds_and_removes(guarded: tuple[str, dict[str, str]], browser: Browser) -> None:
    base, keys = guarded
    with visit(browser, base, 390, "light") as seen:
        page = seen.page
        page.goto("/login")
        log_in(page, keys["write"])
        page.goto("/indexes/news")
        page.get_by_text("Enter a document").click()
        page.get_by_role("textbox", name="Id", exact=True).fill("two")
        page.get_by_role("textbox", name="Text").fill("another text")
        page.get_by_role("button", name="Add document").click()
        expect(page.locator("#documents .documents > li")).to_have_count(2)
        remove = page.get_by_role("button", name="Remove two")
        remove.click()
        remove.click()
        expect(page.locator("#documents .documents > li")).to_have_count(1)


def test_a_session_that_has_ended_is_told_and_leads_to_the_login(
    guarded: tuple[str, dict[str, str]], browser: Browser
) -> None:
    base, keys = guarded
    with visit(browser, base, 1280, "dark") as seen:
        page = seen.page
        page.goto("/login")
        log_in(page, keys["read"])
        page.goto("/?index=news")
        expect(page.locator("#about")).to_have_text("1 document")
        with httpx.Client(
            base_url=base, cookies={one["name"]: one["value"] for one in page.context.cookies()}
        ) as other:
            other.post("/logout")
        page.get_by_role("textbox", name="Text").fill(TEXT)
        page.get_by_role("button", name="Search", exact=True).click()
        expect(page.locator(".notice.failure")).to_be_visible()
        page.locator(".notice.failure").get_by_role("link").click()
        expect(page.get_by_role("textbox", name="Key")).to_be_visible()
        seen.faults[:] = [fault for fault in seen.faults if "401" not in fault]
