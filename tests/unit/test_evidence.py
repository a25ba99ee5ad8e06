"""What two documents share is told of every kind of field, by every door of the library."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import benzer
from benzer.errors import BenzerError, InputError, SettingsError
from benzer.evidence import Evidence, Passage, field_evidence, find_passages
from benzer.evidence.views import stretches, whole
from benzer.fields import Image, Schema, Text, ValueSet
from benzer.views.evidence import STYLE, evidence_of, page, side_by_side_html

FOX = "Yesterday the quick brown fox jumps over the lazy dog, and then it sleeps in the sun until noon. Well!"
COPY = "THE QUICK BROWN FOX leaps over the lazy dog and then it sleeps in the sun until noon"
HOSTILE = (
    "<script>alert(1)</script> & \"quotes\" 'n' </mark></div><img src=x onerror=y> \x00\x1b[31m \ud800 \u202e"
)


def test_shares_are_those_of_arithmetic() -> None:
    """Of 20 and 18 words 18 are in the passage, and one differs: of 16 shingles there it spoils 3."""
    found = find_passages(Text(), FOX, COPY)
    [passage] = found.passages
    assert FOX[slice(*passage.a)] == FOX[10:-7]
    assert COPY[slice(*passage.b)] == COPY
    assert (passage.tokens, passage.shared) == (18, 17)
    [(start, end, other_start, other_end)] = passage.differences
    assert (FOX[start:end], COPY[other_start:other_end]) == ("jumps", "leaps")
    assert (found.coverage_a, found.coverage_b) == (17 / 20, 17 / 18)
    assert (found.shingles_a, found.shingles_b, found.shared_shingles) == (18, 16, 13)
    assert (found.containment_a, found.containment_b) == (13 / 18, 13 / 16)


@pytest.mark.parametrize("a, b, expected", [
    ("a b c d e f g h X i j k l m n o p", "a b c d e f g h i j k l m n o p", [("X", "")]),
    ("a b c d e f g h i j k l m n o p", "a b c d e f g h X Y i j k l m n o p", [("", "X Y")]),
    ("a b c d e X f g h i Y j k l m", "a b c d e f g h i Z j k l m", [("X", ""), ("Y", "Z")]),
])  # fmt: skip
def test_what_differs_is_named_even_where_one_side_has_nothing(
    a: str, b: str, expected: list[tuple[str, str]]
) -> None:
    [passage] = find_passages(Text(), a, b).passages
    assert [(a[i:j], b[k:m]) for i, j, k, m in passage.differences] == expected


@pytest.mark.parametrize("field, a, b, coverage", [
    (Text(), "", "", (1.0, 1.0)),
    (Text(), "one", "", (0.0, 1.0)),
    (Text(), "one", "One!", (1.0, 1.0)),
    (Text(), "one two three", "four five six", (0.0, 0.0)),
    (Text(), "one two three four", "one two three", (0.75, 1.0)),
    (Text(shingle_size=8), "one two three four", "one two three", (0.75, 1.0)),
    (Text(unit="char"), "abcdefghijklmnop", "xxabcdefghijklmnopxx", (1.0, 0.8)),
    (Text(stop_words=["the"]), "the fox the dog the cat", "fox dog the cat", (1.0, 1.0)),
    (Text(), "東京は日本の首都です", "日本の首都です。", (7 / 10, 1.0)),
])  # fmt: skip
def test_short_texts_have_evidence_too(field: Text, a: str, b: str, coverage: tuple[float, float]) -> None:
    found = find_passages(field, a, b)
    assert (found.coverage_a, found.coverage_b) == coverage


def test_bytes_are_read_as_utf8_and_places_count_code_points() -> None:
    assert find_passages(Text(), FOX.encode(), COPY.encode()) == find_passages(Text(), FOX, COPY)
    accented = "é" * 5 + " " + FOX
    [passage] = find_passages(Text(), accented.encode(), FOX).passages
    assert passage.a == (6, 5 + len(FOX))


@pytest.mark.parametrize("options", [
    {"least_tokens": 0}, {"least_tokens": True}, {"least_tokens": 1.5}, {"gap": -1}, {"gap": 65}, {"gap": "8"},
])  # fmt: skip
def test_settings_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(options))):
        find_passages(Text(), FOX, COPY, **options)


def test_least_tokens_and_gap_say_what_a_passage_is() -> None:
    a = " ".join([*"abcdefghij", *["x"] * 4, *"klmnopqrst"])
    b = " ".join([*"abcdefghij", *["y"] * 4, *"klmnopqrst"])
    assert [passage.shared for passage in find_passages(Text(), a, b).passages] == [20]
    assert [passage.shared for passage in find_passages(Text(), a, b, gap=3).passages] == [10, 10]
    assert find_passages(Text(), a, b, gap=3, least_tokens=11).passages == ()


def test_a_text_that_repeats_a_passage_is_covered_wherever_it_stands() -> None:
    once = "to whom it may concern, this is the usual notice of the house"
    often = f"{once}\n{once}\nsomething else\n{once}"
    found = find_passages(Text(), often, once)
    assert [often[slice(*passage.a)] for passage in found.passages] == [once] * 3
    assert (found.coverage_a, found.coverage_b) == (39 / 41, 1.0)


def test_no_more_than_a_thousand_passages_are_listed_and_the_others_are_counted() -> None:
    found = find_passages(Text(), "word " * 1500, "word")
    assert (len(found.passages), found.more, found.coverage_a) == (1000, 500, 1.0)


def test_value_sets_show_their_values_and_images_nothing() -> None:
    found = field_evidence(ValueSet(), ["red", 1, "round"], ["round", "1", "red"])
    assert found is not None
    assert (found.shared, found.unit, found.passages) == (("red", "round"), "value", ())
    assert (found.coverage_a, found.containment_b, found.shared_shingles) == (2 / 3, 2 / 3, 2)
    assert field_evidence(Image(), None, None) is None


def test_evidence_is_plain_data() -> None:
    found = find_passages(Text(), FOX, COPY)
    told = json.loads(json.dumps(found.to_dict()))
    assert told["passages"][0]["a"] == list(found.passages[0].a)
    assert set(told) == set(Evidence.__dataclass_fields__)
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301


def test_compare_tells_of_each_field_only_if_asked() -> None:
    schema = Schema(title=Text(unit="char"), body=Text(), tags=ValueSet())
    a = benzer.Document("a", {"title": "A fox", "body": FOX, "tags": ["fox", "dog"]})
    b = benzer.Document("b", {"title": "The fox", "body": COPY, "tags": ["dog"]})
    plain = benzer.compare(a, b, schema)
    assert all(field.evidence is None for field in plain.fields.values())
    told = benzer.compare(a, b, schema, evidence=True)
    assert replace(told.fields["body"], evidence=None) == plain.fields["body"]
    for name, field in told.fields.items():
        assert field.evidence is not None
        assert field.evidence.containment_a == field.containment_a, name
        assert field.evidence.shared_shingles == len(field.shared), name


def test_a_run_shows_where_any_two_of_its_documents_agree(tmp_path: Path) -> None:
    rows: list[tuple[Any, ...]] = [(1, FOX, ["x", "y"]), ("b", COPY, ["y"]), (3, None, None)]
    lines = [dict(zip(("id", "text", "tags"), row, strict=True)) for row in rows]
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    schema = Schema(text=Text(), tags=ValueSet())
    found = benzer.find_duplicates(str(path), schema=schema, threshold=0.5, id="id")
    told = found.evidence(found.pairs[0])
    assert found.evidence(1, "b") == told
    assert told["text"] == find_passages(Text(), FOX, COPY)
    assert told["tags"] == Evidence((), 0.5, 1.0, 0.5, 1.0, 1, 2, 1, unit="value")
    assert found.evidence(1, 3) == {}


@pytest.mark.parametrize("values, said", [
    ((["x"], ["y"]), "No value in common."), ((["x"], ["x"]), "1 value in common."),
    ((["x", "y", "z"], ["y", "x"]), "2 values in common."), (([], []), "No value in common."),
])  # fmt: skip
def test_values_of_a_run_are_counted_where_they_are_not_kept(values: Any, said: str) -> None:
    documents = [{"id": number, "tags": list(tags)} for number, tags in enumerate(values)]
    found = benzer.find_duplicates(documents, schema=Schema(tags=ValueSet())).evidence(0, 1)["tags"]
    assert found.shared == ()
    assert said in side_by_side_html("", "", found, "a", "b")


@pytest.mark.parametrize("query, said", [(("a",), "two ids"), (("a", "z"), "'z'"), (((7, "a"),), "id 7")])
def test_a_run_says_which_document_it_lacks(query: tuple[Any, ...], said: str) -> None:
    found = benzer.find_duplicates({"a": FOX, "b": COPY})
    with pytest.raises(InputError, match=said) as raised:
        found.evidence(*query)
    assert isinstance(raised.value, BenzerError)


# Views


def joined(shown: list[Any], *kinds: str) -> str:
    return "".join(text for kind, text in shown if kind in kinds)


def test_stretches_are_the_text_and_nothing_else() -> None:
    found = find_passages(Text(), FOX, COPY)
    shown = stretches(FOX, found.passages[0], "a", context=1000, longest=None)
    assert joined(shown, "around", "equal", "differs") == FOX
    assert joined(shown, "differs") == "jumps"
    assert "".join(text for _, text in whole(FOX, found.passages, "a")) == FOX
    assert joined(whole(COPY, found.passages, "b"), "differs") == "leaps"


@pytest.mark.parametrize("longest", [1, 2, 7, 20, 60, 84, 85])
def test_what_is_cut_out_of_a_passage_is_counted(longest: int) -> None:
    [passage] = find_passages(Text(), FOX, COPY).passages
    shown = stretches(FOX, passage, "a", context=0, longest=longest)
    cut = [int(text) for kind, text in shown if kind == "cut"]
    length = passage.a[1] - passage.a[0]
    assert len(joined(shown, "equal", "differs")) + sum(cut) == length
    assert bool(cut) == (longest < length)


class Reader(HTMLParser):
    """The tags, attributes and marked texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = ["page"]
        self.text: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(dict(attrs).get("class") or tag)

    def handle_endtag(self, tag: str) -> None:
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text[self.open[-1]] = self.text.get(self.open[-1], "") + data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == ["page"]
    return reader


