"""Finds all documents that can reach the threshold with a given one, without bands."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benzer.corpora import DocumentCorpus
from benzer.fields import Schema
from benzer.fields.base import Field, has_least_jaccard, has_own_similarity, is_seen

Positions = NDArray[np.uint32]

MOST_COMPARED = 300_000
"""Pairs that are compared at most, where a field has a similarity of its own; up to a millisecond each."""
LEAST_DRAWN = 20
"""As many documents are drawn even if that takes more comparisons."""
SHARE_COMPARED = 0.05
"""The share of all documents that is compared with a drawn one, where sets bound the similarity; 0.03 was measured."""


def field_thresholds(schema: Schema, threshold: float) -> list[float]:
    """Return the Jaccard similarity of each field's sets from which a pair can reach the threshold.

    The similarity of documents is a mean over their fields, so a pair at the threshold reaches it in one of them. A
    field with a similarity of its own states how similar its sets are at least: for certain (`least_jaccard`), or as
    an estimate (`band_threshold`).

    >>> field_thresholds(Schema(), 0.8)
    [0.8]
    """
    return [_least(field, threshold) for field in schema.fields.values()]


def _least(field: Field, threshold: float) -> float:
    if has_least_jaccard(field):
        return min(threshold, field.least_jaccard(threshold))
    return min(threshold, field.band_threshold(threshold)) if is_seen(field) else threshold


def possible_neighbours(
    corpus: DocumentCorpus, order: Positions, schema: Schema, threshold: float, threads: int = 0
) -> tuple[Positions, Positions]:
    """Return each position of the order with each other document that can reach the threshold with that document.

    No pair that reaches it is left out. If a field has a similarity of its own without a bound for its sets
    (`least_jaccard`), these are all non-empty documents.

    Returns:
        The places (uint32), ascending, and the positions of the documents (uint32).
    """
    if _bounded(schema):
        query, neighbour = corpus.exact_neighbours(order, field_thresholds(schema, threshold), threads)
        return query, neighbour
    others = np.flatnonzero(_has_shingles(corpus, schema, threads)).astype(np.uint32)
    query = np.repeat(np.arange(len(order), dtype=np.uint32), len(others))
    neighbour = np.tile(others, len(order))
    different = neighbour != order[query]
    return query[different], neighbour[different]


def affordable(schema: Schema, contents: int) -> int:
    """Return how many documents can be compared with all possible neighbours in minutes.

    Without a field that has a similarity of its own, this is all of them. It depends on no document, so that the
    drawn documents stay independent of their answers.

    >>> affordable(Schema(), 10**6)
    1000000
    """
    if not any(map(has_own_similarity, schema.fields.values())):
        return contents
    each = max(contents, 1) * (SHARE_COMPARED if _bounded(schema) else 1.0)
    return min(contents, max(int(MOST_COMPARED / each), LEAST_DRAWN))


def _bounded(schema: Schema) -> bool:
    """Whether the sets bound the similarity of every field."""
    own = [field for field in schema.fields.values() if has_own_similarity(field)]
    return all(map(has_least_jaccard, own))


def _has_shingles(corpus: DocumentCorpus, schema: Schema, threads: int) -> NDArray[np.bool_]:
    everyone = np.arange(len(corpus), dtype=np.uint32)
    sizes = [np.diff(corpus.sets(number, everyone, threads)[0]) for number in range(len(schema.fields))]
    some: NDArray[np.bool_] = np.any([size > 0 for size in sizes], axis=0)
    return some
