"""The interval of a dry run contains the number of documents that a run removes, for families of all kinds."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from benzer import find_duplicates, price
from benzer.document import Document
from benzer.fields import Schema
from benzer.service.questions import tuning
from benzer.service.questions.tuning import Looked, Sliders
from tests.results import SURE

WORDS = [f"word{number}" for number in range(4000)]
COLLECTIONS, SAMPLE = 100, 60
FAMILIES: dict[str, Callable[[random.Random, int, int], int]] = {
    "few and small": lambda chance, made, count: chance.choice([1, 1, 1, 2, 3, 5]),
    "power law": lambda chance, made, count: min(int(chance.paretovariate(0.8)), count // 2),
    "half of all in three": lambda chance, made, count: count // 6 if made < count // 2 else 1,
    "pairs": lambda chance, made, count: chance.choice([1, 2, 2, 2]),
}
"""The size of the next family, by the documents made so far and in the end."""


def varied(chance: random.Random, words: list[str], share: float) -> list[str]:
    return [chance.choice(WORDS) if chance.random() < share else word for word in words]


def collection(kind: str, seed: int) -> list[str]:
    """Families of near-copies, some of them chains in which each document varies the one before, shuffled."""
    chance = random.Random(f"{kind} {seed}")
    count = chance.choice([150, 300])
    texts: list[str] = []
    while len(texts) < count:
        words = chance.choices(WORDS, k=chance.randrange(20, 60))
        share, chain = chance.choice([0.0, 0.01, 0.02, 0.04, 0.08]), chance.random() < 0.3
        for _ in range(FAMILIES[kind](chance, len(texts), count)):
            variant = varied(chance, words, share)
            texts.append(" ".join(variant))
            words = variant if chain else words
    chance.shuffle(texts)
    return texts[:count]


@pytest.mark.slow
def test_the_interval_contains_the_truth_in_95_of_100_collections() -> None:
    """Each interval holds with at least 95 %, and in fact with more.

    Its ends are those of two Clopper-Pearson intervals, one for a share that is at most the truth and one for a share
    that is at least it. So all 100 of these hold; 95 is what the confidence promises on average.
    """
    outside = []
    for seed in range(COLLECTIONS):
        kind, threshold = list(FAMILIES)[seed % len(FAMILIES)], (0.5, 0.8)[seed // 4 % 2]
        texts = dict(enumerate(collection(kind, seed)))
        removed = find_duplicates(texts, threshold=threshold, recall=SURE).counts["removed"]
        estimate = price(texts, (threshold,), documents=SAMPLE, confidence=0.95).prices[0]
        if not estimate.low <= removed <= estimate.high:
            outside.append((kind, seed, removed, estimate))
    assert len(outside) <= 5, outside


@pytest.mark.parametrize("kind", FAMILIES)
def test_the_tune_page_and_the_dry_run_give_the_same_estimate(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the page takes its examples from a small part of the collection."""
    monkeypatch.setattr(tuning, "THRESHOLDS", (0.5, 0.8))
    texts = collection(kind, 1)
    documents = [Document(number, {"text": text}) for number, text in enumerate(texts)]
    part = random.Random(1).sample(documents, len(documents) // 10)
    looked = Looked.from_sample(len(documents), part, Schema(), documents)
    prices = Sliders(0.8, 0.95, None, None, None, SAMPLE, 0).prices(looked)
    expected = price(dict(enumerate(texts)), (0.5, 0.8), documents=SAMPLE)
    assert prices is not None
    assert [one.removed for one in prices.prices] == [one.removed for one in expected.prices]
    assert prices.prices == expected.prices
    removed = find_duplicates(dict(enumerate(texts)), threshold=0.5, recall=SURE).counts["removed"]
    assert prices.prices[0].low <= removed <= prices.prices[0].high


def test_a_collection_that_is_too_large_to_read_has_no_forecast() -> None:
    """A part of it does not tell how many documents are removed, but pairs can be scaled."""
    texts = collection("pairs", 2)
    documents = [Document(number, {"text": text}) for number, text in enumerate(texts)]
    whole = Looked.from_sample(len(documents), documents, Schema())
    part = Looked.from_sample(len(documents), documents[: len(documents) // 2], Schema())
    assert Sliders(0.8, 0.95, None, None, None, SAMPLE, 0).prices(part) is None
    assert 0.5 <= part.spread.pairs(0.5) / whole.spread.pairs(0.5) <= 2
    assert part.spread.contents == pytest.approx(whole.spread.contents, rel=0.1)
