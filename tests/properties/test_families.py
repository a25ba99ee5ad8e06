"""Families in large buckets: decisions and pairs equal the plain-Python definition, in every way of comparing."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import benzer
from benzer.bands import Bands
from benzer.families import ComparedFamilies
from benzer.fields import Text, ValueSet
from benzer.minhash import MinHash
from tests.reference import decisions as reference


def template_texts(seed: int, count: int, families: int) -> list[str]:
    """Texts from templates: some words of each are replaced by its own words, or by those of another text."""
    draw = random.Random(seed)
    templates = [[f"t{family}w{word}" for word in range(draw.randint(4, 24))] for family in range(families)]
    texts = []
    for number in range(count):
        words = list(draw.choice(templates))
        for _ in range(draw.choice([0, 1, 1, 2, 5])):
            words[draw.randrange(len(words))] = draw.choice([f"own{number}", f"shared{draw.randint(0, 3)}"])
        texts.append(" ".join(words))
    return texts


def by_definition(
    found: Any, rank: list[int]
) -> tuple[list[tuple[int, float]], dict[tuple[int, int], float]]:
    """The decision by the definition, on the documents that are alone with their content."""
    originals = np.flatnonzero(found.stands_for == np.arange(len(found.stands_for)))
    place = {int(position): at for at, position in enumerate(originals)}
    proposed = found.proposed
    candidates = [
        (place[a], place[b]) for a, b in zip(proposed.left.tolist(), proposed.right.tolist(), strict=True)
    ]
    large = [[place[member] for member in bucket.tolist()] for bucket in proposed.large.each()]
    everyone = originals.astype(np.uint32)

    def similarity(a: int, b: int) -> float:
        return float(found.compare(everyone[[a]], everyone[[b]])[0])

    order = np.argsort(np.argsort([rank[position] for position in originals])).tolist()
    decided, pairs = reference.decide(order, candidates, large, similarity, found.threshold)
    named = [(int(originals[leader]), value) for leader, value in decided]
    return named, {(int(originals[a]), int(originals[b])): value for (a, b), value in pairs.items()}


def decided(found: Any) -> tuple[list[tuple[int, float]], dict[tuple[int, int], float]]:
    """The decision of a run, in the same form."""
    alone = found.stands_for == np.arange(len(found.stands_for))
    rows = zip(found.leader[alone].tolist(), found.leader_similarity[alone].tolist(), strict=True)
    pairs = found.pairs
    listed = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.similarity.tolist(), strict=True)
    return list(rows), {(a, b): value for a, b, value in listed if alone[a] and alone[b]}


OPTIONS = st.fixed_dictionaries(
    {
        "threshold": st.sampled_from([0.3, 0.5, 0.8]),
        "options": st.builds(
            benzer.Options,
            minhash=st.just(MinHash("fast", 16)),
            bands=st.sampled_from([Bands(4, 1), Bands(3, 2), Bands(8, 2)]),
            bucket_limit=st.sampled_from([2, 3, 5, 20]),
        ),
        "keep": st.sampled_from(["first", "last", "longest"]),
    }
)


@given(st.integers(0, 10**6), st.integers(2, 70), st.integers(1, 4), OPTIONS)
@settings(max_examples=120, deadline=None)
def test_decisions_and_pairs_equal_the_definition(
    seed: int, count: int, families: int, options: dict[str, Any]
) -> None:
    texts = dict(enumerate(template_texts(seed, count, families)))
    found = benzer.find_duplicates(texts, threads=1, **options)
    assert decided(found) == by_definition(found, found.rank.tolist())


@given(st.integers(0, 10**6), OPTIONS)
@settings(max_examples=30, deadline=None)
def test_several_fields_equal_the_definition(seed: int, options: dict[str, Any]) -> None:
    draw = random.Random(seed)
    schema = benzer.Schema(title=Text(shingle_size=1), tags=ValueSet(weight=2.0))
    titles, bodies = template_texts(seed, 40, 2), template_texts(seed + 1, 40, 2)
    documents = [
        benzer.Document(at, {"title": title, **({"tags": body.split()} if draw.random() < 0.8 else {})})
        for at, (title, body) in enumerate(zip(titles, bodies, strict=True))
    ]
    found = benzer.find_duplicates(documents, schema=schema, threads=1, **options)
    assert decided(found) == by_definition(found, found.rank.tolist())


@given(st.integers(0, 10**6), st.integers(2, 200), OPTIONS)
@settings(max_examples=40, deadline=None)
def test_comparing_by_a_function_equals_comparing_in_the_core(
    seed: int, count: int, options: dict[str, Any]
) -> None:
    texts = dict(enumerate(template_texts(seed, count, 2)))
    found = benzer.find_duplicates(texts, threads=1, **options)
    large, rank = found.proposed.large, found.rank
    may_lead = np.unique(large.members)[::2].copy()
    by_function = ComparedFamilies(found.compare)(rank, large, may_lead, found.threshold)
    in_core = found.families(rank, large, may_lead, found.threshold)
    triples = [
        sorted(zip(one.documents.tolist(), one.leaders.tolist(), one.similarity.tolist(), strict=True))
        for one in (by_function, in_core)
    ]
    assert triples[0] == triples[1]
    assert sorted(by_function.led.tolist()) == sorted(in_core.led.tolist())


def large_family(count: int, own: int, seed: int = 7) -> dict[int, str]:
    """Texts of 60 shared words and some of their own, in blocks of two."""
    draw = random.Random(seed)
    shared = [f"s{draw.randrange(10**6)}" for _ in range(60)]
    texts = {}
    for number in range(count):
        words = list(shared)
        for _ in range(own):
            at = draw.randrange(58)
            words[at : at + 2] = [f"a{draw.randrange(10**6)}", f"b{draw.randrange(10**6)}"]
        texts[number] = " ".join(words)
    return texts


@pytest.mark.parametrize("own", [1, 3, 6], ids=lambda own: f"{own} own passages")
def test_the_number_of_threads_does_not_change_the_result(own: int) -> None:
    texts = large_family(6000, own)
    options: dict[str, Any] = {"keep": "longest", "options": benzer.Options(bucket_limit=20)}
    runs = [benzer.find_duplicates(texts, threads=threads, **options) for threads in (1, 3)]
    assert decided(runs[0]) == decided(runs[1])
    assert len(runs[0].proposed.large) > 3


def test_a_family_of_near_copies_takes_no_quadratic_work() -> None:
    """The work is counted: the pairs that are compared or listed, of some 18 million."""
    found = benzer.find_duplicates(large_family(6000, 1))
    removed = found.counts["removed"]
    kept = found.counts["kept"]
    assert removed > 5000
    assert kept < 50
    assert found.counts["candidates"] <= 10 * 6000
    assert len(found.pairs) < 20 * 6000


def test_documents_that_share_boilerplate_are_kept_without_quadratic_work() -> None:
    draw = random.Random(5)
    shared = " ".join(f"s{word}" for word in range(60))
    own = {at: " ".join(f"w{draw.randrange(10**6)}" for _ in range(20)) for at in range(6000)}
    found = benzer.find_duplicates({at: f"{shared} {words}" for at, words in own.items()})
    assert found.counts["removed"] == 0
    assert found.counts["oversized_documents"] > 0
    assert found.counts["candidates"] <= 10 * 6000


def test_large_buckets_have_the_pairs_that_small_ones_have_when_the_limit_is_high() -> None:
    """With all pairs listed, every pair of the same run with a low limit is among them, and removals are the same."""
    texts = large_family(400, 4)
    all_pairs = benzer.find_duplicates(texts, options=benzer.Options(bucket_limit=10**6))
    some = benzer.find_duplicates(texts, options=benzer.Options(bucket_limit=10))
    listed, every = decided(some)[1], decided(all_pairs)[1]
    assert listed.items() <= every.items()
    assert some.kept == all_pairs.kept
    assert some.removed == all_pairs.removed
