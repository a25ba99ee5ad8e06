"""The interface of a storage for documents and band keys.

A storage knows nothing of texts or signatures. It holds *documents*: an id the user chose (`str` or `int`,
1 and "1" are two ids), a payload (bytes it does not read) and the document's band keys (uint64). Inside, each
document has a number, given in order of arrival and never used again. Every call takes and gives batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from benzer.errors import InputError, StorageError, StoreFormatError

MAKE_ONE = "create one with benzer index, or in Python with settings and mode='write'"
"""What helps who opens an index that is not there."""

DocumentId = str | int
Keys = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Pairs = tuple[Numbers, Numbers]

NO_KEY = np.uint64(2**64 - 1)
"""The band key of a document without shingles: it is never stored and never found."""

MAX_DOCUMENTS = 2**32
"""Postings hold a document's number in 32 bits."""


class StoredBatch(NamedTuple):
    """Some documents, in order of arrival: `numbers` int64[n], and n `ids` and `payloads`."""

    numbers: Numbers
    ids: list[DocumentId]
    payloads: list[bytes]


class Storage(Protocol):
    """The contract that every home keeps; `tests/contracts/test_storage.py` holds each to it.

    The first change opens a transaction, `commit` makes all changes since durable and visible to others,
    `rollback` undoes them. The storage that wrote them sees its own changes at once. Input that is refused
    changes nothing; a change that fails otherwise (a full disk, say) undoes the whole transaction. All
    methods may be called from any thread; a storage without uncommitted changes can be pickled, and a fork
    may use it.
    """

    def settings(self) -> str:
        """The settings text given when the storage was created; storage does not read it."""

    def add(self, ids: Sequence[DocumentId], payloads: Sequence[bytes], keys: Keys, seen: int = 0) -> Numbers:
        """Add documents with their band keys (uint64, n × bands) and give their numbers.

        A document whose id is held already replaces the old one, and gets a new number; within one batch the
        last of equal ids counts. A batch with a fault is refused as a whole. `seen`: when they were seen, in
        seconds since 1970; 0 where that is not known.
        """

    def remove(self, ids: Sequence[DocumentId]) -> int:
        """Remove documents; ids that are not held are passed over. Gives how many were removed."""

    def touch(self, ids: Sequence[DocumentId], seen: Sequence[int] | Numbers) -> int:
        """Note that documents were seen at some seconds since 1970; an earlier time than is known changes nothing.

        Ids that are not held are passed over. Gives how many of the different ids are held.
        """

    def last_seen(self, numbers: Sequence[int] | Numbers) -> Numbers:
        """When documents that are held were last seen (int64, seconds since 1970), 0 where that is not known.

        Documents that an earlier version of Benzer added count as seen when the first time is written. The
        times are the newest that were committed, also within a snapshot.
        """

    def unseen(self, before: int) -> list[DocumentId]:
        """The ids of documents last seen before a second, in order of arrival; not those whose time is unknown."""

    def held(self, numbers: Sequence[int] | Numbers) -> npt.NDArray[np.bool_]:
        """Which document numbers are held."""

    def candidates(self, keys: Keys) -> Pairs:
        """For each row of `keys` (uint64, m × bands) the documents that share at least one of its keys.

        Two int64 arrays of equal length, (row, number), sorted, each pair once. No bucket is cut short.
        """

    def payloads(self, numbers: Sequence[int] | Numbers) -> list[bytes]:
        """The payloads of documents, in the order asked; a number that is not held is a StorageError."""

    def ids(self, numbers: Sequence[int] | Numbers) -> list[DocumentId]:
        """The ids of documents, in the order asked; a number that is not held is a StorageError."""

    def documents(self, numbers: Sequence[int] | Numbers) -> tuple[list[DocumentId], list[bytes]]:
        """`ids` and `payloads` at once."""

    def numbers(self, ids: Sequence[DocumentId]) -> Numbers:
        """The numbers of documents, in the order asked; -1 for an id that is not held."""

    def contains(self, ids: Sequence[DocumentId]) -> npt.NDArray[np.bool_]:
        """Which of the ids are held."""

    def iterate(self, batch_size: int = 1000, after: int = -1) -> Iterator[StoredBatch]:
        """All documents held when the walk begins, by number (order of arrival), in batches.

        With `after` only those of a greater number.
        A document removed on the way is left out from then on; one that is added on the way does not appear.
        """

    def bucket_sizes(self) -> dict[int, int]:
        """How many buckets there are of each size: {documents under one key: keys with so many}.

        Exact, removed documents do not count, and a key that no document has left is no bucket. Every key counts
        under which documents were added: of an index that files passages also those of passages. Reads all
        postings, a portion at a time; other threads wait meanwhile, so open the storage once more for it.
        """

    def snapshot(self) -> AbstractContextManager[None]:
        """Within this block all reads see one and the same state, whatever other processes commit."""

    def __len__(self) -> int:
        """How many documents are held."""

    def commit(self) -> None:
        """Make the changes since the last commit durable, together."""

    def rollback(self) -> None:
        """Undo the changes since the last commit."""

    def undone(self) -> int:
        """How often changes of this object were undone, by `rollback` or by a failure.

        Who keeps what was read within a transaction sees by it, within `snapshot`, that it may hold no more.
        """

    def compact(self) -> None:
        """Commit, then rewrite the storage in its smallest and fastest shape."""

    def check(self) -> None:
        """Read everything and raise StoreFormatError at the first thing that does not fit."""

    def close(self) -> None:
        """Let go of the storage; changes that were not committed are undone. A second call does nothing."""

    def info(self) -> dict[str, Any]:
        """Facts and figures: `home`, `documents`, `postings`, `runs`, `bytes` and more.

        `removed` counts removed documents whose postings are not yet purged.
        """


