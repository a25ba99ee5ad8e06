"""The interface of a storage for documents and band keys.

A storage does not interpret texts or signatures. It stores *documents*: an id chosen by the user (`str` or `int`; 1
and "1" are two ids), a payload (bytes that it does not read) and the document's band keys (uint64). Internally each
document has a number, assigned in order of arrival and never used again. Every call accepts and returns batches.
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
    """The contract of every storage; `tests/contracts/test_storage.py` tests all of them.

    The first change opens a transaction, `commit` makes all changes since then durable and visible to others,
    `rollback` undoes them. The storage that wrote them sees its own changes at once. Rejected input changes nothing;
    a change that fails otherwise (e.g. on a full disk) undoes the whole transaction. All methods may be called from
    any thread; a storage without uncommitted changes can be pickled, and a fork may use it.
    """

    def settings(self) -> str:
        """The settings text given when the storage was created; storage does not read it."""

    def add(self, ids: Sequence[DocumentId], payloads: Sequence[bytes], keys: Keys, seen: int = 0) -> Numbers:
        """Add documents with their band keys (uint64, n × bands) and return their numbers.

        A document replaces a stored one with the same id, and gets a new number; within one batch the last of equal
        ids is used. An invalid batch is rejected as a whole.

        Args:
            ids: Ids of the documents.
            payloads: Content of the documents.
            keys: Band keys.
            seen: When they were seen, in seconds since 1970; 0 if unknown.
        """

    def remove(self, ids: Sequence[DocumentId]) -> int:
        """Remove documents and return how many were removed; unknown ids are ignored."""

    def touch(self, ids: Sequence[DocumentId], seen: Sequence[int] | Numbers) -> int:
        """Record that documents were seen at seconds since 1970; a time before the stored one changes nothing.

        Unknown ids are ignored. Returns how many of the different ids are stored.
        """

    def last_seen(self, numbers: Sequence[int] | Numbers) -> Numbers:
        """Return when documents were last seen (int64, seconds since 1970), 0 if unknown.

        Documents that an earlier version of Benzer added count as seen when the first time is written. The times are
        the newest committed ones, also within a snapshot.
        """

    def unseen(self, before: int) -> list[DocumentId]:
        """Return the ids of documents last seen before a second, in order of arrival; unknown times are left out."""

    def stored(self, numbers: Sequence[int] | Numbers) -> npt.NDArray[np.bool_]:
        """Return which document numbers are stored."""

    def candidates(self, keys: Keys) -> Pairs:
        """Return the documents that share at least one key with each row of `keys` (uint64, m × bands).

        Returns:
            Two int64 arrays of equal length, (row, number), sorted, each pair once. No bucket is truncated.
        """

    def payloads(self, numbers: Sequence[int] | Numbers) -> list[bytes]:
        """Return the payloads of documents, in the given order; an unknown number is a StorageError."""

    def ids(self, numbers: Sequence[int] | Numbers) -> list[DocumentId]:
        """Return the ids of documents, in the given order; an unknown number is a StorageError."""

    def documents(self, numbers: Sequence[int] | Numbers) -> tuple[list[DocumentId], list[bytes]]:
        """Return `ids` and `payloads` in one call."""

    def numbers(self, ids: Sequence[DocumentId]) -> Numbers:
        """Return the numbers of documents, in the given order; -1 for an unknown id."""

    def contains(self, ids: Sequence[DocumentId]) -> npt.NDArray[np.bool_]:
        """Return which of the ids are stored."""

    def iterate(self, batch_size: int = 1000, after: int = -1) -> Iterator[StoredBatch]:
        """Yield all documents that are stored at the beginning, by number (order of arrival), in batches.

        With `after`, only those with a higher number. A document that is removed meanwhile is left out from then on;
        one that is added meanwhile does not appear.
        """

    def bucket_sizes(self) -> dict[int, int]:
        """Return the number of buckets of each size: {documents with one key: keys with so many}.

        The counts are exact: removed documents do not count, and a key without documents is not a bucket. Every key
        of the documents counts, also those of stored passages. Reads all postings, a portion at a time; other threads
        wait meanwhile, so open the storage again for it.
        """

    def snapshot(self) -> AbstractContextManager[None]:
        """Make all reads in a `with` block see the same state, whatever other processes commit."""

    def __len__(self) -> int:
        """Return the number of documents."""

    def commit(self) -> None:
        """Make the changes since the last commit durable, together."""

    def rollback(self) -> None:
        """Undo the changes since the last commit."""

    def undone(self) -> int:
        """How often changes of this object were undone, by `rollback` or by a failure.

        Data read within a transaction may be invalid within `snapshot` if this number has changed.
        """

    def compact(self) -> None:
        """Commit, then rewrite the storage in its smallest and fastest shape."""

    def check(self) -> None:
        """Read everything and raise StoreFormatError at the first inconsistency."""

    def close(self) -> None:
        """Close the storage and undo uncommitted changes. A second call does nothing."""

    def info(self) -> dict[str, Any]:
        """Return information: `home`, `documents`, `postings`, `runs`, `bytes` and more.

        `removed` counts removed documents whose postings are not yet purged.
        """


def checked_id(document_id: DocumentId) -> DocumentId:
    """Return the id as a plain `str` or `int`.

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
    """Check a batch as a whole: plain ids, bytes, and one row of keys per document."""
    if not len(ids) == len(payloads) == len(keys):
        raise InputError(
            f"ids, payloads and keys must be of equal length, got {len(ids)}, {len(payloads)} and {len(keys)}"
        )
    if wrong := set(map(type, payloads)) - {bytes}:
        raise InputError(f"a payload must be bytes, got {wrong.pop().__name__}")
    plain = list(ids) if set(map(type, ids)) <= {str, int} else [checked_id(item) for item in ids]
    return plain, list(payloads), checked_keys(keys)


