"""Asking an index for quotations: what contains a document, what stands in it, which passages stand anywhere."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from benzer.document import Document
from benzer.errors import InputError, SettingsError
from benzer.fields import Schema, Text, ValueSet
from benzer.index import Index, IndexSettings, passages
from tests.reference import winnowing as plain

FIELDS = Schema(title=Text(shingle_size=1), tags=ValueSet(weight=3.0), body=Text())
QUOTE = "the quality of mercy is not strained it droppeth as the gentle rain"


@pytest.fixture(params=["memory:", "file"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    location = tmp_path / "index.benzer" if request.param == "file" else request.param
    with closing(Index.open(location, IndexSettings(passages=True))) as opened:
        yield opened


def fresh(choice: random.Random, count: int) -> list[str]:
    """Words that stand nowhere else."""
    return [f"f{choice.getrandbits(60)}" for _ in range(count)]


def quotations(seed: int, documents: int = 60) -> dict[str, str]:
    """Texts that hold whole pieces of 0 to 60 words of one text among words of their own, and that text."""
    choice = random.Random(seed)
    source = [f"s{number}" for number in range(60)]
    texts = {"source": " ".join(source)}
    for number in range(documents):
        start, length = choice.randrange(60), choice.randint(0, 60)
        piece = source[start : start + length]
        own = fresh(choice, choice.choice([0, 0, 3, 30]))
        texts[f"d{number}"] = " ".join([*own[::2], *piece, *own[1::2]])
    return texts


def longest_common_run(a: str, b: str) -> int:
    """The most words in a row that stand in both texts, by trying every place."""
    left, right = a.split(), b.split()
    longest = 0
    for i in range(len(left)):
        for j in range(len(right)):
            length = 0
            while (
                i + length < len(left) and j + length < len(right) and left[i + length] == right[j + length]
            ):
                length += 1
            longest = max(longest, length)
    return longest


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("threshold", [0.2, 0.8, 1.0])
def test_all_that_share_a_certain_run_are_found_with_exact_containment(
    index: Index, seed: int, threshold: float
) -> None:
    texts = quotations(seed)
    index.add(texts)
    for name in ("source", "d0", "d7"):
        asked = Document(name, {"text": texts[name]})
        around = index.find_containing(asked, threshold, limit=None)
        within = index.find_contained(asked, threshold, limit=None)
        sets = {other: plain.word_shingles(text) for other, text in texts.items() if texts[other]}
        own = sets.pop(name)
        shares = {
            other: (plain.containment(own, one), plain.containment(one, own)) for other, one in sets.items()
        }
        certain = {other for other in sets if longest_common_run(texts[name], texts[other]) >= 7}
        for place, found in enumerate((around, within)):
            assert {match.id for match in found} >= {
                one for one in certain if shares[one][place] >= threshold
            }
            for match in found:
                assert match.containment == shares[match.id][place] >= threshold  # type: ignore[index]
                assert match.fields == {"text": match.containment}
                there = sets[match.id]  # type: ignore[index]
                assert match.similarity == len(own & there) / len(own | there)


@pytest.mark.parametrize("seed", range(5))
def test_of_value_sets_everything_is_found(seed: int) -> None:
    choice = random.Random(seed)
    sets = {number: choice.sample(range(40), choice.randint(0, 12)) for number in range(150)}
    with Index.open("memory:", IndexSettings(Schema(values=ValueSet()), passages=True)) as index:
        index.add((number, {"values": values}) for number, values in sets.items())
        for name, values in sets.items():
            asked = Document(name, {"values": values})
            for threshold in (0.3, 0.5, 1.0):
                around = {
                    match.id for match in index.find_containing(asked, threshold, limit=None, most=None)
                }
                within = {match.id for match in index.find_contained(asked, threshold, limit=None, most=None)}
                others = {other: set(own) for other, own in sets.items() if other != name}
                assert around == {
                    other
                    for other, own in others.items()
                    if values and len(own & set(values)) / len(values) >= threshold
                }
                assert within == {
                    other
                    for other, own in others.items()
                    if own and len(own & set(values)) / len(own) >= threshold
                }


def test_matches_come_best_first_and_the_closest_of_equal_ones(index: Index) -> None:
    choice = random.Random(5)
    wide = " ".join([*fresh(choice, 50), QUOTE])
    index.add(
        {"wide": wide, "equal": QUOTE, "close": QUOTE + " from heaven", "part": QUOTE[:45], "again": wide}
    )
    found = index.find_containing(QUOTE, threshold=0.3)
    assert [match.id for match in found] == ["equal", "close", "wide", "again", "part"]
    assert [match.containment for match in found][:4] == [1.0] * 4
    assert [match.id for match in index.find_containing(QUOTE, threshold=0.3, limit=2)] == ["equal", "close"]
    assert found[1:3] == list(found)[1:3]


def test_replaced_and_removed_documents_are_not_found(index: Index) -> None:
    index.add({"a": QUOTE, "b": QUOTE, "c": QUOTE})
    index.commit()
    index.add({"a": "something else altogether"})
    index.remove(["b"])
    for ask in (index.find_containing, index.find_contained, index.find_passages):
        assert [match.id for match in ask(QUOTE)] == ["c"]
    index.compact()
    assert [match.id for match in index.find_passages(QUOTE)] == ["c"]


def test_the_work_can_be_bounded_and_the_answer_says_so(index: Index) -> None:
    index.add({f"{number}": QUOTE + f" {number}" for number in range(9)})
    found = index.find_containing(QUOTE, limit=None, most=4)
    assert (found.candidates, found.compared, len(found)) == (9, 4, 4)
    found = index.find_containing(QUOTE, limit=None)
    assert (found.candidates, found.compared, len(found)) == (9, 9, 9)
    passages = index.find_passages(QUOTE, most=4)
    assert (passages.candidates, passages.unread, len(passages)) == (9, 5, 4)
    assert index.find_passages(QUOTE, limit=1).unread == 0


def test_rare_fingerprints_come_before_common_ones(index: Index) -> None:
    boilerplate = "all rights reserved no part of this may be copied without permission"
    index.add({f"{number}": f"{boilerplate} number {number}" for number in range(50)})
    few = " ".join(QUOTE.split()[:8])
    index.add({"quote": f"she said {few}"})
    found = index.find_containing(f"{boilerplate} {few}", threshold=0.01, limit=None, most=1)
    assert [match.id for match in found] == ["quote"]


def test_fields_count_by_their_weights_where_both_hold_them() -> None:
    with Index.open("memory:", IndexSettings(FIELDS, passages=True)) as index:
        index.add(
            [
                ("both", {"title": "a fine day", "tags": ["x", "y"], "body": QUOTE}),
                ("tags", {"tags": ["x"]}),
                ("empty", {"tags": ["x"], "body": ""}),
            ]
        )
        asked = {"tags": ["x", "y", "z", "u"], "body": QUOTE}
        found = {match.id: match for match in index.find_containing(asked, threshold=0.1)}
        assert found["both"].fields == {"tags": 0.5, "body": 1.0}
        assert found["both"].containment == (3 * 0.5 + 1 * 1.0) / 4
        assert found["tags"].fields == {"tags": 0.25}
        assert found["empty"].fields == {"tags": 0.25, "body": 0.0}
        within = {match.id: match for match in index.find_contained(asked, threshold=0.1)}
        assert within["empty"].fields == {"tags": 1.0}
        assert within["both"].fields == {"tags": 1.0, "body": 1.0}


def test_passages_stand_where_the_answer_says(index: Index) -> None:
    page = (
        "News. \u201cThe QUALITY of mercy\u201d is not strain\u00aded; it droppeth as\nthe gentle rain! Login"
    )
    index.add({"page": page, "other": "nothing of the kind stands in this one here"})
    text = f"He said: {QUOTE}. So he said."
    (match,) = found = index.find_passages(text)
    (passage,) = match.passages
    assert text[slice(*passage.a)] == QUOTE
    assert page[slice(*passage.b)].startswith("The QUALITY")
    assert page[slice(*passage.b)].endswith("rain")
    assert (match.id, match.field, match.words) == ("page", "text", len(QUOTE.split()))
    assert found.covered["text"].spans == [passage.a]
    assert found.covered["text"].share == 13 / 18


def test_what_is_covered_counts_every_document_whatever_the_limit(index: Index) -> None:
    choice = random.Random(2)
    pieces = [fresh(choice, 20) for _ in range(30)]
    for number, piece in enumerate(pieces):
        index.add([(number, " ".join([*fresh(choice, 30), *piece, *fresh(choice, 30)]))])
    text = " ".join(word for piece in pieces for word in [*piece, *fresh(choice, 10)])
    found = index.find_passages(text, limit=3)
    assert len(found) == 3
    assert found.covered["text"].share == 20 / 30
    assert len(found.covered["text"].spans) == 30
    everything = index.find_passages(text, limit=None)
    assert {match.id for match in everything} == set(range(30))
    assert [match.words for match in everything] == [20] * 30


def test_copies_of_what_is_explained_are_not_read(index: Index) -> None:
    index.add({number: f"{QUOTE} {number}" for number in range(500)})
    found = index.find_passages(QUOTE, limit=5, most=100)
    assert (len(found), found.candidates, found.unread) == (5, 500, 0)


def test_words_that_differ_inside_a_passage_are_not_counted_as_found(index: Index) -> None:
    index.add({"a": QUOTE.replace("not", "never")})
    found = index.find_passages(QUOTE)
    assert found[0].words == len(QUOTE.split()) - 1
    assert found.covered["text"].share == 12 / 13
    assert len(found.covered["text"].spans) == 2


def test_short_passages_are_left_out(index: Index) -> None:
    index.add({"seven": "one two three four five six seven", "nine": "a b c d e f g h i"})
    text = "one two three four five six seven then a b c d e f g h i"
    assert [match.id for match in index.find_passages(text)] == ["nine"]
    assert [match.id for match in index.find_passages(text, least_words=7)] == ["nine", "seven"]


def test_passages_of_several_fields_are_sought_in_their_own_fields() -> None:
    with Index.open("memory:", IndexSettings(FIELDS, passages=True)) as index:
        index.add([("a", {"title": QUOTE, "tags": ["x"]}), ("b", {"body": QUOTE, "tags": ["x"]})])
        found = index.find_passages({"body": QUOTE, "tags": ["x"]})
        assert [(match.id, match.field) for match in found] == [("b", "body")]
        with pytest.raises(InputError, match="passages require a text, got none"):
            index.find_passages({"tags": ["x"]})


def test_a_document_is_not_its_own_source(index: Index) -> None:
    index.add({"a": QUOTE, "b": QUOTE})
    own = index.get("a")
    for ask in (index.find_containing, index.find_contained, index.find_passages):
        assert [match.id for match in ask(own)] == ["b"]


@pytest.mark.parametrize("empty", ["", "  ,;", "..."])
def test_nothing_is_found_for_nothing(index: Index, empty: str) -> None:
    index.add({"a": QUOTE, "b": empty})
    assert list(index.find_containing(empty)) == list(index.find_contained(empty)) == []
    found = index.find_passages(empty)
    assert list(found) == []
    assert found.covered["text"] == ([], 0.0)
    assert [match.id for match in index.find_contained(QUOTE)] == ["a"]


def test_answers_are_json_able(index: Index) -> None:
    import json

    index.add({"a": QUOTE})
    answer = json.loads(json.dumps(index.find_passages(QUOTE).to_dict()))
    assert answer["matches"][0]["passages"][0]["a"] == [0, len(QUOTE)]
    assert answer["covered"]["text"] == {"spans": [[0, len(QUOTE)]], "share": 1.0}


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"limit": 0}, "limit must be 1 or more, or None for all, got 0"),
        ({"most": 0}, "most must be 1 or more, or None for all, got 0"),
        ({"threshold": 0.0}, r"threshold must be in \(0, 1\], got 0.0"),
        ({"threshold": 1.5}, r"threshold must be in \(0, 1\]"),
        ({"least_words": 0}, "least_words must be 1 or more, got 0"),
    ],
)
def test_questions_out_of_range_are_refused(index: Index, arguments: dict[str, float], message: str) -> None:
    ask = index.find_passages if "least_words" in arguments else index.find_containing
    with pytest.raises(SettingsError, match=message):
        ask(QUOTE, **arguments)


@pytest.mark.parametrize("field", [Text(), Text(shingle_size=1), Text(unit="char")])
def test_a_document_that_stands_in_a_text_is_found_however_short_it_is(field: Text) -> None:
    """Where it has a whole shingle of the field; else its one shingle stands nowhere, by definition."""
    words = QUOTE.split()
    pieces = {
        size: " ".join(words[start : start + size])
        for size, start in ((1, 1), (2, 4), (3, 6), (4, 2), (5, 3))
    }
    with closing(Index.open("memory:", IndexSettings(Schema(text=field), passages=True))) as index:
        index.add({**pieces, "not there": "of quality the"})
        found = {match.id for match in index.find_contained(QUOTE, threshold=1.0)}
        assert found == {size for size, piece in pieces.items() if whole(field, piece)}
        quoted = index.find_passages(QUOTE, least_words=1)
        assert {match.id: match.words for match in quoted} == {size: size for size in pieces}
        assert {match.id for match in index.find_passages(QUOTE, least_words=3)} == {3, 4, 5}


def whole(field: Text, piece: str) -> bool:
    """Whether a piece of the quotation has only shingles of the quotation."""
    return set(field.shingles(piece)) <= set(field.shingles(QUOTE))


def test_a_short_document_of_a_script_without_spaces_is_found() -> None:
    with closing(Index.open("memory:", IndexSettings(passages=True))) as index:
        index.add({"three": "\u6771\u4eac\u90fd", "four": "\u6771\u4eac\u90fd\u306f"})
        found = index.find_contained(
            "\u79c1\u306f\u6771\u4eac\u90fd\u306f\u5927\u304d\u3044\u3068\u601d\u3046"
        )
        assert {match.id for match in found} == {"three", "four"}


def test_an_answer_says_where_the_text_asked_for_is_too_short_for_certainty(index: Index) -> None:
    words = QUOTE.split()
    index.add({"a": QUOTE})
    assert index.find_containing(" ".join(words[:6])).short == ("text",)
    assert index.find_containing(" ".join(words[:7])).short == ()
    assert index.find_containing("").short == index.find_contained("one").short == ()
    found = index.find_containing(" ".join(words[:7]), threshold=1.0)
    assert [match.id for match in found] == ["a"]


def test_the_text_asked_for_is_read_once_however_many_documents_are_compared(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a book costs its length for each of the documents that quote a line of it."""
    index.add({number: f"{QUOTE} {number}" for number in range(200)})
    read = []

    class Counted(passages.Sought):
        def __init__(self, field: Text, text: str | bytes) -> None:
            read.append(text)
            super().__init__(field, text)

    monkeypatch.setattr(passages, "Sought", Counted)
    assert len(index.find_passages(QUOTE, limit=None)) == 200
    assert read == [QUOTE]


def test_what_is_repeated_more_often_than_is_listed_counts_as_found(index: Index) -> None:
    index.add({"notice": QUOTE, "other": "nothing of the kind was ever written down here"})
    found = index.find_passages(f"{QUOTE}, again: " * 1500)
    assert (len(found), len(found[0].passages), found[0].words) == (1, 1000, 1500 * 13)
    assert found.covered["text"].share == 13 / 14
    assert len(found.covered["text"].spans) == 1500
