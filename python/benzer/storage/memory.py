"""Storage in memory, in dictionaries and sorted arrays."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer._native import find_postings
from benzer.errors import StorageError, StoreFormatError
from benzer.storage.base import (
    UNKNOWN_POSTING,
    DocumentId,
    Keys,
    Numbers,
    Pairs,
    StoredBatch,
    check_room,
    checked_batch,
    checked_id,
    checked_keys,
    checked_time,
    checked_times,
    last_of_each,
    missing_number,
)
from benzer.storage.postings import PostingPieces, Postings, bucket_sizes

_PORTION = 262_144  # postings that are counted at a time
_PURGE_AT = 1000  # do not rewrite the postings for fewer removed documents than this


class MemoryStorage:
    """A storage in memory: nothing is written, `commit` only ends the changes that `rollback` undoes.

    >>> storage = MemoryStorage("{}")
    >>> storage.add(["a"], [b"payload"], np.array([[1, 2]], np.uint64)).tolist()
    [0]
    >>> rows, numbers = storage.candidates(np.array([[7, 2]], np.uint64))
    >>> storage.ids(numbers)
    ['a']
    """

    def __init__(self, settings: str) -> None:
        self._settings = settings
        self._lock = threading.RLock()
        self._closed = False
        self._numbers: dict[DocumentId, int] = {}
        self._documents: dict[int, tuple[DocumentId, bytes]] = {}
        self._postings = PostingPieces()
        self._next_number = 0
        self._removed: dict[int, tuple[DocumentId, bytes] | None] = {}  # those not yet purged
        self._added: list[int] = []  # since the last commit
        self._dropped: list[int] = []  # since the last commit, added before it
        self._times = SeenTimes()
        self._undone = 0

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    def settings(self) -> str:
        """The settings text given at creation."""
        return self._settings

    def add(self, ids: Sequence[DocumentId], payloads: Sequence[bytes], keys: Keys, seen: int = 0) -> Numbers:
        """Add documents; see Storage.add."""
        ids, payloads, keys = checked_batch(ids, payloads, keys)
        keep, seen = last_of_each(ids), checked_time(seen)
        with self.snapshot():
            check_room(self._next_number, len(keep))
            if keep:
                self._times.arrive(self._next_number, seen)
            self._drop([ids[position] for position in keep])
            numbers = np.arange(self._next_number, self._next_number + len(keep))
            self._next_number += len(keep)
            for position, number in zip(keep, numbers.tolist(), strict=True):
                self._numbers[ids[position]] = number
                self._documents[number] = (ids[position], payloads[position])
            self._added.extend(numbers.tolist())
            self._postings.add(Postings.of_documents(keys[keep], numbers))
            return np.array([self._numbers[document_id] for document_id in ids], np.int64)

    def _drop(self, ids: Sequence[DocumentId]) -> int:
        count = 0
        for document_id in ids:
            number = self._numbers.pop(document_id, None)
            if number is not None:
                self._removed[number] = self._documents.pop(number)
                self._dropped.append(number)
                count += 1
        return count

    def remove(self, ids: Sequence[DocumentId]) -> int:
        """Remove documents; see Storage.remove."""
        ids = [checked_id(document_id) for document_id in ids]
        with self.snapshot():
            return self._drop(ids)

    def touch(self, ids: Sequence[DocumentId], seen: Sequence[int] | Numbers) -> int:
        """Record when documents were seen; see Storage.touch."""
        latest = checked_times(ids, seen)
        with self.snapshot():
            times = {
                self._numbers[document_id]: second
                for document_id, second in latest.items()
                if document_id in self._numbers
            }
            if times:
                self._times.begin(max(times.values()))
                self._times.touch(times, times.values())
            return len(times)

    def last_seen(self, numbers: Sequence[int] | Numbers) -> Numbers:
        """Return when documents were last seen; see Storage.last_seen."""
        with self.snapshot():
            return self._times.of(map(int, numbers))

    def unseen(self, before: int) -> list[DocumentId]:
        """Return the ids of documents last seen before a second; see Storage.unseen."""
        with self.snapshot():
            numbers = sorted(self._documents)
            times = self._times.of(numbers)
            late = np.flatnonzero((times > 0) & (times < before)).tolist()
            return [self._documents[numbers[position]][0] for position in late]

    def stored(self, numbers: Sequence[int] | Numbers) -> npt.NDArray[np.bool_]:
        """Return which document numbers are stored."""
        with self.snapshot():
            return np.array([int(number) in self._documents for number in numbers], np.bool_)

    def candidates(self, keys: Keys) -> Pairs:
        """Return (row, number) of the documents that share a key; see Storage.candidates."""
        keys = checked_keys(keys)
        with self.snapshot():
            row, number = find_postings(keys, self._postings.pieces)
            if not self._removed:
                return row, number
            kept = np.fromiter((n not in self._removed for n in number.tolist()), np.bool_, len(number))
            return row[kept], number[kept]

    def _document(self, number: int) -> tuple[DocumentId, bytes]:
        try:
            return self._documents[number]
        except KeyError:
            raise missing_number(number) from None

    def payloads(self, numbers: Sequence[int] | Numbers) -> list[bytes]:
        """Return the payloads of documents, in the given order."""
        with self.snapshot():
            return [self._document(int(number))[1] for number in numbers]

    def ids(self, numbers: Sequence[int] | Numbers) -> list[DocumentId]:
        """Return the ids of documents, in the given order."""
        with self.snapshot():
            return [self._document(int(number))[0] for number in numbers]

    def documents(self, numbers: Sequence[int] | Numbers) -> tuple[list[DocumentId], list[bytes]]:
        """Return the ids and the payloads of documents, in the given order."""
        with self.snapshot():
            try:
                documents = [self._documents[number] for number in np.asarray(numbers).tolist()]
            except KeyError as missing:
                raise missing_number(missing.args[0]) from None
        return [document_id for document_id, _ in documents], [payload for _, payload in documents]

    def numbers(self, ids: Sequence[DocumentId]) -> Numbers:
        """Return the numbers of documents, in the given order; -1 for an unknown id."""
        ids = [checked_id(document_id) for document_id in ids]
        with self.snapshot():
            return np.array([self._numbers.get(document_id, -1) for document_id in ids], np.int64)

    def contains(self, ids: Sequence[DocumentId]) -> npt.NDArray[np.bool_]:
        """Return which of the ids are stored."""
        return self.numbers(ids) >= 0

    def iterate(self, batch_size: int = 1000, after: int = -1) -> Iterator[StoredBatch]:
        """Yield all documents by number, in batches; see Storage.iterate."""
        with self.snapshot():
            if after >= self._next_number - 1:
                return
            numbers = sorted(number for number in self._documents if number > after)
        for start in range(0, len(numbers), batch_size):
            with self.snapshot():
                present = [
                    number for number in numbers[start : start + batch_size] if number in self._documents
                ]
                documents = [self._documents[number] for number in present]
            if present:
                yield StoredBatch(
                    np.array(present, np.int64), [i for i, _ in documents], [p for _, p in documents]
                )

    def bucket_sizes(self) -> dict[int, int]:
        """Return the number of buckets of each size; see Storage.bucket_sizes."""
        with self.snapshot():
            pieces, removed = list(self._postings.pieces), np.array(sorted(self._removed), np.int64)
            count = -(-sum(len(piece.keys) for piece in pieces) // _PORTION)
        bounds = [(number << 64) // max(1, count) for number in range(max(1, count) + 1)]
        return bucket_sizes(
            Postings.merged([piece.between(low, high) for piece in pieces]).without(removed)
            for low, high in pairwise(bounds)
        )

    def snapshot(self) -> AbstractContextManager[None]:
        """Make other threads wait, so that all reads in the block see one state."""
        return _Snapshot(self)

    def __len__(self) -> int:
        with self.snapshot():
            return len(self._documents)

    def commit(self) -> None:
        """End the changes that `rollback` undoes; purge postings if half of their documents are removed."""
        with self.snapshot():
            self._times.commit(self._dropped)
            for number in self._dropped:
                self._removed[number] = None
            self._added, self._dropped = [], []
            if len(self._removed) > max(_PURGE_AT, len(self._documents)):
                self._purge()

    def _purge(self) -> None:
        self._postings.purge(np.array(sorted(self._removed), np.int64))
        self._removed = {}

    def rollback(self) -> None:
        """Undo the changes since the last commit; numbers assigned since then are not used again."""
        with self.snapshot():
            self._times.rollback()
            for number in reversed(self._added):
                self._undo_add(number)
            for number in self._dropped:
                document = self._removed.get(number)
                if document is not None:
                    self._documents[number] = document
                    self._numbers[document[0]] = number
                    del self._removed[number]
            self._added, self._dropped = [], []
            self._undone += 1

    def _undo_add(self, number: int) -> None:
        document = self._documents.pop(number, None)
        if document is not None:
            del self._numbers[document[0]]
        self._removed[number] = None  # its postings are still there

    def undone(self) -> int:
        """How often changes were undone; see Storage.undone."""
        return self._undone

    def compact(self) -> None:
        """Commit and purge the postings of all removed documents."""
        with self.snapshot():
            self.commit()
            self._purge()

    def check(self) -> None:
        """Raise StoreFormatError if ids, documents and postings are inconsistent."""
        with self.snapshot():
            known = {document_id: number for number, (document_id, _) in self._documents.items()}
            if known != self._numbers:
                raise StoreFormatError("ids and documents in memory are inconsistent: create the index again")
            for piece in self._postings.pieces:
                for number in np.unique(piece.numbers).tolist():
                    if number not in self._documents and number not in self._removed:
                        raise StoreFormatError(UNKNOWN_POSTING.format(number))

    def close(self) -> None:
        """Free all memory."""
        with self._lock:
            self._closed = True
            self._numbers, self._documents, self._removed = {}, {}, {}
            self._postings = PostingPieces()

    def info(self) -> dict[str, Any]:
        """Return information; `bytes` counts payloads and postings, without the overhead of Python objects."""
        with self.snapshot():
            postings = len(self._postings)
            return {
                "home": "memory",
                "documents": len(self._documents),
                "removed": len(self._removed),
                "postings": postings,
                "runs": len(self._postings.pieces),
                "bytes": 12 * postings + sum(len(payload) for _, payload in self._documents.values()),
            }


class SeenTimes:
    """Seconds since 1970 by document number; changes since the last commit can be undone.

    Documents arrive in order of number, so one mark, (first number, second), applies to all that arrived with it;
    only documents that were seen again have entries of their own.

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
        """Record that documents from `number` on arrive at `second`.

        Documents from before the first known time count as seen then.
        """
        if not self._marks:
            number = 0
        if second != (self._marks[-1][1] if self._marks else 0):
            self._marks.append((number, second))

    def begin(self, second: int) -> None:
        """If no time is known yet, let all documents count as seen at `second`."""
        if not self._marks:
            self.arrive(0, second)

    def touch(self, numbers: Iterable[int], seconds: Iterable[int]) -> None:
        """Record that documents were seen again."""
        for number, second in zip(numbers, seconds, strict=True):
            self._before.setdefault(number, self._again.get(number))
            self._again[number] = max(second, self._again.get(number, 0))

    def of(self, numbers: Iterable[int]) -> Numbers:
        """Return when documents were last seen; 0 if unknown."""
        starts = [number for number, _ in self._marks]
        seconds = []
        for number in numbers:
            positions = bisect_right(starts, number)
            seconds.append(max(self._marks[positions - 1][1] if positions else 0, self._again.get(number, 0)))
        return np.array(seconds, np.int64)

    def commit(self, gone: Iterable[int]) -> None:
        """Keep the recorded times, except for removed documents."""
        for number in gone:
            self._again.pop(number, None)
        self._marks_kept, self._before = len(self._marks), {}

    def rollback(self) -> None:
        """Undo the changes since the last commit."""
        del self._marks[self._marks_kept :]
        for number, second in self._before.items():
            if second is None:
                del self._again[number]
            else:
                self._again[number] = second
        self._before = {}


class _Snapshot:
    """Makes other threads wait; a class, because a search enters it several times and a generator is slower."""

    def __init__(self, storage: MemoryStorage) -> None:
        self._storage = storage

    def __enter__(self) -> None:
        storage = self._storage
        storage._lock.acquire()
        if storage._closed:
            storage._lock.release()
            raise StorageError("this storage is closed: open it again")

    def __exit__(self, *_: object) -> None:
        self._storage._lock.release()
