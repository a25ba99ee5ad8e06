"""Counts the buckets of an index in Redis by size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benzer.errors import StorageError
from benzer.storage.base import Numbers
from benzer.storage.postings import Postings, bucket_sizes
from benzer.storage.redis.check import pieces
from benzer.storage.redis.records import postings_in
from benzer.storage.redis.search import alive
from benzer.storage.redis.session import RedisSession

_TRIES = 5


def counted(session: RedisSession) -> dict[int, int]:
    """How many buckets there are of each size."""
    for _ in range(_TRIES):
        with session.reading():
            end, rewrites, shards = _known(session)
            found = bucket_sizes(_portions(session, shards, end))
            if _known(session)[1:] == (rewrites, shards):
                return found
    raise StorageError(
        f"the shards of {session.address!r} were rewritten {_TRIES} times while they were read: try again"
    )


def _known(session: RedisSession) -> tuple[int, int, int]:
    """The number of the next document, how often postings were moved, and the number of shards."""
    known = bytes(session.read("shards", "p", 0, 0)[0]).split()
    return int(known[1]), int(known[2]), int(known[5])


def _portions(session: RedisSession, shards: int, end: int) -> Iterator[Postings]:
    asked, held = np.zeros(0, np.bool_), np.zeros(0, np.bool_)  # two bytes a document
    for shard, piece in pieces(session, "p", shards):
        table = postings_in(f"p{shard}", piece)
        table = table[table["number"] < end]  # others came after this snapshot, or the shard is damaged
        if not len(table):
            continue
        numbers = table["number"].astype(np.int64)
        if (beyond := int(numbers.max()) + 1 - len(asked)) > 0:
            more = np.zeros(max(beyond, len(asked)), np.bool_)
            asked, held = np.concatenate([asked, more]), np.concatenate([held, more])
        _ask(session, np.unique(numbers[~asked[numbers]]), asked, held)
        keys = table["key"][held[numbers]].astype(np.uint64)
        yield Postings(np.sort(keys), np.empty(0, np.uint32))


def _ask(session: RedisSession, numbers: Numbers, asked: np.ndarray, held: np.ndarray) -> None:
    if len(numbers):
        asked[numbers] = True
        held[alive(session, numbers)] = True
