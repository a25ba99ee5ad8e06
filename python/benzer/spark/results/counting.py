"""Counts of a result, computed by Spark; only a few numbers are collected on the driver."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benzer.results.rows import SourceCounts, Spread
from benzer.spark.frames import EMPTY, MALFORMED, PAIR, REMOVED, SHORT
from benzer.spark.results.tables import SOURCE_BITS, of_kind

if TYPE_CHECKING:
    from benzer.spark.results.duplicates import SparkDuplicates


def counts(found: SparkDuplicates) -> dict[str, int]:
    """The counts of a result, with the names and the order of a local one."""
    read, joined, decided = found.reading, found.joined, found.decided.counts
    known = found.known_removed
    removed = decided["removed"] + known
    return {
        "read": read.read,
        "malformed": read.read - read.documents,
        "documents": read.documents,
        "kept": read.documents - removed,
        "removed": removed,
        "identical": decided["identical"],
        "near": decided["near"],
        **({} if found.known is None else {"known": known}),
        "short": read.short,
        "empty": read.empty,
        "candidates": joined.candidates,
        "pairs": decided["pairs"],
        "clusters": decided["clusters"],
        "oversized_buckets": joined.oversized_buckets,
        "oversized_documents": joined.oversized_documents,
    }


def by_source(found: SparkDuplicates) -> list[SourceCounts]:
    """The counts of each source in input order; one job."""
    from pyspark.sql import functions as F

    states: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for (at, state), count in found.reading.by_source.items():
        states[at or 0][state] += count
    reasons: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    source = F.shiftright(F.col("number"), SOURCE_BITS) if found.files is not None else F.lit(0)
    gone = found.removed.groupBy(source.cast("int").alias("source"), "reason").count()
    for row in gone.collect():
        reasons[row["source"]][row["reason"]] += row["count"]
    names = [found.documents.name] if found.files is None else found.files
    return [_of_source(name, states[at], reasons[at]) for at, name in enumerate(names)]


def _of_source(name: str, states: dict[int, int], reasons: dict[str, int]) -> SourceCounts:
    read, malformed, removed = sum(states.values()), states[MALFORMED], sum(reasons.values())
    return SourceCounts(
        name=name,
        read=read,
        documents=read - malformed,
        kept=read - malformed - removed,
        removed=removed,
        identical=reasons["identical"],
        near=reasons["near"],
        known=reasons["known"],
        short=states[SHORT],
        empty=states[EMPTY],
        malformed=malformed,
    )


def spread(found: SparkDuplicates, edges: NDArray[np.float64]) -> Spread:
    """The number of verified pairs between ascending edges, including the last edge; one job.

    Candidates below the threshold are compared by the workers and not stored, so they are not counted here.
    """
    from pyspark.sql import functions as F

    similarity, last = F.col("similarity"), len(edges) - 2
    columns: list[Any] = [F.count(F.lit(1)).alias("all")]
    for at, (start, end) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
        within = (similarity >= start) & ((similarity <= end) if at == last else (similarity < end))
        columns.append(F.count_if(within).alias(f"bin_{at}"))
    told = of_kind(found, PAIR).agg(*columns).first()
    return Spread([told[f"bin_{at}"] for at in range(last + 1)], told["all"], None, 0)


def cluster_sizes(found: SparkDuplicates) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sizes of clusters of two or more documents, ascending, and the number of clusters of each size; one job."""
    from pyspark.sql import functions as F

    gone = of_kind(found, REMOVED).groupBy("right").count()
    rows = gone.groupBy((F.col("count") + 1).alias("size")).count().orderBy("size").collect()
    sizes, clusters = ([row[name] for row in rows] for name in ("size", "count"))
    return np.array(sizes, dtype=np.int64), np.array(clusters, dtype=np.int64)
