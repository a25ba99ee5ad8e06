"""What does a result say, in plain values, and does it agree with the reference?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.reference import similarity
from tests.reference.text import Recipe

Id = str | int
Pairs = dict[frozenset[Id], float]
SURE = 1 - 1e-9  # a recall so high that no pair of these small collections is missed


def pairs_of(pairs: Iterable[Any]) -> Pairs:
    """Similarity by unordered pair; a pair that comes twice is a fault."""
    found: Pairs = {}
    for pair in pairs:
        key = frozenset((pair.left_id, pair.right_id))
        assert len(key) == 2, f"{pair} pairs a document with itself"
        assert key not in found, f"{pair} comes twice"
        found[key] = pair.similarity
    return found


def removed_of(result: Any) -> dict[Id, tuple[Id, float]]:
    """The kept document and the similarity, by removed document."""
    return {identity: (kept, strength) for identity, (kept, strength) in dict(result.removed).items()}


def clusters_of(result: Any) -> dict[Id, dict[Id, float]]:
    """Every document that stays for others, with those and their similarity to it."""
    clusters = {representative: dict(removed) for representative, removed in result.clusters}
    assert len(clusters) == len(result.clusters)
    return clusters


def all_of(result: Any) -> tuple[Any, ...]:
    """Everything that must not depend on how the work was done."""
    return (
        pairs_of(result.expanded_pairs()),
        clusters_of(result),
        list(result.kept),
        removed_of(result),
        dict(result.counts),
    )


def true_pairs(texts: Mapping[Id, str | bytes], recipe: Recipe, threshold: float) -> Pairs:
    """All pairs at the threshold, by comparing all with all."""
    ids = list(texts)
    found = similarity.similar_pairs(list(texts.values()), recipe, threshold)
    return {frozenset((ids[a], ids[b])): value for (a, b), value in found.items()}


def true_removals(
    texts: Mapping[Id, str | bytes], recipe: Recipe, threshold: float
) -> dict[Id, tuple[Id, float]]:
    """The removals when the texts are taken in their order."""
    order, pairs = list(texts), true_pairs(texts, recipe, threshold)
    leaders = similarity.leaders(
        range(len(order)), lambda a, b: pairs.get(frozenset((order[a], order[b])), 0.0), threshold
    )
    named = {one: (order[lead], value) for one, (lead, value) in zip(order, leaders, strict=True)}
    return {one: lead for one, lead in named.items() if lead[0] != one}


def grouped(removed: dict[Id, tuple[Id, float]]) -> dict[Id, dict[Id, float]]:
    """The removed documents by the kept ones that stay for them."""
    groups: dict[Id, dict[Id, float]] = {}
    for one, (kept, strength) in removed.items():
        groups.setdefault(kept, {})[one] = strength
    return groups


def assert_true(result: Any, texts: Mapping[Id, str | bytes], recipe: Recipe, threshold: float) -> None:
    """Nothing is lost, every pair and removal is as similar as it says, and no two kept ones are a pair.

    Holds for every recall: only pairs that were found are looked at.
    """
    removed, pairs = removed_of(result), pairs_of(result.expanded_pairs())
    assert sorted([*result.kept, *removed], key=str) == sorted(texts, key=str)
    truth = true_pairs(texts, recipe, threshold)
    assert pairs == {pair: truth[pair] for pair in pairs}
    kept = set(result.kept)
    for identity, (witness, strength) in removed.items():
        assert witness in kept
        assert strength == truth[frozenset((identity, witness))] >= threshold
    assert not [pair for pair in pairs if pair <= kept]


def assert_complete(result: Any, texts: Mapping[Id, str | bytes], recipe: Recipe, threshold: float) -> None:
    """All pairs are found, and the removals are those of the reference in the order of the texts."""
    truth = true_pairs(texts, recipe, threshold)
    assert pairs_of(result.expanded_pairs()) == truth
    gone = true_removals(texts, recipe, threshold)
    assert removed_of(result) == gone
    assert clusters_of(result) == grouped(gone)
    assert list(result.kept) == [one for one in texts if one not in gone]
