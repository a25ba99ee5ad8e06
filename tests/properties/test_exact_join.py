"""The exact joins find what comparing all with all finds: the same pairs, the same numbers, no more, no less."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benzer import Schema, Text, ValueSet, _native, exact
from benzer.corpus import corpus_of
from tests.arrays import csr
from tests.isas import each_isa
from tests.reference import setjoin as reference
from tests.reference.setjoin import Similarities

THRESHOLDS = [1e-9, 0.2, 1 / 3, 0.5, 0.6, 2 / 3, 0.75, 0.8, 0.9, 1.0]
BESIDE = [np.nextafter(1 / 3, 1), np.nextafter(2 / 3, 0), np.nextafter(0.5, 1), np.nextafter(0.8, 0)]

Sets = list[set[int]]


def collection(choice: random.Random) -> Sets:
    """Up to 25 sets of few different elements: many alike, some equal, empty, or of one element."""
    universe, largest = choice.randint(1, 40), choice.randint(1, 25)
    spread = choice.choice([1, 0x9E3779B97F4A7C15])  # small integers, or numbers of 64 bits
    made: Sets = []
    for _ in range(choice.randint(0, 25)):
        one = set(choice.choice(made)) if made and choice.random() < 0.4 else set()
        if not one or choice.random() < 0.7:
            members = choice.choices(range(universe), k=choice.randint(0, 2 if one else largest))
            one |= {member * spread % 2**64 for member in members}
        made.append(one)
    return made


def table(left: Iterable[Any], right: Iterable[Any], values: Any) -> Similarities:
    """Columns as a mapping of pairs; each pair must come once, in order."""
    pairs = list(zip(map(int, left), map(int, right), strict=True))
    assert pairs == sorted(set(pairs))
    return dict(zip(pairs, values.tolist(), strict=True))


@pytest.mark.parametrize("threshold", THRESHOLDS + BESIDE)
def test_random_collections_are_joined_as_by_comparing_all(threshold: float) -> None:
    choice, pairs, directed = random.Random(repr(threshold)), 0, 0
    for _ in range(100):
        sets = collection(choice)
        threads = choice.choice([1, 2, 5])
        found = table(*_native.exact_join(*csr(sets), threshold, threads))
        assert found == reference.alike(sets, threshold)
        inside = table(*_native.contained(*csr(sets), threshold, threads))
        assert inside == reference.contained(sets, threshold)
        pairs, directed = pairs + len(found), directed + len(inside)
    assert pairs > 300
    assert directed > 600


@st.composite
def related_sets(draw: st.DrawFn) -> Sets:
    """Sets of which each is an earlier one with a few elements put in or taken out."""
    member = st.one_of(st.integers(0, 12), st.integers(0, 2**64 - 1))
    made: Sets = [draw(st.sets(member, max_size=12))]
    for _ in range(draw(st.integers(0, 8))):
        made.append(draw(st.sampled_from(made)) ^ draw(st.sets(member, max_size=3)))
    return made


@given(related_sets(), st.data())
@settings(max_examples=150)
def test_a_pair_at_the_very_threshold_counts(sets: Sets, data: st.DataObject) -> None:
    """The threshold is the similarity or the containment of two of the sets, or the next number beside it."""
    values = {*reference.alike(sets, 1e-300).values(), *reference.contained(sets, 1e-300).values(), 1.0}
    threshold = data.draw(st.sampled_from(sorted(values)))
    threshold = min(1.0, float(np.nextafter(threshold, data.draw(st.sampled_from([0.0, threshold, 2.0])))))
    for isa in each_isa():
        found = table(*_native.exact_join(*csr(sets), threshold, 1))
        assert found == reference.alike(sets, threshold), isa
        assert table(*_native.contained(*csr(sets), threshold, 1)) == reference.contained(sets, threshold), (
            isa
        )


@pytest.mark.parametrize("threshold", [0.3, 0.55, 0.8, 0.95])
def test_large_sets_of_known_similarity(threshold: float) -> None:
    """Sets of 100 to 3,000 elements with copies that share just enough, or one element too few."""
    generator = np.random.default_rng(7)
    sets: Sets = []
    expected: Similarities = {}
    for size in (100, 313, 1000, 3000):
        for extra in (0, size // 10):
            total = 2 * size + extra
            enough = next(s for s in range(1, size + 1) if s / (total - s) >= threshold or s == size)
            for shared in (enough - 1, enough):
                elements = generator.integers(0, 2**63, size=total - shared, dtype=np.uint64).tolist()
                place = len(sets)
                sets += [set(elements[:size]), set(elements[size - shared :])]
                if shared / (total - shared) >= threshold:
                    expected[place, place + 1] = shared / (total - shared)
    assert table(*_native.exact_join(*csr(sets), threshold, 2)) == expected
    assert len(expected) >= 4


def test_the_cost_of_many_sets_without_a_rare_element_in_common_is_not_that_of_all_pairs() -> None:
    """60,000 sets of 40 elements, all of which share 4: 1.8 * 10^9 pairs meet nowhere among their first elements."""
    count = 60_000
    rows = np.arange(count * 40, dtype=np.uint64).reshape(count, 40) + np.uint64(10)
    rows[:, :4] = np.arange(4)
    rows[1::2, 4:] = rows[0::2, 4:]
    rows[1::2, 39] = np.arange(count // 2, dtype=np.uint64) + np.uint64(10**9)
    offsets = np.arange(0, count * 40 + 1, 40, dtype=np.int64)
    left, right, similarity = _native.exact_join(offsets, rows.ravel(), 0.8, 1)
    assert left.tolist() == list(range(0, count, 2))
    assert right.tolist() == list(range(1, count, 2))
    assert set(similarity.tolist()) == {39 / 41}


def texts_and_tags(choice: random.Random) -> list[tuple[str | None, list[str] | None]]:
    """Documents of two fields, some without one, some empty."""
    documents: list[tuple[str | None, list[str] | None]] = []
    for _ in range(choice.randint(0, 30)):
        words = " ".join(choice.choices("abcdef", k=choice.randint(0, 9)))
        tags = choice.choices(["red", "green", "blue", "black"], k=choice.randint(0, 4))
        documents.append(
            (choice.choice([words, words, words, None]), choice.choice([tags, tags, tags, None]))
        )
    return documents


def two_fields(documents: Sequence[tuple[Any, Any]]) -> tuple[Any, list[list[set[Any]]]]:
    """A corpus of the documents, and what the sets of each field are; none where it is missing."""
    schema = Schema(text=Text(shingle_size=2), tags=ValueSet())
    corpus = corpus_of(schema)
    rows = list(range(1, len(documents) + 1))
    corpus.add(
        0, rows, list(map(str, rows)), [list(column) for column in zip(*documents, strict=True)] or [[], []]
    )
    texts = [set(Text(shingle_size=2).shingles(text or "")) for text, _ in documents]
    return corpus, [texts, [set(tags or ()) for _, tags in documents]]


@pytest.mark.parametrize("seed", range(40))
def test_documents_of_several_fields_are_those_that_are_alike_in_one(seed: int) -> None:
    choice = random.Random(seed)
    documents = texts_and_tags(choice)
    corpus, fields = two_fields(documents)
    thresholds = [choice.choice(THRESHOLDS), choice.choice(THRESHOLDS)]
    taking_part = np.array([choice.random() < 0.8 for _ in documents], dtype=bool)
    expected = {
        pair
        for sets, threshold in zip(fields, thresholds, strict=True)
        for pair in reference.alike(sets, threshold)
        if taking_part[list(pair)].all()
    }
    for threads in (1, 3):
        found = exact.exact_pairs(corpus, thresholds, taking_part, threads)
        assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == sorted(expected)
        assert found.similarity is None
    inside = exact.contained_pairs(corpus, 1, thresholds[1], taking_part, 2)
    assert table(inside.left, inside.right, inside.containment) == {
        pair: share
        for pair, share in reference.contained(fields[1], thresholds[1]).items()
        if taking_part[list(pair)].all()
    }


@pytest.mark.parametrize("seed", range(40))
def test_neighbours_are_all_that_are_alike_in_one_field(seed: int) -> None:
    choice = random.Random(1000 + seed)
    documents = texts_and_tags(choice)
    corpus, fields = two_fields(documents)
    thresholds = [choice.choice(THRESHOLDS), choice.choice(THRESHOLDS)]
    queries = choice.choices(range(len(documents)), k=choice.randint(0, 12)) if documents else []
    expected = set[tuple[int, int]]()
    for sets, threshold in zip(fields, thresholds, strict=True):
        expected |= reference.neighbours(sets, queries, threshold)
    for threads in (1, 3):
        found = exact.neighbours(corpus, np.array(queries, dtype=np.uint32), thresholds, threads)
        assert list(zip(found.query.tolist(), found.position.tolist(), strict=True)) == sorted(expected)


@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_the_similarity_of_one_field_is_that_of_the_verification(threshold: float) -> None:
    choice = random.Random(3)
    texts = [" ".join(choice.choices("abcdefgh", k=choice.randint(1, 12))) for _ in range(300)]
    corpus = corpus_of(Schema())
    corpus.add(0, list(range(1, 301)), list(map(str, range(300))), [texts])
    found = exact.exact_pairs(corpus, [threshold], np.ones(300, dtype=bool))
    assert found.similarity is not None
    assert len(found) > 0
    assert found.similarity.tolist() == corpus.similarity(found.left, found.right, [0.3], 1).tolist()


@given(related_sets(), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_collections_of_anything_are_joined_whatever_their_order(sets: Sets, choice: random.Random) -> None:
    """Strings, fractions and tuples; lists with repeats; arrays with neither order nor uniqueness."""
    makers: list[Callable[[int], Hashable]] = [str, Fraction, lambda member: ("a", member)]
    make = choice.choice(makers)
    given_sets = [[make(member) for member in one for _ in range(choice.randint(1, 2))] for one in sets]
    for one in given_sets:
        choice.shuffle(one)
    found = exact.set_join(given_sets, 0.4, threads=2)
    assert table(found.left, found.right, found.similarity) == reference.alike(sets, 0.4)
    rows = [choice.sample([*one, *one], 2 * len(one)) for one in map(sorted, sets)]
    offsets = np.cumsum([0, *map(len, rows)])
    elements = np.array([member for row in rows for member in row], dtype=np.uint64)
    inside = exact.set_containments((offsets, elements), 0.4)
    assert table(inside.left, inside.right, inside.containment) == reference.contained(sets, 0.4)


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_threads_change_nothing(threads: int) -> None:
    choice = random.Random(5)
    sets = [set(choice.choices(range(400), k=choice.randint(1, 60))) for _ in range(3000)]
    sets += [one | {1000 + at} for at, one in enumerate(sets[:1500])]
    for join in (exact.set_join, exact.set_containments):
        one, other = join(sets, 0.7, threads=1), join(sets, 0.7, threads=threads)
        assert len(one) >= 1000
        for name, column in vars(one).items():
            np.testing.assert_array_equal(column, vars(other)[name])
