"""What was found, and how is it handed on?"""

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
    """What was read: the sources, a report on each, and how."""

    sources: Sequence[Source]
    reports: Sequence[ReadReport]
    options: ReadOptions


@dataclass(frozen=True)
class Duplicates:
    """The result of `find_duplicates`; it answers questions and writes itself to files.

    `timings` holds seconds by stage. Positions count documents in the order of the input. `engine`: the module that
    made it; `part`: a sentence on how little of a run is at hand, where that is not all.

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
        """The similarity from which two documents are duplicates."""
        return self.settings.threshold

    @property
    def recall(self) -> float:
        """The promised share of pairs at the threshold that is found."""
        return self.settings.recall

    @property
    def method(self) -> str:
        """How candidates were found: "lsh", by bands, or "exact", by a join that misses none."""
        return self.settings.method

    @property
    def bands(self) -> Bands | None:
        """The bands that candidates were found with; None where the method is "exact"."""
        return self.settings.bands

    def probability(self, similarity: float) -> float:
        """The probability that a pair of a given similarity is found; of several fields, at least that.

        The exact method finds every pair at the threshold, and is not asked for those below it.
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
        """The position of the document that stays for each (uint32, n); its own if it stays, or is `known`."""
        return self.decision.leader

    @property
    def leader_similarity(self) -> NDArray[np.float64]:
        """The exact similarity of each document to the one that stays for it (float64, n)."""
        return self.decision.similarity

    @cached_property
    def stays(self) -> NDArray[np.bool_]:
        """Which documents stay (bool, n)."""
        stays: NDArray[np.bool_] = self.leader == np.arange(len(self.leader), dtype=np.uint32)
        return stays & ~self.known

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which documents go for one of an older collection (bool, n)."""
        count = len(self.leader)
        return np.zeros(count, dtype=bool) if self.matches is None else self.matches.mask(count)

    @property
    def led(self) -> NDArray[np.bool_]:
        """Which documents go for another one of the run (bool, n)."""
        return ~self.stays & ~self.known

    @cached_property
    def pairs(self) -> Pairs:
        """Verified pairs, with one document standing for all that are identical to it.

        Of documents of identical content the one that comes first in the keep order takes part in other pairs,
        and makes a pair of similarity 1.0 with each of the rest. `expanded_pairs` spells all out.
        """
        alike = self.verified >= self.threshold
        copies = np.flatnonzero(self.stands_for != np.arange(len(self.stands_for))).astype(np.uint32)
        left = (self.proposed.left[alike], self.stands_for[self.decision.left], self.stands_for[copies])
        right = (self.proposed.right[alike], self.stands_for[self.decision.right], copies)
        scores = (self.verified[alike], self.decision.score, np.ones(len(copies)))
        a, b = np.concatenate(left), np.concatenate(right)
        return Pairs(self.corpus, np.minimum(a, b), np.maximum(a, b), np.concatenate(scores))

    def expanded_pairs(self) -> Pairs:
        """All verified pairs, those among and with identical documents spelt out: quadratic in their number."""
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
        """The ids of the documents that stay, in the order of the input."""
        return self.corpus.ids(np.flatnonzero(self.stays).astype(np.uint32))

    @cached_property
    def removed(self) -> dict[str | int, Removal]:
        """For each document that goes, in the order of the input: the one that stays for it."""
        table = self.table("removed")
        witnesses = zip(table["kept_id"], table["similarity"].tolist(), strict=True)
        # Made without Removal's own __new__, which took half of the time of this property.
        removals: list[Removal] = list(map(tuple.__new__, repeat(Removal), witnesses))
        if self.matches is not None:
            for removal, kept_in in zip(removals, table["kept_in"], strict=True):
                if kept_in is not None:
                    removal.kept_in = kept_in
        return dict(zip(table["id"], removals, strict=True))

    @cached_property
    def clusters(self) -> list[Cluster]:
        """Documents that stay for others, each with those, in the order of the input."""
        found: dict[str | int, dict[str | int, float]] = {}
        for id, removal in self.removed.items():
            if removal.kept_in is None:
                found.setdefault(removal.kept_id, {})[id] = removal.similarity
        return [Cluster(id, found[id]) for id in self.kept if id in found]

    def evidence(
        self, left_id: str | int | Pair | tuple[str | int, ...], right_id: str | int | None = None
    ) -> dict[str, Evidence]:
        """Where two documents agree, for each field that both hold: passages with their places in both texts.

        Takes a pair of `pairs`, or two ids, of any two documents of this run. Of value sets the run keeps hashes
        alone, so their evidence has the counts and no values; images have none. Linear in the two texts, and
        in the number of documents, to find the ids.

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
        """The rows that were set aside, with their places and reasons."""
        return [row for report in self.reading.reports for row in report.malformed]

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many: rows read, documents, kept, removed (identical, near), short, empty, malformed, …"""
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
        """The clusters, looked into: how alike inside, and what would have chained them."""
        _ = self.pairs, self.stays  # made before the copy, which shares them
        # Of a copy: a result that is held by what it holds would keep its files open until a garbage collection.
        return Safety(copy(self))

    def cluster_report(self, order: Order = "largest", limit: int | None = None) -> list[ClusterReport]:
        """The clusters with their size, least similarity inside and bridges, the first `limit` of an order.

        order: "largest" first, or "doubtful": the least alike inside first. Similarities that the run has not
        computed are computed now; see `benzer.results.safety` for how many.
        """
        return self.safety.reports(self.safety.order(order)[:limit])

    def alarms(self, limits: Limits | None = None) -> list[Alarm]:
        """What a person should look at before the result is used; `limits` say from where."""
        return alarms(self, limits, self.safety)

    def spread(self, edges: NDArray[np.float64]) -> Spread:
        """How many compared pairs there are between each two similarities."""
        return spread_of(self, edges)

    def cluster_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sizes of clusters of two documents or more, and how many clusters have each."""
        return sizes_of(self)

    def of_collections(self) -> list[OfCollection]:
        """How many documents go for one of each older collection."""
        return [] if self.matches is None else self.matches.of_collections()

    def by_source(self) -> list[SourceCounts]:
        """The counts of each source, in the order of the input."""
        return source_counts(self)

    def measure_recall(
        self, documents: int = 1000, confidence: float = 0.95, seed: int = 0, threads: int = 0
    ) -> RecallEstimate:
        """What share of what is alike was found, with an interval, by asking a sample of the documents.

        The true neighbours of drawn documents are found again without bands, in all shingles of the input; see
        `benzer.recall.measure` for what is estimated. It costs about as much as sketching did, and where many
        documents are alike the comparison of some 2,000,000 pairs.
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
        """The result at a higher threshold, from the pairs at hand; nothing is read or sketched again.

        The bands stay, so a pair at the new threshold has been found with a higher probability than promised;
        a run of its own, with bands for that threshold, may find slightly other pairs.
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
        """Counts, settings, sources and timings, JSON-able."""
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
        """The columns of one table: "pairs", "removed", "clusters", "malformed", or "old_matches".

        "old_matches" is empty unless the run was against an older collection.
        """
        return table(self, name)

    def to_arrow(self, name: str) -> Any:
        """One table (see `table`) as a `pyarrow.Table`."""
        return to_arrow(self.table(name))

    def write(
        self,
        output: str | Path,
        tables: Literal["jsonl", "parquet"] = "jsonl",
        replace: bool = False,
        extra: Mapping[str, Callable[[Path], object]] | None = None,
        told: Mapping[str, Any] | None = None,
    ) -> dict[str, Path]:
        """Write everything into a new folder, whole or not at all; gives each part's path by its name.

        "kept" and "removed_documents": the documents in the format and order of their source, all columns
        untouched (a folder of them where there are several sources); "removed": for each removed document the
        kept one, their similarity, and both places; "pairs", "clusters", "malformed" (where there are any);
        "old_matches" (where the run was against older collections); "summary": JSON. With `replace` a folder that
        exists is replaced at the end. `extra`: further files by name, each with what writes it; `told`: what else the
        summary says.
        """
        from benzer.results.writing import write_folder

        return write_folder(self, Path(output), tables, replace, extra or {}, told or {})
