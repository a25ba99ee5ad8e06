"""The tasks of the join: distribute keys, pair documents with equal keys, keep each pair once.

All run in Spark's Python workers over Arrow batches; what they hold is bounded by `Sizes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer._native import buckets_of, deal_keys, deal_pairs, distinct_pairs, pairs_within, without_hot
from benzer.spark.joining.packing import Numbers, Piece, Sizes, Words, packed, pieces, words

JOINED = "left bigint, right bigint, band int"
"""A pair; or a key above the limit (`left`) of a band, with a null `right`."""

ROWS = 1 << 16
"""Rows of a batch that a task returns."""

NO_KEYS: Words = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True)
class Deal:
    """Keys of some bands of sketches (number, keys) -> `PACKED` entries by part, `parts` for each band."""

    width: int
    first: int
    after: int
    parts: int
    limit: int
    sizes: Sizes

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for numbers, keys in tables(batches, self.width, max(1, self.sizes.dealt // self.width)):
            dealt = deal_keys(keys, numbers, self.first, self.after, self.parts, self.limit)
            yield packed(*dealt[:3])
            if len(dealt[3]):
                yield packed(dealt[3], None, dealt[4])


def tables(batches: Iterator[Any], width: int, rows: int) -> Iterator[tuple[Numbers, Words]]:
    """Numbers (n) and keys (n x width) of sketches, about so many rows at a time."""
    pending: list[tuple[Numbers, Words]] = []
    count = 0
    for batch in batches:
        keys = words(batch.column("keys"))
        pending.append((batch.column("number").to_numpy(), keys.reshape(-1, width)))
        count += batch.num_rows
        if count >= rows:
            yield _stacked(pending)
            pending, count = [], 0
    if count:
        yield _stacked(pending)


def _stacked(pending: list[tuple[Numbers, Words]]) -> tuple[Numbers, Words]:
    return np.concatenate([numbers for numbers, _ in pending]), np.concatenate([keys for _, keys in pending])


class Pairing:
    """Distributes pairs, `most` at a time."""

    def __init__(self, parts: int, most: int) -> None:
        self.parts, self.most = parts, most
        self.pending: list[tuple[Numbers, Numbers]] = []
        self.count = 0

    def add(self, left: Numbers, right: Numbers) -> Iterator[Any]:
        """Add pairs; returns a batch of `PACKED` when there are enough."""
        self.pending.append((left, right))
        self.count += len(left)
        if self.count >= self.most:
            yield from self.rest()

    def within(self, members: Numbers, ends: Numbers) -> Iterator[Any]:
        """All pairs of the members of each group."""
        position = 0
        while position < len(members):
            left, right, position = pairs_within(members, ends, position, self.most)
            yield from self.add(left, right)

    def rest(self) -> Iterator[Any]:
        """Return the remaining pairs."""
        if self.count:
            left, right = _columns(self.pending)
            yield packed(*deal_pairs(left, right, self.parts))
        self.pending, self.count = [], 0


def _columns(pending: list[tuple[Any, Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.concatenate([left for left, _ in pending]), np.concatenate([right for _, right in pending])


@dataclass(frozen=True)
class Meet:
    """`PACKED` entries, those of a part adjacent -> `PACKED` pairs; and keys above the limit, under -1 less the band.

    Attributes:
        parts: Number of parts of each band.
        first: The first band.
        pair_parts: Number of parts of the pairs.
    """

    first: int
    parts: int
    pair_parts: int
    limit: int
    sizes: Sizes

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        pairing = Pairing(self.pair_parts, self.sizes.dealt)
        for part, given in groupby(pieces(batches), key=lambda piece: piece.part):
            keys, numbers, hot = self._entries(given)
            members, ends, hot = buckets_of(keys, numbers, self.limit, hot)
            yield from pairing.within(members, ends)
            if len(hot):
                yield packed(hot, None, np.array([len(hot)]), -1 - self.first - part // self.parts)
        yield from pairing.rest()

    def _entries(self, given: Iterator[Piece]) -> tuple[Words, Numbers, Words]:
        """All entries of a part; without those of keys above the limit, once there are many."""
        pending: list[tuple[Words, Numbers]] = []
        hot, count, room = NO_KEYS, 0, self.sizes.waiting
        for piece in given:
            pending.append((piece.left, piece.right))
            hot = np.concatenate((hot, piece.alone))
            count += len(piece.left)
            if count > room:
                keys, numbers, hot = without_hot(*_columns(pending), self.limit, hot)
                pending, count = [(keys, numbers)], len(keys)
                room = max(self.sizes.waiting, 2 * count)
        return *_columns(pending), np.unique(hot)


@dataclass(frozen=True)
class Distinct:
    """`PACKED` pairs, those of a part neighbours -> `JOINED`, each pair once, and each key above the limit."""

    sizes: Sizes

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for part, given in groupby(pieces(batches), key=lambda piece: piece.part):
            if part < 0:
                keys = np.concatenate([piece.alone for piece in given]).view(np.int64)
                yield from joined(keys, None, -1 - part)
            else:
                yield from joined(*self._distinct(given))

    def _distinct(self, given: Iterator[Piece]) -> tuple[Numbers, Numbers]:
        pending: list[tuple[Numbers, Numbers]] = []
        count, room = 0, self.sizes.dealt
        for piece in given:
            pending.append((piece.left.view(np.int64), piece.right))
            count += len(piece.right)
            if count > room:
                pending = [distinct_pairs(*_columns(pending))]
                count = len(pending[0][0])
                room = max(self.sizes.dealt, 2 * count)
        return distinct_pairs(*_columns(pending))


def joined(left: Numbers, right: Numbers | None, band: int | None = None) -> Iterator[Any]:
    """Batches of `JOINED`."""
    import pyarrow as pa

    for start in range(0, len(left), ROWS):
        item = left[start : start + ROWS]
        other = pa.nulls(len(item), pa.int64()) if right is None else pa.array(right[start : start + ROWS])
        bands = (
            pa.nulls(len(item), pa.int32()) if band is None else pa.array(np.full(len(item), band, np.int32))
        )
        yield pa.record_batch([pa.array(item), other, bands], names=["left", "right", "band"])


@dataclass(frozen=True)
class DealPairs:
    """Pairs (left, right) -> `PACKED` pairs."""

    parts: int
    sizes: Sizes

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        pairing = Pairing(self.parts, self.sizes.dealt)
        for batch in batches:
            yield from pairing.add(batch.column("left").to_numpy(), batch.column("right").to_numpy())
        yield from pairing.rest()
