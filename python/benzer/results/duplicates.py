"""`Duplicates`: the result of a batch run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benzer.clusters import decide_unknown
from benzer.errors import InputError, SettingsError
from benzer.evidence import Evidence
from benzer.recall import RecallEstimate, Reported, measure
from benzer.registry import require
from benzer.results.alarms import Alarm, AlarmLimits, alarms
from benzer.results.base import DecidedDocuments
from benzer.results.columns import table
from benzer.results.evidence import evidence_of
from benzer.results.rows import Cluster, Pair, Removal
from benzer.results.safety import ClusterReport, Order, Safety
from benzer.sources.base import chosen
from benzer.sources.returning import selected
from benzer.tables import to_arrow


@dataclass(frozen=True)
class Duplicates(DecidedDocuments):
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
        members: dict[str | int, dict[str | int, float]] = {}
        for id, removal in self.removed.items():
            if removal.kept_in is None:
                members.setdefault(removal.kept_id, {})[id] = removal.similarity
        return [Cluster(id, members[id]) for id in self.kept if id in members]

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

    def alarms(self, limits: AlarmLimits | None = None) -> list[Alarm]:
        """Return findings that should be checked before the result is used; `limits` are their thresholds."""
        return alarms(self, limits, self.safety)

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
                | ({"encodings": dict(report.encodings)} if report.encodings else {})
                for source, report in zip(self.reading.sources, self.reading.reports, strict=True)
            ],
            "seconds_by_stage": {name: round(seconds, 6) for name, seconds in self.timings.items()},
        }

    def table(self, name: str) -> dict[str, Any]:
        """Return the columns of a table.

        Args:
            name: "pairs", "kept", "removed", "clusters", "malformed", or "old_matches", which is empty without
                `against`.

        Returns:
            The columns by name.

        Raises:
            SettingsError: There is no such table.
        """
        return table(self, name)

    def to_arrow(self, name: str) -> Any:
        """Return a table as a `pyarrow.Table`.

        Args:
            name: Name of the table, see `table`.

        Raises:
            MissingExtraError: pyarrow is not installed.
        """
        return to_arrow(self.table(name))

    def to_pandas(self, name: str) -> Any:
        """Return a table (see `table`) as a `pandas.DataFrame`."""
        require("pandas", extra="frames", purpose="DataFrames")
        return self.to_arrow(name).to_pandas()

    def to_polars(self, name: str) -> Any:
        """Return a table (see `table`) as a `polars.DataFrame`."""
        return require("polars", extra="frames", purpose="DataFrames of Polars").from_arrow(
            self.to_arrow(name)
        )

    def apply(self, data: Any) -> Any:
        """Return data without the removed documents, in the kind that was given.

        Args:
            data: The input of this run in memory, or an equal one: the same rows in the same order. For an iterator,
                an iterator is returned.

        Returns:
            A list of a list, a `DataFrame` of a `DataFrame`, a `DatasetDict` of a `DatasetDict`. Malformed and skipped
            rows are left out.

        Raises:
            InputError: The data is a path, or has another number of rows.

        >>> from benzer import find_duplicates
        >>> texts = ["one two three four", "One two three four.", "five"]
        >>> find_duplicates(texts).apply(texts)
        ['one two three four', 'five']
        """
        reports, sources = self.reading.reports, self.reading.sources
        each = zip(reports, self.stays_by_source(), sources, strict=True)
        return selected(data, [chosen(report, stays, source.name) for report, stays, source in each])

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

        return write_folder(
            self, Path(output), tables, replace, extra or {}, {**self.summary(), **(told or {})}
        )
