"""What an index in Redis keeps of times: no more than of its documents, and none of a writer that died."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import redis

from benzer.errors import StoreFormatError
from benzer.storage.redis.session import RedisLimits
from benzer.storage.redis.storage import RedisStorage, discard
from tests.redis_server import shared_server

KEYS = np.array([[7]], np.uint64)


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    return f"seen-{tmp_path.name}"


@pytest.fixture
def server() -> Iterator[redis.Redis]:
    client = shared_server().client()
    yield client
    client.close()


def opened(prefix: str, more: str = "") -> RedisStorage:
    limits = RedisLimits(purge_documents=4, grace=0)
    return RedisStorage(f"{shared_server().url}?prefix={prefix}{more}", "{}", "write", 0.05, limits)


def add(storage: RedisStorage, count: int, seen: int) -> list[str]:
    ids = [f"{seen}-{number}" for number in range(count)]
    storage.add(ids, [b"payload"] * count, np.repeat(KEYS, count, axis=0), seen)
    return ids


def test_times_of_removed_documents_go_with_them(prefix: str, server: redis.Redis) -> None:
    storage = opened(prefix)
    for seen in (100, 200, 300):
        storage.touch(add(storage, 3, seen), [1000] * 3)
    storage.commit()
    assert (server.zcard(f"{{{prefix}}}:f"), server.zcard(f"{{{prefix}}}:t")) == (3, 9)
    storage.remove([f"{seen}-{number}" for seen in (100, 200) for number in range(3)])
    storage.compact()
    assert (server.zcard(f"{{{prefix}}}:f"), server.zcard(f"{{{prefix}}}:t")) == (1, 3)
    assert storage.last_seen(storage.numbers(["300-0"])).tolist() == [1000]
    storage.close()


def test_times_of_a_writer_that_died_are_gone(prefix: str, server: redis.Redis) -> None:
    for touched in (False, True):
        storage = opened(prefix, "&lease=0.5")
        ids = add(storage, 2, 0)
        storage.commit()
        if touched:
            storage.touch(ids, [500, 500])
        else:
            add(storage, 2, 500)
        storage._session.writing = False  # its process is killed: nothing is sent any more
        time.sleep(0.6)
        storage = opened(prefix)
        storage.touch(["nowhere"], [900])  # the next writer clears away what was left
        storage.commit()
        assert storage.last_seen(storage.numbers(ids)).tolist() == [0, 0]
        assert server.exists(f"{{{prefix}}}:f", f"{{{prefix}}}:t", f"{{{prefix}}}:u") == 0
        storage.close()


def test_an_index_that_was_never_committed_leaves_no_times(prefix: str, server: redis.Redis) -> None:
    storage = opened(prefix, "&lease=0.5")
    storage.touch(add(storage, 2, 500), [600, 600])
    storage.close()
    discard(f"{shared_server().url}?prefix={prefix}")
    left = {key.rpartition(b":")[2][:1] for key in server.scan_iter(f"{{{prefix}}}:*")}
    assert left <= {b"k"}  # the last commit of a writer expires by itself


def test_documents_expire_whenever_they_were_seen(prefix: str) -> None:
    storage = opened(prefix, "&ttl=2")
    ids = add(storage, 2, int(time.time()))
    storage.touch(ids, [int(time.time()) + 10**6] * 2)
    storage.commit()
    assert storage.stored([0, 1]).tolist() == [True, True]
    while len(storage):
        time.sleep(0.02)
    assert storage.stored([0, 1]).tolist() == [False, False]
    assert (len(storage), storage.unseen(2**50)) == (0, [])
    storage.close()


def test_a_purge_forgets_the_times_of_what_has_expired_and_of_nothing_else(
    prefix: str, server: redis.Redis
) -> None:
    """What is imported was often seen longer ago than the time to live, which begins at the import."""
    now = int(time.time())
    storage = opened(prefix, "&ttl=100")
    storage.touch(add(storage, 2, now - 1000), [now - 500, now - 400])
    storage.commit()
    storage.compact()
    assert storage.last_seen([0, 1]).tolist() == [now - 500, now - 400]
    assert storage.unseen(now - 450) == [f"{now - 1000}-0"]
    server.zadd(f"{{{prefix}}}:e", {"1": now - 90})  # as if the first had been filed that long ago
    storage.commit()
    storage.remove([f"{now - 1000}-1"])
    storage.commit()
    storage.compact()
    assert server.zcard(f"{{{prefix}}}:t") == 0
    storage.close()


def test_the_first_time_makes_an_older_index_one_of_format_2(prefix: str, server: redis.Redis) -> None:
    storage = opened(prefix)
    add(storage, 2, 0)
    storage.commit()
    server.hset(f"{{{prefix}}}:m", "format", 1)  # as the version before wrote it
    storage.close()
    storage = opened(prefix)
    assert storage.unseen(2**50) == []
    add(storage, 1, 700)
    storage.commit()
    assert server.hget(f"{{{prefix}}}:m", "format") == b"2"
    assert storage.last_seen([0, 1, 2]).tolist() == [700, 700, 700]
    storage.close()
    server.hset(f"{{{prefix}}}:m", "format", 3)
    with pytest.raises(StoreFormatError, match="has index format 3, this version of benzer reads up to 2"):
        opened(prefix)
