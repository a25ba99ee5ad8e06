"""Last-seen times of the documents of a storage in memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

import numpy as np

from benzer.storage.base import Numbers


class SeenTimes:
    """Seconds since 1970 by document number, with an undo of what came since the last commit.

    Documents come in order of number, so one mark, (first number, second), tells it of all that came with it; only
    what was seen again has an entry of its own.

    >>> times = SeenTimes()
    >>> times.arrive(0, 100)
    >>> times.arrive(5, 200)
    >>> times.touch([2], [300])
    >>> times.of([0, 2, 5]).tolist()
    [100, 300, 200]
    """

    def __init__(self) -> None:
        self._marks: list[tuple[int, int]] = []
        self._again: dict[int, int] = {}
        self._marks_kept = 0
        self._before: dict[int, int | None] = {}

    def arrive(self, number: int, second: int) -> None:
        """Documents from `number` on come at `second`; those before the first known time count as seen then."""
        if not self._marks:
            number = 0
        if second != (self._marks[-1][1] if self._marks else 0):
            self._marks.append((number, second))

    def begin(self, second: int) -> None:
        """Where no time is known yet, all documents count as seen at `second`."""
        if not self._marks:
            self.arrive(0, second)

    def touch(self, numbers: Iterable[int], seconds: Iterable[int]) -> None:
        """Documents were seen again."""
        for number, second in zip(numbers, seconds, strict=True):
            self._before.setdefault(number, self._again.get(number))
            self._again[number] = max(second, self._again.get(number, 0))

    def of(self, numbers: Iterable[int]) -> Numbers:
        """When documents were last seen; 0 where that is not known."""
        starts = [number for number, _ in self._marks]
        found = []
        for number in numbers:
            at = bisect_right(starts, number)
            found.append(max(self._marks[at - 1][1] if at else 0, self._again.get(number, 0)))
        return np.array(found, np.int64)

    def commit(self, gone: Iterable[int]) -> None:
        """Keep what was noted, but for documents that are gone."""
        for number in gone:
            self._again.pop(number, None)
        self._marks_kept, self._before = len(self._marks), {}

    def rollback(self) -> None:
        """Undo what came since the last commit."""
        del self._marks[self._marks_kept :]
        for number, second in self._before.items():
            if second is None:
                del self._again[number]
            else:
                self._again[number] = second
        self._before = {}
