"""`DecidedDocuments`: the documents of a batch run with their pairs and decisions, and the numbers that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from benzer.bands import Bands
from benzer.candidates import Candidates
from benzer.clusters import ClusterDecision, Compare, Families
from benzer.corpora import DocumentCorpus
from benzer.results.known import Known, OfCollection
from benzer.results.rows import Pairs, SourceCounts, Spread
from benzer.results.settings import Settings
from benzer.sources import MalformedRow, ReadOptions, ReadReport, Source
from benzer.sources.base import NO_REPEATS, RepeatedIds

Positions = NDArray[np.uint32]


@dataclass(frozen=True)
class Reading:
    """The sources, their reports and the read options of a run."""

    sources: Sequence[Source]
    reports: Sequence[ReadReport]
    options: ReadOptions
    repeated: RepeatedIds = NO_REPEATS


@dataclass(frozen=True)
class DecidedDocuments:
    """The documents of a batch run with their pairs and decisions.

    `timings` has the seconds of each stage. Positions are those of documents in the order of the input. `engine` is
    the module that made the result; `part` describes which part of a run is available, if not all. `Duplicates` adds
    what needs more than these arrays: tables, evidence, checks and files.
    """

    settings: Settings
    reading: Reading
    corpus: DocumentCorpus = field(repr=False)
    empty: NDArray[np.bool_] = field(repr=False)
    short: NDArray[np.bool_] = field(repr=False)
    rank: Positions = field(repr=False)
    stands_for: Positions = field(repr=False)
    proposed: Candidates = field(repr=False)
    verified: NDArray[np.float64] = field(repr=False)
    decision: ClusterDecision = field(repr=False)
    compare: Compare = field(repr=False)
    families: Families = field(repr=False)
    timings: dict[str, float] = field(repr=False)
    matches: Known | None = field(repr=False, default=None)
    engine: ClassVar[str] = "benzer"
    part: ClassVar[str] = ""

    @property
    def threshold(self) -> float:
        """The minimum similarity of duplicates."""
        return self.settings.threshold

    @property
    def recall(self) -> float:
        """The promised share of pairs at the threshold that is found."""
        return self.settings.recall

    @property
    def method(self) -> str:
        """How candidates were found: "lsh" (bands) or "exact" (a join that finds all pairs)."""
        return self.settings.method

    @property
    def bands(self) -> Bands | None:
        """The bands that were used; None for the method "exact"."""
        return self.settings.bands

    def probability(self, similarity: float) -> float:
        """Return the probability of finding a pair of the given similarity; a lower bound for several fields.

        The exact method finds all pairs at the threshold and none below.
        """
        if self.bands is None:
            return 1.0 if similarity >= self.threshold else 0.0
        return float(self.bands.probability(self.settings.schema.band_threshold(similarity)))

    @cached_property
    def ids(self) -> list[str | int]:
        """The id of each document, by position."""
        return self.corpus.ids()

    @property
    def leader(self) -> Positions:
        """The position of the kept document for each document (uint32, n); its own if it is kept or `known`."""
        return self.decision.leader

    @property
    def leader_similarity(self) -> NDArray[np.float64]:
        """The exact similarity of each document to its kept document (float64, n)."""
        return self.decision.similarity

    @cached_property
    def stays(self) -> NDArray[np.bool_]:
        """Which documents are kept (bool, n)."""
        stays: NDArray[np.bool_] = self.leader == np.arange(len(self.leader), dtype=np.uint32)
        return stays & ~self.known

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which documents are removed because they match an older collection (bool, n)."""
        count = len(self.leader)
        return np.zeros(count, dtype=bool) if self.matches is None else self.matches.mask(count)

    @property
    def led(self) -> NDArray[np.bool_]:
        """Which documents are removed because they match a kept document of the run (bool, n)."""
        return ~self.stays & ~self.known

    @property
    def identical(self) -> NDArray[np.bool_]:
        """Which documents are removed because of a kept document with the same content (bool, n)."""
        identical: NDArray[np.bool_] = self.led & (self.stands_for[self.leader] == self.stands_for)
        return identical

    @cached_property
    def pairs(self) -> Pairs:
        """The verified pairs, with one document representing identical ones.

        Of documents with identical content, only the first in the keep order is part of other pairs; it forms a pair
        of similarity 1.0 with each of the others. `expanded_pairs` returns all pairs.
        """
        alike = self.verified >= self.threshold
        copies = np.flatnonzero(self.stands_for != np.arange(len(self.stands_for))).astype(np.uint32)
        left = (self.proposed.left[alike], self.stands_for[self.decision.left], self.stands_for[copies])
        right = (self.proposed.right[alike], self.stands_for[self.decision.right], copies)
        scores = (self.verified[alike], self.decision.score, np.ones(len(copies)))
        a, b = np.concatenate(left), np.concatenate(right)
        return Pairs(self.corpus, np.minimum(a, b), np.maximum(a, b), np.concatenate(scores))

    def expanded_pairs(self) -> Pairs:
        """Return all verified pairs, including those of identical documents: quadratic in their number."""
        order = np.argsort(self.stands_for, kind="stable").astype(np.uint32)
        starts = np.searchsorted(self.stands_for[order], np.arange(len(order) + 1))
        copies = np.diff(starts)
        alike = self.verified >= self.threshold
        left = np.concatenate((self.proposed.left[alike], self.stands_for[self.decision.left]))
        right = np.concatenate((self.proposed.right[alike], self.stands_for[self.decision.right]))
        scores = np.concatenate((self.verified[alike], self.decision.score))
        plain = (copies[left] == 1) & (copies[right] == 1)
        parts = [(left[plain], right[plain], scores[plain])]
        for a, b, score in zip(left[~plain], right[~plain], scores[~plain], strict=True):
            ones, others = order[starts[a] : starts[a + 1]], order[starts[b] : starts[b + 1]]
            pairs = np.repeat(ones, len(others)), np.tile(others, len(ones))
            parts.append((*pairs, np.full(len(pairs[0]), score)))
        for original in np.flatnonzero(copies > 1):
            group = order[starts[original] : starts[original + 1]]
            first, second = np.triu_indices(len(group), 1)
            parts.append((group[first], group[second], np.ones(len(first))))
        a, b, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Pairs(self.corpus, np.minimum(a, b), np.maximum(a, b), scores)

    @cached_property
    def kept(self) -> list[str | int]:
        """The ids of the kept documents, in the order of the input."""
        return self.corpus.ids(np.flatnonzero(self.stays).astype(np.uint32))

    @property
    def malformed(self) -> list[MalformedRow]:
        """The skipped rows with their positions and reasons."""
        return [row for report in self.reading.reports for row in report.malformed]

    @cached_property
    def counts(self) -> dict[str, int]:
        """The counts: rows read, documents, kept, removed (identical, near), short, empty, malformed, …"""
        documents, kept = len(self.stays), int(self.stays.sum())
        known = int(self.known.sum())
        identical = int(self.identical.sum())
        return {
            "read": sum(report.rows_read for report in self.reading.reports),
            "malformed": len(self.malformed),
            **self._repeated_ids(),
            "documents": documents,
            "kept": kept,
            "removed": documents - kept,
            "identical": identical,
            "near": documents - kept - identical - known,
            **({} if self.matches is None else {"known": known}),
            "short": int(self.short.sum()),
            "empty": int(self.empty.sum()),
            "candidates": len(self.proposed),
            "pairs": len(self.pairs),
            "clusters": len(np.unique(self.leader[self.led])),
            "oversized_buckets": len(self.proposed.large),
            "oversized_documents": len(self.proposed.large.members),
        }

    def _repeated_ids(self) -> dict[str, int]:
        repeated = self.reading.repeated
        counts = {"repeated_ids": repeated.rows, "repeated_identical": repeated.identical}
        return counts if repeated.rows else {}

    def stays_by_source(self) -> list[NDArray[np.bool_]]:
        """Return which documents are kept for each source (bool)."""
        of_source = self.corpus.sources()
        return [self.stays[of_source == number] for number in range(len(self.reading.sources))]

    def by_source(self) -> list[SourceCounts]:
        """Return the counts of each source, in the order of the input."""
        of_source, sources = self.corpus.sources(), self.reading.sources
        near = self.led & ~self.identical
        outcomes = (self.stays, ~self.stays, self.identical, near, self.known, self.short, self.empty)
        columns = [np.bincount(of_source[chosen], minlength=len(sources)).tolist() for chosen in outcomes]
        return [
            SourceCounts._make(
                (source.name, report.rows_read, report.documents, *counts, len(report.malformed))
            )
            for source, report, counts in zip(
                sources, self.reading.reports, zip(*columns, strict=True), strict=True
            )
        ]

    def of_collections(self) -> list[OfCollection]:
        """Return the number of documents removed because of each older collection."""
        return [] if self.matches is None else self.matches.of_collections()

    def spread(self, edges: NDArray[np.float64]) -> Spread:
        """Return the number of compared pairs between ascending edges; the last edge belongs to the last class."""
        alike = self.verified >= self.threshold
        above = np.concatenate((self.verified[alike], self.decision.score))
        below = self.verified[~alike]
        heights = np.histogram(np.concatenate((above, below)), edges)[0].tolist()
        return Spread(heights, len(above), len(below), int((below < edges[0]).sum()))

    def cluster_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the sizes of clusters with two or more documents, and the number of clusters of each size."""
        removed = np.unique(self.leader[self.led], return_counts=True)[1]
        sizes, clusters = np.unique(removed + 1, return_counts=True)
        return sizes, clusters.astype(np.int64)
