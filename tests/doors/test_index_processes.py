"""One index file and several processes: killed writers, second writers, readers during writes, forks."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from benzer.errors import StoreLockedError
from benzer.index import Index
from tests.doors.index_child import SETTINGS, document, text_of

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = int(os.environ.get("BENZER_FAULTS", "4"))
ROUNDS_WITH_ONE_FILE = 20


@contextmanager
def child(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process that works on an index; it does not outlive the block."""
    command = [sys.executable, "-m", "tests.doors.index_child", *map(str, arguments)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(process: subprocess.Popen[str]) -> Iterator[list[str]]:
    """What the process says, line by line; a line cut off by its death is left out."""
    assert process.stdout is not None
    return (line.split() for line in process.stdout if line.endswith("\n"))


def killed_writer(path: Path, seed: int) -> tuple[int, int]:
    """Kill a writer somewhere; what it had acknowledged, and what it was committing if it was."""
    chance = random.Random(seed)
    done = tried = 0
    with child("write", path, seed) as process:
        stop = None
        for word, count in lines(process):
            done, tried = (int(count), int(count)) if word == "done" else (done, int(count))
            stop = stop or time.monotonic() + chance.uniform(0.0, 0.35)
            if time.monotonic() > stop:
                time.sleep(chance.uniform(0.0, 0.01))
                process.kill()
    return done, tried


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "index.benzer"
    held = 0
    for seed in range(ROUNDS):
        if seed % ROUNDS_WITH_ONE_FILE == 0:  # else a thousand rounds would spend their time on reading
            path, held = tmp_path / f"index-{seed}.benzer", 0
        done, tried = killed_writer(path, seed)
        with Index.open(path, mode="read") as index:
            index.check()
            assert len(index) in (done, tried), "a batch is there as a whole or not at all"
            assert held <= done
            held = len(index)
            assert list(index) == [f"doc-{number}" for number in range(held)]
            for number in random.Random(seed).sample(range(held), min(held, 40)):
                assert index.get(f"doc-{number}") == document(number)
                assert f"doc-{number}" in [match.id for match in index.find_similar(text_of(number))]
    assert held > 0
    with Index.open(path, SETTINGS) as index:
        index.add([document(held)])
    with Index.open(path, mode="read") as index:
        assert len(index) == held + 1


def test_a_second_process_cannot_write_but_read_until_the_first_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "index.benzer"
    with Index.open(path, SETTINGS) as index:
        index.add([document(1)])
    with child("hold", path) as process:
        assert next(lines(process)) == ["holding"]
        with Index.open(path, timeout=0.2) as index:
            started = time.monotonic()
            with pytest.raises(StoreLockedError, match="is being written by another process"):
                index.add([document(2)])
            assert time.monotonic() - started < 30
            assert list(index) == ["doc-1"]
            process.kill()
            process.wait()
            index.add([document(2)])
            assert list(index) == ["doc-1", "doc-2"]


def test_a_reader_is_not_disturbed_by_a_writer_and_sees_whole_commits(tmp_path: Path) -> None:
    path, batch, commits = tmp_path / "index.benzer", 250, 30
    Index.open(path, SETTINGS).close()
    seen = []
    with child("write_evenly", path, batch, commits) as process, Index.open(path, mode="read") as reader:
        while process.poll() is None or reader.find_similar(text_of(batch * commits - 1)) == []:
            count = len(reader)
            seen.append(count)
            assert count % batch == 0
            if count:
                number = random.Random(count).randrange(count)
                assert reader.find_similar(text_of(number), limit=1)[0].similarity == 1.0
                assert len(reader.find_similar_batch([text_of(0), text_of(count - 1)])) == 2
        assert process.returncode == 0
        reader.check()
        assert len(reader) == batch * commits
    assert seen == sorted(seen)


def test_writers_that_take_turns_lose_nothing_while_the_log_is_moved(tmp_path: Path) -> None:
    path, commits, writers = tmp_path / "index.benzer", 40, 3
    Index.open(path, SETTINGS).close()
    with ExitStack() as stack:
        running = [
            stack.enter_context(child("take_turns", path, 10_000 * number, commits))
            for number in range(writers)
        ]
        with Index.open(path, mode="read") as reader:
            while any(process.poll() is None for process in running):
                assert len(reader) % 10 == 0
                reader.find_similar(text_of(5))
                with Index.open(path, mode="read") as other:  # also while a new log begins
                    assert len(other) % 10 == 0
        for process in running:
            assert list(lines(process))[-1][0] == "done"
            assert process.returncode == 0
    with Index.open(path, mode="read") as index:
        index.check()
        expected = {f"doc-{10_000 * number + at}" for number in range(writers) for at in range(10 * commits)}
        assert set(index) == expected
    assert [file.name for file in tmp_path.iterdir()] == ["index.benzer"]


def test_a_fork_in_mid_transaction_harms_neither_process(tmp_path: Path) -> None:
    if hasattr(os, "fork"):
        with child("fork", tmp_path / "index.benzer") as process:
            answers = list(lines(process))
            assert process.wait() == 0
        assert answers == [["child", "100", "1", "0"], ["parent", "7", "5000", "1"], ["whole", "5000"]]


def test_an_index_that_one_process_has_open_twice_is_not_swept_up_by_another(tmp_path: Path) -> None:
    path = tmp_path / "index.benzer"
    look = f"from benzer.index import Index\nwith Index.open({str(path)!r}) as index: print(len(index))"

    def seen_by_another() -> int:
        return int(subprocess.run([sys.executable, "-c", look], check=True, capture_output=True).stdout)

    with Index.open(path, SETTINGS) as writer, Index.open(path, mode="read") as reader:
        writer.add([document(number) for number in range(300)])
        writer.commit()
        assert (len(reader), seen_by_another()) == (300, 300)
        writer.add([document(number) for number in range(300, 600)])
        writer.commit()
        assert (len(reader), seen_by_another()) == (600, 600)
    with Index.open(path) as index:
        index.check()
        assert len(index) == 600
