"""A field type that the native core does not read works everywhere: batch runs, indexes, comparisons."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import benzer
from benzer import Document, Index, IndexSettings, Schema, Text, ValueSet, _native
from benzer.corpus import DescribedCorpus, corpus_of
from benzer.document import Description
from benzer.errors import InputError, MalformedRowError, SettingsError
from benzer.fields import FIELD_TYPES
from benzer.fields.base import Kind, Sets


@dataclass(frozen=True)
class Letters:
    """A stranger's field type: the set of the letters of a word; capitals cannot be read."""

    weight: float = 1.0
    kind: ClassVar[Kind] = "text"
    reader: ClassVar[None] = None

    def encode(self, content: Any) -> bytes:
        text = content.data.decode() if isinstance(content, Description) else content
        if text != text.lower():
            raise InputError(f"{text} has capitals: write it small")
        return bytes(sorted(set(text.encode())))

    def decode(self, data: bytes) -> Description:
        return Description(data)

    def encoded_sets(self, contents: Sequence[bytes | None]) -> Sets:
        sets = [sorted(set(content or b"")) for content in contents]
        offsets = np.array([0, *itertools.accumulate(map(len, sets))], dtype=np.int64)
        return offsets, np.array([value for one in sets for value in one], dtype=np.uint64)

    def sets(self, contents: Sequence[Any], threads: int = 1) -> Sets:
        return self.encoded_sets([None if content is None else self.encode(content) for content in contents])

    def shared(self, a: Any, b: Any) -> list[str]:
        return [chr(one) for one in self.encode(a) if one in self.encode(b)]

    def to_dict(self) -> dict[str, Any]:
        return {"type": "letters", "weight": self.weight}


@dataclass(frozen=True)
class FirstLetters(Letters):
    """Compares by more than its sets: half alike, unless the sets are equal; counts its readings."""

    own_similarity: ClassVar[bool] = True
    readings: ClassVar[list[Any]] = []

    def describe(self, contents: Sequence[Any], threads: int = 1) -> list[bytes | InputError]:
        answers: list[bytes | InputError] = []
        for content in contents:
            if not isinstance(content, Description):
                self.readings.append(content)
            try:
                answers.append(self.encode(content))
            except InputError as error:
                answers.append(error)
        return answers

    def compare(self, a: bytes, others: Sequence[bytes]) -> NDArray[np.float64]:
        return np.array([1.0 if a == other else 0.5 for other in others])

    def band_threshold(self, threshold: float) -> float:
        return 0.2

    def to_dict(self) -> dict[str, Any]:
        return {"type": "first letters", "weight": self.weight}


FIELD_TYPES.add("letters", f"{__name__}:Letters")
FIELD_TYPES.add("first letters", f"{__name__}:FirstLetters")

WORDS = {"a": "abcdefgh", "b": "hgfedcba", "c": "abcdefgx", "d": "zyx", "e": ""}


def jaccard_of(a: str, b: str) -> float:
    return benzer.jaccard(set(a), set(b))


def test_a_batch_run_uses_the_sets_of_the_field() -> None:
    found = benzer.find_duplicates(WORDS, schema=Schema(text=Letters()), threshold=0.7)
    assert {(p.left_id, p.right_id, p.similarity) for p in found.pairs} == {
        ("a", "b", 1.0),
        ("a", "c", jaccard_of(WORDS["a"], WORDS["c"])),
    }
    assert found.kept == ["a", "d", "e"]


def test_a_content_that_cannot_be_read_stops_the_run_or_is_set_aside() -> None:
    words = {**WORDS, "f": "CAPITAL"}
    with pytest.raises(
        MalformedRowError, match=r"documents item 6: CAPITAL has capitals: write it small\. Correct"
    ):
        benzer.find_duplicates(words, schema=Schema(text=Letters()))
    found = benzer.find_duplicates(
        words, schema=Schema(text=Letters()), threshold=0.7, options=benzer.Options(on_error="skip")
    )
    assert [(row.row, row.reason) for row in found.malformed] == [(6, "CAPITAL has capitals: write it small")]
    assert found.kept == ["a", "d", "e"]


def test_malformed_rows_are_listed_in_the_order_of_the_input() -> None:
    rows = [
        {"id": 1, "text": "BIG"},
        {"id": 2, "text": 5},
        {"id": 3, "text": "small"},
        {"id": 4, "text": "BAD"},
    ]
    found = benzer.find_duplicates(
        rows, schema=Schema(text=Letters()), options=benzer.Options(on_error="skip")
    )
    assert [row.row for row in found.malformed] == [1, 2, 4]
    assert found.kept == [3]


def test_own_similarity_takes_the_place_of_the_sets_in_runs_indexes_and_comparisons() -> None:
    schema = Schema(text=FirstLetters())
    found = benzer.find_duplicates(WORDS, schema=schema, threshold=0.5)
    assert {(p.left_id, p.right_id): p.similarity for p in found.pairs}[("a", "c")] == 0.5
    assert benzer.compare(WORDS["a"], WORDS["c"], schema).similarity == 0.5
    with Index.open("memory:", IndexSettings(schema, threshold=0.5)) as index:
        index.add(WORDS)
        matches = {match.id: match.similarity for match in index.find_similar(WORDS["a"], limit=None)}
        assert matches == {"a": 1.0, "b": 1.0, "c": 0.5}
        assert index.find_duplicates().kept == found.kept


