"""The exact similarity of pairs of documents is that of the reference, however the pairs hang together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benzer import _native
from benzer.verify import verify
from tests.isas import each_isa
from tests.native import reader
from tests.reference import similarity as reference
from tests.reference.hashing import shingle_hashes
from tests.reference.text import Recipe

WORDS, CHARACTERS = Recipe(shingle_size=2), Recipe(unit="char", shingle_size=3)
FOUR_BYTES = Recipe(shingle_size=1, hash_bytes=4)
Field = Recipe | None
Content = str | list[int] | None


def made(fields: Sequence[Field], documents: Sequence[Sequence[Content]]) -> _native.Corpus:
    """A corpus; a field without a recipe holds sets of values."""
    corpus = _native.Corpus([None if recipe is None else reader(recipe) for recipe in fields])
    numbers = list(range(1, len(documents) + 1))
    columns = [[document[field] for document in documents] for field in range(len(fields))]
    corpus.add(0, numbers, [str(number) for number in numbers], columns)
    return corpus


def positions(pairs: Sequence[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """The left and the right ends."""
    table = np.array(pairs, dtype=np.uint32).reshape(-1, 2)
    return table[:, 0].copy(), table[:, 1].copy()


def elements(content: Content, recipe: Field) -> frozenset[int] | None:
    """What a field is compared by; None where it is missing."""
    if isinstance(content, str):
        assert recipe is not None
        return shingles(content, recipe)
    return None if content is None else frozenset(content)


@lru_cache(maxsize=10_000)
def shingles(text: str, recipe: Recipe) -> frozenset[int]:
    """The set of a text by the reference, which is slow."""
    return frozenset(shingle_hashes(text, recipe))


def expected(
    fields: Sequence[Field], weights: Sequence[float], a: Sequence[Content], b: Sequence[Content]
) -> float:
    """The weighted mean over the fields that both hold, and that are not empty in both."""
    sides = (
        [elements(content, recipe) for content, recipe in zip(one, fields, strict=True)] for one in (a, b)
    )
    return reference.document_similarity(*sides, weights)


def column(random: Random, recipe: Field, count: int) -> list[Content]:
    """The content of a field in each document: often another's with a change, sometimes empty or missing."""
    pool = ["ab", "cd", "é", "Straße", "x", "東京"] if recipe is not None else list(range(60))
    found: list[list[Any] | None] = []
    for _ in range(count):
        before = random.choice(found) if found and random.random() < 0.7 else None
        units = list(before or random.choices(pool, k=random.choice([0, 1, 5, 40])))
        for _ in range(random.randrange(3)):
            units.insert(random.randrange(len(units) + 1), random.choice(pool))
        found.append(random.choices([units, [], None], [9, 1, 1])[0])
    return [units if units is None or recipe is None else " ".join(units) for units in found]


@given(st.integers(1, 24), st.integers(0, 60), st.integers(1, 3), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_similarity_equals_the_reference(count: int, pairs: int, width: int, seed: int) -> None:
    random = Random(seed)
    fields = [random.choice([WORDS, CHARACTERS, FOUR_BYTES, None]) for _ in range(width)]
    documents = list(zip(*(column(random, recipe, count) for recipe in fields), strict=True))
    weights = [random.choice([0.3, 1.0, 2.5]) for _ in fields]
    ends = [(random.randrange(count), random.randrange(count)) for _ in range(pairs)]
    want = [expected(fields, weights, documents[a], documents[b]) for a, b in ends]
    left, right = positions(ends)
    for isa in each_isa():
        corpus = made(fields, documents)
        for threads in (1, 3):
            assert corpus.similarity(left, right, weights, threads).tolist() == want, isa
        for most in (1, 300):
            assert verify(corpus, left, right, weights, 1, None, most).tolist() == want, isa


@pytest.mark.parametrize("threads", [1, 3])
def test_a_family_that_all_threads_work_on(threads: int) -> None:
    """So many documents, or so many pairs, that one group is compared by all threads."""
    random = Random(5)
    fields = [WORDS, None]
    for count, pairs in [(1500, 3000), (60, 9000)]:
        documents = list(zip(*(column(random, recipe, count) for recipe in fields), strict=True))
        chain = [(at, at + 1) for at in range(count - 1)]
        ends = chain + [(random.randrange(count), random.randrange(count)) for _ in range(pairs)]
        want = [expected(fields, [1.0, 2.0], documents[a], documents[b]) for a, b in ends]
        left, right = positions(ends)
        corpus = made(fields, documents)
        assert corpus.similarity(left, right, [1.0, 2.0], threads).tolist() == want
        overlaps = corpus.overlaps(left, right, threads)
        assert overlaps.similarities([1.0, 2.0])[:, 0].tolist() == want
        everyone = np.arange(count, dtype=np.uint32)
        contents = corpus.contents(everyone, threads)
        again = contents.overlaps(contents, left, right, threads)
        for one, other in [
            (again.shared, overlaps.shared),
            (again.left_sizes, overlaps.left_sizes),
            (again.right_sizes, overlaps.right_sizes),
            (again.similarities([1.0, 2.0]), overlaps.similarities([1.0, 2.0])),
        ]:
            np.testing.assert_array_equal(one, other)


def test_batches_hold_each_pair_once_and_no_more_than_they_may() -> None:
    random = Random(6)
    documents = list(zip(column(random, WORDS, 200), strict=True))
    corpus = made([WORDS], documents)
    lengths = corpus.lengths()
    left, right = positions([(random.randrange(200), random.randrange(200)) for _ in range(150)])
    for most in (0, 100, 700, 10**9):
        order, ends = corpus.batches(left, right, most)
        assert sorted(order.tolist()) == list(range(150))
        assert ends[-1] == 150
        assert ends == sorted(set(ends))
        for start, end in pairwise([0, *ends]):
            part = order[start:end]
            held = np.unique(np.concatenate((left[part], right[part])))
            assert end - start == 1 or lengths[held].sum() <= most
    assert corpus.batches(left[:0], right[:0], 1)[1] == []


@pytest.mark.parametrize("recipe", [WORDS, CHARACTERS, FOUR_BYTES])
def test_a_shingle_that_comes_up_very_often(recipe: Recipe) -> None:
    documents = [("a " * 30_000,), ("a " * 20_000 + "b",), ("a a a b",)]
    want = [expected([recipe], [1.0], documents[a], documents[b]) for a, b in [(0, 1), (1, 2), (0, 2)]]
    left, right = positions([(0, 1), (1, 2), (0, 2)])
    assert made([recipe], documents).similarity(left, right, [1.0], 1).tolist() == want


def test_hashes_that_somebody_chose() -> None:
    """Sets that are given as hashes may hold any numbers."""
    random = Random(7)
    corpus = _native.Corpus(["hashes"])
    sets = [
        sorted({random.randrange(3000) << shift for _ in range(1500)}) for shift in (0, 0, 20, 20, 52, 52)
    ]
    corpus.add(0, [1] * 6, [*"abcdef"], [[np.array(one, dtype=np.uint64) for one in sets]])
    ends = list(combinations(range(6), 2))
    want = [reference.jaccard(sets[a], sets[b]) for a, b in ends]
    assert corpus.similarity(*positions(ends), [1.0], 1).tolist() == want
