"""What other processes do with an index: write until killed, hold the lock, fork (`test_index_processes`)."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

from benzer.document import Document
from benzer.index import Index, IndexSettings
from benzer.storage import session

SETTINGS = IndexSettings(threshold=0.5, recall=0.9)


def text_of(number: int) -> str:
    """A text of its own for each number, the same in every process."""
    words = random.Random(number)
    return " ".join(f"w{words.randrange(10**9)}" for _ in range(3 + number % 50))


def document(number: int) -> Document:
    return Document(f"doc-{number}", text_of(number))


def say(*words: object) -> None:
    print(*words, flush=True)


def write(path: Path, seed: int) -> None:
    """Add batches for ever, saying before each commit how many there will be, and after it that they are."""
    sizes = random.Random(seed)
    with Index.open(path, SETTINGS) as index:
        count = len(index)
        say("done", count)
        while True:
            batch = sizes.choice([1, 7, 50, 400])
            index.add([document(number) for number in range(count, count + batch)])
            count += batch
            say("try", count)
            index.commit()
            say("done", count)


def write_evenly(path: Path, batch: int, commits: int) -> None:
    """Add `commits` batches of one size."""
    with Index.open(path, SETTINGS) as index:
        for start in range(0, batch * commits, batch):
            index.add([document(number) for number in range(start, start + batch)])
            index.commit()
            say("done", start + batch)


def take_turns(path: Path, first: int, commits: int) -> None:
    """Commit small batches beside other writers, with a log that is moved into the file every few commits."""
    session._LOG_BYTES, session._COMMITS = 100_000, 3
    chance = random.Random(first)
    with Index.open(path, SETTINGS, timeout=30) as index:
        for start in range(first, first + 10 * commits, 10):
            index.add([document(number) for number in range(start, start + 10)])
            index.commit()
            say("done", start + 10)
            if chance.random() < 0.05:
                index.compact()
            if chance.random() < 0.2:
                index.find_similar(text_of(start))


def hold(path: Path) -> None:
    """Take the write lock and keep it."""
    with Index.open(path, SETTINGS) as index:
        index.add([document(10**6)])
        say("holding")
        sys.stdin.read()


def fork(path: Path) -> None:
    """Fork in mid-transaction; the child looks and ends as usual, then the parent commits."""
    with Index.open(path, SETTINGS) as index:
        index.add([document(number) for number in range(100)])
        index.commit()
        index.add([document(number) for number in range(100, 5000)], batch_size=500)
        child = os.fork()
        if child == 0:
            found = index.find_similar(text_of(5)), index.find_similar(text_of(2000))
            say("child", len(index), len(found[0]), len(found[1]))
            sys.exit(7)
        _, status = os.waitpid(child, 0)
        say("parent", os.waitstatus_to_exitcode(status), len(index), len(index.find_similar(text_of(2000))))
        index.commit()
        index.check()
        say("whole", len(index))


if __name__ == "__main__":
    command, place, *numbers = sys.argv[1:]
    COMMANDS = {
        "write": write, "write_evenly": write_evenly, "take_turns": take_turns, "hold": hold, "fork": fork,
    }  # fmt: skip
    COMMANDS[command](Path(place), *map(int, numbers))
