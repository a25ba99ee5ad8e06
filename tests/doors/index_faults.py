"""Index files with faults, and what becomes of them: the state they should have, or an error that names it.

`BENZER_FAULTS=1000` runs a thousand faults of each kind instead of a dozen (`make faults`).
"""

from __future__ import annotations

import os
import pickle
import random
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from benzer.errors import StorageError
from benzer.index import Index, IndexSettings
from benzer.storage.file import FileStorage
from benzer.storage.runs import RunLimits

FAULTS = int(os.environ.get("BENZER_FAULTS", "12"))
SETTINGS = IndexSettings(threshold=0.5, recall=0.9)
LIMITS = RunLimits(delta_postings=200, block_postings=40, slice_postings=500, purge_documents=10)
"""Limits so small that an index of a few hundred documents has several runs, a delta and removed documents."""
BESIDE = ("", "-wal", "-shm", "-commits")
_SECONDS = 30

State = dict[str, Any]
"""All that an index answers: see `state_of`."""


def text_of(number: int, version: int = 0) -> str:
    words = random.Random(f"{number // 3},{version}").choices(range(10**6), k=12)
    return " ".join(f"w{word}" for word in [*words, number % 3])


def opened(path: Path, mode: str = "write") -> Index:
    settings = SETTINGS.to_json() if mode == "write" else None
    return Index(FileStorage(path, settings, mode, 5.0, LIMITS), SETTINGS)


def fill(index: Index, numbers: Iterable[int], version: int = 0) -> None:
    """Add documents, remove a few of them, see others again, and commit."""
    numbers = list(numbers)
    index.add([(number, text_of(number, version)) for number in numbers], seen_at=10**9 + version, threads=1)
    index.remove(numbers[1::29])
    index.touch(numbers[2::17], seen_at=10**9 + 500 + version)
    index.commit()


def change(index: Index, chance: random.Random, turn: int) -> None:
    """Any change, committed."""
    kind = chance.choice(["add", "add", "replace", "remove", "touch", "compact"])
    if kind == "add":
        start = 10**6 * (turn + 1)
        fill(index, range(start, start + chance.choice([1, 30, 200])), turn + 1)
    elif kind == "replace":
        fill(index, chance.sample(range(240), 60), turn + 1)
    elif kind == "remove":
        index.remove(chance.sample(range(240), 30))
    elif kind == "touch":
        index.touch(chance.sample(range(240), 50), seen_at=2 * 10**9 + turn)
    else:
        index.compact()
    index.commit()


def state_of(path: Path, mode: str = "read") -> State:
    """What an index answers to every kind of question."""
    with Index.open(path, mode=mode) as index:
        documents = [(one.id, one.fields["text"]) for one in index.documents()]
        asked = [text_of(number) for number in range(0, 240, 5)]
        info = index.info()
        return {
            "documents": documents,
            "ids": list(index),
            "length": len(index),
            "by id": [index.get(number) for number in range(0, 240, 7)],
            "similar": index.find_similar_batch(asked, threads=1),
            "one by one": [index.find_similar(text) for text in asked[:5]],
            "candidates": index.find_candidates_batch(asked[:10], threads=1),
            "last seen": [index.last_seen(one) for one, _ in documents[::3]],
            "unseen": index.unseen(since=10**9 + 100),
            "buckets": index.bucket_sizes(),
            "settings": index.settings.to_json(),
            "counts": [info[name] for name in ("documents", "removed", "postings", "runs")],
        }


def check(path: Path) -> None:
    with Index.open(path, mode="read") as index:
        index.check()


def copy(path: Path, folder: Path, beside: Iterable[str] = BESIDE) -> Path:
    """The index file with the files that belong to it, in another folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for ending in beside:
        source = path.with_name(path.name + ending)
        if source.exists():
            shutil.copy(source, folder)
    return folder / path.name


def in_child(work: Callable[[], object]) -> object:
    """What `work` gives in a child process, or "hang" if it does not end, or "signal N" if it dies."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_SECONDS)
        answer = work()
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGALRM:
        return "hang"
    return pickle.loads(data) if code == 0 else f"ended with {code}"  # noqa: S301


def killed_after(work: Callable[[], object]) -> None:
    """Do something in a child process that dies with all its files open."""
    child = os.fork()
    if child == 0:
        _do_and_die(work)
    os.waitpid(child, 0)


def _do_and_die(work: Callable[[], object]) -> NoReturn:
    try:
        work()
    finally:
        os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("alive")


def verdict(path: Path, allowed: dict[str, State]) -> str:
    """What a user meets: the name of the state that the index is in, the error that says otherwise, or a fault.

    Anything that begins with "FAULT" must not happen: another state that `check` passes, a foreign exception, a hang.
    """

    def look() -> str:
        try:
            state: object = state_of(path)
        except StorageError as error:
            return _named(error, path)
        except Exception as error:
            return f"FAULT: {type(error).__name__} {error}"
        names = [name for name, expected in allowed.items() if state == expected]
        try:
            check(path)
        except StorageError as error:
            return "check: " + _named(error, path)
        except Exception as error:
            return f"FAULT: check: {type(error).__name__} {error}"
        return names[0] if names else "FAULT: another state, and check passes"

    answer = str(in_child(look))
    return f"FAULT: {answer}" if answer.startswith(("hang", "ended")) else answer


def _named(error: StorageError, path: Path) -> str:
    place = "" if path.name in str(error) else "FAULT: no place: "
    return f"{place}told by {type(error).__name__}"


def faults_in(tally: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in tally.items() if name.startswith("FAULT")}
