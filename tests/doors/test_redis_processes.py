"""One index in Redis and several processes: killed writers, killed servers, cut connections, second writers."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benzer.errors import StorageError, StoreLockedError
from benzer.index import Index
from benzer.storage import open_storage
from benzer.storage.redis.server import IndexServer
from benzer.storage.redis.session import RedisLimits
from benzer.storage.redis.storage import RedisStorage
from tests.contracts.storages import corpus, found_ids, keys_of, state_of
from tests.doors.cutting_proxy import CuttingProxy
from tests.doors.index_child import SETTINGS, document, text_of
from tests.redis_server import RedisServer, free_port, shared_server

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 4


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The URL of an index that is not there yet; a writer's lease is short."""
    return f"{shared_server().url}?prefix={tmp_path}&lease=2"


@pytest.fixture
def lasting(tmp_path: Path) -> Iterator[RedisServer]:
    """A server of its own, which writes everything down before it answers."""
    server = RedisServer(tmp_path, "--appendonly", "yes", "--appendfsync", "always")
    yield server
    server.kill()


@contextmanager
def child(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.doors.redis_child", *map(str, arguments)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(process: subprocess.Popen[str]) -> Iterator[list[str]]:
    assert process.stdout is not None
    return (line.split() for line in process.stdout if line.endswith("\n"))


def killed_writer(url: str, seed: int) -> tuple[int, int]:
    """Kill a writer somewhere; what it had acknowledged, and what it was committing if it was."""
    chance = random.Random(seed)
    done = tried = 0
    with child("write", url, seed) as process:
        stop = None
        for word, count in lines(process):
            done, tried = (int(count), int(count)) if word == "done" else (done, int(count))
            stop = stop or time.monotonic() + chance.uniform(0.0, 0.35)
            if time.monotonic() > stop:
                time.sleep(chance.uniform(0.0, 0.01))
                process.kill()
    return done, tried


def test_a_killed_writer_leaves_whole_commits_only(url: str) -> None:
    held = 0
    for seed in range(ROUNDS):
        done, tried = killed_writer(url, seed)
        with Index.open(url, mode="read") as index:
            index.check()
            assert len(index) in (done, tried), "a batch is there as a whole or not at all"
            assert held <= done
            held = len(index)
            assert list(index) == [f"doc-{number}" for number in range(held)]
            for number in random.Random(seed).sample(range(held), min(held, 40)):
                assert index.get(f"doc-{number}") == document(number)
                assert f"doc-{number}" in [match.id for match in index.find_similar(text_of(number))]
    assert held > 0
    with Index.open(url, SETTINGS, timeout=60) as index:
        index.add([document(held)])
        index.check()
    with Index.open(url, mode="read") as index:
        assert len(index) == held + 1


def test_a_second_process_cannot_write_until_the_lease_of_the_first_ends(url: str) -> None:
    with Index.open(url, SETTINGS) as index:
        index.add([document(1)])
    with child("hold", url) as process:
        assert next(lines(process)) == ["holding"]
        time.sleep(3)  # longer than the lease: it is renewed
        with Index.open(url, timeout=0.1) as index:
            with pytest.raises(StoreLockedError, match="is being written by another process"):
                index.add([document(2)])
            assert list(index) == ["doc-1"]
        process.kill()
        process.wait()
        with Index.open(url, timeout=60) as index:
            index.add([document(2)])
            assert list(index) == ["doc-1", "doc-2"], "what the killed one had not committed is gone"
            index.check()


def test_a_writer_that_was_taken_over_publishes_nothing(url: str) -> None:
    first, second = RedisStorage(url, "{}"), RedisStorage(url, "{}")
    first.add(["a", "b"], [b"1", b"2"], keys_of([1], [2]))
    shared_server().client().delete(first._session.address.key[:-1] + b"l")  # as if it had slept for long
    second.add(["c"], [b"3"], keys_of([1]))
    with pytest.raises(StorageError, match="changes since the last commit are not stored"):
        first.commit()
    second.commit()
    assert state_of(second) == state_of(first) == [("c", b"3")]
    assert found_ids(second, keys_of([1], [2])) == [{"c"}, set()]
    second.check()
    first.close()
    second.close()


def test_readers_see_whole_commits_while_shards_are_made(url: str) -> None:
    batch, commits = 250, 12
    Index.open(url, SETTINGS).close()
    seen = []
    with child("write_evenly", url, batch, commits) as process, Index.open(url, mode="read") as reader:
        while process.poll() is None or len(reader) < batch * commits:
            count = len(reader)
            seen.append(count)
            assert count % batch == 0
            if count:
                number = random.Random(len(seen)).randrange(count)
                assert reader.find_similar(text_of(number), limit=1)[0].similarity == 1.0
                assert len(reader.find_similar_batch([text_of(0), text_of(count - 1)])) == 2
        assert process.returncode == 0
        reader.check()
    assert seen == sorted(seen)


def test_a_fork_in_mid_transaction_harms_neither_process(url: str) -> None:
    if hasattr(os, "fork"):
        with child("fork", url) as process:
            answers = list(lines(process))
            assert process.wait() == 0
        # the child is another process: it sees what was committed, and none of the parent's changes
        assert answers == [["child", "100", "1", "0"], ["parent", "7", "5000", "1"], ["whole", "5000"]]


def test_a_killed_server_that_writes_everything_down_loses_no_commit(lasting: RedisServer) -> None:
    ids, payloads, keys = corpus(400, seed=1)
    storage = RedisStorage(lasting.url, "{}", limits=RedisLimits(tries=12))  # it may take long to start
    for start in range(0, 400, 100):
        storage.add(ids[start : start + 100], payloads[start : start + 100], keys[start : start + 100])
        if start == 300:
            break
        storage.commit()
        lasting.kill()
        restart = threading.Timer(0.2, lasting.start)
        restart.start()
        assert len(storage) == start + 100, "the question waits for the server"
        restart.join()
        storage.check()
    lasting.kill()
    lasting.start()
    storage.commit()  # the server had everything but the answer's echo
    assert state_of(storage) == list(zip(ids, payloads, strict=True))
    storage.close()


def test_a_server_that_lost_its_data_says_so_at_the_commit(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    storage = open_storage(server.url, "{}")
    storage.add(["a"], [b""], keys_of([1]))
    server.kill()
    server.start()
    with pytest.raises(StorageError, match=r"there is no index at .*|is not known"):
        storage.commit()
    storage.close()
    server.kill()


def changed_alike(storage: Any, seed: int) -> None:
    """Adds, removals, commits and rollbacks on a storage and on one in memory leave the same."""
    ids, payloads, keys = corpus(120, seed=seed)
    memory, chance = open_storage("memory:", "{}"), random.Random(seed)
    for start in range(0, 120, 10):
        for each in (memory, storage):
            each.add(ids[start : start + 10], payloads[start : start + 10], keys[start : start + 10])
        gone = chance.sample(ids[: start + 10], 4)
        assert storage.remove(gone) == memory.remove(gone)
        end = chance.choice(["commit", "commit", "rollback", "compact"])
        for each in (memory, storage):
            getattr(each, end)()
        assert found_ids(storage, keys[:20]) == found_ids(memory, keys[:20])
    storage.check()
    assert state_of(storage) == state_of(memory)


@pytest.mark.parametrize("seed", range(3))
def test_cut_connections_change_nothing(tmp_path: Path, seed: int) -> None:
    proxy = CuttingProxy(shared_server().port, share=0.03, seed=seed)
    url = f"redis://127.0.0.1:{proxy.port}/0?prefix={tmp_path}"
    changed_alike(storage := RedisStorage(url, "{}", limits=RedisLimits(tries=12)), seed)
    storage.close()
    proxy.close()
    assert proxy.cuts > 5


def test_a_script_that_is_sent_twice_is_done_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    once = IndexServer._once

    def twice(server: IndexServer, name: str, arguments: tuple[Any, ...]) -> list[Any]:
        first = once(server, name, arguments)
        again = once(server, name, arguments)
        assert again == first or name in ("commit", "begin")  # which tell more the first time
        return first

    monkeypatch.setattr(IndexServer, "_once", twice)
    storage = RedisStorage(url, "{}", limits=RedisLimits(pending_postings=24, purge_documents=4, grace=0))
    changed_alike(storage, seed=9)
    storage.close()


def test_a_server_that_is_not_there_is_named_with_tries_and_seconds() -> None:
    place = f"redis://:secret@127.0.0.1:{free_port()}/0"
    with pytest.raises(
        StorageError, match=r"127.0.0.1:\d+/0\?prefix=benzer did not respond in 2 tries"
    ) as told:
        RedisStorage(place, "{}", limits=RedisLimits(tries=2))
    assert "secret" not in str(told.value)


def test_two_indexes_share_a_server(tmp_path: Path) -> None:
    urls = [f"{shared_server().url}?prefix={tmp_path}-{name}" for name in "ab"]
    both = [open_storage(url, "{}") for url in urls]
    for number, storage in enumerate(both):
        storage.add([number], [b"%d" % number], keys_of([5]))  # both transactions are open at once
    for storage in both:
        storage.commit()
    assert [found_ids(storage, keys_of([5])) for storage in both] == [[{0}], [{1}]]
    both[0].remove([0])
    both[0].compact()
    assert [len(storage) for storage in both] == [0, 1]
    for storage in both:
        storage.close()


def test_a_snapshot_outlives_the_commits_of_others_but_not_a_compaction(url: str) -> None:
    ids, payloads, keys = corpus(600, seed=3)
    writer, reader = RedisStorage(url, "{}"), RedisStorage(url, "{}", "read")
    writer.add(ids, payloads, keys)
    writer.commit()
    with reader.snapshot():
        rows, numbers = reader.candidates(keys[:3])
        for _ in range(3):
            writer.add(ids[:300], [b"new"] * 300, keys[300:])
            writer.remove(ids[300:400])
            writer.commit()
        again = reader.candidates(keys[:3])
        assert (again[0].tolist(), again[1].tolist()) == (rows.tolist(), numbers.tolist())
        assert reader.numbers(ids).tolist() == list(range(600))
        assert len(reader) == 600
        assert reader.payloads(np.arange(600)) == payloads
        writer.compact()
        with pytest.raises(StorageError, match="has been deleted: use a new snapshot"):
            reader.candidates(keys[:3])
    assert len(reader) == len(writer) == 500
    assert reader.payloads(reader.numbers(ids[:2])) == [b"new"] * 2
    writer.close()
    reader.close()


def test_nobody_else_sees_what_is_not_committed(url: str) -> None:
    writer, reader = RedisStorage(url, "{}"), RedisStorage(url, "{}", "read")
    writer.add(["a", "b", "c"], [b"1", b"2", b"3"], keys_of([1], [2], [3]))
    writer.commit()
    writer.add(["a", "d"], [b"4", b"5"], keys_of([2], [1]))
    writer.remove(["c"])
    assert found_ids(writer, keys_of([1], [2], [3])) == [{"d"}, {"a", "b"}, set()]
    assert found_ids(reader, keys_of([1], [2], [3])) == [{"a"}, {"b"}, {"c"}]
    assert reader.numbers(["a", "b", "c", "d"]).tolist() == [0, 1, 2, -1]
    assert state_of(reader) == [("a", b"1"), ("b", b"2"), ("c", b"3")]
    assert len(reader) == 3
    with pytest.raises(StorageError, match="document number 4 no longer exists"):
        reader.payloads([4])
    writer.commit()
    assert found_ids(reader, keys_of([1], [2], [3])) == [{"d"}, {"a", "b"}, set()]
    for storage in (writer, reader):
        storage.check()
        storage.close()


def test_a_long_shard_that_is_split_while_it_is_read_is_read_again(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, once, pieces = 100_000, IndexServer._once, []
    writer, reader = RedisStorage(url, "{}"), RedisStorage(url, "{}", "read")
    # in the one bucket, and between its postings others of the same shard, which a split takes out
    others = (np.arange(count, dtype=np.uint64) << np.uint64(13)) + np.uint64(77) + np.uint64(2**12)
    writer.add(range(count), [b""] * count, np.stack([np.full(count, 77, np.uint64), others], axis=1))
    writer.commit()

    def splitting(server: IndexServer, name: str, arguments: tuple[Any, ...]) -> list[Any]:
        if name == "piece":
            pieces.append(arguments)
            if len(pieces) == 1:
                some = np.random.default_rng(1).integers(0, 2**63, (count, 4), np.uint64)
                writer.add(range(count, 2 * count), [b""] * count, some)
                writer.commit()
        return once(server, name, arguments)

    monkeypatch.setattr(IndexServer, "_once", splitting)
    assert np.array_equal(reader.candidates(keys_of([77, 1]))[1], np.arange(count))
    assert len(pieces) > 1
    writer.close()
    reader.close()
