"""What stories of people at the pages share: views, texts, and how what a page shows is read."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.doors.browsing import SCHEMES, WIDTHS

VIEWS = pytest.mark.parametrize("width, scheme", list(zip(WIDTHS, SCHEMES, strict=True)))
"""A wide light page, and a narrow dark one."""
COLOURED = {"forced_colors": "active"}
LETTERS = "bcdfghjklmnprstvz"


def words(seed: int, number: int) -> list[str]:
    """So many words that nobody says, the same ones for a seed."""
    chance = random.Random(seed)
    return ["".join(chance.choice(LETTERS) + chance.choice("aeiou") for _ in range(3)) for _ in range(number)]


def changed(given: list[str], seed: int, number: int) -> list[str]:
    """The same words with a run of them replaced, in their midst."""
    begin = (len(given) - number) // 2
    return [*given[:begin], *words(seed, number), *given[begin + number :]]


def family(seed: int, length: int = 60) -> dict[str, str]:
    """A text and three that are ever less like it."""
    first = words(seed, length)
    return {f"{seed}-{changes}": " ".join(changed(first, seed + 1000, changes)) for changes in (0, 2, 8, 20)}


def as_shown(value: float) -> str:
    """A similarity as the pages write it: rounded down to three places."""
    return f"{math.floor(1000 * value + 1e-9) / 1000:.3f}"


def tiles(page: Page, place: str) -> dict[str, str]:
    """The figures of a page by their names."""
    read = "(all) => all.map((one) => [one.querySelector('dt').textContent, one.querySelector('dd').textContent])"
    return dict(page.locator(f"{place} .tile").evaluate_all(read))


def texts(found: Locator) -> list[str]:
    """The texts of elements, those out of sight too."""
    return [str(one) for one in found.evaluate_all("(all) => all.map((one) => one.textContent)")]


def agreement(passage: Locator) -> tuple[list[str], list[str]]:
    """The words that a passage marks as equal, on its one side and on the other."""
    expect(passage).to_be_visible()
    left, right = (
        " ".join(texts(passage.locator(".side").nth(at).locator("mark.equal"))).casefold().split()
        for at in (0, 1)
    )
    return left, right


def drop(page: Page, files: Mapping[str, str]) -> None:
    """Drop files on a page, as from a folder."""
    given = page.evaluate_handle(
        """(files) => {
            const held = new DataTransfer();
            for (const [name, text] of files) held.items.add(new File([text], name, { type: "text/plain" }));
            return held;
        }""",
        [list(one) for one in files.items()],
    )
    for event in ("dragenter", "dragover", "drop"):
        page.dispatch_event("main", event, {"dataTransfer": given})


def lines_file(path: Path, *rows: Any) -> Path:
    """A file of JSON lines; a row that is a text stands as it is."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
