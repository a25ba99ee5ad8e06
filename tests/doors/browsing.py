"""What the stories in a real browser stand on: a page at a width and in a scheme, and what must hold on each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser import program

WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
GRAVE = ("serious", "critical")
MILLISECONDS = 60_000  # that a page may take on a busy machine
expect.set_options(timeout=MILLISECONDS)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Visit:
    """One page in its own context, and what went wrong in it: errors of the console, of scripts, of requests."""

    page: Page
    faults: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def check(self) -> None:
        """No error, nothing fetched from elsewhere, no horizontal scroll, no serious fault of accessibility."""
        wait_until_idle(self.page)
        assert not self.faults, self.faults
        assert not self.foreign, self.foreign
        over = self.page.evaluate(
            "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert over <= 0, f"{self.page.url} scrolls sideways by {over} pixels"
        assert_accessible(self.page)


@contextmanager
def visit(browser: Browser, base: str, width: int, scheme: Any, **options: Any) -> Iterator[Visit]:
    """A page of that width and colour scheme; what it does wrong is noted, and checked at the end."""
    context = browser.new_context(
        base_url=base, viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce",
        has_touch=width < 600, accept_downloads=True, **options,
    )  # fmt: skip
    page = context.new_page()
    page.set_default_timeout(MILLISECONDS)
    seen = Visit(page)
    page.on("console", lambda said: seen.faults.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: seen.faults.append(str(error)))
    page.on("request", lambda asked: seen.foreign.append(asked.url) if is_foreign(asked.url, base) else None)
    try:
        yield seen
        seen.check()
    finally:
        context.close()


def is_foreign(url: str, base: str) -> bool:
    """Whether a request leaves the service."""
    return not url.startswith((base + "/", "data:", "blob:"))


def wait_until_idle(page: Page) -> None:
    """Wait until no part of the page waits for an answer: such a part is dimmed."""
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


def assert_accessible(page: Page) -> None:
    """The rules of axe find no serious fault in what is shown now.

    A page may ask something anew while axe looks at it; what is at fault still once it is idle again is a fault.
    """
    if grave_faults(page):
        wait_until_idle(page)
        grave = grave_faults(page)
        assert not grave, "\n".join(grave)


def grave_faults(page: Page) -> list[str]:
    """What axe says of the page as it is."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes']][:3]}"
        for one in found
        if one["impact"] in GRAVE
    ]