def checked_keys(keys: Keys) -> Keys:
    """Return `keys` as a contiguous uint64 array of two dimensions."""
    array: object = keys  # callers without a type checker may give anything
    if not isinstance(array, np.ndarray) or array.dtype != np.uint64 or array.ndim != 2:
        got = f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else type(array).__name__
        raise InputError(f"band keys must be a uint64 array of documents × bands, got {got}")
    return np.ascontiguousarray(keys)


def checked_times(ids: Sequence[DocumentId], seen: Sequence[int] | Numbers) -> dict[DocumentId, int]:
    """Return the latest second of each id; there must be one second per id, from 0 to 2^53.

    >>> checked_times(["a", 1, "a"], [30, 20, 10])
    {'a': 30, 1: 20}
    """
    if len(ids) != len(seen):
        raise InputError(f"ids and times must be of equal length, got {len(ids)} and {len(seen)}")
    latest: dict[DocumentId, int] = {}
    for document_id, second in zip(map(checked_id, ids), seen, strict=True):
        latest[document_id] = max(checked_time(int(second)), latest.get(document_id, 0))
    return latest


def checked_time(second: int) -> int:
    """Return a time as whole seconds since 1970."""
    if not 0 <= second < 2**53:
        raise InputError(f"a time must be from 0 to 2^53 seconds since 1970, got {second}")
    return second


def last_of_each(ids: Sequence[DocumentId]) -> list[int]:
    """Return the positions of the last of equal ids, ascending.

    >>> last_of_each(["a", "b", "a", 1, "1"])
    [1, 2, 3, 4]
    """
    return sorted({document_id: position for position, document_id in enumerate(ids)}.values())


def check_room(next_number: int, wanted: int) -> None:
    """Raise an error if numbers would exceed the range of postings."""
    if next_number + wanted > MAX_DOCUMENTS:
        raise StorageError(
            f"a storage has at most {MAX_DOCUMENTS} document numbers in total; {next_number} are used and "
            f"{wanted} more are required: split the collection over several indexes"
        )


def missing_number(number: int) -> StorageError:
    """Return the error for an unknown document number."""
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
    """Raise an error for an index of a newer format than this version of Benzer reads."""
    if version > newest:
        raise StoreFormatError(
            f"{place} has index format {version}, this version of benzer reads up to {newest}: upgrade benzer"
        )


UNKNOWN_POSTING = "a posting names document {}, which is not held"
WRONG_COUNT = "there are {} documents, its state says {}"
"""Descriptions of damage, which the storages report with their place."""
