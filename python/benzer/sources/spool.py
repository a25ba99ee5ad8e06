"""Stores the items of an iterator in a temporary file while they are read."""

from __future__ import annotations

import pickle
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from benzer.errors import InputError

TOGETHER = 1_000


class ItemSpool:
    """Items in a temporary file, which can be read again and disappears with this object.

    >>> spool = ItemSpool()
    >>> list(spool.through(iter("abc"))), list(spool), list(spool)
    (['a', 'b', 'c'], ['a', 'b', 'c'], ['a', 'b', 'c'])
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()
        self._fault: Exception | None = None
        weakref.finalize(self, self._file.close)

    def through(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield items, and store each."""
        batch: list[Any] = []
        for item in items:
            batch.append(item)
            if len(batch) == TOGETHER:
                self._store(batch)
                batch = []
            yield item
        self._store(batch)

    def __iter__(self) -> Iterator[Any]:
        if self._fault is not None:
            raise InputError(
                f"the items of the iterator cannot be stored ({self._fault}): use a list instead"
            )
        self._file.seek(0)
        while True:
            try:
                batch = pickle.load(self._file)  # noqa: S301 (written above)
            except EOFError:
                return
            place = self._file.tell()
            yield from batch
            self._file.seek(place)

    def _store(self, batch: list[Any]) -> None:
        if self._fault is not None:
            return
        try:
            pickle.dump(batch, self._file, protocol=pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            self._fault = error
