"""The answer is true, and the same however the work is done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import benzer
from benzer import Options
from tests.corpora import collection, shuffled
from tests.isas import each_isa
from tests.reference.hashing import shingle_hashes
from tests.reference.similarity import jaccard
from tests.reference.text import Recipe
from tests.results import (
    SURE,
    all_of,
    assert_complete,
    assert_true,
    clusters_of,
    pairs_of,
    removed_of,
    true_removals,
)

SEEDS = st.integers(0, 2**32)
THRESHOLDS = st.sampled_from([0.3, 0.5, 0.8, 0.9, 1.0])
WORDS = Recipe()


def find(texts: dict[str, str], **options: Any) -> Any:
    """The duplicates of some texts by id, found with certainty."""
    return benzer.find_duplicates(texts, **{"recall": SURE, **options})


@given(SEEDS, st.integers(0, 60), THRESHOLDS)
@settings(max_examples=60)
def test_the_result_is_that_of_comparing_all_with_all(seed: int, count: int, threshold: float) -> None:
    texts = collection(seed, count)
    result = find(texts, threshold=threshold)
    assert_true(result, texts, WORDS, threshold)
    assert_complete(result, texts, WORDS, threshold)


@given(SEEDS, THRESHOLDS, st.sampled_from([0.5, 0.8, 0.95]))
@settings(max_examples=40)
def test_whatever_the_recall_every_removal_is_true(seed: int, threshold: float, recall: float) -> None:
    texts = collection(seed, 50)
    assert_true(find(texts, threshold=threshold, recall=recall), texts, WORDS, threshold)


@given(SEEDS, st.sampled_from([0.3, 0.6, 0.9]), st.integers(2, 12))
@settings(max_examples=40)
def test_with_any_bucket_limit_every_removal_is_true(seed: int, threshold: float, limit: int) -> None:
    texts = collection(seed, 50)
    results = [
        find(texts, threshold=threshold, options=Options(bucket_limit=limit), threads=threads)
        for threads in (1, 3)
    ]
    assert_true(results[0], texts, WORDS, threshold)
    assert all_of(results[0]) == all_of(results[1])


@given(SEEDS, st.sampled_from([0.4, 0.7]), st.sampled_from([0.5, 1.0, 3.0]))
@settings(max_examples=30)
def test_documents_of_two_fields_are_compared_by_their_weighted_mean(
    seed: int, threshold: float, weight: float
) -> None:
    bodies = [text for text in collection(seed, 40).values() if text.strip()]
    tags = [set(text.lower().split()[:6]) for text in bodies[1:] + bodies[:1]]
    documents = [{"id": i, "body": body, "tags": tags[i]} for i, body in enumerate(bodies)]
    schema = benzer.Schema(body=benzer.Text(), tags=benzer.ValueSet(weight=weight))
    result = benzer.find_duplicates(documents, schema=schema, threshold=threshold, recall=SURE)
    sets = [set(shingle_hashes(body, WORDS)) for body in bodies]
    expected = {}
    for a, b in combinations(range(len(bodies)), 2):
        parts = jaccard(sets[a], sets[b]), jaccard(tags[a], tags[b])
        mean = (parts[0] + weight * parts[1]) / (1 + weight)
        if mean >= threshold:
            expected[frozenset((a, b))] = pytest.approx(mean, abs=1e-12)
    assert pairs_of(result.expanded_pairs()) == expected


@given(SEEDS, st.sampled_from([0.4, 0.7]))
@settings(max_examples=20)
def test_characters_are_compared_all_with_all_too(seed: int, threshold: float) -> None:
    texts = collection(seed, 30)
    schema = benzer.Schema(text=benzer.Text(unit="char", shingle_size=4, punctuation="drop"))
    result = find(texts, threshold=threshold, schema=schema)
    assert_complete(result, texts, Recipe("char", 4), threshold)


@given(SEEDS, SEEDS, THRESHOLDS)
@settings(max_examples=25)
def test_the_order_of_the_input_changes_no_pair(seed: int, order: int, threshold: float) -> None:
    texts = collection(seed, 50)
    plain, other = (find(given, threshold=threshold) for given in (texts, shuffled(texts, order)))
    assert pairs_of(plain.expanded_pairs()) == pairs_of(other.expanded_pairs())
    for name in ("read", "documents", "short", "empty"):
        assert dict(plain.counts)[name] == dict(other.counts)[name]


@given(SEEDS, SEEDS)
@settings(max_examples=25)
def test_the_order_of_the_input_changes_no_removal_when_keep_says_who_stays(seed: int, order: int) -> None:
    """With lengths that all differ the longest first is one order, whichever way the documents come."""
    texts = collection(seed, 40)
    sizes = {one: len(text.encode()) for one, text in texts.items()}
    texts = {one: text for one, text in texts.items() if list(sizes.values()).count(sizes[one]) == 1}
    results = [find(given, threshold=0.6, keep="longest") for given in (texts, shuffled(texts, order))]
    assert removed_of(results[0]) == removed_of(results[1])
    assert set(results[0].kept) == set(results[1].kept)
    longest = {one: texts[one] for one in sorted(texts, key=lambda one: -sizes[one])}
    assert removed_of(results[0]) == true_removals(longest, WORDS, 0.6)


@given(SEEDS)
@settings(max_examples=20)
def test_keep_last_is_keep_first_of_the_reversed_input(seed: int) -> None:
    texts = collection(seed, 50)
    backwards = dict(reversed(texts.items()))
    last, first = find(texts, keep="last", threshold=0.5), find(backwards, threshold=0.5)
    assert removed_of(last) == removed_of(first)
    assert set(last.kept) == set(first.kept)


def test_the_number_of_threads_changes_nothing() -> None:
    texts = collection(1, 400)
    alone = all_of(find(texts, threshold=0.5, threads=1))
    for threads in (0, 2, 3, 16):
        assert all_of(find(texts, threshold=0.5, threads=threads)) == alone


def test_the_instruction_set_changes_nothing() -> None:
    texts = collection(2, 300)
    results = [all_of(find(texts, threshold=0.5, recall=0.9)) for _ in each_isa()]
    assert all(result == results[0] for result in results)


def rows_of(texts: dict[str, str]) -> Iterator[dict[str, str]]:
    """The texts as rows."""
    return ({"id": one, "text": text} for one, text in texts.items())


@pytest.mark.parametrize("seed", range(3))
def test_the_form_of_the_input_changes_nothing(seed: int, tmp_path: Path) -> None:
    texts = collection(seed, 200)
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows_of(texts)), encoding="utf-8")
    forms: list[Any] = [
        list(texts.items()),
        (pair for pair in texts.items()),
        list(rows_of(texts)),
        [benzer.Document(one, text) for one, text in texts.items()],
        [benzer.Document(one, text.encode()) for one, text in texts.items()],
        str(path),
        path,
    ]
    plain = all_of(find(texts, threshold=0.5))
    for form in forms:
        assert all_of(benzer.find_duplicates(form, threshold=0.5, recall=SURE)) == plain


def test_several_files_are_one_collection(tmp_path: Path) -> None:
    texts = collection(5, 120)
    paths = []
    for part in range(3):
        rows = list(rows_of(texts))[part * 40 : (part + 1) * 40]
        paths.append(tmp_path / f"part{part}.jsonl")
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert all_of(benzer.find_duplicates(paths, recall=SURE)) == all_of(find(texts))


@pytest.mark.parametrize("seed", [0, 1, 42, 2**64 - 1])
def test_the_seed_changes_nothing_when_all_pairs_are_found(seed: int) -> None:
    texts = collection(9, 150)
    plain, other = find(texts, threshold=0.6), find(texts, threshold=0.6, options=Options(seed=seed))
    assert removed_of(plain) == removed_of(other)
    assert pairs_of(plain.expanded_pairs()) == pairs_of(other.expanded_pairs())


@given(SEEDS, st.sampled_from([0.5, 0.7]), st.sampled_from([0.75, 0.9, 1.0]))
@settings(max_examples=25)
def test_rethreshold_is_the_run_with_the_higher_threshold(seed: int, low: float, high: float) -> None:
    texts = collection(seed, 50)
    raised, direct = find(texts, threshold=low).rethreshold(high), find(texts, threshold=high)
    assert removed_of(raised) == removed_of(direct)
    assert pairs_of(raised.expanded_pairs()) == pairs_of(direct.expanded_pairs())
    assert clusters_of(raised) == clusters_of(direct)


def test_counts_add_up() -> None:
    texts = collection(3, 300)
    result = find(texts, threshold=0.6)
    counts = dict(result.counts)
    assert counts["read"] == counts["documents"] == 300
    assert counts["kept"] == len(result.kept)
    assert counts["removed"] == len(removed_of(result)) == counts["identical"] + counts["near"]
    assert counts["kept"] + counts["removed"] == 300
    assert counts["clusters"] == len(clusters_of(result))
