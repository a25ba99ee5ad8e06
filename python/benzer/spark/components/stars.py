"""Components if no task can hold all numbers: alternating large-star and small-star.

R. Kiveris, S. Lattanzi, V. Mirrokni, V. Rastogi, S. Vassilvitskii: Connected Components in MapReduce and Beyond, SoCC
2014. The large-star connects each neighbour above a number to the lowest neighbour of that number (or to the number
itself, if it is lower), the small-star each neighbour below. Components never change, and the number of edges never
grows.

Every edge that a star moves ends lower than before, and none ends higher: if the edges of two rounds are equal, then
nothing was moved. Then no number has two neighbours below it, because the small-star would move one; and none has
both one below and one above, because the large-star would move it. The remaining edges are stars around the lowest
numbers. So the end is known from the edges alone, after any number of rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benzer.errors import SettingsError
from benzer.spark.frames import DataFrame

HEAVY = 1_000_000
"""Number of neighbours from which the lowest neighbour of a number is broadcast to its edges, because a join would move
all of them to one task. There are at most edges / 500,000 such numbers."""


def by_stars(stages: Any, edges: DataFrame, name: str, heavy: int = HEAVY) -> DataFrame:
    """The component of each number that has an edge; each round is a stage of its own."""
    from pyspark.sql import functions as F

    was: dict[str, Any] = {}
    arcs = _kept(stages, f"{name}-0", lambda: _arcs(edges, "left", "right"))
    now = stages.note(f"{name}-0-sum", partial(_sum, arcs))
    turn = 0
    while was != now:
        turn += 1
        was = now
        skewed = heavy if now["edges"] >= heavy else None
        arcs = _kept(stages, f"{name}-{turn}", partial(_turn, arcs, skewed))
        now = stages.note(f"{name}-{turn}-sum", partial(_sum, arcs))
    roots = arcs.select(F.col("low").alias("number")).distinct().withColumn("component", F.col("number"))
    return arcs.select(F.col("high").alias("number"), F.col("low").alias("component")).unionByName(roots)


def _turn(arcs: DataFrame, heavy: int | None) -> DataFrame:
    return small_star(large_star(arcs, heavy), heavy)


def _kept(stages: Any, name: str, make: Callable[[], DataFrame]) -> DataFrame:
    """Cut the plan of a round: each round uses the previous one several times, so plans would grow exponentially."""
    if stages.path is not None:
        return stages.keep(name, make)
    from pyspark.errors import PySparkNotImplementedError

    try:
        return make().localCheckpoint()
    except PySparkNotImplementedError:  # Spark Connect before version 4
        raise SettingsError(
            "this graph is grouped in rounds, which this version of Spark cannot cache: use a checkpoint folder "
            "or a larger Work.forest_nodes"
        ) from None


def large_star(arcs: DataFrame, heavy: int | None) -> DataFrame:
    """Connect each neighbour above a number to the minimum of that number and its neighbours."""
    from pyspark.sql import functions as F

    both = _named(arcs, "high", "low").unionAll(_named(arcs, "low", "high"))
    above = _with_least(both, heavy).where("other > one")
    return above.select(
        F.col("other").alias("high"), F.col("least").alias("low")
    )  # with duplicates, which the small-star removes


def small_star(arcs: DataFrame, heavy: int | None) -> DataFrame:
    """Connect each number and its neighbours below to their minimum."""
    from pyspark.sql import functions as F

    below = _with_least(_named(arcs, "high", "low"), heavy)
    return _arcs(below.select(F.explode(F.array("one", "other")).alias("each"), "least"), "each", "least")


def _named(arcs: DataFrame, item: str, other: str) -> DataFrame:
    from pyspark.sql import functions as F

    return arcs.select(F.col(item).alias("one"), F.col(other).alias("other"))


def _with_least(arcs: DataFrame, heavy: int | None) -> DataFrame:
    """Return each arc (one, other) with the minimum of `one` and all its others."""
    from pyspark.sql import functions as F

    lowest = arcs.groupBy("one").agg(
        F.least(F.col("one"), F.min("other")).alias("least"), F.count("other").alias("others")
    )
    if heavy is None:
        return arcs.join(lowest.select("one", "least"), "one")
    broad = F.broadcast(lowest.where(F.col("others") >= heavy).select("one", "least"))
    narrow = lowest.where(F.col("others") < heavy).select("one", "least")
    # an inner join brings every arc to exactly one of the two
    return arcs.join(broad, "one", "left_anti").join(narrow, "one").unionByName(arcs.join(broad, "one"))


def _arcs(edges: DataFrame, item: str, other: str) -> DataFrame:
    from pyspark.sql import functions as F

    return (
        edges.where(F.col(item) != F.col(other))
        .select(F.greatest(item, other).alias("high"), F.least(item, other).alias("low"))
        .distinct()
    )


def _sum(arcs: DataFrame) -> dict[str, Any]:
    """Return a fingerprint of a set of edges: their number, and the sum of 64-bit hashes as a decimal."""
    from pyspark.sql import functions as F

    hashed = F.xxhash64("high", "low").cast("decimal(38,0)")
    row = arcs.agg(F.count("high").alias("edges"), F.sum(hashed).alias("hashes")).collect()[0]
    return {"edges": row["edges"], "hashes": str(row["hashes"])}
