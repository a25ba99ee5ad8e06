"""Transfers pairs and documents without texts to tasks: one table of both, sorted by group."""

from __future__ import annotations

from typing import Any

from benzer.spark.frames import DataFrame


def streamed(run: Any, documents: DataFrame, pairs: DataFrame, group: str) -> DataFrame:
    """Documents (`left` is null) and pairs; each `group` is contiguous in one task."""
    both = documents.unionByName(pairs, allowMissingColumns=True)
    parts = () if run.work.partitions is None else (run.work.partitions,)
    return both.repartition(*parts, group).sortWithinPartitions(group)


def members_with_others(
    run: Any, members: DataFrame, copied: DataFrame, known: DataFrame | None, buckets: DataFrame | None = None
) -> DataFrame:
    """Members with the columns of other documents with equal content, if they matter (see `members`).

    Args:
        run: The run.
        members: `frames.MEMBERS`.
        copied: `frames.COPIES`.
        known: The numbers of known documents, each once.
        buckets: The large buckets of each document (`number`, `buckets`).
    """
    from pyspark.sql import functions as F

    if buckets is not None:
        members = members.join(buckets, "number", "left")
    if known is not None:
        marked = known.select("number").withColumn("known", F.lit(True))
        members = members.join(marked, "number", "left").withColumn(
            "known", F.coalesce("known", F.lit(False))
        )
        members = members.join(replacing(copied, known), "number", "left")
    if run.keep.rule != "first":
        members = members.join(firsts(copied).withColumnRenamed("original", "number"), "number", "left")
    return members


def firsts(copied: DataFrame) -> DataFrame:
    """The number of the original of each group of equal contents, and `first`, `first_id`, `first_place`."""
    from pyspark.sql import functions as F

    number = F.max(F.when(F.col("id") == F.col("first_id"), F.col("number")))  # null if it is the original
    originals = copied.groupBy("original").agg(
        number.alias("first"), F.max("first_id").alias("first_id"), F.max("first_place").alias("first_place")
    )
    return originals.withColumn("first", F.coalesce("first", "original"))


def replacing(copied: DataFrame, known: DataFrame) -> DataFrame:
    """For known originals the copy that is not known, in columns `as_…`.

    There is at most one: all documents of a content have the same matches, except the one with the id of a match.
    """
    from pyspark.sql import functions as F

    known = known.select("number")
    originals = known.withColumnRenamed("number", "original")
    left = copied.join(known, "number", "left_anti").join(originals, "original", "left_semi")
    kept = ("id", "place", "extra", "length")
    own = [F.col("number").alias("as_number"), *(F.col(name).alias(f"as_{name}") for name in kept)]
    return left.select(F.col("original").alias("number"), *own)
