"""Reads all data of an index in Redis to check it, and to count its buckets by size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer.errors import StorageError, StoreFormatError
from benzer.storage.base import WRONG_COUNT, DocumentId, Numbers
from benzer.storage.postings import Postings, bucket_sizes
from benzer.storage.redis.records import (
    id_hash,
    id_text,
    postings_in,
    read_record,
    shard_of,
    unpacked_numbers,
)
from benzer.storage.redis.search import alive
from benzer.storage.redis.session import RedisSession

_TRIES = 5
_AT_ONCE = 100


def check_server(session: RedisSession, mortal: bool) -> None:
    """Raise StoreFormatError unless records, ids, postings and counts are consistent.

    An error counts only if no process has written while the index was read; otherwise it is read again.
    """
    for _ in range(_TRIES):
        with session.reading():
            before = _known(session)
            try:
                _check(session, before.split(), mortal)
                return
            except StorageError:
                if _known(session) == before:
                    raise
    raise StorageError(f"{session.address!r} was written {_TRIES} times while it was checked: check it again")


def _known(session: RedisSession) -> str:
    return str(session.read("shards", "p", 0, 0)[0].decode())


def _check(session: RedisSession, known: list[str], mortal: bool) -> None:
    _, end, _, postings, ids, shards, id_shards = map(int, known[:7])
    documents = dict(_documents(session, end, mortal))
    hidden = np.array(sorted(_removed(session)), np.int64)
    numbers = np.fromiter(documents, np.int64, len(documents))
    count = sum(len(table) for table in _shards(session, "p", shards, numbers, hidden))
    if count != postings:
        raise _damaged(session, f"there are {count} postings, its state says {postings}")
    count = 0
    for table in _shards(session, "i", id_shards, numbers, hidden):
        count += len(table)
        for key, number in table.tolist():
            document_id = documents.get(number)
            if document_id is not None and id_hash(id_text(document_id)) == key.to_bytes(8, "little"):
                del documents[number]
    if count != ids:
        raise _damaged(session, f"there are {count} ids, its state says {ids}")
    if documents:
        raise _damaged(session, f"document {next(iter(documents))} is not found by its id")


def _shards(
    session: RedisSession, kind: str, shards: int, stored: Numbers, hidden: Numbers
) -> Iterator[npt.NDArray[np.void]]:
    """Yield all shards of a kind after checking that they name only stored documents or known removed ones."""
    for shard, piece in pieces(session, kind, shards):
        table = postings_in(f"{kind}{shard}", piece)
        if (shard_of((table["key"] & np.uint64(0xFFFFFFFF)).astype(np.int64), shards) != shard).any():
            raise _damaged(session, f"shard {kind}{shard} holds what belongs to another")
        numbers = table["number"].astype(np.int64)
        view = session.view  # what lies beyond it is another writer's, not yet committed
        known = np.isin(numbers, stored) | np.isin(numbers, hidden)
        strange = numbers[~known & (numbers >= view.expired) & (numbers < view.published)]
        if len(strange):
            raise _damaged(session, f"shard {kind}{shard} names document {strange[0]}, which is not held")
        yield table


def _documents(session: RedisSession, end: int, mortal: bool) -> Iterator[tuple[int, DocumentId]]:
    first, count = 0, 0
    while first < end and first < session.view.published:
        first, packed, records = session.read("walk", first, end, 1000)
        for number, record in zip(unpacked_numbers(packed).tolist(), records, strict=True):
            yield number, read_record(number, record, mortal).id
            count += 1
    if not mortal and count != session.view.documents:
        raise _damaged(session, WRONG_COUNT.format(count, session.view.documents))


def _removed(session: RedisSession) -> Iterator[int]:
    position = 0
    while True:
        (piece,) = session.read("shards", "x", position, position + 1)[1]
        if not piece:
            return
        yield from (int(number) for number in piece[::2])
        position += 1


def pieces(session: RedisSession, kind: str, count: int) -> Iterator[tuple[int, Any]]:
    position = 0
    while position < count:
        some = session.read("shards", kind, position, min(count, position + _AT_ONCE))[1]
        yield from enumerate(some, position)
        position += len(some)


def _damaged(session: RedisSession, fault: str) -> StoreFormatError:
    return StoreFormatError(
        f"{session.address!r} is damaged ({fault}): restore it from a copy, or create the index again"
    )


def counted(session: RedisSession) -> dict[int, int]:
    """Return the number of buckets of each size."""
    for _ in range(_TRIES):
        with session.reading():
            end, rewrites, shards = _extent(session)
            sizes = bucket_sizes(_portions(session, shards, end))
            if _extent(session)[1:] == (rewrites, shards):
                return sizes
    raise StorageError(
        f"the shards of {session.address!r} were rewritten {_TRIES} times while they were read: try again"
    )


def _extent(session: RedisSession) -> tuple[int, int, int]:
    """Return the number of the next document, how often postings were moved, and the number of shards."""
    known = bytes(session.read("shards", "p", 0, 0)[0]).split()
    return int(known[1]), int(known[2]), int(known[5])


def _portions(session: RedisSession, shards: int, end: int) -> Iterator[Postings]:
    known, exists = np.zeros(0, np.bool_), np.zeros(0, np.bool_)  # two bytes a document
    for shard, piece in pieces(session, "p", shards):
        table = postings_in(f"p{shard}", piece)
        table = table[table["number"] < end]  # others came after this snapshot, or the shard is damaged
        if not len(table):
            continue
        numbers = table["number"].astype(np.int64)
        if (beyond := int(numbers.max()) + 1 - len(known)) > 0:
            more = np.zeros(max(beyond, len(known)), np.bool_)
            known, exists = np.concatenate([known, more]), np.concatenate([exists, more])
        _ask(session, np.unique(numbers[~known[numbers]]), known, exists)
        keys = table["key"][exists[numbers]].astype(np.uint64)
        yield Postings(np.sort(keys), np.empty(0, np.uint32))


def _ask(session: RedisSession, numbers: Numbers, known: np.ndarray, exists: np.ndarray) -> None:
    if len(numbers):
        known[numbers] = True
        exists[alive(session, numbers)] = True
