"""Pairs of documents of two sides that share a band key, from packed keys in parts.

A band key and the number of its document have 16 bytes; many of them are packed into one row, so that a shuffle moves
few rows. Equal keys are in the same part. A task holds the keys of the queries and streams those of the collection, so
its memory depends neither on the collection nor on the number of documents that share a key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.registry import require
from benzer.spark.tasks import ArrowTask
from benzer.storage.base import NO_KEY

QUERY_SIDE, STORED_SIDE = range(2)
"""The sides: queries and collection."""

PACKED = "part bigint, side int, entries binary"
MET = "asked bigint, number bigint"
TOGETHER = "block bigint, number bigint, asked binary"

ENTRY = np.dtype([("key", "<u8"), ("number", "<i8")])
PACKED_TOGETHER = 1 << 20
"""Entries that a task collects before it returns them: 16 MB."""
PAIRS_TOGETHER = 1 << 17
PART_ENTRIES = 1 << 20
MIXED_BY = np.uint64(0x9E37_79B9_7F4A_7C15)

Entries = NDArray[Any]
Numbers = NDArray[np.int64]


def arrow() -> Any:
    """The library for the data of Spark workers."""
    return require("pyarrow", extra="spark", purpose="runs on Spark")


def batch_of(**columns: Any) -> Any:
    """A record batch of these columns."""
    pyarrow = arrow()
    arrays = [
        column if isinstance(column, pyarrow.Array) else pyarrow.array(column) for column in columns.values()
    ]
    return pyarrow.record_batch(arrays, names=list(columns))


@dataclass(frozen=True)
class PackKeys:
    """Converts rows of `number` and `keys` to rows with many entries per part (`PACKED`)."""

    side: int
    parts: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pending: list[Entries] = []
        for batch in batches:
            pending.append(entries_of(batch))
            if sum(map(len, pending)) >= PACKED_TOGETHER:
                yield self._packed(np.concatenate(pending))
                pending = []
        if sum(map(len, pending)):
            yield self._packed(np.concatenate(pending))

    def _packed(self, entries: Entries) -> Any:
        # The keys may come from other hash functions: a multiplication distributes them evenly.
        part = ((entries["key"] * MIXED_BY) >> np.uint64(32)) % np.uint64(self.parts)
        order = np.lexsort((entries["key"], part))
        part, entries = part[order], entries[order]
        starts = np.flatnonzero(np.diff(part.astype(np.int64), prepend=-1))
        bounds = np.append(starts, len(part)) * ENTRY.itemsize
        pyarrow = arrow()
        offsets = pyarrow.py_buffer(bounds.astype(np.int32))
        data = pyarrow.py_buffer(entries.tobytes())
        packed = pyarrow.Array.from_buffers(pyarrow.binary(), len(starts), [None, offsets, data])
        sides = np.full(len(starts), self.side, dtype=np.int32)
        return batch_of(part=part[starts].astype(np.int64), side=sides, entries=packed)


def entries_of(batch: Any) -> Entries:
    """One entry for each band key of each document; missing keys are omitted."""
    column = batch.column("keys")
    numbers = batch.column("number").to_numpy(zero_copy_only=False)
    keys = [np.frombuffer(item, dtype="<u8") for item in column.to_pylist() if item is not None]
    if not keys:
        return np.empty(0, dtype=ENTRY)
    whole = column.is_valid().to_numpy(zero_copy_only=False)
    entries = np.empty(sum(map(len, keys)), dtype=ENTRY)
    entries["key"] = np.concatenate(keys)
    entries["number"] = np.repeat(numbers[whole], [len(key) for key in keys])
    filed: Entries = entries[entries["key"] != NO_KEY]
    return filed


@dataclass(frozen=True)
class MatchKeys:
    """Converts packed rows, sorted by part and side, to pairs (`MET`); a pair with several common keys may repeat."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        part, queries = -1, np.empty(0, dtype=ENTRY)
        waiting: list[Entries] = []
        for batch in batches:
            rows = zip(*(batch.column(name).to_pylist() for name in ("part", "side", "entries")), strict=True)
            for here, side, packed in rows:
                if here != part:
                    part, queries, waiting = here, np.empty(0, dtype=ENTRY), []
                if side == QUERY_SIDE:
                    waiting.append(np.frombuffer(packed, dtype=ENTRY))
                    continue
                if waiting:
                    queries = np.concatenate(waiting)
                    queries, waiting = queries[np.argsort(queries["key"], kind="stable")], []
                yield from met(queries, np.frombuffer(packed, dtype=ENTRY))


