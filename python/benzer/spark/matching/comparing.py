"""Exact similarities of documents of two tables; each set is read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benzer._native import jaccard
from benzer.corpus import weighted_means
from benzer.fields import Schema
from benzer.fields.base import SeenField, Sets, has_own_similarity

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Contents:
    """The compared contents of some documents, one list entry per field.

    sets: offsets (int64, n + 1) and shingle hashes (uint64). missing: who lacks the field (bool, n). kept: the
    descriptions of a field that compares by more than its sets, else nothing.
    """

    sets: list[Sets]
    missing: list[NDArray[np.bool_]]
    kept: list[list[bytes | None]]


def contents_of(schema: Schema, encoded: Sequence[Sequence[bytes | None]]) -> Contents:
    """Convert encoded contents to compared contents: one sequence per field of the schema."""
    fields = list(zip(schema.fields.values(), encoded, strict=True))
    return Contents(
        [field.encoded_sets(column) for field, column in fields],
        [np.array([one is None for one in column], dtype=bool) for column in encoded],
        [list(column) if has_own_similarity(field) else [] for field, column in fields],
    )


def compare(
    schema: Schema, asked: Contents, held: Contents, left: Rows, right: Rows
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The exact similarity of each pair (float64, m) and that of each field (float64, m x fields).

    left, right: positions in `asked` and `held`. The first is the weighted mean over the fields that both hold and
    that are not empty in both; a field that one of the two lacks has not-a-number.
    """
    of_field = np.full((len(left), len(schema.fields)), np.nan)
    counted, nothing = of_field.copy(), np.ones(len(left), dtype=bool)
    for at, field in enumerate(schema.fields.values()):
        sizes = [np.diff(side.sets[at][0]) for side in (asked, held)]
        both_empty = (sizes[0][left] == 0) & (sizes[1][right] == 0)
        nothing &= both_empty
        both_hold = ~(asked.missing[at][left] | held.missing[at][right])
        if has_own_similarity(field):
            similarity = own_similarity(field, asked.kept[at], held.kept[at], left, right)
        else:
            similarity = of_sets(asked.sets[at], held.sets[at], left, right)
        of_field[both_hold, at] = similarity[both_hold]
        counts = both_hold & ~both_empty
        counted[counts, at] = similarity[counts]
    return weighted_means(counted, schema.weights, nothing), of_field


def of_sets(asked: Sets, held: Sets, left: Rows, right: Rows) -> NDArray[np.float64]:
    """The Jaccard similarity of pairs of sets of two sides; of the first side only the used sets are read."""
    used, place = np.unique(left, return_inverse=True)
    offsets, hashes = chosen(asked, used)
    both = np.concatenate((offsets, held[0][1:] + offsets[-1]))
    others = (right + len(used)).astype(np.uint32)
    return jaccard(both, np.concatenate((hashes, held[1])), place.astype(np.uint32), others, 1)


def chosen(sets: Sets, rows: Rows) -> Sets:
    """Some of the sets.

    >>> offsets, hashes = chosen((np.array([0, 2, 2, 3]), np.array([7, 8, 9], np.uint64)), np.array([0, 2]))
    >>> offsets.tolist(), hashes.tolist()
    ([0, 2, 3], [7, 8, 9])
    """
    starts, sizes = sets[0][rows], np.diff(sets[0])[rows]
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    at = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)
    return offsets, sets[1][at]


def own_similarity(
    field: SeenField,
    asked: Sequence[bytes | None],
    held: Sequence[bytes | None],
    left: Rows,
    right: Rows,
) -> NDArray[np.float64]:
    """The similarity of a field that uses more than its sets."""
    similarity = np.zeros(len(left))
    for one in np.unique(left).tolist():
        content, at = asked[one], np.flatnonzero(left == one)
        if content is not None:
            similarity[at] = field.compare(content, [held[other] or b"" for other in right[at].tolist()])
    return similarity
