"""An index in Redis: what was made anew under open handles, snapshots and the time to live, URLs, full memory."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from benzer.errors import SettingsError, StorageError
from benzer.storage import exists, open_storage
from benzer.storage.redis import server as redis_server
from benzer.storage.redis.address import read_address
from benzer.storage.redis.session import RedisLimits
from benzer.storage.redis.storage import RedisStorage, discard
from tests.contracts.storages import corpus, keys_of, state_of
from tests.redis_server import RedisServer, shared_server

ANEW = "was deleted and created again: open it again"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"{shared_server().url}?prefix={tmp_path}"


def keys_in_server(storage: RedisStorage) -> list[bytes]:
    start = storage._session.address.key[:-1]
    return list(shared_server().client().scan_iter(match=start + b"*", count=1000))


def delete(storage: RedisStorage) -> None:
    """Delete the keys of an index, as the how-to page does."""
    shared_server().client().unlink(*keys_in_server(storage))


def test_handles_of_an_index_that_was_made_anew_are_told_so(url: str) -> None:
    writer, busy = RedisStorage(url, '{"old": 1}'), RedisStorage(url, '{"old": 1}')
    reader = RedisStorage(url, mode="read")
    writer.add(["a"], [b"1"], keys_of([1]))
    writer.commit()
    with reader.snapshot():
        assert reader.ids([0]) == ["a"]
        busy.add(["x"], [b"1"], keys_of([1]))
        delete(writer)
        other = RedisStorage(url, '{"new": 1}')
        other.add(["b"], [b"2"], keys_of([1]))
        other.commit()
        for ask in (lambda: reader.payloads(np.arange(1)), lambda: reader.candidates(keys_of([1]))):
            reader._session.documents.clear()
            with pytest.raises(StorageError, match=ANEW):
                ask()
    for change in (busy.commit, lambda: writer.add(["c"], [b"3"], keys_of([1])), writer.compact):
        with pytest.raises(StorageError, match=ANEW):
            change()
    with pytest.raises(StorageError, match=ANEW):
        len(reader)
    assert state_of(other) == [("b", b"2")]
    for storage in (writer, busy, reader, other):
        storage.close()


def test_an_index_with_a_time_to_live_is_counted_while_others_write(url: str) -> None:
    writer, reader = RedisStorage(f"{url}&ttl=1", "{}"), RedisStorage(url, mode="read")
    stop, failures = threading.Event(), []

    def write() -> None:
        number = 0
        while not stop.is_set():
            writer.add([number, number + 1], [b"", b""], keys_of([1], [2]))
            writer.commit()
            number += 2

    thread = threading.Thread(target=write)
    thread.start()
    deadline = time.monotonic() + 2.5
    while time.monotonic() < deadline:
        try:
            assert len(reader) % 2 == 0
            assert reader.info()["documents"] % 2 == 0
        except StorageError as error:
            failures.append(str(error))
    stop.set()
    thread.join()
    assert failures == []
    writer.close()
    reader.close()


@pytest.mark.parametrize("grace", [60, 0])
def test_a_snapshot_does_not_change_when_documents_expire(url: str, grace: int) -> None:
    limits = RedisLimits(purge_documents=1, grace=grace)
    writer = RedisStorage(f"{url}&ttl=2", "{}", limits=limits)
    reader = RedisStorage(url, mode="read")
    ids, payloads, _ = corpus(6, seed=1)
    writer.add(ids, payloads, keys_of(*[[7]] * 6))
    writer.commit()
    with reader.snapshot():
        assert len(reader.candidates(keys_of([7]))[1]) == 6
        while len(writer):
            time.sleep(0.02)
        writer.add(["new"], [b""], keys_of([7]))
        writer.commit()
        if grace:
            assert reader.candidates(keys_of([7]))[1].tolist() == list(range(6))
            assert reader.payloads(range(6)) == payloads
        else:
            with pytest.raises(StorageError, match="has been deleted: use a new snapshot"):
                reader.candidates(keys_of([7]))
    assert reader.candidates(keys_of([7]))[1].tolist() == [6]
    assert len(reader) == len(writer) == 1
    writer.compact()
    assert reader.info()["postings"] == 1, "a compaction purges what has expired at once"
    writer.check()
    writer.close()
    reader.close()


SECRET = "s3cr"


@pytest.mark.parametrize(
    "location,message",
    [
        (f"redis://user:{SECRET}/x@127.0.0.1/0", "unescaped @"),
        (f"redis://user:{SECRET}#x@127.0.0.1/0", "unescaped @"),
        (f"redis://user:{SECRET}?x@127.0.0.1/0", "unescaped @"),
        (f"redis://user:{SECRET}@x@127.0.0.1/0", "unescaped @"),
        (f"redis://user:{SECRET}@[::1/0", "is invalid"),
        (f"redis://user:{SECRET}@127.0.0.1/news", r"/news is not a database number: .*\?prefix=news"),
        ("redis://127.0.0.1/0?prefix=a#b", "%23"),
        ("redis://127.0.0.1/2?cluster=true", "a cluster supports only database 0"),
        ("redis://127.0.0.1/?cluster=true&db=2", "a cluster supports only database 0"),
        ("redis://127.0.0.1/0?decode_responses=true", "decode_responses is set by Benzer"),
        ("redis://127.0.0.1/0?encoding=latin-1", "encoding is set by Benzer"),
        ("redis://127.0.0.1/0?encoding_errors=x", "encoding_errors is set by Benzer"),
        ("redis://127.0.0.1/0?retry=3", "retry is set by Benzer"),
        ("redis://127.0.0.1/0?protocol=3", "protocol is set by Benzer"),
        ("redis://127.0.0.1/0?socket_timeout=0", "socket_timeout must be > 0 seconds, got '0'"),
        ("redis://127.0.0.1/0?socket_connect_timeout=-1", "must be > 0 seconds, got '-1'"),
        ("redis://127.0.0.1/0?socket_timeout=nan", "must be > 0 seconds, got 'nan'"),
    ],
)
def test_urls_that_would_mean_something_else_are_refused(location: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as told:
        open_storage(location, "{}")
    assert SECRET not in str(told.value)


def test_a_server_that_is_no_cluster_is_told_so_at_once(url: str) -> None:
    start = time.monotonic()
    with pytest.raises(StorageError, match="is not a cluster: remove cluster=true"):
        open_storage(f"{url}&cluster=true", "{}")
    assert time.monotonic() - start < 30  # without the pauses of a broken connection


def test_addresses_with_an_at_sign_in_its_place_are_read() -> None:
    assert read_address("unix:///tmp/a@b/redis.sock?prefix=x").prefix == "x"
    assert read_address("redis://u:p%40w@host/3?prefix=a%40b").prefix == "a@b"


def test_a_child_forked_within_a_snapshot_can_write(url: str) -> None:
    if not hasattr(os, "fork"):
        return
    storage = RedisStorage(url, "{}")
    child = -1
    with storage.snapshot():
        len(storage)
        child = os.fork()
    if child == 0:
        code = 1
        try:
            storage.add(["a"], [b"1"], keys_of([1]))
            storage.commit()
            with storage.snapshot():
                code = 0 if len(storage) == 1 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert state_of(storage) == [("a", b"1")]
    storage.close()


def test_an_index_to_which_nothing_was_committed_is_discarded_and_no_other(url: str) -> None:
    storage = RedisStorage(url, "{}")
    ids, payloads, keys = corpus(2000, seed=4)
    storage.add(ids, payloads, keys)
    discard(url)
    assert exists(url), "its writer is at work"
    storage.rollback()
    discard(url)
    assert not exists(url)
    assert [key.rpartition(b":")[2][:1] for key in keys_in_server(storage)] in ([b"k"], []), (
        "which goes by itself"
    )
    storage.close()
    with closing(RedisStorage(url, "{}")) as storage:
        storage.add(ids, payloads, keys)
        storage.commit()
    discard(url)
    with closing(RedisStorage(url, mode="read")) as storage:
        assert len(storage) == 2000


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_hung_server_is_given_up_after_a_while(silent_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_server, "_PATIENCE", 0.5)
    with pytest.raises(StorageError, match=r"did not respond in 2 tries"):
        open_storage(f"redis://127.0.0.1:{silent_port}/0?socket_timeout=0.3", "{}")


def test_a_full_memory_and_a_replica_are_told_with_the_cure(tmp_path: Path) -> None:
    server = RedisServer(tmp_path, "--maxmemory", "8mb", "--maxmemory-policy", "noeviction")
    try:
        storage = RedisStorage(server.url, "{}", limits=RedisLimits(tries=2))
        with pytest.raises(StorageError, match="raise maxmemory, or delete another index"):
            storage.add(range(20), [bytes(10**6)] * 20, np.zeros((20, 1), np.uint64))
        server.client().replicaof("127.0.0.1", "1")
        with pytest.raises(StorageError, match=r"is a replica, .*: use the address of its master"):
            storage.add(["a"], [b""], keys_of([1]))
        storage.close()
    finally:
        server.kill()
