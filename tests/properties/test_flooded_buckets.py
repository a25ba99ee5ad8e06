"""Buckets that a template or an attacker fills: what is promised holds, and batch runs equal the index."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import benzer
from benzer.index import Index, IndexSettings
from tests.results import pairs_of

PREFIX = (
    "alpha beta p1757 p2568 p2337 p632 p2575 p3711 p3655 p982 p2328 p568 p462 p3427 p902 p3710 p3286 p1843 p488 p3872 "
    "p427 p3972 p414 p1466 p1484 p1745 p3380 p1451 p3431 p3863 p208 p444 p3196 p19 p40 p1731 p3351 p3806 p2813 p1111 "
    "p2494 p774 p3734 p3982 p1007 p1582 p2369 p3974 p48 p1573 p1653 p888 p1441 p223 p2299 p778 p867 p3256 p2091 p3469 "
    "p129 p1581"
)
"""Words whose shingles win every slot of the default sketch in texts of some 400 other words, found by trying words."""


def crafted(count: int) -> dict[int, str]:
    """Documents that share every bucket. Each two that follow each other are similar (about 0.97), others are not."""
    texts = {}
    for number in range(count):
        draw = random.Random(f"{number // 2}")
        words = [f"w{draw.randrange(10**7)}" for _ in range(400)]
        if number % 2:
            words[200 + draw.randrange(100)] = words[50 + draw.randrange(100)] = f"changed{number}"
        texts[number] = f"{PREFIX} {' '.join(words)}"
    return texts


def letters(count: int, seed: int) -> dict[int, str]:
    """Letters from a template of 150 words, in each of which two or three words are its own: 0.80 to 0.86 similar."""
    draw = random.Random(seed)
    template = [f"w{draw.randrange(10**6)}" for _ in range(150)]
    texts = {}
    for number in range(count):
        words = list(template)
        for at in draw.sample(range(5, 145, 10), draw.choice([2, 3])):
            words[at + draw.randrange(5)] = f"own{draw.randrange(10**9)}"
        texts[number] = " ".join(words)
    return texts


def test_pairs_in_a_bucket_that_an_attacker_fills_are_found() -> None:
    """The default limit lists all pairs of buckets of up to 1,000 documents, so a lower one is set."""
    found = benzer.find_duplicates(crafted(600), options=benzer.Options(bucket_limit=100))
    assert found.counts["oversized_buckets"] == found.settings.bands.bands
    assert found.counts["oversized_documents"] > 0.9 * 600 * found.counts["oversized_buckets"]
    assert found.removed.keys() == set(range(1, 600, 2))
    assert [removal.kept_id for removal in found.removed.values()] == list(range(0, 600, 2))
    assert len(found.pairs) == 300


@pytest.mark.parametrize("recall", [0.95, 0.99])
def test_letters_of_a_template_keep_the_promise(recall: float) -> None:
    """All pairs by the exact method; the share that bands find lies within four standard errors above the promise.

    Pairs of one family share slots of one signature, so the error is that of the documents, not of the pairs.
    """
    texts = letters(500, seed=3)
    exact = pairs_of(benzer.find_duplicates(texts, recall=1).pairs)
    found = benzer.find_duplicates(texts, recall=recall, options=benzer.Options(bucket_limit=10**6))
    listed = pairs_of(found.pairs)
    assert listed.items() <= exact.items()
    assert len(exact) > 0.5 * math.comb(500, 2)
    assert len(listed) >= (recall - 4 * math.sqrt(recall * (1 - recall) / 500)) * len(exact)


@pytest.mark.parametrize("recall", [0.95, 0.99])
def test_letters_have_the_same_pairs_in_a_batch_run_and_an_index(recall: float) -> None:
    """The batch run lists a few more: kept documents that its second look compared."""
    texts = letters(300, seed=4)
    found = benzer.find_duplicates(texts, recall=recall, options=benzer.Options(bucket_limit=10**6))
    with Index.open("memory:", IndexSettings(threshold=0.8, recall=recall)) as index:
        index.add([benzer.Document(number, text) for number, text in texts.items()])
        answers = index.find_similar_batch(list(texts.values()), limit=None)
    matches = {
        frozenset((number, match.id)): match.similarity
        for number, answer in zip(texts, answers, strict=True)
        for match in answer
        if match.id != number
    }
    second_look = pairs_of(found.pairs).items() - matches.items()
    assert matches.items() <= pairs_of(found.pairs).items()
    assert len(second_look) <= len(found.decision.left) < 0.01 * len(matches)


@pytest.mark.parametrize("limit", [10, 100])
def test_with_large_buckets_the_recall_is_measured_over_all_pairs_and_none_is_predicted(limit: int) -> None:
    texts = letters(500, seed=5)
    every, some = (
        benzer.find_duplicates(texts, options=benzer.Options(bucket_limit=number))
        for number in (10**6, limit)
    )
    measured: Any = [found.measure_recall() for found in (every, some)]
    assert some.counts["oversized_buckets"] > 0
    assert len(some.pairs) < len(every.pairs) / 5
    assert measured[0].recall == measured[1].recall
    assert (measured[0].predicted is None, measured[1].predicted is None) == (False, True)
    assert abs(measured[0].predicted - measured[0].recall) < 0.02