def test_bands_are_chosen_for_the_similarity_of_the_sets() -> None:
    settings = IndexSettings(Schema(text=FirstLetters()), threshold=0.5, recall=0.95)
    assert settings.bands.probability(0.2) >= 0.95
    found = benzer.find_duplicates(WORDS, schema=Schema(text=FirstLetters()), threshold=0.5)
    assert found.bands == settings.bands
    assert found.probability(0.5) == settings.bands.probability(0.2)


def test_each_content_is_read_once() -> None:
    FirstLetters.readings.clear()
    schema = Schema(text=FirstLetters())
    with Index.open("memory:", IndexSettings(schema, threshold=0.5)) as index:
        index.add(WORDS)
        assert FirstLetters.readings == list(WORDS.values())
        index.find_similar("abc")
        assert FirstLetters.readings == [*WORDS.values(), "abc"]
        index.find_duplicates()
        assert FirstLetters.readings == [*WORDS.values(), "abc"]


def test_an_index_names_the_document_that_cannot_be_read() -> None:
    index = Index.open("memory:", IndexSettings(Schema(word=FirstLetters())))
    with pytest.raises(InputError, match="document 'x', field word: ABC has capitals: write it small"):
        index.add({"y": "abc", "x": "ABC"})
    assert len(index) == 0


DOCUMENTS = [
    Document("full", {"text": "one two three four", "word": "abcd", "tags": ["x", "y"]}),
    Document("near", {"text": "one two three four", "word": "abcz", "tags": ["x", "z"]}),
    Document("part", {"text": "one two three four", "word": None, "tags": ["x", "y"]}),
    Document("hollow", {"text": "", "word": "", "tags": []}),
]


@pytest.mark.parametrize("word", [Letters(weight=2), FirstLetters(weight=2)], ids=["sets", "own"])
def test_several_fields_are_weighed_alike_by_runs_indexes_and_comparisons(word: Any) -> None:
    schema = Schema(text=Text(), word=word, tags=ValueSet(weight=3))
    of_words = 0.5 if isinstance(word, FirstLetters) else jaccard_of("abcd", "abcz")
    expected = {
        ("full", "near"): (1 * 1.0 + 2 * of_words + 3 / 3) / 6,
        ("full", "part"): 1.0,
        ("near", "part"): (1 + 3 / 3) / 4,
    }
    found = benzer.find_duplicates(DOCUMENTS, schema=schema, threshold=0.3)
    assert {(p.left_id, p.right_id): p.similarity for p in found.pairs} == pytest.approx(expected)
    with Index.open("memory:", IndexSettings(schema, threshold=0.3)) as index:
        index.add(DOCUMENTS)
        for document in DOCUMENTS:
            for match in index.find_similar(document, limit=None):
                key = tuple(sorted((document.id, match.id), key=[d.id for d in DOCUMENTS].index))
                assert match.similarity == pytest.approx(expected[key])
        (near, *_) = [match for match in index.find_similar(DOCUMENTS[0]) if match.id == "near"]
        assert near.fields == pytest.approx({"text": 1.0, "word": of_words, "tags": 1 / 3})
    compared = benzer.compare(DOCUMENTS[0], DOCUMENTS[1], schema)
    assert compared.similarity == pytest.approx(expected[("full", "near")])


def test_only_schemas_with_such_a_field_have_the_slower_corpus() -> None:
    assert isinstance(corpus_of(Schema(text=Letters())), DescribedCorpus)
    assert not isinstance(corpus_of(Schema(text=Text(), tags=ValueSet())), DescribedCorpus)


def test_a_mean_stays_within_its_fields_whatever_the_weights() -> None:
    random = np.random.default_rng(1)
    values = random.random(1000)
    contents = _native.Contents(["values"] * 3, [[b"[1]"]] * 3)
    overlaps = contents.overlaps(contents, *[np.zeros(1000, dtype=np.uint32)] * 2)
    table = overlaps.similarities(random.random(3).tolist(), dict.fromkeys(range(3), values))
    assert (table == values[:, None]).all()


@pytest.mark.parametrize(
    "hashes, message",
    [
        (np.array([2, 1], np.uint64), "ascending, without repeats"),
        (np.array([1, 1], np.uint64), "ascending, without repeats"),
        (np.array([1.0]), "uint64 array of one dimension"),
        ([1, 2], "uint64 array of one dimension"),
    ],
)
def test_the_native_corpus_refuses_what_is_no_set_of_hashes(hashes: Any, message: str) -> None:
    corpus = benzer._native.Corpus(["hashes"])
    with pytest.raises(InputError, match=message):
        corpus.add(0, [1], ["a"], [[hashes]])


def test_the_native_corpus_refuses_an_unknown_way_of_reading() -> None:
    with pytest.raises(SettingsError, match='read by a TextReader, None or "hashes", got "texts"'):
        benzer._native.Corpus(["texts"])  # type: ignore[list-item]
