"""Large buckets: documents that share a key of more documents than the bucket limit.

Their pairs are not candidates. The documents of a large bucket are decided in one task, which compares them with the
kept documents among them, as a local run does (see `benzer.families`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from benzer.spark.frames import DataFrame
from benzer.spark.joining.packing import Words, words
from benzer.spark.session import to_arrow
from benzer.spark.tasks import ArrowTask

MEMBERSHIPS = "number bigint, bucket bigint"
"""A document and a large bucket that it is in. Buckets are numbered in the order of band and key, as in a local run."""


def memberships(sketches: DataFrame, width: int, hot_keys: dict[int, Words], most: int) -> DataFrame:
    """The rows of `MEMBERSHIPS`.

    Args:
        sketches: `number` and `keys` of the documents that take part.
        width: The number of bands of all fields together.
        found: The keys of large buckets of each band, ascending.
        most: The number of keys that a task gets at a time.
    """
    own = sketches.select("number", "keys")
    tables = [
        own.mapInArrow(ArrowTask(Belong(width, first, keys)), MEMBERSHIPS)
        for first, keys in portions(hot_keys, most)
    ]
    return reduce(lambda item, other: item.unionByName(other), tables)


def portions(hot_keys: dict[int, Words], most: int) -> Iterator[tuple[int, dict[int, Words]]]:
    """The keys by band, up to a maximum number at a time, with the number of the first one.

    >>> found = {0: np.array([5, 7], dtype=np.uint64), 3: np.array([1], dtype=np.uint64)}
    >>> [(first, {band: keys.tolist() for band, keys in part.items()}) for first, part in portions(found, 2)]
    [(0, {0: [5, 7]}), (2, {3: [1]})]
    """
    ordered = sorted(hot_keys)
    bands = np.repeat(ordered, [len(hot_keys[band]) for band in ordered])
    keys = np.concatenate([np.sort(hot_keys[band]) for band in ordered])
    for start in range(0, len(keys), most):
        some, own = bands[start : start + most], keys[start : start + most]
        yield start, {int(band): own[some == band] for band in np.unique(some)}


@dataclass(frozen=True)
class Belong:
    """Sketches (`number`, `keys`) -> `MEMBERSHIPS`: a row for each band in which the key is one of the given ones.

    Attributes:
        width: The number of bands of all fields together.
        first: The number of the first bucket.
        keys: The keys of each band, ascending.
    """

    width: int
    first: int
    keys: dict[int, Words]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            table = words(batch.column("keys")).reshape(-1, self.width)
            numbers = batch.column("number").to_numpy()
            number = self.first
            parts = []
            for band, wanted in sorted(self.keys.items()):
                positions = np.minimum(np.searchsorted(wanted, table[:, band]), len(wanted) - 1)
                rows = np.flatnonzero(wanted[positions] == table[:, band])
                parts.append((numbers[rows], number + positions[rows]))
                number += len(wanted)
            columns = [np.concatenate([part[end] for part in parts]) for end in (0, 1)]
            yield pa.record_batch([pa.array(column) for column in columns], names=["number", "bucket"])


def sizes(table: DataFrame) -> list[int]:
    """The number of documents of each bucket: there are at most as many buckets as entries, divided by the limit."""
    column: list[int] = to_arrow(table.groupBy("bucket").count().select("count")).column(0).to_pylist()
    return column


def medium_pairs(table: DataFrame, limit: int) -> DataFrame:
    """All pairs (`left`, `right`) of the buckets of at most `limit` documents, each once."""
    from pyspark.sql import functions as F

    counts = table.groupBy("bucket").agg(F.count(F.lit(1)).alias("size"))
    medium = table.join(counts.where(F.col("size") <= limit), "bucket", "left_semi")
    left, right = (medium.select("bucket", F.col("number").alias(end)) for end in ("left", "right"))
    return left.join(right, "bucket").where("left < right").select("left", "right").distinct()


def above(table: DataFrame, limit: int) -> DataFrame:
    """The rows of buckets of more than `limit` documents."""
    from pyspark.sql import functions as F

    counts = table.groupBy("bucket").agg(F.count(F.lit(1)).alias("size"))
    return table.join(counts.where(F.col("size") > limit), "bucket", "left_semi")


def ties(table: DataFrame) -> DataFrame:
    """A pair with the first document of the bucket for each other document, because they are decided together."""
    from pyspark.sql import functions as F

    first = table.groupBy("bucket").agg(F.min("number").alias("left"))
    tied = table.join(first, "bucket").select("left", F.col("number").alias("right"))
    return tied.where("left <> right").distinct()


def of_documents(table: DataFrame) -> DataFrame:
    """The large buckets of each document: `number`, `buckets` (array of bigint)."""
    from pyspark.sql import functions as F

    return table.groupBy("number").agg(F.sort_array(F.collect_list("bucket")).alias("buckets"))


def sharing_none(pairs: DataFrame, buckets: DataFrame) -> DataFrame:
    """The pairs (`left`, `right`) of documents that share no large bucket."""
    from pyspark.sql import functions as F

    for end in ("left", "right"):
        own = buckets.select(F.col("number").alias(end), F.col("buckets").alias(f"buckets_{end}"))
        pairs = pairs.join(own, end, "left")
    shared = F.coalesce(F.arrays_overlap("buckets_left", "buckets_right"), F.lit(False))
    return pairs.where(~shared).select("left", "right")
