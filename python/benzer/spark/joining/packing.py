"""Packs keys and pairs: up to several hundred of one part in a row.

Spark shuffles a million rows a second and core, and packed ones at the speed of their bytes. A row is small, as Spark
bounds by rows what it hands to a task at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]

PACKED = "part int, left binary, right binary"
"""Two columns of 64-bit numbers of one part, 8 bytes each; keys alone where `right` is null."""

PACKED_TOGETHER = 512


@dataclass(frozen=True)
class Sizes:
    """The memory limits of a task; they do not affect the result.

    Attributes:
        part: Entries (a key, a number) of a part.
        parts: Maximum number of parts, as long as each has at most `large` entries.
        large: Entries of a part from which more parts are made.
        dealt: Entries or pairs that are distributed at a time.
        waiting: Entries of one part from which keys above the limit are searched and dropped.
        hot: Keys above the limit that a task gets at a time.
    """

    part: int = 1 << 16
    parts: int = 4096
    large: int = 1 << 22
    dealt: int = 1 << 20
    waiting: int = 1 << 23
    hot: int = 1 << 20

    def parts_of(self, entries: int) -> int:
        """The number of parts for a number of entries."""
        return max(1, min(-(-entries // self.part), self.parts), -(-entries // self.large))


def words(column: Any, dtype: Any = np.uint64) -> NDArray[Any]:
    """All numbers of a binary Arrow column, concatenated; without copying if aligned."""
    import pyarrow as pa

    large = pa.types.is_large_binary(column.type)
    _, offsets, data = column.buffers()
    if data is None or not len(column):
        return np.empty(0, dtype=dtype)
    ends = np.frombuffer(offsets, np.int64 if large else np.int32)[
        column.offset : column.offset + len(column) + 1
    ]
    numbers = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]].view(dtype)
    return np.require(numbers, requirements="A")


def packed(left: NDArray[Any], right: Numbers | None, ends: Numbers, first_part: int = 0) -> Any:
    """Distributed numbers as a batch of `PACKED`; `ends` are the ends of each part."""
    import pyarrow as pa

    starts = np.concatenate(([0], ends[:-1])).astype(np.int64)
    counts = -(-(ends - starts) // PACKED_TOGETHER)
    part = np.repeat(np.arange(len(ends)), counts)
    within = np.arange(len(part)) - np.repeat(np.cumsum(counts) - counts, counts)
    offsets = (np.append(starts[part] + within * PACKED_TOGETHER, len(left)) * 8).astype(np.int32)
    columns = [pa.array(part + first_part, pa.int32())]
    for values in (left, right):
        if values is None:
            columns.append(pa.nulls(len(part), pa.binary()))
        else:
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(values))]
            columns.append(pa.Array.from_buffers(pa.binary(), len(part), buffers))
    return pa.record_batch(columns, names=["part", "left", "right"])


@dataclass(frozen=True)
class Piece:
    """Neighbouring rows of one part. alone: the numbers of rows without a right column."""

    part: int
    left: Words
    right: Numbers
    alone: Words


def pieces(batches: Iterator[Any]) -> Iterator[Piece]:
    """The rows of each part of each batch; those of a part follow each other."""
    import pyarrow.compute as pc

    for batch in batches:
        part = batch.column(0).to_numpy()
        starts = np.flatnonzero(np.diff(part, prepend=part[:1] - 1))
        for start, end in zip(starts, np.append(starts[1:], len(part)), strict=True):
            rows, alone = batch.slice(start, end - start), np.empty(0, dtype=np.uint64)
            if rows.column(2).null_count:
                alone = words(pc.filter(rows.column(1), pc.is_null(rows.column(2))))
                rows = rows.filter(pc.is_valid(rows.column(2)))
            yield Piece(int(part[start]), words(rows.column(1)), words(rows.column(2), np.int64), alone)


def by_part(run: Any, table: Any, part: str = "part", *order: str) -> Any:
    """The rows of each part in one task, as neighbours."""
    tasks = () if run.work.partitions is None else (run.work.partitions,)
    return table.repartition(*tasks, part).sortWithinPartitions(part, *order)
