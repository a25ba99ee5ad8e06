"""Finished stages, in memory or as tables in a checkpoint folder, from which an interrupted run continues."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from time import perf_counter
from types import TracebackType
from typing import Any

from benzer._native import __version__
from benzer.errors import OutputError, SettingsError
from benzer.pipeline.checkpoint import other_run
from benzer.spark.documents import Documents
from benzer.spark.settings import SparkRun

FORMAT = 1
RUN, FINISHED = "run", "finished"
FINISHED_ROWS = "name string, facts string"
NAME = re.compile(r"[a-z]+(-[a-z0-9]+)*")

Progress = Callable[[str, int, int], object]


class StageTables:
    """The tables of a run that are computed once and read often.

    Without a checkpoint they are cached on the cluster until `release`. With a checkpoint, any folder that Spark can
    reach, each table is written as Parquet, followed by a row in the table `finished`, which marks it as complete. A
    run that is started again with the same folder reads the finished tables and computes the rest. Incomplete tables
    are written again. The first row identifies the run; other runs are rejected.

    The folder is not deleted after the run and can be used again. The caller must ensure that only one run uses it at a
    time and that the rows are the same: the columns, files and ids of a DataFrame are compared, but not its contents.
    """

    def __init__(self, spark: Any, checkpoint: str | None = None, progress: Progress | None = None) -> None:
        self.spark = spark
        self.path = checkpoint
        self.timings: dict[str, float] = {}
        self.read_stages: list[str] = []
        """The stages that were read, not computed."""
        self._progress = progress
        self._done: dict[str, Any] = {}
        self._tables: list[Any] = []

    @classmethod
    def opened(
        cls,
        run: SparkRun,
        documents: Documents,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> StageTables:
        """Open the stages of a run; raises `SettingsError` if the checkpoint belongs to another run."""
        path = None if checkpoint is None else os.fspath(checkpoint).rstrip("/")
        stages = cls(run.spark, path, progress)
        if path is not None:
            stages.begin(run_of(run, documents))
        return stages

    def __enter__(self) -> StageTables:  # noqa: PYI034 (Self needs Python 3.11)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.release()

    def begin(self, run: dict[str, Any]) -> None:
        """Record the identity of the run (JSON-able); rejects a folder with another run or other files."""
        described = json.loads(json.dumps(run))
        rows = read(self.spark.read.schema(FINISHED_ROWS).format("json"), self._place(FINISHED))
        for row in [] if rows is None else rows.collect():
            self._done[row.name] = json.loads(row.facts)
        there = self._done.get(RUN)
        if there is None:
            refuse_foreign(self.spark, str(self.path))
            self._finish(RUN, described)
        elif there != described:
            raise other_run(self.path, there, described)  # type: ignore[arg-type]

    def keep(self, name: str, make: Callable[[], Any]) -> Any:
        """The table of a stage, computed now or read. name: lower-case words and numbers, joined by hyphens."""
        started = self._start(name)
        table = self._finished(name)
        if table is None and self.path is None:
            table = self._cached(make())
        elif table is None:
            made = make()
            made.write.mode("overwrite").parquet(self._place(name))
            self._finish(name, made.schema.jsonValue())
            table = self.spark.read.schema(made.schema).parquet(self._place(name))
        self._end(name, started)
        return table

    def note(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """JSON-able facts of a stage, computed or read."""
        started = self._start(name)
        if name in self._done:
            self.read_stages.append(name)
        else:
            self._finish(name, json.loads(json.dumps(make())))
        self._end(name, started)
        facts: dict[str, Any] = self._done[name]
        return facts

    def release(self) -> None:
        """Release cached tables; a checkpoint is not changed."""
        for table in self._tables:
            table.unpersist()
        self._tables.clear()

    def _cached(self, table: Any) -> Any:
        """Compute and cache a table.

        In a single process the plan is dropped: with it, planning later stages took 3 of the 18 seconds of a job over a
        gigabyte. On a cluster the plan is kept, because the data of a lost executor is recomputed from it.
        """
        if is_local(self.spark) and hasattr(table, "localCheckpoint"):
            return table.localCheckpoint()
        table = table.persist()
        self._tables.append(table)
        table.count()  # all of it
        return table

    def _finished(self, name: str) -> Any:
        """The table of a finished stage; None if it does not exist (any more)."""
        from pyspark.sql.types import StructType

        facts = self._done.get(name)
        if facts is None:
            return None
        table = read(self.spark.read.schema(StructType.fromJson(facts)), self._place(name))
        if table is not None:
            self.read_stages.append(name)
        return table

    def _finish(self, name: str, facts: Any) -> None:
        if self.path is not None:
            self._write(name, facts, "append")
        self._done[name] = facts

    def _write(self, name: str, facts: Any, mode: str) -> None:
        values = {"name": name, "facts": json.dumps(facts)}
        row = self.spark.sql("SELECT :name AS name, :facts AS facts", args=values)
        row.write.mode(mode).json(self._place(FINISHED))

    def _place(self, name: str) -> str:
        return f"{self.path}/{name}"

    def _start(self, name: str) -> float:
        if not NAME.fullmatch(name) or name in (RUN, FINISHED):
            raise SettingsError(f"{name!r} is not a valid stage name: use lower-case words joined by hyphens")
        if self._progress is not None:
            self._progress(name, 0, 1)
        return perf_counter()

    def _end(self, name: str, started: float) -> None:
        self.timings[name] = perf_counter() - started
        if self._progress is not None:
            self._progress(name, 1, 1)


def run_of(run: SparkRun, documents: Documents) -> dict[str, Any]:
    """The identity of a checkpoint: the version, the settings, the input, and how the work is divided."""
    work = asdict(run.work)
    del work["partitions"]  # no stage depends on it, so a larger cluster may continue
    return {
        "format": FORMAT,
        "version": __version__,
        "settings": run.settings.to_dict(),
        "documents": documents.facts(),
        "work": work,
    }


def is_local(spark: Any) -> bool:
    """Whether a session's work is done by one process on one machine."""
    master = spark.conf.get("spark.master", None) or ""
    return bool(re.fullmatch(r"local(\[.*\])?", master))


def read(reader: Any, path: str) -> Any:
    """The DataFrame at a path; None if there is nothing."""
    from pyspark.errors import AnalysisException

    try:
        table = reader.load(path)
        _ = table.schema  # Spark Connect is lazy, so access the schema to check the path
    except AnalysisException as error:
        if "PATH_NOT_FOUND" in str(error):
            return None
        raise
    return table


def refuse_foreign(spark: Any, path: str) -> None:
    """Reject a folder with other files, because a stage of the same name would replace them."""
    every = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    files = read(every, path)
    first = [] if files is None else files.select("path").limit(1).collect()
    if first:
        raise OutputError(
            f"{path} has other files ({first[0].path}) and no checkpoint: choose another or an empty folder"
        )
