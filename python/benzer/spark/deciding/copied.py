"""Decisions about copies: a copy is a duplicate of its original, or of the document kept for both.

If the original is kept, its copies are removed as its duplicates, with similarity 1. If it is removed, a copy is a
duplicate of the most similar kept document that precedes the copy in the keep order, usually that of the original. A
later WITNESS is compared with each copy by the keep rule itself. Groups are never collected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from benzer.clusters import Keep
from benzer.registry import require
from benzer.spark.deciding.members import rank_of
from benzer.spark.deciding.streams import firsts
from benzer.spark.frames import KEPT, REMOVED, WITNESS, DataFrame
from benzer.spark.tasks import ArrowTask

RANKED = ("place", "extra", "length")
BETTER = "left bigint, right bigint, right_id {id}, similarity double"


@dataclass(frozen=True)
class Before:
    """Keeps the rows of copies and witnesses in which the witness precedes the copy in the keep order.

    The order of two documents does not depend on the other documents of a batch.
    """

    keep: Keep

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
        for batch in batches:
            rows = pyarrow.Table.from_batches([batch])
            yield from (
                rows.filter(pyarrow.array(self._before(pyarrow, rows)))
                .select(["left", "right", "right_id", "similarity"])
                .to_batches()
            )

    def _before(self, pyarrow: Any, rows: Any) -> Any:
        ours = rows.select(["left", *RANKED]).rename_columns(["number", *RANKED])
        theirs = rows.select(["right", *(f"of_{name}" for name in RANKED)]).rename_columns(
            ["number", *RANKED]
        )
        rank = rank_of(self.keep, pyarrow.concat_tables([ours, theirs.cast(ours.schema)]))
        return rank[rows.num_rows :] < rank[: rows.num_rows]


def outcomes_of_copies(
    run: Any, copied: DataFrame, outcomes: DataFrame, known: DataFrame | None
) -> DataFrame:
    """A row REMOVED for each copy, in the columns of `OUTCOMES` and two more.

    same: it is a duplicate of its original. alone: `found` has no row about the original.
    """
    from pyspark.sql import functions as F

    copied = _decided_as_copies(copied, known)
    first = F.col("original").alias("first")
    if run.keep.rule == "first":
        copied = copied.withColumn("first", first)
    else:
        copied = copied.join(firsts(copied).select("original", "first"), "original")
    fates = outcomes.filter(F.col("kind").isin(REMOVED, KEPT)).select(
        F.col("left").alias("original"),
        (F.col("kind") == REMOVED).alias("gone"),
        *(
            F.col(name).alias(f"its_{name}")
            for name in ("right", "right_id", "similarity", "component", "component_id")
        ),
    )
    gone = F.coalesce("gone", F.lit(False))
    rows = copied.join(fates, "original", "left").select(
        F.lit(REMOVED).alias("kind"),
        F.col("number").alias("left"),
        F.when(gone, F.col("its_right")).otherwise(F.col("original")).alias("right"),
        F.col("id").alias("left_id"),
        F.when(gone, F.col("its_right_id")).otherwise(F.col("original_id")).alias("right_id"),
        F.when(gone, F.col("its_similarity")).otherwise(F.lit(1.0)).alias("similarity"),
        F.coalesce("its_component", "first").alias("component"),
        F.coalesce("its_component_id", "first_id").alias("component_id"),
        "identity_a",
        "identity_b",
        (~gone).alias("same"),
        F.col("gone").isNull().alias("alone"),
    )
    return _with_better(run, rows, _better(run, copied, outcomes))


def _decided_as_copies(copied: DataFrame, known: DataFrame | None) -> DataFrame:
    """Without known copies and copies that are decided in place of their original."""
    if known is None:
        return copied
    known = known.select("number")
    copied = copied.join(known, "number", "left_anti")
    return copied.join(known.withColumnRenamed("number", "original"), "original", "left_anti")


def _better(run: Any, copied: DataFrame, outcomes: DataFrame) -> DataFrame:
    """For copies after a witness the last such witness, which is the most similar."""
    from pyspark.sql import functions as F

    steps = outcomes.filter(F.col("kind") == WITNESS)
    names = ("right", "right_id", "similarity", *(f"of_{name}" for name in RANKED))
    witnesses = steps.select(F.col("left").alias("original"), *names)
    both = copied.select("original", F.col("number").alias("left"), *RANKED).join(witnesses, "original")
    before = both.mapInArrow(ArrowTask(Before(run.keep)), run.typed(BETTER))
    best = F.max(F.struct("similarity", "right", "right_id")).alias("best")
    return before.groupBy("left").agg(best)


def _with_better(run: Any, rows: DataFrame, better: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    names = ("right", "right_id", "similarity")
    joined = rows.join(better, "left", "left")
    columns = [
        F.coalesce(F.col(f"best.{name}"), F.col(name)).alias(name) if name in names else F.col(name)
        for name in rows.columns
    ]
    return joined.select(*columns)


def originals_alone(rows: DataFrame) -> DataFrame:
    """A row KEPT for each original without another row, in the columns of `OUTCOMES`."""
    from pyspark.sql import functions as F

    once = rows.filter("alone").dropDuplicates(["right"])
    return (
        once.withColumn("kind", F.lit(KEPT))
        .withColumn("left", F.col("right"))
        .withColumn("left_id", F.col("right_id"))
    )
