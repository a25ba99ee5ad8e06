"""Runs, indexes and comparisons take the same input, and say the same of it to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import benzer
from benzer import Bands, Document, Index, IndexSettings, Schema, Text, ValueSet
from benzer.errors import BenzerError, InputError, SettingsError, StoreFormatError

EASY = Bands(200, 1)
"""Finds a pair of similarity 0.1 with probability 1 - 10^-9."""

TEXT = "one two three four five six"


def by_index(left: Document, right: Document, schema: Schema) -> float:
    """The similarity that an index tells."""
    with Index.open("memory:", IndexSettings(schema, threshold=0.01, bands=EASY)) as index:
        index.add([right])
        return next((match.similarity for match in index.find_similar(left, threshold=0.0)), 0.0)


def by_run(left: Document, right: Document, schema: Schema) -> float:
    """The similarity that a batch run tells."""
    found = benzer.find_duplicates(
        [left, right], schema=schema, threshold=0.01, options=benzer.Options(bands=EASY)
    )
    return next((pair.similarity for pair in found.pairs), 0.0)


@pytest.mark.parametrize("fields", [2, 7, 8, 9, 12])
def test_many_fields_give_the_same_bits_everywhere(fields: int) -> None:
    random = np.random.default_rng(fields)
    for _ in range(20):
        names = [f"f{number}" for number in range(fields)]
        schema = Schema(**{name: ValueSet(weight=float(random.uniform(0.1, 3))) for name in names})
        sizes = [(int(random.integers(1, 9)), int(random.integers(1, 9))) for _ in names]
        left = Document("l", {name: list(range(a + 1)) for name, (a, _) in zip(names, sizes, strict=True)})
        right = Document("r", {name: list(range(b + 1)) for name, (_, b) in zip(names, sizes, strict=True)})
        compared = benzer.compare(left, right, schema).similarity
        assert by_index(left, right, schema) == compared == by_run(left, right, schema)


NO_VALUES: list[Any] = [
    True, 1.5, b"x", "x", {"a": 1}, [b"x"], [1.5], [True], [10**5000], iter(["x"]), np.array([[1, 2]]), [np.int64(3)]
]  # fmt: skip


@pytest.mark.parametrize("content", NO_VALUES, ids=lambda content: type(content).__name__)
def test_what_is_no_set_of_values_is_refused_everywhere(content: Any) -> None:
    schema = Schema(tags=ValueSet())
    document, other = Document("a", {"tags": content}), Document("b", {"tags": ["x"]})
    with pytest.raises(InputError):
        benzer.find_duplicates([document, other], schema=schema)
    with pytest.raises(InputError):
        benzer.compare(document, other, schema)
    with Index.open("memory:", IndexSettings(schema)) as index:
        with pytest.raises(InputError):
            index.add([document])
        with pytest.raises(InputError):
            index.find_similar({"tags": content})


def test_an_integer_is_a_set_of_one_everywhere() -> None:
    schema = Schema(tags=ValueSet())
    left, right = Document("a", {"tags": 5}), Document("b", {"tags": [5, 7]})
    assert benzer.compare(left, right, schema).similarity == 1 / 2
    assert by_index(left, right, schema) == by_run(left, right, schema) == 1 / 2


def test_an_array_of_values_is_a_set_everywhere() -> None:
    schema = Schema(tags=ValueSet())
    left, right = Document("a", {"tags": np.array([1, 2, 3])}), Document("b", {"tags": [1, 2]})
    assert benzer.compare(left, right, schema).similarity == 2 / 3
    assert by_index(left, right, schema) == by_run(left, right, schema) == 2 / 3


def test_a_field_may_be_called_as_the_column_of_ids_is() -> None:
    schema = Schema(id=Text())
    documents = [Document("a", {"id": TEXT}), Document("b", {"id": TEXT})]
    assert benzer.find_duplicates(documents, schema=schema).removed.keys() == {"b"}
    pairs = [("a", TEXT), ("b", TEXT)]
    assert benzer.find_duplicates(pairs, id="text").removed.keys() == {"b"}
    assert benzer.find_duplicates(pairs, text="id").removed.keys() == {"b"}


def test_a_document_that_lacks_a_field_is_compared_without_it() -> None:
    schema = Schema(text=Text(), tags=ValueSet())
    left, right = Document("a", {"text": TEXT, "tags": ["x"]}), Document("b", {"text": TEXT})
    assert by_index(left, right, schema) == 1.0
    assert by_run(left, right, schema) == 1.0
    assert benzer.compare(left, right, schema).similarity == 1.0


UNKNOWN = [
    ({"text": TEXT, "body": TEXT}, "has an unknown field 'body'"),
    ({"body": TEXT}, "has an unknown field 'body'"),
    ({}, "no field of the schema: use text"),
]


@pytest.mark.parametrize("fields, message", UNKNOWN)
def test_a_field_that_the_schema_does_not_know_is_refused_everywhere(
    fields: dict[str, str], message: str
) -> None:
    document = Document("a", fields)
    with pytest.raises(InputError, match=message):
        benzer.find_duplicates([document])
    with Index.open("memory:") as index, pytest.raises(InputError, match=message):
        index.add([document])
    with pytest.raises(InputError, match=message):
        benzer.compare(document, "text")


EQUAL_SETTINGS: list[tuple[Any, Any]] = [
    (IndexSettings(Schema(text=Text(weight=2))), IndexSettings(Schema(text=Text(weight=2.0)))),
    (
        IndexSettings(Schema(tags=ValueSet(weight=np.int64(2)))),
        IndexSettings(Schema(tags=ValueSet(weight=2))),
    ),
    (
        IndexSettings(Schema(text=Text(stop_words=["a", "a", "the"]))),
        IndexSettings(Schema(text=Text(stop_words=["the", "a"]))),
    ),
    (IndexSettings(num_hashes=np.int64(60), seed=np.uint64(3)), IndexSettings(num_hashes=60, seed=3)),
]


@pytest.mark.parametrize("item, other", EQUAL_SETTINGS)
def test_equal_settings_are_written_alike(item: IndexSettings, other: IndexSettings) -> None:
    assert item == other
    assert item.to_json() == other.to_json()
    assert item.fingerprint() == other.fingerprint()
    assert IndexSettings.from_json(item.to_json()) == other


@pytest.mark.parametrize(
    "change", [('"threshold"', '"foo":2,"threshold"'), ('"fast"', '"faster"'), ('"seed":0', '"seed":"x"')]
)
def test_settings_of_a_later_version_are_no_traceback(change: tuple[str, str]) -> None:
    text = IndexSettings().to_json().replace(*change)
    with pytest.raises(StoreFormatError, match="cannot be read"):
        IndexSettings.from_json(text)


@pytest.mark.parametrize("threads", [-1, 5000, 10**9, 1.5, "2"])
def test_numbers_of_threads_that_make_no_sense_are_refused(threads: Any) -> None:
    hashes, offsets = np.array([1], np.uint64), np.array([0, 1])
    index = Index.open("memory:")
    calls = [
        lambda: benzer.find_duplicates({"a": TEXT}, threads=threads),
        lambda: benzer.MinHash().signatures(offsets, hashes, threads=threads),
        lambda: index.add({"a": TEXT}, threads=threads),
        lambda: index.find_similar_batch([TEXT], threads=threads),
        lambda: Text().sets([TEXT] * 20, threads=threads),
    ]
    for call in calls:
        with pytest.raises(SettingsError, match="threads must be"):
            call()


@pytest.mark.parametrize("wrong", ["a", True, float("nan"), 2])
def test_a_threshold_that_is_none_is_refused_everywhere(wrong: Any) -> None:
    calls = [
        lambda: benzer.find_duplicates({"a": TEXT}, threshold=wrong),
        lambda: IndexSettings(threshold=wrong),
    ]
    for call in calls:
        with pytest.raises(SettingsError, match="threshold must be in"):
            call()


def test_many_questions_are_not_one_text() -> None:
    with pytest.raises(BenzerError, match="put it into a list"):
        Index.open("memory:").find_similar_batch("a text")
