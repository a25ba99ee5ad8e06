"""What came of a run on Spark: tables of the cluster, and a page of the driver."""

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
"""So many documents come to the driver at most, for a page."""


@dataclass(frozen=True)
class SparkDuplicates:
    """The result of `benzer.spark.find_duplicates`; its tables are DataFrames, its rows lie on the cluster.

    What a property needs is computed when it is asked for, once where it is a number. reading: how many documents were
    read, and which rows set aside. sketches, copied, outcomes: the tables of `benzer.spark.frames`. joined: the
    candidates. known: what older collections hold. decided: the outcomes with their counts. timings: seconds by stage.
    stages: what holds the tables.
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
        """The result of a run's stages, which took so many seconds together."""
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
        """Let go of the tables of finished stages that are cached on the cluster; what is in a checkpoint stays.

        The result still answers: what is asked for from now on is made again.
        """
        if self.stages is not None:
            self.stages.release()

    @property
    def settings(self) -> Settings:
        """Everything that the result depends on, beside the input."""
        return self.run.settings

    @property
    def threshold(self) -> float:
        """The similarity from which two documents are duplicates."""
        return self.settings.threshold

    @property
    def recall(self) -> float:
        """The promised share of pairs at the threshold that is found."""
        return self.settings.recall

    @property
    def bands(self) -> Bands:
        """The bands that candidates were found with."""
        assert self.settings.bands is not None  # there is no other method on Spark
        return self.settings.bands

    def probability(self, similarity: float) -> float:
        """The probability that a pair of a given similarity is found; of several fields, at least that."""
        return float(self.bands.probability(self.settings.schema.band_threshold(similarity)))

    @cached_property
    def pairs(self) -> DataFrame:
        """The verified pairs: left_id, right_id, similarity; the one that comes first in the input is the left one."""
        return tables.pairs(self)

    @cached_property
    def removed(self) -> DataFrame:
        """The evidence, a row for each document that goes: for which, how similar they are, and why."""
        return tables.removed(self)

    @cached_property
    def clusters(self) -> DataFrame:
        """The members of each cluster of two documents or more, and which of them stays."""
        return tables.clusters(self)

    @cached_property
    def malformed(self) -> DataFrame:
        """The rows that were set aside, and why."""
        return tables.malformed(self)

    def table(self, name: str) -> DataFrame:
        """One table: "pairs", "clusters", "removed", "malformed" or "old_matches"."""
        return tables.table(self, name)

    @cached_property
    @told_plainly()
    def counts(self) -> dict[str, int]:
        """How many: the counts of a local result, by the same names."""
        return counting.counts(self)

    @cached_property
    @told_plainly()
    def known_removed(self) -> int:
        """How many documents go for one of an older collection."""
        return 0 if self.known is None else int(self.known.numbers.count())

    @property
    def files(self) -> list[str] | None:
        """The names of the files that were read, in their order; None where a DataFrame was."""
        sources = getattr(self.documents, "sources", None)
        return None if sources is None else [one.name for one in sources]

    @property
    def malformed_rows(self) -> list[MalformedRow]:
        """The rows that were set aside, as far as the run brought them to the driver."""
        return list(self.reading.malformed)

    @told_plainly()
    def by_source(self) -> list[SourceCounts]:
        """The counts of each source, in the order of the input."""
        return counting.by_source(self)

    def kept(self, df: DataFrame | None = None) -> DataFrame:
        """The rows that stay, all columns untouched: of the DataFrame of the run, or of one with the same ids.

        Rows are taken by their ids alone. `apply` checks contents, too: use it on what may have changed since.
        """
        return applying.kept(self, df)

    def apply(self, df: DataFrame | None = None) -> Applied:
        """The rows that stay of a DataFrame that may have changed since the run.

        A row goes only where its content still has the 128-bit hash that it had: a removal of other content is void,
        and its row stays and is told of. Only the rows that would go are read again.
        """
        return applying.apply(self, df)

    def annotate(self, df: DataFrame | None = None, prefix: str = "") -> DataFrame:
        """All rows, with the columns `cluster`, `kept_id`, `similarity` and `reason`, null where a row stays.

        prefix: what the names of these begin with.
        """
        return applying.annotate(self, df, prefix)

    def bitmaps(self) -> DataFrame:
        """For each file with documents that go: source, file, removed (how many), bitmap (see `filter_file`)."""
        return bitmaps.bitmaps(self)

    @told_plainly()
    def write_bitmaps(self, path: str, replace: bool = False) -> None:
        """Write `bitmaps` as Parquet, to any place that Spark writes to."""
        from benzer.spark.results.writing import write_frame

        write_frame(self.bitmaps(), path, "parquet", replace)

    @told_plainly()
    def write(
        self, path: str, tables: Literal["jsonl", "parquet"] = "parquet", replace: bool = False
    ) -> dict[str, str]:
        """Write the tables and the summary below a place that Spark writes to; gives each part's path by its name.

        The summary is written last: where it is, all is. A place that exists is an `OutputError`, or is replaced.
        """
        from benzer.spark.results.writing import write_tables

        return write_tables(self, path, tables, replace)

    @told_plainly()
    def summary(self) -> dict[str, Any]:
        """Counts, settings, sources, timings and what Spark it was, JSON-able."""
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
        """The documents that have candidates or copies, on the driver, with what the run decided of them.

        It answers what a local result answers, with the counts of the whole run. Where more than `documents` have
        candidates or copies, it holds the largest and the most doubtful clusters, and says so.
        """
        from benzer.spark.results.bringing import to_local

        return to_local(self, documents)

    @told_plainly()
    def alarms(self, limits: Limits | None = None, documents: int = DOCUMENTS) -> list[Alarm]:
        """What a person should look at before the result is used; see `to_local` for what is looked at."""
        return self.to_local(documents).alarms(limits)

    @told_plainly()
    def measure_recall(
        self, documents: int = 1000, confidence: float = 0.95, seed: int = 0
    ) -> RecallEstimate:
        """What share of what is alike was found, with an interval, by asking a sample of the documents.

        The same sample, the same neighbours and the same figures as of a local result. The contents of the sample come
        to the driver (64 MB of text at most); every task looks for their neighbours among its own documents.
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
        """Write the page of a local result to a file of the driver; see `benzer.report.write_report`."""
        from benzer.report import write_report

        return write_report(self.to_local(documents), path, recall=recall, command=command, replace=replace)
