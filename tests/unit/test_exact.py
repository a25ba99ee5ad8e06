"""What the exact joins refuse, what is a set for them, and which documents stand for all."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from benzer import Schema, Text, ValueSet, _native, exact
from benzer.corpus import corpus_of
from benzer.errors import InputError, SettingsError
from tests.arrays import csr_of_rows
from tests.unit.test_foreign_fields import WORDS, FirstLetters, Letters, jaccard_of


def corpus_with(texts: Sequence[str | None], schema: Schema | None = None) -> Any:
    """A corpus of one text field."""
    corpus = corpus_of(schema or Schema())
    corpus.add(0, list(range(1, len(texts) + 1)), list(map(str, range(len(texts)))), [list(texts)])
    return corpus


@pytest.mark.parametrize("threshold", [0, -0.1, 1.0001, 2, float("nan"), float("inf")])
def test_a_threshold_beyond_its_range_is_refused(threshold: float) -> None:
    corpus, both = corpus_with(["a b c", "a b c"]), np.ones(2, dtype=bool)
    calls: list[Callable[[], object]] = [
        lambda: exact.set_join([{1}, {1}], threshold),
        lambda: exact.set_containments([{1}, {1}], threshold),
        lambda: exact.exact_pairs(corpus, [threshold], both),
        lambda: exact.contained_pairs(corpus, 0, threshold, both),
        lambda: exact.neighbours(corpus, np.zeros(1, dtype=np.uint32), [threshold]),
    ]
    for call in calls:
        with pytest.raises(SettingsError, match=r"threshold must be in \(0, 1\], got"):
            call()


def test_each_field_needs_a_threshold() -> None:
    corpus = corpus_with(["a b c"])
    with pytest.raises(SettingsError, match="1 fields need as many thresholds, got 2"):
        exact.exact_pairs(corpus, [0.5, 0.5], np.ones(1, dtype=bool))
    with pytest.raises(SettingsError, match="1 fields need as many thresholds, got 0"):
        exact.neighbours(corpus, np.zeros(1, dtype=np.uint32), [])


def test_positions_and_fields_that_are_not_there_are_refused() -> None:
    corpus = corpus_with(["a b c", "d e f"])
    with pytest.raises(SettingsError, match="position 2 is beyond the 2 documents"):
        exact.neighbours(corpus, np.array([2], dtype=np.uint32), [0.5])
    with pytest.raises(SettingsError, match="position 7 is beyond the 2 documents"):
        corpus.sets(0, np.array([0, 7], dtype=np.uint32))
    with pytest.raises(SettingsError, match="there is no field 1: the corpus has 1"):
        corpus.sets(1, np.array([0], dtype=np.uint32))
    with pytest.raises(SettingsError, match="there is no field 1: the corpus has 1"):
        exact.contained_pairs(corpus, 1, 0.5, np.ones(2, dtype=bool))
    with pytest.raises(SettingsError, match="taking_part must have 2 entries, got 3"):
        exact.exact_pairs(corpus, [0.5], np.ones(3, dtype=bool))


@pytest.mark.parametrize(
    "sets, message",
    [
        ([["a"], "text"], "set 1 is the text 'text'"),
        ((np.array([0, 2]), np.array([1.5, 2.5])), "elements must be an array of integers"),
        ((np.array([[0, 1]]), np.array([1])), "offsets must be an array of integers of one dimension"),
        ((np.array([0, 3]), np.array([1, 2])), "offsets must rise from 0 to the number of elements, 2"),
        ((np.array([0, 2, 1, 2]), np.array([1, 2])), "offsets must rise from 0"),
        ((np.array([0, 2, 1, 2], dtype=np.uint64), np.array([1, 2])), "offsets must rise from 0"),
        ((np.array([1, 2]), np.array([1, 2])), "offsets must rise from 0"),
        ((np.array([], dtype=np.int64), np.array([], dtype=np.int64)), "offsets must rise from 0"),
    ],
)
def test_what_are_no_sets_is_refused(sets: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        exact.set_join(sets, 0.5)


@pytest.mark.parametrize("row", [[2, 1], [1, 1]])
def test_the_native_join_refuses_sets_that_are_not_ascending(row: list[int]) -> None:
    offsets, hashes = csr_of_rows([[1], row])
    for join in (_native.exact_join, _native.contained):
        with pytest.raises(InputError, match="set 1 must be ascending, without repeats"):
            join(offsets, hashes, 0.5, 1)


def test_nothing_makes_no_pairs() -> None:
    collections: list[list[set[int]]] = [[], [set()], [set(), set()], [{1}], [{1}, set()]]
    for sets in collections:
        assert len(exact.set_join(sets, 0.1)) == 0
        assert len(exact.set_containments(sets, 0.1)) == 0


def test_the_progress_of_a_join_ends_at_its_total() -> None:
    heard: list[tuple[int, int]] = []
    schema = Schema(text=Text(shingle_size=1), tags=ValueSet())
    corpus = corpus_of(schema)
    count = 5000
    texts = [f"{number} {number + 1}" if number % 3 else None for number in range(count)]
    corpus.add(
        0, list(range(1, count + 1)), list(map(str, range(count))), [texts, [[str(n)] for n in range(count)]]
    )
    exact.exact_pairs(corpus, [0.3, 0.5], np.ones(count, dtype=bool), 1, lambda *done: heard.append(done))
    assert heard == sorted(heard)
    assert heard[-1] == (2 * count, 2 * count)


def contents_of(corpus: Any, texts: Sequence[str | None], seed: int, count: int) -> list[str | None]:
    return [texts[position] for position in corpus.sample(count, seed)]


def test_a_sample_is_that_of_the_contents_whatever_their_order_and_number() -> None:
    choice = random.Random(1)
    texts: list[str | None] = [*(f"text {number}" for number in range(3000)), "", None]
    expected = contents_of(corpus_with(texts), texts, 7, 100)
    assert len(set(expected)) == 100
    for _ in range(3):
        other = texts + choice.choices(texts, k=2000)
        choice.shuffle(other)
        corpus = corpus_with(other)
        assert contents_of(corpus, other, 7, 100) == expected
        for threads in (1, 2, 5):
            assert corpus.sample(100, 7, threads).tolist() == corpus.sample(100, 7).tolist()


def test_a_sample_names_the_first_of_equal_contents() -> None:
    texts = ["a", "b", "a", "a", "b"]
    assert sorted(corpus_with(texts).sample(10, 0).tolist()) == [0, 1]


def test_a_larger_sample_begins_with_the_smaller_one() -> None:
    corpus = corpus_with([f"text {number}" for number in range(5000)])
    everything = corpus.sample(10_000, 3).tolist()
    assert sorted(everything) == list(range(5000))
    for count in (0, 1, 17, 2500):
        assert corpus.sample(count, 3).tolist() == everything[:count]


def test_another_seed_is_another_sample() -> None:
    """Two samples of 500 of 5,000 share Hypergeometric(5000, 500, 500) documents: 50 in the mean, sd 6.4."""
    corpus = corpus_with([f"text {number}" for number in range(5000)])
    shared = set(corpus.sample(500, 1).tolist()) & set(corpus.sample(500, 2).tolist())
    assert abs(len(shared) - 50) <= 6 * 6.4


def test_a_sample_tells_what_is_missing_from_what_is_empty_and_fields_apart() -> None:
    schema = Schema(one=ValueSet(), two=ValueSet())
    corpus = corpus_of(schema)
    contents: list[tuple[list[str] | None, list[str] | None]] = [
        (["a"], ["b"]),
        (["b"], ["a"]),
        (["a", "b"], []),
        ([], ["a", "b"]),
        ([], []),
        (None, []),
        ([], None),
        (None, None),
        (["b", "a", "a"], []),  # the same set as the third
    ]
    rows = list(range(1, len(contents) + 1))
    corpus.add(0, rows, list(map(str, rows)), [list(column) for column in zip(*contents, strict=True)])
    assert sorted(corpus.sample(20, 0).tolist()) == list(range(8))


def test_escapes_of_a_file_do_not_change_the_sample() -> None:
    texts = ['say "so"', "tab\there", "naïve", "plain"]
    made = corpus_with(texts)
    read = corpus_of(Schema())
    lines = b"".join(
        f'{{"text": "{text}"}}\n'.encode()
        for text in (r"say \"so\"", r"tab\u0009here", r"na\u00efve", "plain")
    )
    rows, faults = read.add_jsonl(
        source=0,
        name="x",
        path=None,
        data=lines,
        columns=["text"],
        id_column=None,
        id_required=False,
        extra_column=None,
        first_row=1,
        stop_on_error=True,
        threads=1,
    )
    assert (rows, faults) == (4, [])
    assert read.sample(4, 5).tolist() == made.sample(4, 5).tolist()
    order = np.array([2, 0, 3], dtype=np.uint32)
    assert made.text_sizes(order, 1).tolist() == [6, 8, 5]
    assert read.text_sizes(order, 2).tolist() == [6, 8, 5]


def test_sets_are_those_of_the_field() -> None:
    texts = ["the quick brown fox jumps", None, "", "the quick brown fox jumps"]
    corpus = corpus_with(texts)
    offsets, hashes = corpus.sets(0, np.array([3, 1, 2, 0], dtype=np.uint32), 2)
    expected = Text().sets([texts[0] or ""])[1].tolist()
    assert offsets.tolist() == [0, 3, 3, 3, 6]
    assert hashes.tolist() == expected * 2


@pytest.mark.parametrize("field, known", [(Letters(), True), (FirstLetters(), False)])
def test_fields_that_the_core_does_not_read_are_joined_by_their_sets(field: Any, known: bool) -> None:
    """A field that compares by more than its sets leaves the similarity open."""
    corpus = corpus_with(list(WORDS.values()), Schema(text=field))
    everyone = np.ones(len(WORDS), dtype=bool)
    found = exact.exact_pairs(corpus, [0.7], everyone)
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]
    expected = [1.0, jaccard_of(WORDS["a"], WORDS["c"]), jaccard_of(WORDS["b"], WORDS["c"])]
    assert (None if found.similarity is None else found.similarity.tolist()) == (expected if known else None)
    near = exact.neighbours(corpus, np.array([2], dtype=np.uint32), [0.7])
    assert (near.query.tolist(), near.position.tolist()) == ([0, 0], [0, 1])
    inside = exact.contained_pairs(corpus, 0, 1.0, everyone)
    assert list(zip(inside.left.tolist(), inside.right.tolist(), strict=True)) == [(0, 1), (1, 0)]
    assert sorted(corpus.sample(10, 0).tolist()) == [0, 2, 3, 4]
