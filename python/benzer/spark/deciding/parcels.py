"""Transfers texts to the task that compares them: the rows of a part packed in Arrow format.

Spark would convert each document to a row, sort the rows and convert them to columns again, which takes as long as the
comparison. A parcel is one row and is read without copying.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.registry import require
from benzer.spark.components.base import tasks
from benzer.spark.deciding.gathering import GATHERED_BYTES
from benzer.spark.documents import Documents
from benzer.spark.frames import DataFrame
from benzer.spark.joining.packing import by_part
from benzer.spark.session import BATCH_BYTES, BATCH_ROWS, bounds_bytes
from benzer.spark.tasks import ArrowTask

PARCELS = "part int, pairs boolean, rows binary"
"""Documents or pairs of the blocks of one part, as a record batch in Arrow's format, without its schema."""

PART_DOCUMENTS, MOST_PARTS, LARGER = 4_096, 4_096, 8
"""Approximate documents of a part, at most the maximum of a block; up to eight times as many if there would be more
parts than `MOST_PARTS`. A task holds a complete part."""
LEAST_DOCUMENTS, PARTS_OF_TASK = 64, 4
"""Minimum documents of a part, used if tasks would have fewer than this number of parts."""
APART = 2**31 - 1
HELD_BYTES, MOST_HELD_BYTES = 32 << 20, 128 << 20
"""Bytes that are packed at a time, and with many parts."""
PARCEL_BYTES = 64 << 10
FEW_PARCEL_BYTES = BATCH_BYTES // BATCH_ROWS
"""Bytes of a parcel; and before Spark 4.1, which limits batches by rows only."""
GIVEN_BYTES = 64 << 20
MIXED = np.uint64(0x9E3779B97F4A7C15)
"""2**64 over the golden ratio: products with it differ in their upper bits (Knuth, TAOCP 3, 6.4)."""


@dataclass(frozen=True)
class Parcels:
    """Documents and pairs in transfer: rows of `PARCELS`, and the function that opens them."""

    rows: DataFrame
    open: Open


def parcelled(
    run: Any, documents: Documents, members: DataFrame, pairs: DataFrame, count: int, apart: bool = False
) -> Parcels:
    """The documents of `members` and the pairs, both with a `block`; each block is in one part.

    count: approximate number of members. apart: blocks have the maximum size, so that each is a separate part.
    """
    parts = parts_of(count, run.work.block_documents, tasks(run))
    of_pairs = arrow_schema(pairs)
    wanted = arrow_schema(documents.wanted(members))
    pack = partial(
        PackParcels,
        APART if apart else parts,
        waiting=min(max(HELD_BYTES, parts * PARCEL_BYTES), MOST_HELD_BYTES),
        parcel=PARCEL_BYTES if bounds_bytes(run.spark) else FEW_PARCEL_BYTES,
    )
    rows = documents.wanted_through(pack(pairs=False, schema=wanted), PARCELS, members, count=count)
    rows = rows.unionByName(pairs.mapInArrow(ArrowTask(pack(pairs=True, schema=of_pairs)), PARCELS))
    return Parcels(by_part(run, rows), Open(wanted, of_pairs))


