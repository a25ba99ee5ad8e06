"""Large buckets, whose pairs are not all listed because they exceed the limit."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


def _no_members() -> NDArray[np.uint32]:
    return np.empty(0, dtype=np.uint32)


def _no_ends() -> NDArray[np.int64]:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class LargeBuckets:
    """Buckets above the limit, by position. Their pairs are not listed; see `benzer.families`.

    Attributes:
        members: The documents of one bucket after the other (uint32), ascending within each.
        ends: The end of each bucket in `members` (int64).

    >>> large = LargeBuckets(np.array([0, 2, 3, 1, 3], dtype=np.uint32), np.array([3, 5]))
    >>> len(large), [bucket.tolist() for bucket in large.each()]
    (2, [[0, 2, 3], [1, 3]])
    """

    members: NDArray[np.uint32] = field(default_factory=_no_members, repr=False)
    ends: NDArray[np.int64] = field(default_factory=_no_ends, repr=False)

    def __len__(self) -> int:
        return len(self.ends)

    def each(self) -> list[NDArray[np.uint32]]:
        """The documents of each bucket."""
        return np.split(self.members, self.ends[:-1]) if len(self) else []

    def numbers(self) -> NDArray[np.int64]:
        """The number of the bucket of each entry of `members` (int64)."""
        return np.repeat(np.arange(len(self)), np.diff(self.ends, prepend=0))

    def replaced(self, by: NDArray[np.uint32], without: NDArray[np.bool_]) -> LargeBuckets:
        """Return the buckets with some documents replaced by others.

        Args:
            by: The document for each position (uint32, n); different documents of a bucket stay different.
            without: The documents to leave out afterwards (bool, n).
        """
        members, numbers = by[self.members], self.numbers()
        kept = ~without[members]
        members, numbers = members[kept], numbers[kept]
        order = np.lexsort((members, numbers))
        ends = np.cumsum(np.bincount(numbers, minlength=len(self)))
        return LargeBuckets(members[order], ends.astype(np.int64))

    def share(self, left: NDArray[np.uint32], right: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Return whether the documents of each pair are in one large bucket (bool, one per pair).

        >>> large = LargeBuckets(np.array([0, 2, 3, 1, 3], dtype=np.uint32), np.array([3, 5]))
        >>> large.share(np.array([0, 0], dtype=np.uint32), np.array([2, 1], dtype=np.uint32)).tolist()
        [True, False]
        """
        shared = np.zeros(len(left), dtype=bool)
        if not len(self) or not len(left):
            return shared
        order = np.argsort(self.members, kind="stable")
        members, numbers = self.members[order], self.numbers()[order]
        entries = np.sort(members.astype(np.int64) * len(self) + numbers)
        starts, ends = np.searchsorted(members, left, "left"), np.searchsorted(members, left, "right")
        for step in range(int((ends - starts).max(initial=0))):
            open_ = np.flatnonzero(~shared & (starts + step < ends))
            key = right[open_].astype(np.int64) * len(self) + numbers[starts[open_] + step]
            place = np.minimum(np.searchsorted(entries, key), len(entries) - 1)
            shared[open_] = entries[place] == key
        return shared