def met(queries: Entries, stored: Entries) -> Iterator[Any]:
    """The pairs of entries with equal keys; the query entries are sorted by key."""
    keys = np.ascontiguousarray(queries["key"])
    first = np.searchsorted(keys, stored["key"], side="left")
    counts = np.searchsorted(keys, stored["key"], side="right") - first
    shared = np.flatnonzero(counts)
    first, counts = first[shared], counts[shared]
    ends = np.cumsum(counts)
    for start in range(0, int(ends[-1]) if len(ends) else 0, PAIRS_TOGETHER):
        positions = np.arange(start, min(start + PAIRS_TOGETHER, int(ends[-1])))
        row = np.searchsorted(ends, positions, side="right")
        with_whom = queries["number"][first[row] + positions - (ends[row] - counts[row])]
        yield batch_of(asked=with_whom, number=stored["number"][shared[row]])


@dataclass(frozen=True)
class Gather:
    """Converts sorted rows `number`, `block`, `asked` to one row per document and block (`TOGETHER`).

    asked: the distinct query numbers in this block, ascending, 8 bytes each. Blocks are bounded, so rows are too.
    """

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        rest: list[Numbers] = [np.empty(0, np.int64) for _ in range(3)]
        for batch in batches:
            columns = [batch.column(name).to_numpy() for name in ("number", "block", "asked")]
            columns = [np.concatenate(both) for both in zip(rest, columns, strict=True)]
            if not len(columns[0]):
                continue
            columns = [column[changes(*columns)] for column in columns]
            last = changes(*columns[:2])[-1]
            rest = [column[last:] for column in columns]
            if last:
                yield gathered(*(column[:last] for column in columns))
        if len(rest[0]):
            yield gathered(*rest)


def changes(*columns: Numbers) -> NDArray[np.intp]:
    """The positions at which a row differs from the previous one.

    >>> changes(np.array([1, 1, 2]), np.array([5, 5, 5])).tolist()
    [0, 2]
    """
    differs = np.ones(len(columns[0]), dtype=bool)
    differs[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return np.flatnonzero(differs)


def gathered(number: Numbers, block: Numbers, queries: Numbers) -> Any:
    """One row for each document and block."""
    starts = changes(number, block)
    bounds = np.append(starts, len(number)) * 8
    pyarrow = arrow()
    offsets, data = pyarrow.py_buffer(bounds.astype(np.int32)), pyarrow.py_buffer(queries.tobytes())
    packed = pyarrow.Array.from_buffers(pyarrow.binary(), len(starts), [None, offsets, data])
    return batch_of(block=block[starts], number=number[starts], asked=packed)


def parts_for(entries: int, partitions: int) -> int:
    """The number of parts for `entries` query entries: a task holds those of one part at a time."""
    return max(4 * partitions, -(-entries // PART_ENTRIES))


def pairs(queries: Any, stored: Any, entries: int, partitions: int) -> Any:
    """The pairs with a common key (`MET`) of two DataFrames with `number` and `keys`; `entries`: of the queries."""
    parts = parts_for(entries, partitions)
    packed = [
        side.select("number", "keys")
        .where("keys is not null")
        .mapInArrow(ArrowTask(PackKeys(number, parts)), PACKED)
        for number, side in ((QUERY_SIDE, queries), (STORED_SIDE, stored))
    ]
    together = packed[0].union(packed[1]).repartition("part")
    return together.sortWithinPartitions("part", "side").mapInArrow(ArrowTask(MatchKeys()), MET)


def candidates(met: Any, blocks: int) -> Any:
    """The blocks of each document and its queries there, as `TOGETHER`."""
    from pyspark.sql import functions as F

    block = F.pmod(F.xxhash64("asked"), F.lit(blocks))
    shuffled = met.withColumn("block", block).repartition("number")
    return shuffled.sortWithinPartitions("number", "block", "asked").mapInArrow(ArrowTask(Gather()), TOGETHER)
