"""After a power cut an index has every acknowledged commit, and all of each.

A process writes to an index while a library that is loaded before it (`power_log.c`) records each write, sync and
name. From that record the folder is made as a disk may have it after a power cut at any moment: writes that were not
synced are there, missing, out of order or torn into sectors; names that were not synced are there or not.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from benzer.errors import StorageError
from benzer.index import Index
from tests.doors.index_faults import FAULTS, faults_in, in_child, opened, text_of

ROOT = Path(__file__).resolve().parents[2]
SECTOR = 512
TURNS = 40


class Event(NamedTuple):
    """One entry of the record."""

    kind: str
    path: Path
    offset: int
    data: bytes


class File:
    """What was synced of a file, and the writes since."""

    def __init__(self) -> None:
        self.synced = bytearray()
        self.writes: list[Event] = []

    def sync(self) -> None:
        self.synced = self.after(self.writes)
        self.writes = []

    def after(self, writes: list[Event]) -> bytearray:
        content = bytearray(self.synced)
        for kind, _, offset, data in writes:
            end = offset if kind == "truncate" else offset + len(data)
            if len(content) < end:
                content.extend(bytes(end - len(content)))
            if kind == "truncate":
                del content[offset:]
            else:
                content[offset:end] = data
        return content

    def survivors(self, chance: random.Random, share: float) -> bytearray:
        """What the disk has: of the writes since the last sync a share, some of them torn."""
        writes = []
        for event in self.writes:
            if event.kind == "truncate" or len(event.data) <= SECTOR or chance.random() < 0.5:
                writes += [event] if chance.random() < share else []
                continue
            start = 0
            while start < len(event.data):
                end = start + SECTOR - (event.offset + start) % SECTOR
                if chance.random() < share:
                    writes.append(event._replace(offset=event.offset + start, data=event.data[start:end]))
                start = end
        return self.after(writes)


class Disk:
    """The files of one folder, by the events so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, File] = {}
        self.synced: dict[str, File] = {}
        self.changes: list[tuple[str, File | None]] = []

    def happen(self, event: Event) -> None:
        kind, path, _, data = event
        if path == self.folder:
            if kind == "sync":
                self.synced, self.changes = dict(self.names), []
        elif kind == "create":
            self._name(path.name, File())
        elif kind == "unlink":
            self._name(path.name, None)
        elif kind == "rename":
            self._name(Path(os.fsdecode(data)).name, self.names[path.name])
            self._name(path.name, None)
        elif path.name in self.names:  # else it was removed while it was open
            file = self.names[path.name]
            if kind == "sync":
                file.sync()
            else:
                file.writes.append(event)

    def _name(self, name: str, file: File | None) -> None:
        self.changes.append((name, file))
        if file is None:
            self.names.pop(name, None)
        else:
            self.names[name] = file

    def cut(self, target: Path, chance: random.Random) -> None:
        """Write what is left after a power cut now."""
        share = chance.choice([0.0, 0.2, 0.5, 0.8, 1.0])
        names = dict(self.synced)
        for name, file in self.changes:
            if chance.random() < chance.choice([share, 0.5]):
                if file is None:
                    names.pop(name, None)
                else:
                    names[name] = file
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for name, file in names.items():
            if not name.endswith("-shm"):
                (target / name).write_bytes(file.survivors(chance, share))


def events(log: Path) -> Iterator[Event]:
    with log.open("rb") as file:
        while line := file.readline():
            kind, path, offset, length = os.fsdecode(line.rstrip(b"\n")).split("\t")
            yield Event(kind, Path(path), int(offset), file.read(int(length)))


def facts(index: Index) -> dict[str, Any]:
    return {str(one.id): [one.fields["text"], str(index.last_seen(one.id))] for one in index.documents()}


