"""The native readers cut and hash every text as the reference does, on every instruction set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benzer import _native
from tests import texts
from tests.arrays import split
from tests.isas import each_isa
from tests.native import reader
from tests.reference import classical, hashing, similarity
from tests.reference import text as reference
from tests.reference.strings import STRING_HASHES
from tests.reference.text import Recipe

SIZES = st.sampled_from([1, 2, 3, 4, 5, 7, 9, 20, 64])
STOP_WORDS = st.lists(
    st.sampled_from(["the", "THE", "it's", "a b", "", "é", "的", "ﬁ", "Straße", "_"]), max_size=3
)


# XXH3 is held to its published values elsewhere; here it is tried that a shingle reaches it whole.
NAMED = STRING_HASHES | {"xxh3": lambda shingle: _native.string_hash("xxh3", shingle, 0)}


def assert_read_alike(text: str, recipe: Recipe) -> None:
    """Tokens, shingles and hashes of one text by one recipe, in order and with repeats."""
    if recipe.unit == "word":
        expected_tokens = reference.word_tokens(text, recipe)
    expected = reference.shingles(text, recipe)
    expected_hashes = hashing.shingle_hashes(text, recipe, NAMED)
    for isa in each_isa():
        told = f"{text!a} by {recipe} on {isa}"
        if recipe.unit == "word":
            assert reader(recipe).tokens(text) == expected_tokens, told
        assert reader(recipe).shingles(text) == expected, told
        assert reader(recipe).shingle_hashes(text).tolist() == expected_hashes, told


@given(texts.texts(), SIZES)
@settings(max_examples=120)
def test_words_are_read_as_the_reference_reads_them(text: str, size: int) -> None:
    for recipe in texts.word_recipes(size):
        assert_read_alike(text, recipe)


@given(texts.texts(), SIZES)
@settings(max_examples=100)
def test_characters_are_read_as_the_reference_reads_them(text: str, size: int) -> None:
    for recipe in texts.char_recipes(size):
        assert_read_alike(text, recipe)


@given(texts.mixed_texts(), SIZES, STOP_WORDS)
def test_stop_words_are_read_like_text_and_dropped(text: str, size: int, words: list[str]) -> None:
    for recipe in texts.word_recipes(size, tuple(words)):
        assert_read_alike(text, recipe)


@given(texts.long_texts())
@settings(max_examples=200)
def test_long_texts_are_read_alike_by_the_default_recipes(text: str) -> None:
    assert_read_alike(text, Recipe())
    assert_read_alike(text, Recipe("char", 5))


def repeating_texts() -> st.SearchStrategy[str]:
    """Texts in which shingles occur again and again."""
    pieces = st.sampled_from(["a", "b", "a b", "Ab", "é", "近", "ﬁ", ". ", " ", "\u0301", "the", "Σ"])
    return st.lists(pieces, max_size=60).map(" ".join)


@given(
    st.one_of(repeating_texts(), texts.texts()),
    st.sampled_from(["word", "char"]),
    st.sampled_from([1, 2, 3, 9]),
    st.sampled_from(["benzer", *NAMED]),
    st.sampled_from([4, 8]),
    st.booleans(),
)
def test_other_elements_are_those_of_the_reference(
    text: str, unit: str, size: int, name: str, bytes_kept: int, frequencies: bool
) -> None:
    stop_words = ("the",) if unit == "word" else ()
    plain = Recipe(unit, size, stop_words=stop_words)
    recipe = replace(plain, shingle_hash=name, hash_bytes=bytes_kept, frequencies=frequencies)
    assert_read_alike(text, recipe)
    expected = sorted(set(hashing.shingle_hashes(text, recipe, NAMED)))
    offsets, hashes = reader(recipe).sets([text])
    assert split(offsets, hashes) == [expected]


@given(repeating_texts(), repeating_texts(), st.sampled_from([Recipe(shingle_size=1), Recipe("char", 2)]))
def test_the_sets_of_bags_have_the_similarity_of_the_bags(a: str, b: str, recipe: Recipe) -> None:
    offsets, hashes = reader(replace(recipe, frequencies=True)).sets([a, b])
    left, right = (reference.shingles(text, recipe) for text in (a, b))
    expected = classical.bag_similarity(left, right) if left or right else 1.0
    assert similarity.jaccard(*map(set, split(offsets, hashes))) == expected


@pytest.mark.parametrize("length", [63, 64, 65, 128, 129, 193])
@pytest.mark.parametrize("gap", [0, 1, 2])
def test_a_token_may_end_at_any_place_of_a_block(length: int, gap: int) -> None:
    for cut in range(length - gap):
        text = "a" * cut + " " * gap + "B" * (length - cut - gap)
        assert_read_alike(text, Recipe(shingle_size=1))


@pytest.mark.parametrize("stranger", ["é", "É", "\u0301", "近", "\xa0", "\u00ad", "😀", "ﬁ", "\ud800", "Σ"])
def test_a_stranger_may_stand_at_any_place_of_ascii(stranger: str) -> None:
    filling = "Some plain words, and a few_more of them: 12 of 3.5 or so. They go on past a block of bytes!"
    for place in range(len(filling) + 1):
        text = filling[:place] + stranger + filling[place:]
        assert_read_alike(text, Recipe(shingle_size=2))
        assert_read_alike(text, Recipe("char", 3))


@given(st.lists(texts.texts(), max_size=8), st.sampled_from([Recipe(), Recipe("char", 5)]))
def test_sets_are_the_distinct_hashes_of_each_text(batch: list[str], recipe: Recipe) -> None:
    expected = [sorted(set(hashing.shingle_hashes(text, recipe))) for text in batch]
    for isa in each_isa():
        for threads in (1, 3):
            offsets, hashes = reader(recipe).sets(batch, threads=threads)
            assert split(offsets, hashes) == expected, isa


@given(st.lists(texts.texts().map(lambda text: text.encode(errors="replace")), max_size=5))
def test_bytes_are_read_as_the_text_that_they_encode(batch: list[bytes]) -> None:
    decoded = [text.decode() for text in batch]
    left, right = reader(Recipe()).sets(batch), reader(Recipe()).sets(decoded)
    assert np.array_equal(left[0], right[0])
    assert np.array_equal(left[1], right[1])
