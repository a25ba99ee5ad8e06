"""The columns of documents that are decided together, in input order.

A document may also have columns of others with equal content, if they matter:

| columns | document |
|---|---|
| `first`, `first_id`, `first_place` | the first one in the input |
| `as_number`, `as_id`, `as_place`, `as_extra`, `as_length` | the one decided instead, because this one is known |

`buckets`: the numbers of the large buckets of a document, if any.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.buckets import LargeBuckets
from benzer.clusters import Keep, Positions
from benzer.errors import InputError
from benzer.registry import require
from benzer.spark.ranking import PLACED, ranks

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Members:
    """Documents by position, in input order (see `in_order`).

    lengths: the lengths for the rule `longest`. identity: the digest of each content (int64, n x 2).
    """

    table: Any
    lengths: NDArray[np.uint64]
    identity: Numbers

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def numbers(self) -> Numbers:
        """The number of each document."""
        return whole_numbers(self.table.column("number"))

    @cached_property
    def large(self) -> LargeBuckets:
        """The large buckets of these documents."""
        if "buckets" not in self.table.column_names:
            return LargeBuckets()
        buckets = self.table.column("buckets").combine_chunks()
        counts = np.diff(buckets.offsets.to_numpy()) if len(buckets) else np.empty(0, dtype=np.int64)
        position = np.repeat(np.arange(len(buckets), dtype=np.uint32), counts)
        bucket = buckets.flatten().to_numpy()
        order = np.lexsort((position, bucket))
        ends = np.flatnonzero(np.diff(bucket[order], append=np.iinfo(np.int64).min)) + 1
        return LargeBuckets(position[order], ends.astype(np.int64))

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which documents are known: nothing is removed as their duplicate, and no copy is decided in their place."""
        if "known" not in self.table.column_names:
            return np.zeros(len(self), dtype=bool)
        known = self.table.column("known").to_numpy(zero_copy_only=False).astype(bool)
        is_found: NDArray[np.bool_] = known & ~self._replaced
        return is_found

    @cached_property
    def _replaced(self) -> NDArray[np.bool_]:
        if "as_number" not in self.table.column_names:
            return np.zeros(len(self), dtype=bool)
        valid: NDArray[np.bool_] = self.table.column("as_number").is_valid().to_numpy(zero_copy_only=False)
        return valid

    def decided(self, column: str) -> Any:
        """A column (`number`, `id`, `place`, `extra`) of the decided documents."""
        return self._either(f"as_{column}", column)

    def first(self, column: str) -> Any:
        """A column (`number`, `id`, `place`) of the first document in the input with equal content."""
        return self._either("first" if column == "number" else f"first_{column}", column)

    def _either(self, other: str, own: str) -> Any:
        if other not in self.table.column_names:
            return self.table.column(own)
        compute = require("pyarrow.compute", extra="spark", purpose="Arrow batches")
        return compute.coalesce(self.table.column(other), self.table.column(own))

    @cached_property
    def decided_lengths(self) -> NDArray[np.uint64]:
        """The lengths of the decided documents."""
        if "as_length" not in self.table.column_names:
            return self.lengths
        others = self.table.column("as_length").fill_null(0).to_numpy(zero_copy_only=False)
        return np.where(self._replaced, others.astype(np.uint64), self.lengths)

    def positions(self, numbers: Numbers) -> Positions:
        """The positions of documents by number."""
        order = np.argsort(self.numbers, kind="stable")
        places = np.searchsorted(self.numbers, numbers, sorter=order)
        positions = order[np.minimum(places, len(order) - 1)] if len(order) else places
        if len(numbers) and (not len(order) or (self.numbers[positions] != numbers).any()):
            missing = numbers if not len(order) else numbers[self.numbers[positions] != numbers]
            raise InputError(
                f"{len(missing)} documents of candidate pairs were not read again, the first is number "
                f"{missing[0]}: the input changed during the run; run again on a table that does not change"
            )
        return positions.astype(np.uint32)

    def rank(self, keep: Keep) -> Positions:
        """The rank of each document in the keep order (uint32, n)."""
        pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
        columns = {name: self.decided(name) for name in ("place", "number", "extra")}
        lengths = pyarrow.array(self.decided_lengths.astype(np.int64))
        return rank_of(keep, pyarrow.table({**columns, "length": lengths}))


def rank_of(keep: Keep, rows: Any) -> Positions:
    """The rank of each row in the keep order (uint32, n), by `place`, `number`, `extra` and `length`."""
    order = input_order(rows.column("place"), rows.column("number"))
    rank = np.empty(rows.num_rows, dtype=np.uint32)
    rank[order] = ranks(keep, rows.take(order))
    return rank


def in_order(table: Any) -> Any:
    """The distinct documents of a table in input order."""
    numbers = whole_numbers(table.column("number"))
    _, firsts = np.unique(numbers, return_index=True)
    order = input_order(table.column("place"), table.column("number"))
    if len(firsts) < len(numbers):
        once = np.zeros(len(numbers), dtype=bool)
        once[firsts] = True
        order = order[once[order]]
    return table.take(order)


def input_order(places: Any, numbers: Any) -> NDArray[np.int64]:
    """The input order: by place, then by number."""
    pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
    compute = require("pyarrow.compute", extra="spark", purpose="Arrow batches")
    both = pyarrow.table({"place": places, "number": numbers})
    order: NDArray[np.int64] = compute.sort_indices(both, sort_keys=PLACED).to_numpy().astype(np.int64)
    return order


def whole_numbers(column: Any) -> Numbers:
    """A column of integers without nulls as an array (int64)."""
    numbers: Numbers = column.to_numpy().astype(np.int64, copy=False)
    return numbers
