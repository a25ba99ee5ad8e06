"""An index in Redis: time to live, hot buckets, what the server must not do, and what a URL may say."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from benzer.errors import SettingsError, SettingsMismatchError, StorageError, StoreFormatError
from benzer.index import Index, IndexSettings
from benzer.storage import exists, open_storage
from benzer.storage.redis.session import RedisLimits
from benzer.storage.redis.storage import RedisStorage
from tests.contracts.storages import corpus, found_ids, keys_of, state_of
from tests.redis_server import RedisServer, shared_server

SETTINGS = IndexSettings(threshold=0.5)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"{shared_server().url}?prefix={tmp_path}"


def test_an_index_at_a_url_is_an_index(url: str) -> None:
    assert not exists(url)
    with Index.open(url, SETTINGS) as index:
        index.add([("a", "one two three four five six"), ("b", "seven eight nine ten")])
    assert exists(url)
    with Index.open(url, mode="read") as index:
        assert [match.id for match in index.find_similar("one two three four five seven")] == ["a"]
        assert index.info()["home"] == "redis"
        with pytest.raises(StorageError, match="was opened with mode='read'"):
            index.add([("c", "text")])
    with pytest.raises(SettingsMismatchError, match=r"threshold is 0\.5"):
        Index.open(url, IndexSettings(threshold=0.9))


def test_reading_makes_no_index(url: str) -> None:
    with pytest.raises(StorageError, match="there is no index at"):
        Index.open(url, mode="read")
    assert not exists(url)


def test_documents_live_for_the_time_to_live(url: str) -> None:
    mortal = RedisStorage(f"{url}&ttl=1", "{}", limits=RedisLimits(purge_documents=4, grace=0))
    ids, payloads, keys = corpus(40, seed=1)
    mortal.add(ids[:30], payloads[:30], keys[:30])
    mortal.remove(ids[:5])
    mortal.commit()
    assert len(mortal) == 25
    deadline = time.monotonic() + 60
    while len(mortal):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert state_of(mortal) == []
    assert found_ids(mortal, keys) == [set()] * 40
    assert not mortal.contains(ids).any()
    mortal.add(ids[20:], payloads[20:], keys[20:])
    assert mortal.remove(ids[:25]) == 5
    mortal.commit()
    assert len(mortal) == 15
    assert state_of(mortal) == list(zip(ids[25:], payloads[25:], strict=True))
    mortal.check()
    # 30 dead are more than the 15 that live: their postings were purged with that commit
    assert mortal.info()["postings"] < sum(len(set(row)) for row in keys[:30].tolist()) + 15 * 4
    mortal.close()


def test_the_time_to_live_belongs_to_the_index(url: str) -> None:
    open_storage(f"{url}&ttl=60", "{}").close()
    with pytest.raises(SettingsMismatchError, match="created with ttl=60, got ttl=61"):
        open_storage(f"{url}&ttl=61", "{}")
    storage = open_storage(url, "{}")
    assert storage.info()["ttl"] == 60
    storage.close()


@pytest.mark.parametrize("count", [10_000, 120_000])
def test_a_hot_bucket_is_whole_even_where_it_is_read_in_pieces(url: str, count: int) -> None:
    storage = open_storage(url, "{}")
    keys = np.stack([np.full(count, 77, np.uint64), np.arange(10, count + 10, dtype=np.uint64)], axis=1)
    storage.add(list(range(count)), [b""] * count, keys)
    storage.commit()
    storage.remove([3, 5])
    rows, numbers = storage.candidates(keys_of([77, 2**40], [5, 6], [12, 77]))
    assert [int((rows == row).sum()) for row in range(3)] == [count - 2, 0, count - 2]
    assert np.array_equal(numbers[: count - 2], np.delete(np.arange(count), [3, 5]))
    assert len(storage.candidates(keys_of([77, 2**40]))[1]) == count - 2
    storage.close()


def test_a_server_that_throws_keys_away_is_refused(tmp_path: Path) -> None:
    server = RedisServer(tmp_path, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
    with pytest.raises(StorageError, match=r"maxmemory-policy allkeys-lru\): set it to noeviction"):
        open_storage(server.url, "{}")
    server.kill()


def test_a_full_server_refuses_and_keeps_what_was_committed(tmp_path: Path) -> None:
    server = RedisServer(tmp_path, "--maxmemory", "8mb", "--maxmemory-policy", "noeviction")
    storage = open_storage(server.url, "{}")
    storage.add(["a"], [b"1"], keys_of([1]))
    storage.commit()
    many = [bytes(10**6)] * 20
    with pytest.raises(StorageError, match=r"out of memory .*used memory"):
        storage.add(range(20), many, np.zeros((20, 1), np.uint64))
    assert state_of(storage) == [("a", b"1")]
    storage.close()
    server.kill()


def test_a_lost_posting_and_a_changed_record_are_found(url: str) -> None:
    ids, payloads, keys = corpus(50, seed=2)
    storage = RedisStorage(url, "{}")
    storage.add(ids, payloads, keys)
    storage.commit()
    client, base = shared_server().client(), storage._session.address.key[:-1]
    record = client.get(base + b"d7")
    client.set(base + b"d7", record[:-1] + b"!")
    with pytest.raises(StoreFormatError, match="document 7 is damaged"):
        storage.check()
    client.set(base + b"d7", record)
    storage.check()
    client.delete(base + b"p1")
    with pytest.raises(StoreFormatError, match="postings, its state says"):
        storage.check()
    storage.close()


@pytest.mark.parametrize(
    "query,error,message",
    [
        ("prefix=", SettingsError, "prefix must be 1 to 200 characters"),
        ("prefix=a{b}", SettingsError, "without braces"),
        ("ttl=-1", SettingsError, "ttl must be whole seconds, or 0 for no limit, got '-1'"),
        ("ttl=1.5", SettingsError, "ttl must be whole seconds"),
        ("cluster=maybe", SettingsError, "cluster must be true or false, got 'maybe'"),
        ("lease=0", SettingsError, "lease must be 0.1 to 3600 seconds, got 0"),
        ("lease=long", SettingsError, "got 'long'"),
        ("tt=4", SettingsError, "is not an address of a Redis server: .*'tt'"),
        ("socket_timeout=soon", SettingsError, "is not an address of a Redis server"),
    ],
)
def test_urls_with_a_fault_are_refused(query: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        open_storage(f"{shared_server().url}?{query}", "{}")


def test_keys_of_another_program_are_left_alone(url: str) -> None:
    storage = RedisStorage(url, "{}")
    key = storage._session.address.key
    storage.close()
    client = shared_server().client()
    client.delete(key)
    client.set(key, "theirs")
    with pytest.raises(StoreFormatError, match="the keys of another program use this prefix"):
        open_storage(url, "{}")
    assert client.get(key) == b"theirs"
