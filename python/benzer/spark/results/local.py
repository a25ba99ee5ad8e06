"""The local part of a result: collected documents with the methods of a local result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benzer.errors import OutputError, SettingsError
from benzer.recall import RecallEstimate
from benzer.results import Alarm, AlarmLimits, Duplicates, SourceCounts
from benzer.results.known import OfCollection
from benzer.results.rows import Spread
from benzer.results.safety import Safety
from benzer.spark.failures import raised_plainly
from benzer.spark.frames import PAIR, REMOVED
from benzer.spark.results.base import ClusterTables, of_kind
from benzer.spark.results.choosing import Chosen
from benzer.spark.results.recall import measure_recall
from benzer.wording import share

Positions = NDArray[np.uint32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class LocalDuplicates(Duplicates):
    """Some documents of a run on Spark: all with candidates or copies, or those of the chosen clusters.

    Counts, sources and the distributions of similarities and sizes are those of the whole run. Positions refer to the
    collected documents in input order.
    """

    whole: ClusterTables = field(repr=False, kw_only=True)
    chosen: Chosen = field(repr=False, kw_only=True)
    numbers: Numbers = field(repr=False, kw_only=True)
    engine: ClassVar[str] = "benzer.spark"

    @property
    def part(self) -> str:  # type: ignore[override]
        """A sentence about the part of the run that was collected; "" if nothing is missing."""
        return self.chosen.note

    @cached_property
    def counts(self) -> dict[str, int]:
        """Those of the whole run."""
        return self.whole.counts

    @cached_property
    def _by_source(self) -> list[SourceCounts]:
        return self.whole.by_source()

    def by_source(self) -> list[SourceCounts]:
        """Those of the whole run."""
        return self._by_source

    def spread(self, edges: NDArray[np.float64]) -> Spread:
        """Those of the whole run; candidates below the threshold are included only if all are collected."""
        return super().spread(edges) if self.chosen.all else spread_of(self.whole, edges)

    def cluster_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Those of the whole run."""
        return super().cluster_sizes() if self.chosen.all else sizes_of(self.whole)

    def of_collections(self) -> list[OfCollection]:
        """Those of the whole run."""
        if self.chosen.all or self.whole.known is None:
            return super().of_collections()
        return collections_of(self.whole)

    def alarms(self, limits: AlarmLimits | None = None) -> list[Alarm]:
        """Those of the collected documents, and the clusters that are too large to be collected."""
        return [*giants(self, limits or AlarmLimits()), *super().alarms(limits)]

    @cached_property
    def safety(self) -> Safety:
        """The collected clusters, in components with known total sizes."""
        return super().safety if self.chosen.all else PartSafety(self)

    @raised_plainly()
    def measure_recall(
        self, documents: int = 1000, confidence: float = 0.95, seed: int = 0, threads: int = 0
    ) -> RecallEstimate:
        """Of the whole run."""
        return measure_recall(self.whole, documents, confidence, seed)

    def rethreshold(self, threshold: float) -> Duplicates:
        """Always fails, because the counts of the whole run cannot be computed from the collected documents."""
        raise SettingsError(
            f"the collected documents are not enough for the counts at {threshold}: run again with this threshold"
        )

    def write(self, output: str | Path, *arguments: Any, **options: Any) -> dict[str, Path]:
        """Always fails, because not all documents are collected."""
        raise OutputError(f"{output} would have only the collected documents: use SparkDuplicates.write")


class PartSafety(Safety):
    """The same if not all clusters are collected: components have their sizes in the whole run."""

    def __init__(self, result: LocalDuplicates) -> None:
        super().__init__(result)
        self.facts = result.chosen.components

    @cached_property
    def component(self) -> Positions:
        """By the component of the run, named by its first collected document."""
        named = self.facts.of(self.result.numbers)  # type: ignore[attr-defined]
        _, first, back = np.unique(named, return_index=True, return_inverse=True)
        return first[back].astype(np.uint32)

    def _whole(self, name: str) -> NDArray[np.int64]:
        named = self.facts.of(self.result.numbers)  # type: ignore[attr-defined]
        values = np.zeros(len(named), dtype=np.int64)
        values[self.component] = self.facts.fact(name, named)
        return values

    @cached_property
    def component_sizes(self) -> NDArray[np.int64]:
        """In the whole run."""
        return self._whole("documents")

    @cached_property
    def component_clusters(self) -> NDArray[np.int64]:
        """In the whole run."""
        return self._whole("clusters")

    @cached_property
    def component_largest(self) -> NDArray[np.int64]:
        """In the whole run."""
        return self._whole("largest")


def giants(result: LocalDuplicates, limits: AlarmLimits) -> Iterator[Alarm]:
    """Clusters with more than a share of all documents that are too large to be collected."""
    documents = result.counts["documents"]
    for name, size in result.chosen.giants:
        if size > limits.cluster * documents:
            of_all = f"{share(size, documents)} of the documents ({size:,} of {documents:,})"
            said = f"{of_all} are in one cluster, represented by {name!r}"
            numbers: dict[str, int | float | str] = {
                "representative": name,
                "size": size,
                "share": size / documents,
            }
            yield Alarm("cluster", said, numbers, (name,))


def spread_of(result: ClusterTables, edges: NDArray[np.float64]) -> Spread:
    """The number of verified pairs between ascending edges, including the last edge; one job.

    Candidates below the threshold are compared by the workers and not stored, so they are not counted here.
    """
    from pyspark.sql import functions as F

    similarity, last = F.col("similarity"), len(edges) - 2
    columns: list[Any] = [F.count(F.lit(1)).alias("all")]
    for position, (start, end) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
        within = (similarity >= start) & ((similarity <= end) if position == last else (similarity < end))
        columns.append(F.count_if(within).alias(f"bin_{position}"))
    row = of_kind(result, PAIR).agg(*columns).first()
    return Spread([row[f"bin_{number}"] for number in range(last + 1)], row["all"], None, 0)


def sizes_of(result: ClusterTables) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sizes of clusters of two or more documents, ascending, and the number of clusters of each size; one job."""
    from pyspark.sql import functions as F

    gone = of_kind(result, REMOVED).groupBy("right").count()
    rows = gone.groupBy((F.col("count") + 1).alias("size")).count().orderBy("size").collect()
    sizes, clusters = ([row[name] for row in rows] for name in ("size", "count"))
    return np.array(sizes, dtype=np.int64), np.array(clusters, dtype=np.int64)


def collections_of(result: ClusterTables) -> list[OfCollection]:
    """The number of removed documents and the lowest similarity for each collection; one job."""
    from pyspark.sql import functions as F

    best = result.known.matches.where("best").groupBy("collection")
    counted = best.agg(F.count(F.lit(1)).alias("removed"), F.min("similarity").alias("least")).collect()
    rows = {row["collection"]: row for row in counted}
    return [
        OfCollection(name, rows[position]["removed"], rows[position]["least"])
        if position in rows
        else OfCollection(name, 0, 1.0)
        for position, name in enumerate(result.known.names)
    ]
