"""The result of a run on Spark: tables on the cluster, and a report on the driver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from benzer.bands import Bands
from benzer.recall import RecallEstimate
from benzer.results import Alarm, Limits, Settings, SourceCounts
from benzer.sources import MalformedRow
from benzer.spark.failures import told_plainly
from benzer.spark.results import applying, bitmaps, counting, tables
from benzer.spark.results.applying import Applied
from benzer.spark.settings import Run

if TYPE_CHECKING:
    from benzer.spark.results.local import LocalDuplicates

DataFrame = Any
DOCUMENTS = 100_000
"""Maximum number of documents collected on the driver for a report."""


@dataclass(frozen=True)
class SparkDuplicates:
    """The result of `benzer.spark.find_duplicates`. Its tables are DataFrames whose rows remain on the cluster.

    Properties are computed on first access; numbers are computed once.

    Attributes:
        reading: The number of documents read, and the malformed rows.
        sketches, copied, outcomes: The tables of `benzer.spark.frames`.
        joined: The candidates.
        known: The matches with older collections.
        decided: The outcomes with their counts.
        timings: Seconds by stage.
        stages: The stages that own the tables.
    """

    run: Run
    documents: Any = field(repr=False)
    reading: Any = field(repr=False)
    sketches: DataFrame = field(repr=False)
    copied: DataFrame = field(repr=False)
    known: Any = field(repr=False)
    joined: Any = field(repr=False)
    outcomes: DataFrame = field(repr=False)
    decided: Any = field(repr=False)
    timings: dict[str, float] = field(repr=False)
    stages: Any = field(repr=False, default=None)

    @classmethod
    def of(
        cls,
        run: Run,
        documents: Any,
        reading: Any,
        sketches: DataFrame,
        copied: DataFrame,
        known: Any,
        joined: Any,
        decided: Any,
        stages: Any,
        seconds: float,
    ) -> SparkDuplicates:
        """Create the result of the stages of a run, which took this many seconds in total."""
        timings = {**stages.timings, "total": seconds}
        return cls(
            run,
            documents,
            reading,
            sketches,
            copied,
            known,
            joined,
            decided.outcomes,
            decided,
            timings,
            stages,
        )

    def release(self) -> None:
        """Release the tables that are cached on the cluster; a checkpoint is not changed.

        The result can still be used: tables are then computed again.
        """
        if self.stages is not None:
            self.stages.release()

    @property
    def settings(self) -> Settings:
        """All settings that the result depends on."""
        return self.run.settings

    @property
    def threshold(self) -> float:
        """The minimum similarity of duplicates."""
        return self.settings.threshold

    @property
    def recall(self) -> float:
        """The guaranteed share of pairs at the threshold that is found."""
        return self.settings.recall

    @property
    def bands(self) -> Bands:
        """The bands that were used to find candidates."""
        assert self.settings.bands is not None  # there is no other method on Spark
        return self.settings.bands

    def probability(self, similarity: float) -> float:
        """Return the probability that a pair with this similarity is found; with several fields, a lower bound."""
        return float(self.bands.probability(self.settings.schema.band_threshold(similarity)))

    @cached_property
    def pairs(self) -> DataFrame:
        """The verified pairs: left_id, right_id, similarity. The left document is the earlier one in the input."""
        return tables.pairs(self)

    @cached_property
    def removed(self) -> DataFrame:
        """The removed documents with the kept document, the similarity and the reason, one row each."""
        return tables.removed(self)

    @cached_property
    def clusters(self) -> DataFrame:
        """The members of each cluster of two or more documents, with the kept one marked."""
        return tables.clusters(self)

    @cached_property
    def malformed(self) -> DataFrame:
        """The malformed rows with their reasons."""
        return tables.malformed(self)

    def table(self, name: str) -> DataFrame:
        """Return a table by name: "pairs", "clusters", "removed", "malformed" or "old_matches"."""
        return tables.table(self, name)

    @cached_property
    @told_plainly()
    def counts(self) -> dict[str, int]:
        """The counts of the run, with the names of a local result."""
        return counting.counts(self)

    @cached_property
    @told_plainly()
    def known_removed(self) -> int:
        """The number of documents removed because of a match in an older collection."""
        return 0 if self.known is None else int(self.known.numbers.count())

    @property
    def files(self) -> list[str] | None:
        """The names of the input files in order; None for a DataFrame."""
        sources = getattr(self.documents, "sources", None)
        return None if sources is None else [one.name for one in sources]

    @property
    def malformed_rows(self) -> list[MalformedRow]:
        """The malformed rows that the run collected on the driver."""
        return list(self.reading.malformed)

    @told_plainly()
    def by_source(self) -> list[SourceCounts]:
        """Return the counts of each source in input order."""
        return counting.by_source(self)

    def kept(self, df: DataFrame | None = None) -> DataFrame:
        """Return the kept rows with all columns unchanged.

        Rows are selected by id only. `apply` also checks contents: use it for data that may have changed since the run.

        Args:
            df: A DataFrame with the same ids; default: the DataFrame of the run.
        """
        return applying.kept(self, df)

    def apply(self, df: DataFrame | None = None) -> Applied:
        """Return the kept rows of a DataFrame that may have changed since the run.

        A row is removed only if its content still has the same 128-bit hash. Otherwise the removal is void, and the row
        is kept and reported. Only rows that would be removed are read again.

        Args:
            df: A DataFrame with the same ids; default: the DataFrame of the run.
        """
        return applying.apply(self, df)

    def annotate(self, df: DataFrame | None = None, prefix: str = "") -> DataFrame:
        """Return all rows with the columns `cluster`, `kept_id`, `similarity` and `reason`, null for kept rows.

        Args:
            df: A DataFrame with the same ids; default: the DataFrame of the run.
            prefix: A prefix for the names of these columns.
        """
        return applying.annotate(self, df, prefix)

    def bitmaps(self) -> DataFrame:
        """Return one row per file with removed documents: source, file, removed (count), bitmap (see `filter_file`)."""
        return bitmaps.bitmaps(self)

    @told_plainly()
    def write_bitmaps(self, path: str, replace: bool = False) -> None:
        """Write `bitmaps` as Parquet to any storage that Spark can write to."""
        from benzer.spark.results.writing import write_frame

        write_frame(self.bitmaps(), path, "parquet", replace)

    @told_plainly()
    def write(
        self, path: str, tables: Literal["jsonl", "parquet"] = "parquet", replace: bool = False
    ) -> dict[str, str]:
        """Write the tables and the summary to a folder on any storage that Spark can write to.

        The summary is written last and marks the result as complete.

        Args:
            path: The path of the folder.
            tables: The format of the tables.
            replace: Whether to replace an existing folder.

        Returns:
            The path of each part by its name.

        Raises:
            OutputError: The folder exists and `replace` is false.
        """
        from benzer.spark.results.writing import write_tables

        return write_tables(self, path, tables, replace)

    @told_plainly()
    def summary(self) -> dict[str, Any]:
        """Return JSON-able counts, settings, sources, timings and facts of the Spark session."""
        from benzer.spark.results.writing import spark_facts

        sources = [
            {"name": one.name, "rows": one.read, "documents": one.documents} for one in self.by_source()
        ]
        return {
            "counts": self.counts,
            "settings": self.settings.to_dict(),
            "probability_at_threshold": self.probability(self.threshold),
            "sources": sources,
            "seconds_by_stage": {name: round(seconds, 6) for name, seconds in self.timings.items()},
            "spark": spark_facts(self.run),
        }

    @told_plainly()
    def to_local(self, documents: int = DOCUMENTS) -> LocalDuplicates:
        """Collect the documents with candidates or copies on the driver, with the decisions of the run.

        The returned object has the methods of a local result and the counts of the whole run. If more than `documents`
        have candidates or copies, it has only the largest and the most doubtful clusters, and states this.
        """
        from benzer.spark.results.bringing import to_local

        return to_local(self, documents)

    @told_plainly()
    def alarms(self, limits: Limits | None = None, documents: int = DOCUMENTS) -> list[Alarm]:
        """Return the warnings to check before using the result; see `to_local` for the documents that are examined."""
        return self.to_local(documents).alarms(limits)

    @told_plainly()
    def measure_recall(
        self, documents: int = 1000, confidence: float = 0.95, seed: int = 0
    ) -> RecallEstimate:
        """Estimate the recall with an interval from a sample of the documents.

        The sample, the neighbours and the figures are those of a local result. The contents of the sample are collected
        on the driver (at most 64 MB of text); every task searches their neighbours among its own documents.
        """
        from benzer.spark.results.recall import measure_recall

        return measure_recall(self, documents, confidence, seed)

    @told_plainly()
    def write_report(
        self,
        path: str | Path,
        recall: RecallEstimate | None = None,
        command: str | Sequence[str] | None = None,
        documents: int = DOCUMENTS,
        replace: bool = False,
    ) -> Path:
        """Write the report to a file on the driver; see `benzer.report.write_report`."""
        from benzer.report import write_report

        return write_report(self.to_local(documents), path, recall=recall, command=command, replace=replace)
