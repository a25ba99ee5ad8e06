"""`SparkDuplicates`: the result of a run on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benzer.recall import RecallEstimate
from benzer.results import Alarm, AlarmLimits
from benzer.spark.failures import raised_plainly
from benzer.spark.results import applying, bitmaps, bringing, writing
from benzer.spark.results import recall as recalling
from benzer.spark.results.applying import Applied
from benzer.spark.results.base import ClusterTables
from benzer.spark.results.local import LocalDuplicates
from benzer.spark.settings import SparkRun

DataFrame = Any
DOCUMENTS = 100_000
"""Maximum number of documents collected on the driver for a report."""


@dataclass(frozen=True)
class SparkDuplicates(ClusterTables):
    """The result of `benzer.spark.find_duplicates`. Its tables are DataFrames whose rows remain on the cluster.

    `to_local` collects documents on the driver, for a report and for alarms.
    """

    @classmethod
    def of(
        cls,
        run: SparkRun,
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

    @raised_plainly()
    def write_bitmaps(self, path: str, replace: bool = False) -> None:
        """Write `bitmaps` as Parquet to any storage that Spark can write to."""
        writing.write_frame(self.bitmaps(), path, "parquet", replace)

    @raised_plainly()
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
        return writing.write_tables(self, path, tables, replace)

    @raised_plainly()
    def summary(self) -> dict[str, Any]:
        """Return JSON-able counts, settings, sources, timings and facts of the Spark session."""
        return writing.summary(self)

    @raised_plainly()
    def to_local(self, documents: int = DOCUMENTS) -> LocalDuplicates:
        """Collect the documents with candidates or copies on the driver, with the decisions of the run.

        The returned object has the methods of a local result and the counts of the whole run. If more than `documents`
        have candidates or copies, it has only the largest and the most doubtful clusters, and states this.
        """
        return bringing.to_local(self, documents)

    @raised_plainly()
    def alarms(self, limits: AlarmLimits | None = None, documents: int = DOCUMENTS) -> list[Alarm]:
        """Return the warnings to check before using the result; see `to_local` for the documents that are examined."""
        return self.to_local(documents).alarms(limits)

    @raised_plainly()
    def measure_recall(
        self, documents: int = 1000, confidence: float = 0.95, seed: int = 0
    ) -> RecallEstimate:
        """Estimate the recall with an interval from a sample of the documents.

        The sample, the neighbours and the figures are those of a local result. The contents of the sample are collected
        on the driver (at most 64 MB of text); every task searches their neighbours among its own documents.
        """
        return recalling.measure_recall(self, documents, confidence, seed)

    @raised_plainly()
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
