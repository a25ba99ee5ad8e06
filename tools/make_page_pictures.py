"""Take the screenshots of docs/how-to/use-the-pages.md.

`python tools/make_page_pictures.py` serves the demo, opens its pages in a headless Chromium, and writes
docs/figures/service-*.png, in half a minute. It needs Chromium, and the extra `test` of the package.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

FIGURES = Path(__file__).resolve().parent.parent / "docs" / "figures"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH, COLOURS = 1100, 255


@contextmanager
def demo() -> Iterator[str]:
    """The address of a service of the demo."""
    command = [sys.executable, "-m", "benzer", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield next(
                found[0] for line in process.stderr if (found := re.search(r"http://[^\s/]+:\d+", line))
            )
        finally:
            process.terminate()


def search(page: Page) -> None:
    """A package, and the most similar one next to it."""
    page.goto("/?index=demo&id=debian/nbd-client")
    page.get_by_role("button", name="Side by side").first.click()
    page.locator("figure.passage").first.wait_for()


def duplicates(page: Page) -> None:
    """The result of a job for the demo, and one of its clusters."""
    page.goto("/duplicates?index=demo")
    page.get_by_role("button", name="Start").click()
    page.locator(".cluster .head").nth(2).click()
    page.locator("figure.passage").first.wait_for()
    page.evaluate("() => document.getElementById('clusters-title').scrollIntoView()")


def tune(page: Page) -> None:
    """The curve and the histogram of the demo."""
    page.goto("/tune?index=demo")
    page.locator("#histogram .bar").first.wait_for()


def index(page: Page) -> None:
    """The figures of the demo, and its first documents."""
    page.goto("/indexes/demo")
    page.locator("button[data-show]").first.click()


def few(picture: Image.Image) -> Image.Image:
    """An image reduced to its most frequent colours: surfaces are unchanged, edges of letters get the nearest
    colour.
    """
    colours: Any = picture.getcolors(picture.width * picture.height)
    commonest = [colour for _, colour in sorted(colours, reverse=True)[:COLOURS]]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in commonest for part in colour])
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)


def take(page: Page, height: int, story: Callable[[Page], None]) -> None:
    """Run a sequence of actions, and save a screenshot of its end, with few colours."""
    page.set_viewport_size({"width": WIDTH, "height": height})
    story(page)
    page.wait_for_load_state("networkidle")
    path = FIGURES / f"service-{story.__name__}.png"
    with Image.open(BytesIO(page.screenshot())) as shot:
        few(shot.convert("RGB")).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    """Take all four screenshots."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    with demo() as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(base_url=base, color_scheme="light", reduced_motion="reduce")
        for story, height in ((search, 1380), (duplicates, 1440), (tune, 1130), (index, 830)):
            take(page, height, story)
        browser.close()


if __name__ == "__main__":
    main()
