"""Which rows of a sorted stream stand together? Whole groups, several at a time, in the memory of a few batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from benzer.registry import require

GATHERED_BYTES = 32 << 20
"""From so many bytes on the groups at hand are worked on: components are independent, and one call of the native core
serves them all."""


def whole_groups(batches: Iterable[Any], column: str, most: int = GATHERED_BYTES) -> Iterator[Any]:
    """Tables of whole groups: rows of equal `column` (bigint), which come one after the other.

    A table has the last group that begins before `most` bytes are full, and at least one: a group is never cut, so
    that what is held is `most`, a batch and the longest group.
    """
    pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
    held: list[Any] = []
    size, last = 0, None
    for batch in batches:
        if not batch.num_rows:
            continue
        groups = batch.column(column).to_numpy(zero_copy_only=False)
        if size + batch.nbytes >= most:
            start = _last_group(groups)
            if start or (held and groups[0] != last):
                yield pyarrow.Table.from_batches([*held, batch.slice(0, start)])
                held, size, batch = [], 0, batch.slice(start)
        held.append(batch)
        size += batch.nbytes
        last = groups[-1]
    if held:
        yield pyarrow.Table.from_batches(held)


def _last_group(groups: Any) -> int:
    """Where the last group of some rows begins.

    >>> _last_group(np.array([3, 3, 5, 8, 8]))
    3
    """
    changes = np.flatnonzero(np.diff(groups))
    return int(changes[-1]) + 1 if len(changes) else 0
