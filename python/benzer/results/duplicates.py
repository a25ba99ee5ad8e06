"""`Duplicates`: the result of a batch run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from benzer._native import Corpus
from benzer.bands import Bands
from benzer.candidates import Candidates
from benzer.clusters import Compare, Decision, Families, decide_unknown
from benzer.errors import InputError, SettingsError
from benzer.evidence import Evidence
from benzer.recall import RecallEstimate, Reported, measure
from benzer.results.alarms import Alarm, Limits, alarms
from benzer.results.by_source import SourceCounts, source_counts
from benzer.results.columns import table
from benzer.results.evidence import evidence_of
from benzer.results.known import Known, OfCollection
from benzer.results.rows import Cluster, Pair, Pairs, Removal
from benzer.results.safety import ClusterReport, Order, Safety
from benzer.results.settings import Settings
from benzer.results.spread import Spread, sizes_of, spread_of
from benzer.sources import MalformedRow, ReadOptions, ReadReport, Source
from benzer.tables import to_arrow

Positions = NDArray[np.uint32]


@dataclass(frozen=True)
class Reading:
    """The sources, their reports and the read options of a run."""

    sources: Sequence[Source]
    reports: Sequence[ReadReport]
    options: ReadOptions


@dataclass(frozen=True)
class Duplicates:
    """The result of `find_duplicates`.

    `timings` has the seconds of each stage. Positions are those of documents in the order of the input. `engine` is
    the module that made the result; `part` describes which part of a run is available, if not all.

    >>> from benzer import find_duplicates
    >>> found = find_duplicates({"a": "one two three four", "b": "One two three four.", "c": "five"})
    >>> found.pairs[0], found.kept
    (Pair(left_id='a', right_id='b', similarity=1.0), ['a', 'c'])
    >>> found.counts["removed"], found.clusters
    (1, [Cluster(representative='a', removed={'b': 1.0})])
    """

    settings: Settings
    reading: Reading
    corpus: Corpus = field(repr=False)
    empty: NDArray[np.bool_] = field(repr=False)
    short: NDArray[np.bool_] = field(repr=False)
    rank: Positions = field(repr=False)
    stands_for: Positions = field(repr=False)
    proposed: Candidates = field(repr=False)
    verified: NDArray[np.float64] = field(repr=False)
    decision: Decision = field(repr=False)
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

    @cached_property
    def removed(self) -> dict[str | int, Removal]:
        """The kept document for each removed document, in the order of the input."""
        table = self.table("removed")
        witnesses = zip(table["kept_id"], table["similarity"].tolist(), strict=True)
        # Created without Removal.__new__, which took half of the time of this property.
        removals: list[Removal] = list(map(tuple.__new__, repeat(Removal), witnesses))
        if self.matches is not None:
            for removal, kept_in in zip(removals, table["kept_in"], strict=True):
                if kept_in is not None:
                    removal.kept_in = kept_in
        return dict(zip(table["id"], removals, strict=True))

    @cached_property
    def clusters(self) -> list[Cluster]:
        """The kept documents that have duplicates, each with its removed documents, in the order of the input."""
        found: dict[str | int, dict[str | int, float]] = {}
        for id, removal in self.removed.items():
            if removal.kept_in is None:
                found.setdefault(removal.kept_id, {})[id] = removal.similarity
        return [Cluster(id, found[id]) for id in self.kept if id in found]

    def evidence(
        self, left_id: str | int | Pair | tuple[str | int, ...], right_id: str | int | None = None
    ) -> dict[str, Evidence]:
        """Return the common passages of two documents for each field that both have.

        Value sets have only counts, because a run stores only their hashes; images have no evidence. Takes linear time
        in the length of the texts and in the number of documents.

        Args:
            left_id: A pair of `pairs`, or the id of a document of this run.
            right_id: The id of another document, if `left_id` is an id.

        Returns:
            The evidence for each field.

        Raises:
            InputError: An id is missing or unknown.

        >>> from benzer import find_duplicates
        >>> texts = {"a": "one two three four", "b": "zero, one two three four", "c": "five"}
        >>> found = find_duplicates(texts, threshold=0.6)
        >>> [passage] = found.evidence(found.pairs[0])["text"].passages
        >>> texts["b"][slice(*passage.b)]
        'one two three four'
        """
        if isinstance(left_id, tuple):
            left_id, right_id = left_id[:2]
        if right_id is None:
            raise InputError(
                "evidence requires a pair or two ids, got one id: add the id of the other document"
            )
        return evidence_of(self, left_id, right_id)

    @property
    def malformed(self) -> list[MalformedRow]:
        """The skipped rows with their positions and reasons."""
        return [row for report in self.reading.reports for row in report.malformed]

    @cached_property
    def counts(self) -> dict[str, int]:
        """The counts: rows read, documents, kept, removed (identical, near), short, empty, malformed, …"""
        documents, kept = len(self.stays), int(self.stays.sum())
        known = int(self.known.sum())
        identical = int((self.led & (self.stands_for[self.leader] == self.stands_for)).sum())
        return {
            "read": sum(report.rows_read for report in self.reading.reports),
            "malformed": len(self.malformed),
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

    @cached_property
    def safety(self) -> Safety:
        """Checks of the clusters: similarities inside, and chains between clusters."""
        _ = self.pairs, self.stays  # computed before the copy, which shares them
        # A copy, because a reference cycle would keep the files open until a garbage collection.
        return Safety(copy(self))

    def cluster_report(self, order: Order = "largest", limit: int | None = None) -> list[ClusterReport]:
        """Return the clusters with their size, lowest similarity inside and bridges.

        Computes missing similarities; see `benzer.results.safety` for how many.

        Args:
            order: "largest" first, or "doubtful": lowest similarity inside first.
            limit: Maximum number of clusters; None returns all.

        Returns:
            A report for each cluster.
        """
        return self.safety.reports(self.safety.order(order)[:limit])

    def alarms(self, limits: Limits | None = None) -> list[Alarm]:
        """Return findings that should be checked before the result is used; `limits` are their thresholds."""
        return alarms(self, limits, self.safety)

    def spread(self, edges: NDArray[np.float64]) -> Spread:
        """Return the number of compared pairs between consecutive similarities."""
        return spread_of(self, edges)

    def cluster_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the sizes of clusters with two or more documents, and the number of clusters of each size."""
        return sizes_of(self)

    def of_collections(self) -> list[OfCollection]:
        """Return the number of documents removed because of each older collection."""
        return [] if self.matches is None else self.matches.of_collections()

    def by_source(self) -> list[SourceCounts]:
        """Return the counts of each source, in the order of the input."""
        return source_counts(self)

    def measure_recall(
        self, documents: int = 1000, confidence: float = 0.95, seed: int = 0, threads: int = 0
    ) -> RecallEstimate:
        """Measure which share of the true duplicates was found, on a sample of the documents.

        Finds the true neighbours of the sampled documents without bands, in all shingles of the input (see
        `benzer.recall.measure`). Takes about as long as sketching, plus up to about 2,000,000 comparisons if many
        documents are similar.

        Args:
            documents: Number of documents to sample.
            confidence: Confidence of the interval, in (0, 1).
            seed: Seed of the sample.
            threads: Number of threads; 0 uses all cores.

        Returns:
            The recall with its interval.

        Raises:
            SettingsError: An argument is out of range.
        """
        alike = self.verified >= self.threshold
        reported = Reported(
            content=self.corpus.sketch("fast", "mixed", 1, self.settings.minhash.seed, 1, 1, threads)[1],
            empty=self.empty,
            stands_for=self.stands_for,
            left=np.concatenate((self.proposed.left[alike], self.stands_for[self.decision.left])),
            right=np.concatenate((self.proposed.right[alike], self.stands_for[self.decision.right])),
            proposed=self.verified[alike],
            stays=self.stays,
            cut_short=len(self.proposed.large),
            large=self.proposed.large,
        )
        return measure(
            self.corpus, reported, self.settings.schema, self.threshold, self.bands,
            seed=seed, confidence=confidence, documents=documents, threads=threads,
        )  # fmt: skip

    def rethreshold(self, threshold: float) -> Duplicates:
        """Return the result for a higher threshold without reading or sketching again.

        Pairs at the new threshold were found with a higher probability than promised, because the bands are unchanged.
        A new run with bands for the new threshold may find slightly different pairs.

        Args:
            threshold: The new threshold, from the current one to 1.

        Returns:
            The new result.

        Raises:
            SettingsError: The threshold is out of range.
        """
        if not self.threshold <= threshold <= 1:
            raise SettingsError(
                f"threshold must be from {self.threshold} to 1, got {threshold}: run again for a lower threshold"
            )
        left = np.concatenate((self.proposed.left, self.stands_for[self.decision.left]))
        right = np.concatenate((self.proposed.right, self.stands_for[self.decision.right]))
        left, right = np.minimum(left, right), np.maximum(left, right)
        verified = np.concatenate((self.verified, self.decision.score))
        matches = None if self.matches is None else self.matches.above(threshold)
        known = np.zeros(len(self.leader), dtype=bool) if matches is None else matches.mask(len(self.leader))
        pairs = (left, right, verified)
        decision = decide_unknown(
            known,
            self.rank,
            self.stands_for,
            pairs,
            threshold,
            self.compare,
            self.proposed.large,
            self.families,
        )
        proposed = replace(self.proposed, left=left, right=right)
        settings = replace(self.settings, threshold=threshold)
        return replace(
            self, settings=settings, proposed=proposed, verified=verified, decision=decision, matches=matches
        )

    def summary(self) -> dict[str, Any]:
        """Return counts, settings, sources and timings as JSON values."""
        return {
            "counts": self.counts,
            "settings": self.settings.to_dict(),
            "probability_at_threshold": self.probability(self.threshold),
            "sources": [
                {"name": source.name, "rows": report.rows_read, "documents": report.documents}
                for source, report in zip(self.reading.sources, self.reading.reports, strict=True)
            ],
            "seconds_by_stage": {name: round(seconds, 6) for name, seconds in self.timings.items()},
        }

    def table(self, name: str) -> dict[str, Any]:
        """Return the columns of a table.

        Args:
            name: "pairs", "removed", "clusters", "malformed", or "old_matches", which is empty without `against`.

        Returns:
            The columns by name.

        Raises:
            SettingsError: There is no such table.
        """
        return table(self, name)

    def to_arrow(self, name: str) -> Any:
        """Return a table (see `table`) as a `pyarrow.Table`."""
        return to_arrow(self.table(name))

    def write(
        self,
        output: str | Path,
        tables: Literal["jsonl", "parquet"] = "jsonl",
        replace: bool = False,
        extra: Mapping[str, Callable[[Path], object]] | None = None,
        told: Mapping[str, Any] | None = None,
    ) -> dict[str, Path]:
        """Write the result atomically to a new folder.

        The folder has the kept and removed documents in the format and order of their source with all columns (a
        folder for several sources), the tables "removed", "pairs", "clusters", "malformed" (if any) and "old_matches"
        (with `against`), and a JSON summary.

        Args:
            output: Output folder.
            tables: Format of the tables.
            replace: Whether to replace an existing folder.
            extra: Functions that write further files, by file name.
            told: Additional entries of the summary.

        Returns:
            The path of each part by its name.

        Raises:
            OutputError: The folder exists, or cannot be written.
        """
        from benzer.results.writing import write_folder

        return write_folder(self, Path(output), tables, replace, extra or {}, told or {})
