"""The local part of a result: collected documents with the methods of a local result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benzer.errors import OutputError, SettingsError
from benzer.recall import RecallEstimate
from benzer.results import Alarm, Duplicates, Limits, SourceCounts
from benzer.results.alarms import percent
from benzer.results.known import OfCollection
from benzer.results.rows import Spread
from benzer.results.safety import Safety
from benzer.spark.results.choosing import Chosen

if TYPE_CHECKING:
    from benzer.spark.results.duplicates import SparkDuplicates

Positions = NDArray[np.uint32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class LocalDuplicates(Duplicates):
    """Some documents of a run on Spark: all with candidates or copies, or those of the chosen clusters.

    Counts, sources and the distributions of similarities and sizes are those of the whole run. Positions refer to the
    collected documents in input order.
    """

    whole: SparkDuplicates = field(repr=False, kw_only=True)
    chosen: Chosen = field(repr=False, kw_only=True)
    numbers: Numbers = field(repr=False, kw_only=True)
    engine: ClassVar[str] = "benzer.spark"

    @property
    def part(self) -> str:  # type: ignore[override]
        """A sentence about the part of the run that was collected; "" if nothing is missing."""
        return self.chosen.told

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
        from benzer.spark.results import counting

        return super().spread(edges) if self.chosen.all else counting.spread(self.whole, edges)

    def cluster_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Those of the whole run."""
        from benzer.spark.results import counting

        return super().cluster_sizes() if self.chosen.all else counting.cluster_sizes(self.whole)

    def of_collections(self) -> list[OfCollection]:
        """Those of the whole run."""
        from benzer.spark.results import older

        return (
            super().of_collections()
            if self.chosen.all or self.whole.known is None
            else older.of_collections(self.whole)
        )

    def alarms(self, limits: Limits | None = None) -> list[Alarm]:
        """Those of the collected documents, and the clusters that are too large to be collected."""
        return [*giants(self, limits or Limits()), *super().alarms(limits)]

    @cached_property
    def safety(self) -> Safety:
        """The collected clusters, in components with known total sizes."""
        return super().safety if self.chosen.all else PartSafety(self)

    def measure_recall(
        self, documents: int = 1000, confidence: float = 0.95, seed: int = 0, threads: int = 0
    ) -> RecallEstimate:
        """Of the whole run."""
        return self.whole.measure_recall(documents, confidence, seed)

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

    def __init__(self, found: LocalDuplicates) -> None:
        super().__init__(found)
        self.facts = found.chosen.components

    @cached_property
    def component(self) -> Positions:
        """By the component of the run, named by its first collected document."""
        named = self.facts.of(self.found.numbers)  # type: ignore[attr-defined]
        _, first, back = np.unique(named, return_index=True, return_inverse=True)
        return first[back].astype(np.uint32)

    def _whole(self, name: str) -> NDArray[np.int64]:
        named = self.facts.of(self.found.numbers)  # type: ignore[attr-defined]
        found = np.zeros(len(named), dtype=np.int64)
        found[self.component] = self.facts.fact(name, named)
        return found

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


def giants(found: LocalDuplicates, limits: Limits) -> Iterator[Alarm]:
    """Clusters with more than a share of all documents that are too large to be collected."""
    documents = found.counts["documents"]
    for name, size in found.chosen.giants:
        if size > limits.cluster * documents:
            of_all = f"{percent(size / documents)} of the documents ({size:,} of {documents:,})"
            said = f"{of_all} are in one cluster, represented by {name!r}"
            numbers: dict[str, int | float | str] = {
                "representative": name,
                "size": size,
                "share": size / documents,
            }
            yield Alarm("cluster", said, numbers, (name,))
