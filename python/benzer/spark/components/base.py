"""How do numbers become positions, and tables come here and go back? What all ways of finding components share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer._native import components
from benzer.spark.frames import DataFrame
from benzer.spark.session import from_arrow, to_arrow

Numbers = NDArray[np.int64]
AT_ONCE = 2_000_000
"""Rows handed back in one table: 48 MB of three numbers, below the 64 MB from which Spark Connect stores a table apart,
and the 128 MB that one of its messages may have."""
TASK_BYTES = 8 << 20


def collected(edges: DataFrame) -> tuple[Numbers, Numbers]:
    """The ends of all edges (int64 each), here."""
    table = to_arrow(edges.select("left", "right"))
    return table.column("left").to_numpy(), table.column("right").to_numpy()


def tied(left: Numbers, right: Numbers) -> tuple[Numbers, NDArray[np.uint32]]:
    """The numbers that occur, ascending, and for each the position of the least that it hangs together with."""
    numbers, left_at, right_at = compacted(left, right)
    return numbers, components(len(numbers), left_at, right_at)


def compacted(left: Numbers, right: Numbers) -> tuple[Numbers, NDArray[np.uint32], NDArray[np.uint32]]:
    """The numbers that occur, ascending, and the position of each end among them."""
    numbers, inverse = np.unique(np.concatenate((left, right)), return_inverse=True)
    at: NDArray[np.uint32] = inverse.astype(np.uint32)
    return numbers, at[: len(left)], at[len(left) :]


def handed_back(run: Any, table: Any) -> DataFrame:
    """An Arrow table as a DataFrame, in as many messages as it takes."""
    parts = [table.slice(start, AT_ONCE) for start in range(0, max(table.num_rows, 1), AT_ONCE)]
    frame = from_arrow(run.spark, parts[0])
    for part in parts[1:]:
        frame = frame.unionAll(from_arrow(run.spark, part))
    # It comes in a task for each few thousand rows, and tasks carry theirs with them.
    return frame.coalesce(max(tasks(run), -(-table.nbytes // TASK_BYTES)))


def tasks(run: Any) -> int:
    """How many tasks a shuffle has, where the number must not change on the way."""
    asked = run.work.partitions or run.spark.conf.get("spark.sql.shuffle.partitions")
    return (
        int(asked) if str(asked).isdigit() else 200
    )  # "auto", on some platforms: then what Spark itself begins with
