"""What the tests of the report stand on: a page taken apart, a measured recall, and what a page may not hold."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from benzer.recall import Missed, RecallEstimate
from benzer.report import report_html

SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "data" / "documents.jsonl"
VOID = {"meta", "br", "link", "img", "input", "hr", "source", "track"}
FETCHES = {
    "src",
    "href",
    "srcset",
    "action",
    "data",
    "poster",
    "xlink:href",
    "formaction",
    "background",
    "cite",
}


@dataclass
class Element:
    """One element of a page: its attributes, its own text and that of all within it, and what it holds."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    within: list[Element] = field(default_factory=list)
    words: str = ""

    def all(self, tag: str = "", kind: str = "") -> list[Element]:
        """The elements within it, at any depth, of a tag and of a class."""
        found = []
        for one in self.within:
            if (not tag or one.tag == tag) and (not kind or kind in one.attributes.get("class", "").split()):
                found.append(one)
            found += one.all(tag, kind)
        return found

    def named(self, name: str) -> Element:
        """The element of that id."""
        (found,) = (one for one in self.all() if one.attributes.get("id") == name)
        return found


class Page(HTMLParser):
    """A parser that takes nothing but elements that are closed as they were opened."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("page")
        self.open = [self.root]
        self.comments: list[str] = []
        self.feed(text)
        self.close()
        assert [one.tag for one in self.open] == ["page"], "an element is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"{tag} has an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].within.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for one in self.open:
            one.words += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def page_of(found: Any, **options: Any) -> Element:
    """The page of a result, parsed."""
    return Page(report_html(found, **options)).root


def number(words: str) -> int:
    """The number that stands at the beginning."""
    return int(words.split()[0].replace(",", ""))


def rows_of(element: Element) -> list[list[str]]:
    """The cells of the rows of a table's body."""
    return [[cell.words for cell in row.within] for body in element.all("tbody") for row in body.all("tr")]


def assert_alone(text: str) -> None:
    """Nothing is fetched, nothing runs, and the browser is told so."""
    page = Page(text).root
    policy = [
        one for one in page.all("meta") if one.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy[0].attributes["content"] == "default-src 'none'; style-src 'unsafe-inline'"
    tags = {one.tag for one in page.all()}
    assert not tags & {
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
        "a",
        "image",
        "use",
    }
    for one in page.all():
        assert not FETCHES & set(one.attributes), one
        assert not [name for name in one.attributes if name.startswith("on")], one
        assert "url(" not in one.attributes.get("style", "")
    (style,) = page.all("style")
    assert not re.search(r"url\(|@import|expression|//", style.words)


def estimate(**changes: Any) -> RecallEstimate:
    """A measured recall."""
    values: dict[str, Any] = {
        "recall": 0.978, "low": 0.961, "high": 0.9888, "confidence": 0.95, "found": 489, "asked": 500, "drawn": 2048,
        "contents": 9000, "exhaustive": False, "pair_recall": 0.969, "predicted": 0.981, "missed_pairs": 12,
        "missed": (Missed("<left>", "right", 0.8125, True),), **changes,
    }  # fmt: skip
    return RecallEstimate(**values)
