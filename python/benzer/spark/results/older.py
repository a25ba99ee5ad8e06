"""Matches of the documents of a run with older collections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benzer.results.known import Known, OfCollection
from benzer.spark.results.tables import column, plain_id
from benzer.spark.session import to_arrow

if TYPE_CHECKING:
    from benzer.spark.results.bringing import Finder
    from benzer.spark.results.choosing import Chosen
    from benzer.spark.results.duplicates import SparkDuplicates

DataFrame = Any


def known_removals(found: SparkDuplicates) -> DataFrame:
    """The removals of known documents, in the columns of `tables.removed`, each with its best match."""
    from pyspark.sql import functions as F

    identity = found.sketches.select("number", "identity_a", "identity_b")
    best = found.known.matches.where("best").join(identity, "number")
    return best.select(
        "id",
        F.col("old_id").alias("kept_id"),
        F.lit(None).cast(found.run.columns["id"]).alias("cluster"),
        "similarity",
        F.lit("known").alias("reason"),
        F.col("index").alias("kept_in"),
        "identity_a",
        "identity_b",
        "number",
        F.lit(None).cast("bigint").alias("kept_number"),
    )


def old_matches(found: SparkDuplicates) -> DataFrame:
    """The verified matches with documents of older collections; empty without collections."""
    from pyspark.sql import functions as F

    if found.known is None:
        none = found.outcomes.limit(0).select(F.col("left_id").alias("id"), F.col("right_id").alias("old_id"))
        return none.withColumns({"index": F.lit(""), "similarity": F.lit(1.0)})
    return found.known.matches.select("id", "old_id", "index", "similarity")


def together(near: DataFrame, known: DataFrame) -> DataFrame:
    """Both kinds of removals; if ids of the run and of a collection have different types, `kept_id` is text."""
    from pyspark.sql import functions as F

    if dict(near.dtypes)["kept_id"] != dict(known.dtypes)["kept_id"]:
        near, known = (one.withColumn("kept_id", F.col("kept_id").cast("string")) for one in (near, known))
    return near.unionByName(known)


def of_collections(found: SparkDuplicates) -> list[OfCollection]:
    """The number of removed documents and the lowest similarity for each collection; one job."""
    from pyspark.sql import functions as F

    best = found.known.matches.where("best").groupBy("collection")
    told = best.agg(F.count(F.lit(1)).alias("removed"), F.min("similarity").alias("least")).collect()
    rows = {row["collection"]: row for row in told}
    return [
        OfCollection(name, rows[at]["removed"], rows[at]["least"])
        if at in rows
        else OfCollection(name, 0, 1.0)
        for at, name in enumerate(found.known.names)
    ]


def known_of(found: SparkDuplicates, chosen: Chosen, at: Finder) -> Known:
    """The matches of the collected documents, as in a local result."""
    held = found.known.matches.join(chosen.members.select("number"), "number", "left_semi")
    table = to_arrow(held.select("number", "old_id", "collection", "similarity", "rank"))
    position, collection = at(column(table, "number")), column(table, "collection").astype(np.uint32)
    order = np.lexsort((column(table, "rank"), collection, position))
    old_ids = [plain_id(found, one) for one in table["old_id"].to_pylist()]
    return Known(
        found.known.names,
        position[order],
        collection[order],
        [old_ids[place] for place in order.tolist()],
        column(table, "similarity")[order],
    )