def checked_id(document_id: DocumentId) -> DocumentId:
    """The id as a plain `str` or `int`.

    >>> checked_id("a"), checked_id(7)
    ('a', 7)
    >>> checked_id(True)
    Traceback (most recent call last):
    benzer.errors.InputError: a document id must be a str or an int, got bool True
    """
    if type(document_id) is str or type(document_id) is int:
        return document_id
    given: object = document_id  # callers without a type checker may give anything
    if isinstance(given, str):
        return str(given)
    if isinstance(given, int) and not isinstance(given, bool):
        return int(given)
    raise InputError(f"a document id must be a str or an int, got {type(given).__name__} {given!r}")


def checked_batch(
    ids: Sequence[DocumentId], payloads: Sequence[bytes], keys: Keys
) -> tuple[list[DocumentId], list[bytes], Keys]:
    """A batch that is safe to store as a whole: plain ids, bytes, keys of one row a document."""
    if not len(ids) == len(payloads) == len(keys):
        raise InputError(
            f"ids, payloads and keys must be of one length, got {len(ids)}, {len(payloads)} and {len(keys)}"
        )
    if wrong := set(map(type, payloads)) - {bytes}:
        raise InputError(f"a payload must be bytes, got {wrong.pop().__name__}")
    plain = list(ids) if set(map(type, ids)) <= {str, int} else [checked_id(one) for one in ids]
    return plain, list(payloads), checked_keys(keys)


def checked_keys(keys: Keys) -> Keys:
    """`keys` as a uint64 array of two dimensions, one row after the other in memory."""
    array: object = keys  # callers without a type checker may give anything
    if not isinstance(array, np.ndarray) or array.dtype != np.uint64 or array.ndim != 2:
        got = f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else type(array).__name__
        raise InputError(f"band keys must be a uint64 array of documents × bands, got {got}")
    return np.ascontiguousarray(keys)


def checked_times(ids: Sequence[DocumentId], seen: Sequence[int] | Numbers) -> dict[DocumentId, int]:
    """The latest second of each id; as many seconds as ids, none below 0 or beyond 2^53.

    >>> checked_times(["a", 1, "a"], [30, 20, 10])
    {'a': 30, 1: 20}
    """
    if len(ids) != len(seen):
        raise InputError(f"ids and times must be of one length, got {len(ids)} and {len(seen)}")
    latest: dict[DocumentId, int] = {}
    for document_id, second in zip(map(checked_id, ids), seen, strict=True):
        latest[document_id] = max(checked_time(int(second)), latest.get(document_id, 0))
    return latest


def checked_time(second: int) -> int:
    """A time as whole seconds since 1970."""
    if not 0 <= second < 2**53:
        raise InputError(f"a time must be from 0 to 2^53 seconds since 1970, got {second}")
    return second


def last_of_each(ids: Sequence[DocumentId]) -> list[int]:
    """The positions of the last of equal ids, ascending.

    >>> last_of_each(["a", "b", "a", 1, "1"])
    [1, 2, 3, 4]
    """
    return sorted({document_id: position for position, document_id in enumerate(ids)}.values())


def check_room(next_number: int, wanted: int) -> None:
    """Refuse to give out numbers that postings cannot hold."""
    if next_number + wanted > MAX_DOCUMENTS:
        raise StorageError(
            f"a storage gives out {MAX_DOCUMENTS} document numbers in total; {next_number} are used and "
            f"{wanted} more are required: split the collection over several indexes"
        )


def missing_number(number: int) -> StorageError:
    """What to raise for a document number that is not held."""
    return StorageError(f"document number {number} no longer exists: search for candidates again")


def uncommitted(place: object, changes: int) -> StorageError:
    """Return the error for a storage with changes that cannot be pickled."""
    return StorageError(f"{place} has {changes} uncommitted changes: commit before pickling")


def read_only(place: object) -> StorageError:
    """Return the error for a change of a storage that was opened for reading."""
    return StorageError(f"{place} was opened with mode='read': open it with mode='write'")


def within_snapshot() -> StorageError:
    """Return the error for a change within a snapshot."""
    return StorageError("a snapshot is read-only: make changes outside of it")


def check_format(place: object, version: int, newest: int) -> None:
    """Refuse an index of a newer format than this version of Benzer reads."""
    if version > newest:
        raise StoreFormatError(
            f"{place} has index format {version}, this version of benzer reads up to {newest}: upgrade benzer"
        )


UNKNOWN_POSTING = "a posting names document {}, which is not held"
WRONG_COUNT = "there are {} documents, its state says {}"
"""Descriptions of damage, which the storages report with their place."""
