"""The tables of a result on Spark, with the rows of a local result in any order."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from benzer.errors import SettingsError
from benzer.registry import require
from benzer.spark.frames import KEPT, MALFORMED, PAIR, REMOVED
from benzer.spark.session import from_arrow

if TYPE_CHECKING:
    from benzer.spark.results.duplicates import SparkDuplicates

DataFrame = Any
SOURCE_BITS = 40
"""Number of lower bits for the row (from 1) in the number of a document in a file; the upper bits are the file."""


def table(found: SparkDuplicates, name: str) -> DataFrame:
    """One of `TABLES`."""
    if name not in TABLES:
        raise SettingsError(f"unknown table {name!r}: choose one of {', '.join(TABLES)}")
    return TABLES[name](found)


def of_kind(found: SparkDuplicates, kind: int) -> DataFrame:
    """The outcomes of one kind."""
    from pyspark.sql import functions as F

    return found.outcomes.where(F.col("kind") == kind)


def pairs(found: SparkDuplicates) -> DataFrame:
    """The verified pairs: those of different contents, and each copy with the representative of its content."""
    from pyspark.sql import functions as F

    columns = ("left_id", "right_id", "similarity")
    copies = with_original_place(found)
    original_first = F.col("original_place") < F.col("place")
    if found.settings.keep.rule == "first":
        original_first = F.lit(True)
    copied = copies.select(
        F.when(original_first, F.col("original_id")).otherwise(F.col("id")).alias("left_id"),
        F.when(original_first, F.col("id")).otherwise(F.col("original_id")).alias("right_id"),
        F.lit(1.0).alias("similarity"),
    )
    return of_kind(found, PAIR).select(*columns).unionByName(copied)


def with_original_place(found: SparkDuplicates) -> DataFrame:
    """The copies with the place of their representative, which determines the earlier one of the two."""
    from pyspark.sql import functions as F

    if found.settings.keep.rule == "first" or "original_place" in found.copied.columns:
        return found.copied
    places = found.sketches.select(
        F.col("number").alias("original"),
        F.struct("place", "number").alias("original_place"),
    )
    copies = found.copied.withColumn("place", F.struct("place", "number"))
    return copies.join(places, "original")


def removed(found: SparkDuplicates) -> DataFrame:
    """The removals: each removed document with the kept one and the reason."""
    from pyspark.sql import functions as F

    rows = originals_of(found, of_kind(found, REMOVED))
    same = F.col("left_original") == F.col("right_original")
    near = rows.select(
        F.col("left_id").alias("id"),
        F.col("right_id").alias("kept_id"),
        F.col("component_id").alias("cluster"),
        "similarity",
        F.when(same, "identical").otherwise("near").alias("reason"),
        F.lit(None).cast("string").alias("kept_in"),
        "identity_a",
        "identity_b",
        F.col("left").alias("number"),
        F.col("right").alias("kept_number"),
    )
    if found.known is not None:
        from benzer.spark.results.older import known_removals, together

        near = together(near, known_removals(found))
    return with_places(found, near)


def originals_of(found: SparkDuplicates, rows: DataFrame) -> DataFrame:
    """Rows with the representatives of the contents of `left` and `right`."""
    from pyspark.sql import functions as F

    for end in ("left", "right"):
        named = f"{end}_original"
        if end == "right" and found.known is None:
            # The kept document is the representative of its content unless another one of that content is known.
            return rows.withColumn(named, F.col(end))
        copies = found.copied.select(F.col("number").alias(end), F.col("original").alias(named))
        rows = rows.join(copies, end, "left").withColumn(named, F.coalesce(F.col(named), F.col(end)))
    return rows


def clusters(found: SparkDuplicates) -> DataFrame:
    """The members of each cluster of two or more documents."""
    from pyspark.sql import functions as F

    gone = of_kind(found, REMOVED)
    members = gone.select(
        F.col("right_id").alias("cluster_id"),
        F.col("left_id").alias("id"),
        "similarity",
        F.lit(False).alias("representative"),
        "component_id",
        F.col("left").alias("number"),
    )
    led = gone.select("right").distinct()
    leaders = (
        of_kind(found, KEPT)
        .join(led, "right", "left_semi")
        .select(
            F.col("left_id").alias("cluster_id"),
            F.col("left_id").alias("id"),
            F.lit(1.0).alias("similarity"),
            F.lit(True).alias("representative"),
            "component_id",
            F.col("left").alias("number"),
        )
    )
    return with_places(found, members.unionByName(leaders))


def malformed(found: SparkDuplicates) -> DataFrame:
    """The malformed rows."""
    from pyspark.sql import functions as F

    rows = found.sketches.where(F.col("state") == MALFORMED)
    return with_places(found, rows.select("id", "reason", "number"))


def with_places(found: SparkDuplicates, rows: DataFrame) -> DataFrame:
    """Rows with the file and the row of `number` and of `kept_number`, for documents in files."""
    from pyspark.sql import functions as F

    ends = {"number": "", "kept_number": "kept_"}
    if found.files is not None:
        for number, prefix in ends.items():
            if number not in rows.columns:
                continue
            source, row = (f"{prefix}{name}" for name in ("source", "row"))
            names = F.broadcast(sources_of(found, source, f"{prefix}file"))
            rows = rows.withColumn(source, F.shiftright(F.col(number), SOURCE_BITS).cast("int"))
            rows = rows.join(names, source, "left").drop(source)
            rows = rows.withColumn(row, F.col(number).bitwiseAND(F.lit((1 << SOURCE_BITS) - 1)))
    return rows.drop("kept_number")


def sources_of(found: SparkDuplicates, number: str, name: str) -> DataFrame:
    """The number and name of each file."""
    pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
    names = list(found.files or ())
    return from_arrow(
        found.run.spark,
        pyarrow.table({number: pyarrow.array(range(len(names)), pyarrow.int32()), name: names}),
    )


def column(rows: Any, name: str) -> NDArray[Any]:
    """A column of a table on the driver, without nulls."""
    values: NDArray[Any] = rows.column(name).to_numpy()
    return values


def plain_id(found: SparkDuplicates, one: Any) -> Any:
    """An id as given by the user; ids of files are transferred as JSON."""
    return json.loads(one) if found.documents.id_form == "json" and one is not None else one


def old_matches(found: SparkDuplicates) -> DataFrame:
    """The verified matches with documents of older collections."""
    from benzer.spark.results import older

    return older.old_matches(found)


TABLES: dict[str, Callable[[SparkDuplicates], DataFrame]] = {
    "pairs": pairs,
    "clusters": clusters,
    "removed": removed,
    "malformed": malformed,
    "old_matches": old_matches,
}
