"""Shared by all methods: conversion of numbers to positions, and transfer of tables to and from the driver."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer._native import components
from benzer.spark.frames import DataFrame
from benzer.spark.session import from_arrow, to_arrow

Numbers = NDArray[np.int64]
AT_ONCE = 2_000_000
"""Maximum rows of a table sent to Spark: 48 MB of three numbers. Above 64 MB Spark Connect stores a table separately,
and its maximum message size is 128 MB."""
TASK_BYTES = 8 << 20


def collected(edges: DataFrame) -> tuple[Numbers, Numbers]:
    """The ends of all edges (int64 each), on the driver."""
    table = to_arrow(edges.select("left", "right"))
    return table.column("left").to_numpy(), table.column("right").to_numpy()


def tied(left: Numbers, right: Numbers) -> tuple[Numbers, NDArray[np.uint32]]:
    """The occurring numbers, ascending, and for each the position of the lowest number of its component."""
    numbers, left_at, right_at = compacted(left, right)
    return numbers, components(len(numbers), left_at, right_at)


def compacted(left: Numbers, right: Numbers) -> tuple[Numbers, NDArray[np.uint32], NDArray[np.uint32]]:
    """The occurring numbers, ascending, and the position of each end among them."""
    numbers, inverse = np.unique(np.concatenate((left, right)), return_inverse=True)
    positions: NDArray[np.uint32] = inverse.astype(np.uint32)
    return numbers, positions[: len(left)], positions[len(left) :]


def handed_back(run: Any, table: Any) -> DataFrame:
    """An Arrow table as a DataFrame, in as many messages as necessary."""
    parts = [table.slice(start, AT_ONCE) for start in range(0, max(table.num_rows, 1), AT_ONCE)]
    frame = from_arrow(run.spark, parts[0])
    for part in parts[1:]:
        frame = frame.unionAll(from_arrow(run.spark, part))
    # Spark creates a task for every few thousand rows, and tasks carry their rows.
    return frame.coalesce(max(tasks(run), -(-table.nbytes // TASK_BYTES)))


def tasks(run: Any) -> int:
    """The number of tasks of a shuffle if it must not change."""
    partitions = run.work.partitions or run.spark.conf.get("spark.sql.shuffle.partitions")
    return (
        int(partitions) if str(partitions).isdigit() else 200
    )  # "auto" on some platforms: use the default of Spark
