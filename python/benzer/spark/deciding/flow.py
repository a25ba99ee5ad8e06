"""Who is truly alike, and which document stays? Blocks are verified and decided, then their copies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from benzer.spark.deciding.copied import originals_alone, outcomes_of_copies
from benzer.spark.deciding.judging import FOUND, Judge
from benzer.spark.deciding.rounds import Cut
from benzer.spark.deciding.streams import members_with_others, streamed
from benzer.spark.deciding.workers import Reader, Whole
from benzer.spark.frames import OUTCOMES, PAIR, REMOVED, DataFrame


@dataclass(frozen=True)
class Decided:
    """What became of all documents that have a candidate or a copy.

    outcomes: see `frames.OUTCOMES`. A document in no verified pair and without a copy has no row: it stays. Nor has a
    known one, but in pairs.
    counts: pairs (with those of copies and originals), removed (for a document of the run), identical, near, clusters;
    as `benzer.results.Duplicates.counts` has them.
    """

    outcomes: DataFrame
    counts: dict[str, int]


def decide(run: Any, stages: Any, documents: Any, blocked: Any, copied: DataFrame, known: Any) -> Decided:
    """Verify all candidates and decide who stays, as a local run does: similarities are equal to the last bit.

    Verification begins with what bounds a similarity for nothing, and that is done natively. A bound by signatures would
    lose pairs: they estimate.
    """
    numbers = None if known is None else known.numbers
    places = source_places(run, documents)
    found = _of_blocks(
        run, stages, documents, blocked, members_with_others(run, blocked.members, copied, numbers), places
    )
    copies = stages.keep("decided-copies", partial(outcomes_of_copies, run, copied, found, numbers, places))
    columns = [one.split()[0] for one in OUTCOMES.split(", ")]
    parts = (found, copies, originals_alone(copies))
    outcomes = parts[0].select(*columns)
    for part in parts[1:]:
        outcomes = outcomes.unionByName(part.select(*columns))
    return Decided(outcomes, _counts(found, copies, copied if numbers is not None else None))


def source_places(run: Any, documents: Any) -> tuple[int, ...]:
    """For a rule `source` the place of each source, by its number."""
    return tuple(run.keep.source_places(documents.sources)) if run.keep.rule == "source" else ()


def _of_blocks(
    run: Any, stages: Any, documents: Any, blocked: Any, members: DataFrame, places: tuple[int, ...]
) -> DataFrame:
    """The rows of `FOUND` of all blocks."""
    reader = Reader(run.settings.schema, run.keep.rule == "longest")
    judge = Judge(run.threshold, run.keep, places)

    def whole() -> DataFrame:
        part, pairs = members.filter("whole"), blocked.pairs
        if blocked.cut:
            pairs = pairs.join(part.select("block").distinct(), "block", "left_semi")
        rows = streamed(run, documents.wanted(part, count=blocked.documents), pairs, "block")
        return rows.mapInArrow(Whole(reader, judge), run.typed(FOUND))

    found = stages.keep("decided", whole)
    if not blocked.cut:
        return found
    part = members.filter("not whole")
    pairs = blocked.pairs.join(part.select("block").distinct(), "block", "left_semi")
    return found.unionByName(Cut(run, stages, documents, reader, judge).decide(part, pairs))


def _counts(found: DataFrame, copies: DataFrame, copied: DataFrame | None) -> dict[str, int]:
    """All counts at once; `copied` where not every copy has a row."""
    from pyspark.sql import functions as F

    rows = found.select("kind", "right", F.lit(False).alias("same"), F.lit(False).alias("copy")).unionByName(
        copies.select("kind", "right", "same", F.lit(True).alias("copy"))
    )
    removed = F.col("kind") == REMOVED
    one = rows.agg(
        F.count_if(F.col("kind") == PAIR).alias("pairs"),
        F.count_if("copy").alias("copies"),
        F.count_if(removed).alias("removed"),
        F.count_if(removed & F.col("same")).alias("identical"),
        F.countDistinct(F.when(removed, F.col("right"))).alias("clusters"),
    ).first()
    copies_of_all = one.copies if copied is None else copied.count()
    return {
        "pairs": one.pairs + copies_of_all,
        "removed": one.removed,
        "identical": one.identical,
        "near": one.removed - one.identical,
        "clusters": one.clusters,
    }
