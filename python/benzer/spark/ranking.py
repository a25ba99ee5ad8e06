"""Which document of a few stays? The rule of the local run, over rows that come from Spark."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.clusters import Keep

PLACED = [("place", "ascending"), ("number", "ascending")]


def placed(table: Any) -> Any:
    """The rows of an Arrow table (or record batch) in the order of the input: by `place`, equal ones by `number`.

    Texts are ordered by their bytes, as Spark orders them.
    """
    import pyarrow.compute as pc

    return table.take(pc.sort_indices(table, sort_keys=PLACED))


def ranks(keep: Keep, rows: Any) -> NDArray[np.uint32]:
    """The place of each row in the keep order (uint32, n), for rows that are `placed`, with `length` and `extra`.

    Rows of several groups may stand one after the other: ranks within one are right where its rows are in order.
    """
    count = rows.num_rows
    lengths = np.zeros(count, dtype=np.uint64)
    if keep.rule == "longest":
        lengths = rows.column("length").fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint64)
    extras: list[bytes | None] = [None] * count
    if keep.column is not None or keep.rule == "source":
        extras = [None if one is None else one.encode() for one in rows.column("extra").to_pylist()]
    places = None
    if keep.rule == "source":  # whose extra is the place of the source in the rule
        places = np.array([int(one or 0) for one in extras], dtype=np.int64)
    return keep.rank(lengths, extras, places)
