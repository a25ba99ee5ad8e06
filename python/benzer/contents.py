"""Encoded contents of documents, for comparison by the native core or by a field's own methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benzer._native import Contents, Overlaps
from benzer.fields import Schema
from benzer.fields.base import SeenField, Sets, has_own_similarity

Encoded = Sequence[bytes | None]
"""The encoded content of one field of some documents; None where a document lacks the field."""

Ends = NDArray[np.uint32]


def contents_of(schema: Schema, columns: Sequence[Encoded], threads: int = 1) -> Contents:
    """Read encoded contents, one column for each field of the schema, as sets that can be compared.

    >>> from benzer.fields import ValueSet
    >>> some = contents_of(Schema(tags=ValueSet()), [[b'["red","round"]', b'["red"]', None]])
    >>> overlaps = some.overlaps(some, np.array([0, 0], np.uint32), np.array([1, 2], np.uint32))
    >>> overlaps.shared.tolist(), overlaps.left_sizes.tolist(), overlaps.right_sizes.tolist()
    ([[1], [0]], [[2], [2]], [[1], [0]])
    >>> overlaps.similarities([1.0])[:, 0].tolist()
    [0.5, 0.0]
    """
    return Contents(schema.stored_readers(), columns, given_sets(schema, columns), threads)


def given_sets(schema: Schema, columns: Sequence[Encoded]) -> dict[int, Sets]:
    """Return the sets of the fields that the native core cannot read, with one call of `encoded_sets` per field."""
    fields = zip(schema.fields.values(), schema.stored_readers(), columns, strict=True)
    return {
        number: field.encoded_sets(column)
        for number, (field, reader, column) in enumerate(fields)
        if reader == "hashes"
    }


def own_fields(schema: Schema) -> dict[int, SeenField]:
    """The fields with a similarity of their own, by number."""
    return {n: field for n, field in enumerate(schema.fields.values()) if has_own_similarity(field)}


def similarities(
    schema: Schema,
    overlaps: Overlaps,
    left: Ends,
    right: Ends,
    left_contents: Mapping[int, Encoded],
    right_contents: Mapping[int, Encoded],
    threads: int = 1,
) -> NDArray[np.float64]:
    """Return the similarity of each pair, then that of each field (float64, pairs x (1 + fields)).

    Args:
        schema: Fields and weights.
        overlaps: The shared elements of the pairs.
        left: Position of the left document of each pair in `left_contents`.
        right: Position of the right document of each pair in `right_contents`.
        left_contents: Encoded contents of each field with a similarity of its own.
        right_contents: The same of the right documents.
        threads: Number of threads; 0 uses all cores.

    Returns:
        Not-a-number for a field that a document lacks. A field with a similarity of its own compares each left
        content once with all its right ones.
    """
    own = {
        number: own_similarities(
            field,
            overlaps.counted(number),
            (left, right),
            (left_contents[number], right_contents[number]),
            threads,
        )
        for number, field in own_fields(schema).items()
    }
    return overlaps.similarities(schema.weights, own)


def own_similarities(
    field: SeenField,
    counted: NDArray[np.bool_],
    ends: tuple[Ends, Ends],
    contents: tuple[Encoded, Encoded],
    threads: int = 1,
) -> NDArray[np.float64]:
    """Return the field's own similarity of each counted pair; 1.0 for others, which are empty in both or missing."""
    (left, right), (item, other) = ends, contents
    values = np.ones(len(left))

    def compare(pairs: NDArray[np.intp]) -> None:
        others = [other[place] or b"" for place in right[pairs].tolist()]
        values[pairs] = field.compare(item[int(left[pairs[0]])] or b"", others)

    pairs = np.flatnonzero(counted)
    pairs = pairs[np.argsort(left[pairs], kind="stable")]
    starts = np.flatnonzero(np.diff(left[pairs].astype(np.int64), prepend=-1))
    groups = np.split(pairs, starts[1:]) if len(pairs) else []
    if threads == 1 or len(groups) < 2:
        for group in groups:
            compare(group)
        return values
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads or None, thread_name_prefix="benzer-compare") as pool:
        for done in [pool.submit(compare, group) for group in groups]:
            done.result()
    return values
