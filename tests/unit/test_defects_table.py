"""docs/reference/defects.md tells the truth: every number stands there, with all the tests that bear it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "defects.md"
HOME = "tests/properties/test_defects.py"


def on_the_page() -> dict[int, set[str]]:
    """The tests that the page names for each defect, as path::name."""
    rows = re.findall(r"^\| D(\d+) \|.*\| ([^|]*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        int(number): {name if "::" in name else f"{HOME}::{name}" for name in re.findall(r"`([^`]+)`", tests)}
        for number, tests in rows
    }


def in_the_tests() -> dict[int, set[str]]:
    """The tests whose name bears the number of a defect."""
    found: dict[int, set[str]] = {}
    for file in (ROOT / "tests").rglob("test_*.py"):
        path = file.relative_to(ROOT).as_posix()
        for name in re.findall(r"^def (test_d\d\d_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE):
            for number in re.findall(r"(?<=_)d(\d\d)(?=_)", name):
                found.setdefault(int(number), set()).add(f"{path}::{name}")
    return found


def test_every_defect_stands_there_in_order() -> None:
    assert list(on_the_page()) == list(range(1, 23))


def test_the_page_names_the_tests_that_there_are() -> None:
    assert on_the_page() == in_the_tests()
