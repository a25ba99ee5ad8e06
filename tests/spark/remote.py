"""The whole job over Spark Connect, in a process that has no Spark of its own (`test_connect`)."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benzer import Options
from benzer.spark import find_duplicates, find_similar, write_collection
from benzer.spark.session import is_connect, to_arrow
from benzer.spark.settings import Work
from tests.spark.answers import rows, spark_answer

OPTIONS: dict[str, Any] = {"threshold": 0.6, "keep": "longest", "options": Options(bucket_limit=8)}
BEYOND = Work(driver_pairs=0)
"""As if there were more candidates than the driver groups."""
CHANGED = "a text that was another one when the run went over it"


def with_checkpoint(path: str | None) -> dict[str, Any]:
    """The arguments of a run, with a folder for its stages."""
    return {**OPTIONS, "options": replace(OPTIONS["options"], checkpoint=path)}


def whole_job(address: str, folder: Path) -> dict[str, Any]:
    """All that is asked for, and what came of it."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    spark = SparkSession.builder.remote(address).getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    df = spark.read.parquet(str(folder / "documents"))
    told: dict[str, Any] = {"connect": is_connect(spark) and is_connect(df)}
    found = find_duplicates(df, **with_checkpoint(str(folder / "saved")))
    told["first"] = spark_answer(found, df)
    made = whole_stages(folder / "saved")
    again = find_duplicates(df, **with_checkpoint(str(folder / "saved")))
    told["counted again"] = again.counts
    told["made again"] = whole_stages(folder / "saved") != made
    told["beyond the driver"] = spark_answer(find_duplicates(df, work=BEYOND, **OPTIONS), df)

    changed = min(id for id, *_ in told["first"]["removed"])
    text = F.when(F.col("id") == changed, CHANGED).otherwise(F.col("text"))
    applied = found.apply(df.withColumn("text", text))
    told["applied"] = [id for (id,) in rows_of(applied.rows, "id")]
    told["changed"] = {changed: applied.changed_ids()}
    told["annotated"] = rows_of(found.annotate(df), "id", "kept_id", "similarity")
    told["alarms"] = [alarm.to_dict() for alarm in found.alarms()]

    queries = spark.read.parquet(str(folder / "queries"))
    write_collection(df, str(folder / "kept"), threshold=OPTIONS["threshold"])
    matches = find_similar(queries, str(folder / "kept"), limit=3, identified=False)
    told["matches"] = rows_of(matches, "query_id", "rank", "id", "similarity")
    return told


def rows_of(df: Any, *columns: str) -> list[list[Any]]:
    """Some columns of a table, as sorted rows."""
    table = to_arrow(df.select(*columns))
    return rows(table.column(name).to_pylist() for name in columns)


def whole_stages(saved: Path) -> dict[str, int]:
    """The files of a checkpoint, and when each was written; not the marks that Spark writes anew."""
    return {str(path): path.stat().st_mtime_ns for path in saved.rglob("*.parquet")}


if __name__ == "__main__":
    place = Path(sys.argv[2])
    (place / "told.json").write_text(json.dumps(whole_job(sys.argv[1], place)), encoding="utf-8")
