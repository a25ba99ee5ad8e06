"""Complete groups of a sorted stream, several at a time, in the memory of a few batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from benzer.registry import require

GATHERED_BYTES = 32 << 20
"""Minimum bytes of groups that are processed together: components are independent, and one native call handles all."""


def whole_groups(batches: Iterable[Any], column: str, most: int = GATHERED_BYTES) -> Iterator[Any]:
    """Tables of complete groups: consecutive rows with equal `column` (bigint).

    A table ends with the last group that starts within `most` bytes and has at least one group. Groups are never
    divided, so the memory is `most`, a batch and the longest group.
    """
    pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
    pending: list[Any] = []
    size, last = 0, None
    for batch in batches:
        if not batch.num_rows:
            continue
        groups = batch.column(column).to_numpy(zero_copy_only=False)
        if size + batch.nbytes >= most:
            start = _last_group(groups)
            if start or (pending and groups[0] != last):
                yield pyarrow.Table.from_batches([*pending, batch.slice(0, start)])
                pending, size, batch = [], 0, batch.slice(start)
        pending.append(batch)
        size += batch.nbytes
        last = groups[-1]
    if pending:
        yield pyarrow.Table.from_batches(pending)


def _last_group(groups: Any) -> int:
    """The start of the last group of some rows.

    >>> _last_group(np.array([3, 3, 5, 8, 8]))
    3
    """
    changes = np.flatnonzero(np.diff(groups))
    return int(changes[-1]) + 1 if len(changes) else 0