def write(path: Path) -> None:
    """Change an index in every way, and say after each commit what it then has."""
    chance = random.Random(5)
    said = os.open(path.with_name("said"), os.O_WRONLY | os.O_CREAT)
    index = opened(path)
    for turn in range(TURNS):
        kind = chance.choice(
            ["add", "add", "add", "replace", "remove", "touch", "compact", "reopen", "rollback"]
        )
        numbers = chance.sample(range(60), 20)
        if kind == "add":
            index.add(
                [(60 * turn + at, text_of(60 * turn + at)) for at in range(chance.choice([1, 5, 80]))],
                seen_at=9,
            )
        elif kind == "replace":
            index.add([(number, text_of(number, turn)) for number in numbers], seen_at=turn + 10)
        elif kind in ("remove", "rollback"):
            index.remove(numbers[:7])
        elif kind == "touch":
            index.touch(numbers, seen_at=1000 + turn)
        if kind == "compact":
            index.compact()
        elif kind == "rollback":
            index.rollback()
        else:
            index.commit()
        os.write(said, json.dumps(facts(index)).encode() + b"\n")
        if kind == "reopen":
            index.close()
            index = opened(path)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Event]]:
    """The folder and the record of a process that wrote to an index."""
    folder = tmp_path_factory.mktemp("power")
    library, log, place = folder / "power_log.so", folder / "log", folder / "place"
    place.mkdir()
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler and Linux")
    source = Path(__file__).with_name("power_log.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    settings = {"LD_PRELOAD": str(library), "POWER_FOLDER": str(place), "POWER_LOG": str(log)}
    command = [sys.executable, "-m", "tests.doors.test_index_power", str(place / "index.benzer")]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **settings}, timeout=100)
    return place, list(events(log))


def test_the_record_is_that_of_the_files(record: tuple[Path, list[Event]]) -> None:
    place, all_events = record
    disk = Disk(place)
    for event in all_events:
        disk.happen(event)
    made = {
        name: bytes(file.after(file.writes)) for name, file in disk.names.items() if not name.endswith("-shm")
    }
    assert made == {
        file.name: file.read_bytes() for file in place.iterdir() if not file.name.endswith("-shm")
    }
    kinds = Counter(event.kind for event in all_events)
    assert kinds["sync"] > TURNS
    assert min(kinds["write"], kinds["truncate"], kinds["unlink"]) > 0


def test_no_acknowledged_commit_is_lost_at_a_power_cut(
    record: tuple[Path, list[Event]], tmp_path: Path
) -> None:
    place, all_events = record
    chance = random.Random(1)
    first = next(at for at, event in enumerate(all_events) if event.path.name == "said" and event.data)
    moments = Counter(chance.choices(range(first + 1, len(all_events) + 1), k=FAULTS))
    states = [json.loads(event.data) for event in all_events if event.path.name == "said" and event.data]
    disk, acknowledged = Disk(place), -1
    tally: Counter[str] = Counter()
    for at, event in enumerate(all_events, 1):
        disk.happen(event)
        acknowledged += event.path.name == "said" and bool(event.data)
        for number in range(moments[at]):
            disk.cut(tmp_path / "cut", random.Random(f"{at},{number}"))
            look = partial(outcome, tmp_path / "cut" / "index.benzer", states, acknowledged)
            tally[str(in_child(look))] += 1
            assert faults_in(tally) == {}, (at, number, event[:3], acknowledged)
    print(dict(tally))  # pytest -s shows it
    assert sum(tally.values()) == FAULTS


def outcome(path: Path, states: list[dict[str, Any]], acknowledged: int) -> str:
    try:
        with Index.open(path, mode="read") as index:
            index.check()
            state = facts(index)
            missed = sum(not index.find_similar(text, limit=None) for text, _ in list(state.values())[::5])
    except StorageError as error:
        return f"FAULT: {error}"
    if missed:
        return f"FAULT: {missed} questions missed"
    if state == states[acknowledged]:
        return "the acknowledged state"
    if state in states[acknowledged + 1 : acknowledged + 2]:
        return "the next state"
    return "FAULT: " + ("an earlier state" if state in states else "a state that never was")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
