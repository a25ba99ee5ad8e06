"""Repeated contents and ids, found in one pass from packed hashes.

The result may have false positives: two of a billion contents may have the same 64 bits. Later steps compare fully.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from benzer.spark.components.base import handed_back
from benzer.spark.frames import SHORT, WHOLE, DataFrame
from benzer.spark.joining.packing import PACKED, Numbers, Sizes, by_part, pieces
from benzer.spark.joining.workers import Deal
from benzer.spark.session import to_arrow
from benzer.spark.tasks import ArrowTask

REPEATS = "column int, value bigint"
"""A value of two or more rows: of `content_a` if `column` is 0, otherwise of the hash of the unique column."""

FEW = 1_000_000
"""Maximum number of values that pass through the driver: 8 MB."""


@dataclass(frozen=True)
class Repeats:
    """Values that occur more than once. contents: `content_a`, None if none. unique: hashes, on the driver."""

    contents: DataFrame | None
    unique: Numbers


def repeats(run: Any, stages: Any, sketches: DataFrame, unique: str, rows: int) -> Repeats:
    """Repeated contents of non-empty documents, and repeated values of the column `unique`."""
    from pyspark.sql import functions as F

    sizes = Sizes()
    parts = sizes.parts_of(rows)
    columns = ("content_a", "state", hashed(unique).alias("unique"))
    deal = DealTwo(Deal(2, 0, 2, parts, 1, sizes))
    dealt = sketches.select(*columns).mapInArrow(ArrowTask(deal), PACKED)
    repeated = stages.keep(
        "repeats", lambda: by_part(run, dealt).mapInArrow(ArrowTask(Twice(parts)), REPEATS)
    )
    counts = {row[0]: row[1] for row in repeated.groupBy("column").count().collect()}
    values = repeated.where("column = 1").select("value").limit(FEW)
    twice = to_arrow(values).column(0).to_numpy() if 1 in counts else np.empty(0, dtype=np.int64)
    if 0 not in counts:
        return Repeats(None, twice)
    contents = repeated.where("column = 0").select(F.col("value").alias("content_a"))
    if counts[0] <= FEW:
        contents = F.broadcast(handed_back(run, to_arrow(contents)))
    return Repeats(contents, twice)


def hashed(unique: str) -> Any:
    """A column as evenly distributed 64 bits, including -1; null remains null."""
    from pyspark.sql import functions as F

    return F.when(F.col(unique).isNotNull(), F.xxhash64(F.col(unique)))


@dataclass(frozen=True)
class DealTwo:
    """Distributes the content and the hash of each row (content_a, state, unique) as keys of two bands."""

    deal: Deal

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        return self.deal(two_keys(batches))


def two_keys(batches: Iterator[Any]) -> Iterator[Any]:
    """The content and the hash of each row as keys of two bands; all bits are set if there is none."""
    import pyarrow as pa

    for batch in batches:
        state = batch.column("state").to_numpy()
        keys = np.full((len(state), 2), -1, dtype=np.int64)
        live = (state == WHOLE) | (state == SHORT)
        keys[live, 0] = batch.column("content_a").fill_null(-1).to_numpy()[live]
        keys[:, 1] = batch.column("unique").fill_null(-1).to_numpy()
        ends = pa.py_buffer((np.arange(len(state) + 1) * 16).astype(np.int32))
        packed_keys = pa.Array.from_buffers(pa.binary(), len(state), [None, ends, pa.py_buffer(keys)])
        yield pa.record_batch(
            [pa.array(np.zeros(len(state), dtype=np.int64)), packed_keys], ["number", "keys"]
        )


@dataclass(frozen=True)
class Twice:
    """Converts `PACKED` entries, sorted by part, to `REPEATS`. parts: number of parts of each of the two columns.

    A key that a task has seen twice arrives without a number. A part has about 65,000 entries.
    """

    parts: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for part, given in groupby(pieces(batches), key=lambda piece: piece.part):
            tables = list(given)
            keys = np.sort(np.concatenate([piece.left for piece in tables]))
            known = [keys[1:][keys[1:] == keys[:-1]], *(piece.alone for piece in tables)]
            repeated = np.unique(np.concatenate(known)).view(np.int64)
            column = np.full(len(repeated), part // self.parts, dtype=np.int32)
            yield pa.record_batch([pa.array(column), pa.array(repeated)], ["column", "value"])
