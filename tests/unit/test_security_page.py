"""SECURITY.md has a section for each attacker, and names a test for each guarantee."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "SECURITY.md").read_text()


def test_each_attacker_has_a_section() -> None:
    titles = re.findall(r"^### (.+)$", PAGE, re.MULTILINE)
    rows = re.findall(r"^\| \[(.+?)\]\(#(.+?)\) \|", PAGE, re.MULTILINE)
    assert [name.lower() for name, _ in rows] == [title.lower() for title in titles]
    assert [anchor for _, anchor in rows] == [title.lower().replace(" ", "-") for title in titles]


def test_each_guarantee_names_a_test() -> None:
    sections = PAGE.split("\n### ")[1:]
    for section in sections:
        guarantees = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section, re.MULTILINE)[1:]
        assert guarantees
        without = [text for text, tests in guarantees if not re.search(r"\(tests/.+\.py\)|`make \w+`", tests)]
        assert without == []
        assert "\nNot guaranteed: " in section
