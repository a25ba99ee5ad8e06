"""Removed rows of a file as a bitmap with one bit per row, so that readers of the file can skip them.

The format: bit i (the bit 1 << (i % 8) of byte i // 8) is 1 if row i + 1 is removed. Rows count from 1, as in the table
`removed`; rows of JSON lines are lines, including blank ones. The last byte is that of the last removed row.
`numpy.packbits(mask, bitorder="little")` returns the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.errors import InputError, SettingsError
from benzer.registry import require
from benzer.spark.results.base import SOURCE_BITS, ClusterTables, sources_of
from benzer.spark.tasks import ArrowTask
from benzer.tables import atomic_write

DataFrame = Any
PACKED = "source int, removed bigint, bitmap binary"


def bitmaps(result: ClusterTables) -> DataFrame:
    """One row per file with removed documents. A task holds the bits of one file at a time."""
    from pyspark.sql import functions as F

    if result.files is None:
        raise SettingsError(
            "a DataFrame has no row numbers: use kept(), which selects rows by id, or apply()"
        )
    gone = result.removed.select(F.shiftright("number", SOURCE_BITS).cast("int").alias("source"), "number")
    ordered = gone.repartition("source").sortWithinPartitions("number")
    names = F.broadcast(sources_of(result, "source", "file"))
    packed = ordered.select("number").mapInArrow(ArrowTask(pack), PACKED).join(names, "source")
    return packed.select("source", "file", "removed", "bitmap")


def pack(batches: Iterable[Any]) -> Iterator[Any]:
    """A worker that converts ascending numbers to the bits of each file."""
    pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
    source, bits, removed = -1, np.zeros(0, dtype=np.uint8), 0

    def done() -> Any:
        last = int(np.flatnonzero(bits)[-1]) + 1
        columns = [
            pyarrow.array([source], pyarrow.int32()),
            pyarrow.array([removed], pyarrow.int64()),
            pyarrow.array([bits[:last].tobytes()], pyarrow.binary()),
        ]
        return pyarrow.RecordBatch.from_arrays(columns, ["source", "removed", "bitmap"])

    for batch in batches:
        numbers = batch.column("number").to_numpy(zero_copy_only=False)
        sources = numbers >> SOURCE_BITS
        for item in np.unique(sources).tolist():
            if item != source:
                if removed:
                    yield done()
                source, bits, removed = item, np.zeros(0, dtype=np.uint8), 0
            rows = (numbers[sources == item] & ((1 << SOURCE_BITS) - 1)) - 1
            bits = grown(bits, int(rows[-1]) // 8 + 1)
            np.bitwise_or.at(bits, rows // 8, (1 << (rows % 8)).astype(np.uint8))
            removed += len(rows)
    if removed:
        yield done()


def grown(bits: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Grow the bits to a minimum number of bytes, by doubling."""
    if len(bits) >= size:
        return bits
    larger = np.zeros(max(size, 2 * len(bits)), dtype=np.uint8)
    larger[: len(bits)] = bits
    return larger


def gone(bitmap: bytes, start: int, count: int) -> NDArray[np.bool_]:
    """Which of the `count` rows after `start` are removed (bool).

    >>> gone(bytes([0b101]), 1, 3).tolist()
    [False, True, False]
    """
    bits = np.unpackbits(
        np.frombuffer(bitmap, dtype=np.uint8)[start // 8 : (start + count + 7) // 8], bitorder="little"
    )
    mask = np.zeros(count, dtype=np.bool_)
    here = bits[start % 8 : start % 8 + count]
    mask[: len(here)] = here
    return mask


def filter_file(source: str | Path, bitmap: bytes, destination: str | Path, replace: bool = False) -> int:
    """Copy a Parquet or JSON lines file without the removed rows. Returns the number of removed rows.

    Everything else is copied unchanged. The file is written atomically.

    Raises:
        InputError: The bitmap has a bit after the last row, so it belongs to another file.
    """
    source = Path(source)
    copies = {".parquet": copy_parquet, ".jsonl": copy_lines, ".ndjson": copy_lines, ".json": copy_lines}
    copy = copies.get(source.suffix.lower())
    if copy is None:
        raise InputError(f"{source} ends in {source.suffix!r}: filter_file reads {', '.join(copies)}")
    wanted = int(np.unpackbits(np.frombuffer(bitmap, dtype=np.uint8)).sum())
    with atomic_write(destination, replace) as partial:
        went = copy(source, bitmap, partial)
        if went != wanted:
            raise InputError(
                f"the bitmap has {wanted:,} rows, but {source} has only {went:,} of them: use the bitmap of this file"
            )
    return went


def copy_parquet(source: Path, bitmap: bytes, destination: Path) -> int:
    """Copy a Parquet file in groups of rows."""
    pyarrow = require("pyarrow", extra="parquet", purpose="Parquet files")
    parquet = require("pyarrow.parquet", extra="parquet", purpose="Parquet files")
    position = went = 0
    with (
        parquet.ParquetFile(source) as content,
        parquet.ParquetWriter(destination, content.schema_arrow, compression="zstd") as copy,
    ):
        for batch in content.iter_batches():
            mask = gone(bitmap, position, batch.num_rows)
            copy.write_batch(batch.filter(pyarrow.array(~mask)))
            position, went = position + batch.num_rows, went + int(mask.sum())
    return went


def copy_lines(source: Path, bitmap: bytes, destination: Path) -> int:
    """Copy a file of lines."""
    went = 0
    with source.open("rb") as lines, destination.open("wb") as copy:
        for position, line in enumerate(lines):
            if position // 8 < len(bitmap) and bitmap[position // 8] >> (position % 8) & 1:
                went += 1
            else:
                copy.write(line)
    return went
