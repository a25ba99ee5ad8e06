"""The keep order of rows from Spark, by the rule of the local run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.clusters import Keep

PLACED = [("place", "ascending"), ("number", "ascending")]


def placed(table: Any) -> Any:
    """The rows of an Arrow table (or record batch) in input order: by `place`, equal ones by `number`.

    Texts are sorted by their bytes, as in Spark.
    """
    import pyarrow.compute as pc

    return table.take(pc.sort_indices(table, sort_keys=PLACED))


def ranks(keep: Keep, rows: Any) -> NDArray[np.uint32]:
    """The rank of each row in the keep order (uint32, n), for `placed` rows with `length` and `extra`.

    Rows of several groups may be concatenated: ranks within a group are correct if its rows are in order.
    """
    count = rows.num_rows
    lengths = np.zeros(count, dtype=np.uint64)
    if keep.rule == "longest":
        lengths = rows.column("length").fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint64)
    extras: list[bytes | None] = [None] * count
    if keep.column is not None or keep.rule == "source":
        extras = [None if item is None else item.encode() for item in rows.column("extra").to_pylist()]
    places = None
    if keep.rule == "source":  # extra is the place of the source in the rule
        places = np.array([int(extra or 0) for extra in extras], dtype=np.int64)
    return keep.rank(lengths, extras, places)