def parts_of(documents: int, most: int = PART_DOCUMENTS, tasks: int = 1) -> int:
    """The number of parts for a number of documents. most: maximum per part, if less than `PART_DOCUMENTS`.

    >>> parts_of(0), parts_of(10_000), parts_of(10**8), parts_of(10**9)
    (1, 4, 4096, 30518)
    >>> parts_of(10_000, most=500), parts_of(10_000, tasks=8), parts_of(200, tasks=8)
    (20, 32, 3)
    """
    each = min(PART_DOCUMENTS, most)
    least = min(PARTS_OF_TASK * tasks, documents // LEAST_DOCUMENTS)
    return max(1, least, min(-(-documents // each), MOST_PARTS), -(-documents // (LARGER * each)))


def arrow_schema(rows: DataFrame) -> Any:
    """The schema of the rows of a DataFrame, with 64-bit offsets in texts, because a part may exceed 2 GiB."""
    from pyspark.sql.pandas.types import to_arrow_schema

    pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
    large = {pyarrow.string(): pyarrow.large_string(), pyarrow.binary(): pyarrow.large_binary()}
    return pyarrow.schema(
        [
            (item.name, large.get(item.type, item.type) if item.name.startswith("field_") else item.type)
            for item in to_arrow_schema(rows.schema)
        ]
    )


@dataclass(frozen=True)
class PackParcels:
    """Packs rows with a `block` into rows of `PARCELS`.

    Attributes:
        parts: Number of parts.
        pairs: Whether the rows are pairs.
        schema: The Arrow schema of the rows.
        waiting: Bytes that are packed at a time.
        parcel: Bytes of a parcel.
        given: Bytes of a batch of parcels.
    """

    parts: int
    pairs: bool
    schema: Any
    waiting: int = HELD_BYTES
    parcel: int = PARCEL_BYTES
    given: int = GIVEN_BYTES

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pending: list[Any] = []
        size = 0
        for batch in batches:
            if batch.num_rows:
                pending.append(batch)
                size += batch.nbytes
            if size >= self.waiting:
                yield from self._packed(pending)
                pending, size = [], 0
        if pending:
            yield from self._packed(pending)

    def _packed(self, pending: list[Any]) -> Iterator[Any]:
        pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
        table = pyarrow.Table.from_batches(pending).cast(self.schema)
        part = part_of(table.column("block").to_numpy(), self.parts)
        order = np.argsort(part, kind="stable")
        (rows,) = table.take(pyarrow.array(order)).combine_chunks().to_batches()
        starts = parcel_starts(part[order], max(1, rows.num_rows * self.parcel // max(rows.nbytes, 1)))
        parcels, size, first = [], 0, 0
        for position, (start, end) in enumerate(
            zip(starts, np.append(starts[1:], rows.num_rows), strict=True), 1
        ):
            parcels.append(rows.slice(start, end - start).serialize())
            size += parcels[-1].size
            if size >= self.given or position == len(starts):
                yield self._batch(part[order[starts[first:position]]], parcels)
                parcels, size, first = [], 0, position

    def _batch(self, part: NDArray[np.int32], parcels: list[Any]) -> Any:
        pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
        ends = np.cumsum([0, *(parcel.size for parcel in parcels)], dtype=np.int32)
        buffers = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(b"".join(parcels))]
        rows = pyarrow.Array.from_buffers(pyarrow.binary(), len(parcels), buffers)
        kinds = pyarrow.array(np.full(len(parcels), self.pairs))
        return pyarrow.record_batch([pyarrow.array(part), kinds, rows], ["part", "pairs", "rows"])


def part_of(block: NDArray[np.int64], parts: int) -> NDArray[np.int32]:
    """The part of each block, the same for documents and pairs."""
    upper = block.view(np.uint64) * MIXED >> np.uint64(32)
    return (upper % np.uint64(parts)).astype(np.int32)


def parcel_starts(part: NDArray[np.int32], most: int) -> NDArray[np.int64]:
    """The starts of parcels: each is of one part and has a maximum number of rows.

    >>> parcel_starts(np.array([0, 0, 0, 4, 5, 5]), 2).tolist()
    [0, 2, 3, 4]
    """
    borders = np.flatnonzero(np.diff(part, prepend=part[:1] - 1))
    first = np.repeat(borders, np.diff(borders, append=len(part)))
    return np.flatnonzero((np.arange(len(part)) - first) % most == 0)


@dataclass(frozen=True)
class Open:
    """Converts `PARCELS`, sorted by part, to tables of the documents and pairs of complete blocks.

    most: bytes from which blocks are processed; smaller parts are combined and larger ones divided.
    """

    documents: Any
    pairs: Any
    most: int = GATHERED_BYTES

    def __call__(self, batches: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        pending: dict[bool, list[Any]] = {False: [], True: []}
        size, last = 0, None
        ipc = require("pyarrow.ipc", extra="spark", purpose="Arrow batches")
        for part, are_pairs, rows in _each(batches):
            if part != last and size >= self.most:
                yield from self._divided(pending)
                pending, size = {False: [], True: []}, 0
            schema = self.pairs if are_pairs else self.documents
            pending[are_pairs].append(ipc.read_record_batch(rows, schema))
            size, last = size + rows.size, part
        if last is not None:
            yield from self._divided(pending)

    def _divided(self, pending: dict[bool, list[Any]]) -> Iterator[tuple[Any, Any]]:
        pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
        documents, pairs = (
            pyarrow.Table.from_batches(pending[kind], schema)
            for kind, schema in ((False, self.documents), (True, self.pairs))
        )
        if not documents.num_rows or documents.nbytes + pairs.nbytes < 2 * self.most:
            yield documents, pairs
            return
        of_documents, of_pairs = (table.column("block").to_numpy() for table in (documents, pairs))
        blocks, positions = np.unique(of_documents, return_inverse=True)
        # Texts of one part are assumed to have similar sizes: they are in memory already, this limits derived data.
        sizes = np.bincount(positions) * (documents.nbytes / documents.num_rows)
        if pairs.num_rows:
            of_block = np.minimum(np.searchsorted(blocks, of_pairs), len(blocks) - 1)
            sizes += np.bincount(of_block, minlength=len(blocks)) * (pairs.nbytes / pairs.num_rows)
        filled = np.cumsum(sizes)
        firsts = blocks[np.flatnonzero(np.diff(filled // self.most, prepend=-1))]
        # A pair of an unknown block is in one of the groups too, where it is detected.
        group_of = [np.searchsorted(firsts[1:], block, side="right") for block in (of_documents, of_pairs)]
        for group in range(len(firsts)):
            here = [pyarrow.array(of == group) for of in group_of]
            yield documents.filter(here[0]), pairs.filter(here[1])


def _each(batches: Iterable[Any]) -> Iterator[tuple[int, bool, Any]]:
    for batch in batches:
        part = batch.column(0).to_pylist()
        kind = batch.column(1).to_pylist()
        for number in range(batch.num_rows):
            yield part[number], kind[number], batch.column(2)[number].as_buffer()
