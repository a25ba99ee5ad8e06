"""Documents of several fields: what counts, and that the batch run, the index and `compare` say the same."""

from __future__ import annotations

from itertools import product

import pytest

import benzer
from benzer import Document, Index, IndexSettings, Schema, Text, ValueSet

SCHEMA = Schema(a=Text(), b=Text(), v=ValueSet())
WORDS = "one two three four five"
TAGS = ["p", "q", "r"]


def similarity_by_index(a: Document, b: Document, schema: Schema) -> float:
    with Index.open("memory:", IndexSettings(schema)) as index:
        payload = index._sketcher.encode([b])
        return float(index._sketcher.ask([a])[0].similarities(payload)[0, 0])


def all_similarities(a: Document, b: Document, schema: Schema) -> set[float]:
    """By the three ways that compare two documents."""
    corpus = benzer.find_duplicates([a, b], schema=schema).compare
    import numpy as np

    batch = float(corpus(np.array([0], dtype=np.uint32), np.array([1], dtype=np.uint32))[0])
    return {batch, similarity_by_index(a, b, schema), benzer.compare(a, b, schema=schema).similarity}


def test_an_empty_field_in_common_is_no_likeness() -> None:
    """D has both contents, A and C only one each; A and C share nothing but an empty field."""
    a = Document("A", {"a": WORDS, "b": "", "v": None})
    c = Document("C", {"a": None, "b": "", "v": TAGS})
    d = Document("D", {"a": WORDS, "b": "", "v": TAGS})
    assert all_similarities(a, c, SCHEMA) == {0.0}
    assert all_similarities(a, d, SCHEMA) == {1.0}
    with_bridge = benzer.find_duplicates([a, d, c], schema=SCHEMA)
    assert with_bridge.removed == {"D": ("A", 1.0)}
    assert benzer.find_duplicates([a, c], schema=SCHEMA).removed == {}


def test_documents_empty_in_every_field_are_alike_when_compared_and_never_removed() -> None:
    empties = [Document(name, {"a": "", "b": None, "v": []}) for name in "xy"]
    assert all_similarities(*empties, SCHEMA) == {1.0}
    assert benzer.find_duplicates(empties, schema=SCHEMA).kept == ["x", "y"]


@pytest.mark.parametrize("weights", list(product([0.7, 1.1, 3.0], [0.9, 2.3, 0.6])), ids=str)
def test_a_mean_of_equal_similarities_is_that_similarity(weights: tuple[float, float]) -> None:
    """The sum of 0.7 * 0.8 and 0.9 * 0.8, divided by 0.7 + 0.9, is below 0.8 in floating point."""
    schema = Schema(a=ValueSet(weight=weights[0]), b=ValueSet(weight=weights[1]))
    left = Document("l", {"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]})
    right = Document("r", {"a": [1, 2, 3, 4, 9], "b": [5, 6, 7, 8, 9]})
    assert all_similarities(left, right, schema) == {0.8}
    found = benzer.find_duplicates([left, right], schema=schema, threshold=0.8, recall=0.999999)
    assert found.removed == {"r": ("l", 0.8)}


def test_the_mean_lies_between_its_fields() -> None:
    schema = Schema(a=ValueSet(weight=3), b=ValueSet(weight=1))
    left, right = Document("l", {"a": [1, 2], "b": [1]}), Document("r", {"a": [1], "b": [2]})
    assert all_similarities(left, right, schema) == {0.375}
