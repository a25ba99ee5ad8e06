"""Connected components of documents, by three methods with the same result, chosen by the size of the graph.

| method | up to | holds |
|---|---|---|
| `driver` | `Work.driver_pairs` edges | all edges, on the driver |
| `forests` | `Work.forest_nodes` numbers | a spanning forest of all numbers, in one task |
| `stars` | any size | edges only, distributed |

A component is named by its lowest number, in the order of signed 64-bit integers.
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
    """The columns number and component (bigint each) of every number with an edge.

    edges: columns left and right, not equal; an edge may occur twice. count: the number of edges or an upper bound;
    None to count them. name: the stages in which the result is stored if it is expensive.
    """
    count = edges.count() if count is None else count
    way = way_of(run, count, edges)
    if way == "driver":
        return on_driver(run, edges)
    return stages.keep(
        name, lambda: by_forests(run, edges) if way == "forests" else by_stars(stages, edges, name)
    )


def way_of(run: Any, count: int, edges: DataFrame) -> Way:
    """The method for a number of edges; the nodes are counted only if they might be too many for one task."""
    if count <= run.work.driver_pairs:
        return "driver"
    # at most twice as many numbers as edges
    if 2 * count <= run.work.forest_nodes or _numbers(edges) <= run.work.forest_nodes:
        return "forests"
    return "stars"


def _numbers(edges: DataFrame) -> int:
    from pyspark.sql import functions as F

    return int(edges.select(F.explode(F.array("left", "right")).alias("number")).distinct().count())
