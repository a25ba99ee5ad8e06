"""Whatever a shingle's element is, pairs, searches and estimates are those of the sets of elements."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import benzer
from tests.corpora import collection
from tests.reference import classical, hashing, similarity
from tests.reference import text as reference
from tests.reference.strings import STRING_HASHES
from tests.reference.text import Recipe
from tests.results import SURE, pairs_of

THRESHOLD = 0.55
OPTIONS: dict[str, dict[str, Any]] = {
    "frequencies": {"shingle_size": 1, "frequencies": True},
    "frequencies of characters": {"unit": "char", "shingle_size": 3, "punctuation": "drop", "frequencies": True},
    "four bytes": {"shingle_size": 2, "hash_bytes": 4},
    "djb2a": {"unit": "char", "shingle_size": 5, "punctuation": "drop", "shingle_hash": "djb2a"},
    "murmur3 with frequencies": {
        "shingle_size": 2, "shingle_hash": "murmur3_128", "hash_bytes": 4, "frequencies": True,
    },
}  # fmt: skip


@pytest.fixture(params=OPTIONS, ids=str)
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    return OPTIONS[request.param]


def similarities(texts: Mapping[str, str], recipe: Recipe) -> dict[frozenset[str], float]:
    """The similarity of all pairs of texts with a shingle, by comparing all."""
    sets = {name: set(hashing.shingle_hashes(text, recipe, STRING_HASHES)) for name, text in texts.items()}
    return {
        frozenset((a, b)): similarity.jaccard(sets[a], sets[b])
        for a, b in combinations(sets, 2)
        if sets[a] and sets[b]
    }


def test_the_pairs_are_those_of_the_elements(options: dict[str, Any]) -> None:
    texts = collection(7, 100)
    schema = benzer.Schema(text=benzer.Text(**options))
    found = benzer.find_duplicates(texts, schema=schema, threshold=THRESHOLD, recall=SURE)
    everything = similarities(texts, Recipe(**options)).items()
    expected = {pair: value for pair, value in everything if value >= THRESHOLD}
    assert len(expected) > 15
    assert pairs_of(found.expanded_pairs()) == expected


def test_an_index_finds_what_the_elements_have_in_common(options: dict[str, Any]) -> None:
    texts = collection(8, 60)
    settings = benzer.IndexSettings(
        benzer.Schema(text=benzer.Text(**options)), threshold=THRESHOLD, recall=SURE
    )
    assert benzer.IndexSettings.from_json(settings.to_json()) == settings
    expected = similarities(texts, Recipe(**options))
    with benzer.Index.open("memory:", settings) as index:
        index.add(texts)
        for name, text in list(texts.items())[:30]:
            found = {match.id: match.similarity for match in index.find_similar({"text": text}, limit=None)}
            found.pop(name, None)
            assert found == {
                other: expected[frozenset((name, other))]
                for other in texts
                if expected.get(frozenset((name, other)), 0) >= THRESHOLD
            }


def test_the_similarity_with_frequencies_is_that_of_the_bags() -> None:
    texts = collection(9, 80)
    options = OPTIONS["frequencies"]
    schema = benzer.Schema(text=benzer.Text(**options))
    found = benzer.find_duplicates(texts, schema=schema, threshold=THRESHOLD, recall=SURE)
    pairs = pairs_of(found.expanded_pairs())
    assert len(pairs) > 20
    for (a, b), value in pairs.items():
        bags = [reference.shingles(texts[str(name)], Recipe(**options)) for name in (a, b)]
        assert value == classical.bag_similarity(bags[0], bags[1])


@pytest.mark.parametrize("algorithm", ["fast", "kmins", "bottomk"])
def test_estimates_from_any_elements_are_unbiased(options: dict[str, Any], algorithm: str) -> None:
    """The mean of 300 estimates of 128 values is within 6 standard errors, at most sqrt(J (1 - J) / 128 / 300)."""
    field = benzer.Text(**options)
    words = "the cat that the dog that the rat bit chased sat on the mat and on the hat of the man by the sea"
    a, b = words + " and ate the cream of the cow by the cat", words + " until the rain came to the land"
    offsets, hashes = field.sets([a, b])
    left, right = hashes[: offsets[1]], hashes[offsets[1] :]
    true = benzer.jaccard(left.tolist(), right.tolist())
    assert 0.3 < true < 0.8
    estimates = []
    for seed in range(300):
        minhash = benzer.MinHash(algorithm, 128, seed=seed)
        signatures = minhash.of(field, [a, b])
        estimates.append(float(minhash.estimate(signatures[:1], signatures[1:])[0]))
    bound = 6 * np.sqrt(true * (1 - true) / 128 / 300)
    assert abs(np.mean(estimates) - true) < bound