def test_a_page_marks_what_is_equal_and_what_differs() -> None:
    shown = read(side_by_side_html(FOX, COPY, find_passages(Text(), FOX, COPY), "fox.txt", "copy.txt"))
    assert shown.text["differs"] == "jumpsleaps"
    assert shown.text["headline"] == "85 % of A appears in B, 94 % of B appears in A"
    assert shown.text["figcaption"] == "Passage 1: 17 words equal, 1 difference"
    assert "fox.txt" in shown.text["bdi"]


@pytest.mark.parametrize("texts", [(HOSTILE * 3, HOSTILE * 3), ("", HOSTILE), ("", "")])
def test_nothing_of_a_document_becomes_html_and_nothing_is_fetched(texts: tuple[str, str]) -> None:
    found = find_passages(Text(), *texts)
    html = page(
        (HOSTILE, HOSTILE), [(HOSTILE, 1.0, evidence_of(texts, found, (HOSTILE, HOSTILE), complete=True))]
    )
    shown = read(html)
    known = {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "bdi",
        "p",
        "b",
        "figure",
        "figcaption",
    }
    assert set(shown.tags) <= known | {"div", "span", "mark", "details", "summary"}
    roles = {"role", "tabindex", "aria-label"}
    assert {name for name, _ in shown.attributes} <= {
        "lang",
        "charset",
        "name",
        "content",
        "class",
        "dir",
    } | roles
    assert not any(word in html for word in ("http", "url(", "@import", "\x00", "\x1b", "\ud800"))
    html.encode()


def test_values_are_escaped_and_long_lists_are_cut_and_counted() -> None:
    shared = [f"<b>{number}" for number in range(100)]
    found = field_evidence(ValueSet(), shared, shared)
    assert found is not None
    html = side_by_side_html("", "", found, "a", "b")
    assert read(html).tags.count("li") == 60
    assert "and 40 more values" in html


def test_many_passages_are_cut_and_counted() -> None:
    found = find_passages(Text(), FOX, COPY)
    many = replace(found, passages=found.passages * 12, more=5)
    html = side_by_side_html(FOX, COPY, many, "a", "b", most=10)
    assert read(html).tags.count("figure") == 10
    assert "and 7 more passages" in html


def test_the_style_touches_nothing_but_what_it_is_for() -> None:
    rules = [line for line in STYLE.splitlines() if "{" in line and not line.startswith("@media (prefers")]
    assert all(".evidence" in rule for rule in rules)


def test_passages_are_equal_as_values() -> None:
    assert Passage((0, 1), (0, 1), 1, 1, ()) == Passage((0, 1), (0, 1), 1, 1, ())
