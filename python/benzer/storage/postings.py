"""Finds the documents of a bucket by postings, (band key, document number), sorted by key.

Sorted arrays take 12 bytes per posting and are searched for many keys at a time. New postings are added as small
sorted pieces; a rule that limits the number of pieces determines when to merge them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benzer.storage.base import NO_KEY, Keys, Numbers, Pairs

_Small = npt.NDArray[np.uint32]


class Postings(NamedTuple):
    """Postings sorted by key: `keys` uint64[p], `numbers` uint32[p]."""

    keys: Keys
    numbers: _Small

    @classmethod
    def of_documents(cls, keys: Keys, numbers: Numbers) -> Postings:
        """Return the postings of documents, from their band keys (n × bands) and numbers (n).

        >>> Postings.of_documents(np.array([[9, 3], [3, NO_KEY]], np.uint64), np.array([0, 1]))
        Postings(keys=array([3, 3, 9], dtype=uint64), numbers=array([0, 1, 0], dtype=uint32))
        """
        flat = keys.reshape(-1)
        owner = np.repeat(numbers.astype(np.uint32), keys.shape[1])
        kept = flat != NO_KEY
        if not kept.all():
            flat, owner = flat[kept], owner[kept]
        order = np.argsort(flat, kind="stable")
        flat, owner = flat[order], owner[order]
        repeated = (flat[1:] == flat[:-1]) & (owner[1:] == owner[:-1])  # two bands with one key
        if repeated.any():
            once = np.concatenate(([True], ~repeated))
            flat, owner = flat[once], owner[once]
        return cls(flat, owner)

    @classmethod
    def merged(cls, pieces: Sequence[Postings]) -> Postings:
        """Merge sorted pieces; equal keys keep the order of the pieces."""
        if len(pieces) == 1:
            return pieces[0]
        if not pieces:
            return NO_POSTINGS
        keys = np.concatenate([piece.keys for piece in pieces])
        numbers = np.concatenate([piece.numbers for piece in pieces])
        order = np.argsort(keys, kind="stable")  # merges the sorted pieces in linear time
        return cls(keys[order], numbers[order])

    def without(self, removed: Numbers) -> Postings:
        """Return the postings of documents that are not in `removed` (sorted)."""
        if not len(removed) or not len(self.keys):
            return self
        numbers = self.numbers.astype(np.int64)
        place = np.minimum(np.searchsorted(removed, numbers), len(removed) - 1)
        kept = removed[place] != numbers
        return Postings(self.keys[kept], self.numbers[kept])

    def between(self, low: int, high: int) -> Postings:
        """Return the postings with low <= key < high."""
        first = int(np.searchsorted(self.keys, np.uint64(low)))
        last = len(self.keys) if high >= 2**64 else int(np.searchsorted(self.keys, np.uint64(high)))
        return Postings(self.keys[first:last], self.numbers[first:last])

    def find(self, wanted: Keys) -> Pairs:
        """Look up keys (sorted, repetitions allowed): (position in `wanted`, document number)s."""
        first = self.keys.searchsorted(wanted)
        count = self.keys.searchsorted(wanted, "right") - first
        position = count.nonzero()[0].repeat(count[count != 0])
        if not len(position):
            return position, position
        start = np.repeat(first - (np.cumsum(count) - count), count)
        return position, self.numbers[start + np.arange(len(position))].astype(np.int64)

    def sum(self) -> int:
        """A number below 2^63 that changes with any posting, independent of their order.

        >>> one, two = (Postings(np.array([key], np.uint64), np.array([0], np.uint32)) for key in (3, 4))
        >>> one.sum() != two.sum(), Postings.merged([one, two]).sum() == (one.sum() + two.sum()) % 2**63
        (True, True)
        """
        mixed = (self.keys ^ self.numbers.astype(np.uint64) * _ODD) * _OTHER_ODD
        mixed ^= mixed >> np.uint64(29)
        return int(np.add.reduce(mixed, dtype=np.uint64)) % 2**63


_ODD, _OTHER_ODD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
NO_POSTINGS = Postings(np.empty(0, np.uint64), np.empty(0, np.uint32))


def pieces_to_merge(sizes: Sequence[int], base: int, limit: int = 6) -> int:
    """Return how many of the newest pieces (`sizes` from old to new) to merge into one now; 1 means none.

    There are at most `limit` pieces, one more for each doubling beyond 1,000 pieces of `base`. When there are more,
    the fewest newest pieces are merged that are together as large as the piece before them. Compared with the usual
    merging by eights, a search reads 5 pieces instead of 7 to 11 on average, and a posting is written 3 to 6 times
    instead of 2.

    >>> pieces_to_merge([64, 32, 16, 8, 4, 2], base=1)
    1
    >>> pieces_to_merge([64, 32, 16, 8, 4, 2, 1], base=1)
    2
    >>> pieces_to_merge([64, 32, 16, 9, 4, 3, 1], base=1)
    3
    """
    total = sum(sizes)
    if len(sizes) <= max(limit, (total // base).bit_length() - 4):
        return 1
    merged = sizes[-1]
    for count in range(2, len(sizes)):
        merged += sizes[-count]
        if sizes[-count - 1] > merged:
            return count
    return len(sizes)


class PostingPieces:
    """Growing postings in memory: a few sorted pieces, from old to new."""

    def __init__(self) -> None:
        self.pieces: list[Postings] = []

    def __len__(self) -> int:
        return sum(len(piece.keys) for piece in self.pieces)

    def add(self, postings: Postings) -> None:
        """Add postings; merges pieces from time to time, so that each posting is moved a few times."""
        if not len(postings.keys):
            return
        self.pieces.append(postings)
        count = pieces_to_merge([len(piece.keys) for piece in self.pieces], base=16)
        if count > 1:
            self.pieces[-count:] = [Postings.merged(self.pieces[-count:])]

    def find(self, wanted: Keys) -> list[Pairs]:
        """Return the postings of each piece under the keys (sorted); see Postings.find."""
        return [piece.find(wanted) for piece in self.pieces]

    def purge(self, removed: Numbers) -> None:
        """Merge all pieces into one, without the postings of removed documents (sorted numbers)."""
        self.pieces = [Postings.merged(self.pieces).without(removed)]


def bucket_sizes(portions: Iterable[Postings]) -> dict[int, int]:
    """Return how many keys have how many postings; all postings of a key are in one portion.

    >>> bucket_sizes([Postings(np.array([3, 3, 9], np.uint64), np.array([0, 1, 0], np.uint32))])
    {1: 1, 2: 1}
    """
    buckets: dict[int, int] = {}
    for keys, _ in portions:
        if len(keys):
            ends = np.append((keys[1:] != keys[:-1]).nonzero()[0] + 1, len(keys))
            sizes, counts = np.unique(np.diff(ends, prepend=0), return_counts=True)
            for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
                buckets[size] = buckets.get(size, 0) + count
    return dict(sorted(buckets.items()))


def sorted_lookup(keys: Keys) -> tuple[Keys, Numbers]:
    """Return the keys of some rows (m × bands) in sorted order, and the row of each; NO_KEY is left out."""
    flat = keys.reshape(-1)
    order = np.argsort(flat)
    flat = flat[order]
    end = int(np.searchsorted(flat, NO_KEY))
    return flat[:end], order[:end] // max(1, keys.shape[1])


def unique_pairs(rows: Numbers, pairs: Iterable[Pairs]) -> Pairs:
    """Return (row, number) of all results, sorted, each once; `rows` is the row of each position."""
    parts = [(rows[position] << 32) | number for position, number in pairs if len(position)]
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    codes = np.sort(np.concatenate(parts))
    if len(codes) > 1:
        codes = codes[np.concatenate(([True], codes[1:] != codes[:-1]))]
    return codes >> 32, codes & 0xFFFFFFFF
