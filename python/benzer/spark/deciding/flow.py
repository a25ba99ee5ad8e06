"""Verifies and decides blocks, then their copies."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from benzer.spark.deciding.copied import originals_alone, outcomes_of_copies
from benzer.spark.deciding.judging import DECIDED, Judge
from benzer.spark.deciding.parcels import parcelled
from benzer.spark.deciding.rounds import Cut, names_of
from benzer.spark.deciding.streams import members_with_others
from benzer.spark.deciding.workers import Reader, Whole
from benzer.spark.frames import OUTCOMES, PAIR, REMOVED, DataFrame
from benzer.spark.tasks import ArrowTask


def decide(
    run: Any,
    stages: Any,
    documents: Any,
    blocked: Any,
    copied: DataFrame,
    known: Any,
    buckets: DataFrame | None = None,
) -> DecidedTables:
    """Verify all candidates and choose the kept documents as in a local run; similarities are equal to the last bit.

    Each text is read once, in the task that verifies and decides its block. Candidates are not filtered before: a
    filter by signatures would lose pairs that a local run reports, because signatures are estimates; an exact one by
    the sizes of sets would save 0.1 % of the candidates and 0.2 % of their texts (154,769 documents at 0.8: 27 % of
    38,013 candidates are below). Even a perfect filter would save only 17 % of these texts: the others are in true
    pairs.
    """
    numbers = None if known is None else known.numbers
    members = members_with_others(run, blocked.members, copied, numbers, buckets)
    outcomes = _of_blocks(run, stages, documents, blocked, members)
    copies = stages.keep("decided-copies", partial(outcomes_of_copies, run, copied, outcomes, numbers))
    return DecidedTables(outcomes, copies, copied)


@dataclass(frozen=True)
class DecidedTables:
    """The outcomes of all documents with a candidate or a copy.

    found: the outcomes of blocks, with additional columns. copies: the outcomes of copies. copied: all copies,
    including known ones.
    """

    decided: DataFrame = field(repr=False)
    copies: DataFrame = field(repr=False)
    copied: DataFrame = field(repr=False)

    @property
    def outcomes(self) -> DataFrame:
        """The rows of `frames.OUTCOMES`.

        A document without a verified pair and without a copy has no row and is kept. A known one only has pairs.
        """
        columns = names_of(OUTCOMES)
        outcomes, copies, alone = (
            part.select(*columns) for part in (self.decided, self.copies, originals_alone(self.copies))
        )
        return outcomes.unionByName(copies).unionByName(alone)

    @cached_property
    def counts(self) -> dict[str, int]:
        """The counts as in `benzer.results.Duplicates.counts`, in one job.

        pairs: including those of copies and their originals. removed: as duplicates of another document of the run.
        """
        from pyspark.sql import functions as F

        # Each copy is a pair with its original; known copies have no row in `copies`.
        copies = self.copied.select(
            F.lit(None).cast("int").alias("kind"), F.lit(None).cast("bigint").alias("right")
        )
        rows = (
            self.decided.select("kind", "right", F.lit(False).alias("same"), F.lit(0).alias("copy"))
            .unionByName(self.copies.select("kind", "right", "same", F.lit(0).alias("copy")))
            .unionByName(copies.select("*", F.lit(False).alias("same"), F.lit(1).alias("copy")))
        )
        removed = F.col("kind") == REMOVED
        item = rows.agg(
            F.count_if((F.col("kind") == PAIR) | (F.col("copy") == 1)).alias("pairs"),
            F.count_if(removed).alias("removed"),
            F.count_if(removed & F.col("same")).alias("identical"),
            F.countDistinct(F.when(removed, F.col("right"))).alias("clusters"),
        ).first()
        counts = {name: int(item[name]) for name in ("pairs", "removed", "identical", "clusters")}
        return {**counts, "near": counts["removed"] - counts["identical"]}


def _of_blocks(run: Any, stages: Any, documents: Any, blocked: Any, members: DataFrame) -> DataFrame:
    """The rows of `FOUND` of all blocks."""
    reader = Reader(run.settings.schema, run.keep.rule == "longest")
    judge = Judge(run.threshold, run.keep)
    whole, cut = members.filter("whole"), members.filter("not whole")

    def of_whole() -> DataFrame:
        pairs = _pairs_of(blocked, whole) if blocked.cut else blocked.pairs
        parcels = parcelled(run, documents, whole.drop("whole"), pairs, blocked.documents)
        return parcels.rows.mapInArrow(ArrowTask(Whole(reader, judge, parcels.open)), run.typed(DECIDED))

    outcomes = stages.keep("decided", of_whole)
    if not blocked.cut:
        return outcomes
    parts = Cut(run, stages, documents, reader, judge)
    return outcomes.unionByName(parts.decide(cut.drop("whole"), _pairs_of(blocked, cut), blocked.documents))


def _pairs_of(blocked: Any, members: DataFrame) -> DataFrame:
    """The pairs of the blocks of some members."""
    return blocked.pairs.join(members.select("block").distinct(), "block", "left_semi")
