"""Which documents hang together? Three ways with one answer, chosen by the size of the graph.

| way | up to | holds |
|---|---|---|
| `driver` | `Work.driver_pairs` edges | all edges, on the driver |
| `forests` | `Work.forest_nodes` numbers | a spanning forest of all numbers, in one task |
| `stars` | any size | edges only, none of them in one place |

A component is named by its least number, in the order of signed 64-bit integers.
"""

from __future__ import annotations

from typing import Any, Literal

from benzer.spark.components.driver import on_driver
from benzer.spark.components.forests import by_forests
from benzer.spark.components.stars import by_stars
from benzer.spark.frames import DataFrame

Way = Literal["driver", "forests", "stars"]


def components(
    run: Any, stages: Any, edges: DataFrame, count: int | None = None, name: str = "components"
) -> DataFrame:
    """The columns number and component (bigint each) of every number at an end of an edge.

    edges: columns left and right, not equal; an edge may occur twice. count: how many there are, or at most; None
    counts them. name: of the stages in which the result is kept, where it is not found again at once.
    """
    count = edges.count() if count is None else count
    way = way_of(run, count, edges)
    if way == "driver":
        return on_driver(run, edges)
    return stages.keep(
        name, lambda: by_forests(run, edges) if way == "forests" else by_stars(stages, edges, name)
    )


def way_of(run: Any, count: int, edges: DataFrame) -> Way:
    """How that many edges are grouped; their numbers are counted only if they might be too many for one task."""
    if count <= run.work.driver_pairs:
        return "driver"
    # twice as many numbers as edges at most
    if 2 * count <= run.work.forest_nodes or _numbers(edges) <= run.work.forest_nodes:
        return "forests"
    return "stars"


def _numbers(edges: DataFrame) -> int:
    from pyspark.sql import functions as F

    return int(edges.select(F.explode(F.array("left", "right")).alias("number")).distinct().count())
