"""Components if all edges fit on the driver: union-find over compacted numbers."""

from __future__ import annotations

from typing import Any

from benzer.spark.components.base import collected, handed_back, tied
from benzer.spark.frames import DataFrame


def on_driver(run: Any, edges: DataFrame) -> DataFrame:
    """The component of each number that has an edge; the edges are collected."""
    import pyarrow as pa

    numbers, label = tied(*collected(edges))
    return handed_back(run, pa.table({"number": numbers, "component": numbers[label]}))
