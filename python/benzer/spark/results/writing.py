"""Writes the tables of a result with Spark; the summary is written last and marks the result as complete."""

from __future__ import annotations

import json
from typing import Any, Literal

from benzer._native import __version__
from benzer.errors import OutputError
from benzer.registry import require
from benzer.spark.results.base import TABLES, ClusterTables
from benzer.spark.session import from_arrow, is_connect
from benzer.spark.settings import SparkRun
from benzer.tables.output import would_replace
from benzer.tables.writing import unknown_format

DataFrame = Any
FORMATS = {"parquet": "parquet", "jsonl": "json"}


def write_tables(
    result: ClusterTables, path: str, tables: Literal["jsonl", "parquet"], replace: bool
) -> dict[str, str]:
    """Write each table as a folder, and the summary as a folder with one line of JSON.

    Spark cannot rename folders on every storage, so the summary marks a complete result: it is written last. If an
    older result is replaced, its summary is first overwritten to mark it as incomplete.
    """
    if tables not in FORMATS:
        raise unknown_format(tables)
    path = path.rstrip("/")
    refuse_input(result, path)
    if refuse_existing(result.run.spark, path, replace):
        write_summary(result.run.spark, f"{path}/summary", {"complete": False})
    chosen = [name for name in TABLES if name != "old_matches" or result.known is not None]
    names = {name: f"{path}/{name}" for name in (*chosen, "summary")}
    for name in chosen:
        result.table(name).write.mode("overwrite").format(FORMATS[tables]).save(names[name])
    write_summary(result.run.spark, names["summary"], {"complete": True, **summary(result)})
    return names


def summary(result: ClusterTables) -> dict[str, Any]:
    """Counts, settings, sources, timings and facts of the Spark session as JSON values."""
    sources = [
        {"name": item.name, "rows": item.read, "documents": item.documents} for item in result.by_source()
    ]
    return {
        "counts": result.counts,
        "settings": result.settings.to_dict(),
        "probability_at_threshold": result.probability(result.threshold),
        "sources": sources,
        "seconds_by_stage": {name: round(seconds, 6) for name, seconds in result.timings.items()},
        "spark": spark_facts(result.run),
    }


def write_frame(frame: DataFrame, path: str, format: str, replace: bool) -> None:
    """One table as a folder, which Spark marks by `_SUCCESS` when it is complete."""
    refuse_existing(frame.sparkSession, path, replace)
    frame.write.mode("overwrite").format(format).save(path)


def write_summary(spark: Any, path: str, summary: dict[str, Any]) -> None:
    """One line of JSON."""
    pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
    line = json.dumps(summary, sort_keys=True)
    frame = from_arrow(spark, pyarrow.table({"value": [line]}))
    frame.coalesce(1).write.mode("overwrite").text(path)


def refuse_input(result: ClusterTables, path: str) -> None:
    """Reject a path that contains the input, because replacing it would delete the input while it is read."""
    for name in result.files or ():
        if name == path or name.startswith(f"{path}/"):
            raise would_replace(path, name)


def refuse_existing(spark: Any, path: str, replace: bool) -> bool:
    """Whether there is a path that is to be replaced; refuse one that is not."""
    exists = there(spark, path)
    if exists and not replace:
        raise OutputError(f"{path} already exists: choose another path or set replace")
    return exists


def there(spark: Any, path: str) -> bool:
    """Whether a path exists on any storage."""
    from pyspark.errors import AnalysisException

    try:
        spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(path).schema  # noqa: B018
    except AnalysisException as error:
        if "PATH_NOT_FOUND" in str(error):
            return False
        raise
    return True


def spark_facts(run: SparkRun) -> dict[str, Any]:
    """Facts of the Spark session, and how the work was divided."""
    from dataclasses import asdict

    spark = run.spark
    return {
        "benzer": __version__,
        "version": spark.version,
        "master": spark.conf.get("spark.master", None),
        "connect": is_connect(spark),
        "shuffle_partitions": spark.conf.get("spark.sql.shuffle.partitions"),
        "adaptive": spark.conf.get("spark.sql.adaptive.enabled"),
        "work": asdict(run.work),
    }
