"""Whatever happens to the files of an index: it has the right state, or an error says that it has not."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.doors.index_faults import (
    BESIDE,
    FAULTS,
    State,
    change,
    check,
    copy,
    faults_in,
    fill,
    killed_after,
    opened,
    state_of,
    verdict,
)


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index file that was closed."""
    path = tmp_path_factory.mktemp("closed") / "index.benzer"
    with opened(path) as index:
        for start in range(0, 240, 60):
            fill(index, range(start, start + 60))
    return path


@pytest.fixture(scope="module")
def killed(closed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same after a killed writer, whose log has four commits."""
    path = copy(closed, tmp_path_factory.mktemp("killed") / "files")

    def write() -> None:
        index = opened(path)
        for turn in range(4):
            fill(index, range(1000 + turn, 1060 + turn), turn)

    killed_after(write)
    assert path.with_name(path.name + "-wal").stat().st_size > 100_000
    return path


@pytest.fixture(scope="module")
def states(closed: Path, killed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, State]:
    folder = tmp_path_factory.mktemp("states")
    return {
        place.parent.name[:6]: state_of(copy(place, folder / place.parent.name)) for place in (closed, killed)
    }


def damage(file: Path, chance: random.Random) -> str:
    """Flip a bit, zero or garble a sector or page, cut the file, or swap two pages."""
    data = bytearray(file.read_bytes())
    kind = chance.choice(["bit", "bit", "bit", "zero", "garbage", "cut", "swap"])
    place = chance.randrange(len(data))
    if kind == "bit":
        data[place] ^= 1 << chance.randrange(8)
    elif kind == "cut":
        del data[place:]
    elif kind == "swap":
        one, other = (chance.randrange(len(data)) // 8192 * 8192 for _ in range(2))
        data[one : one + 8192], data[other : other + 8192] = (
            data[other : other + 8192],
            data[one : one + 8192],
        )
    else:
        size = chance.choice([1, 8, 512, 8192])
        start = place // size * size
        length = len(data[start : start + size])
        data[start : start + size] = bytes(length) if kind == "zero" else chance.randbytes(length)
    file.write_bytes(data)
    return kind


def test_damage_to_the_file_is_told_or_without_effect(closed: Path, tmp_path: Path) -> None:
    expected = {"unharmed": state_of(closed)}
    tally: Counter[str] = Counter()
    for number in range(FAULTS):
        path = copy(closed, tmp_path / "copy")
        kind = damage(path, random.Random(number))
        tally[verdict(path, expected)] += 1
        assert faults_in(tally) == {}, (number, kind)
    print(dict(tally))  # pytest -s shows it
    assert tally["told by StoreFormatError"] > 0


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-commits"])
def test_damage_beside_a_killed_writer_loses_no_commit_in_silence(
    killed: Path, states: dict[str, State], tmp_path: Path, ending: str
) -> None:
    expected = {"unharmed": state_of(copy(killed, tmp_path / "whole"))}
    tally: Counter[str] = Counter()
    for number in range(FAULTS if ending == "-wal" else FAULTS // 3):
        path = copy(killed, tmp_path / "copy")
        kind = damage(path.with_name(path.name + ending), random.Random(number))
        tally[verdict(path, expected)] += 1
        assert faults_in(tally) == {}, (number, kind)
    print(dict(tally))  # pytest -s shows it
    assert tally["told by StoreFormatError" if ending == "-wal" else "unharmed"] > 0


def test_a_log_that_is_missing_is_noticed(killed: Path, tmp_path: Path) -> None:
    path = copy(killed, tmp_path / "copy", [ending for ending in BESIDE if ending != "-wal"])
    assert verdict(path, {}) == "told by StoreFormatError"


def test_files_that_are_copied_together_are_whole(killed: Path, tmp_path: Path) -> None:
    whole = state_of(copy(killed, tmp_path / "whole"))
    assert len(whole["documents"]) > 240
    without_record = copy(killed, tmp_path / "without", ["", "-wal"])
    assert state_of(without_record) == whole


def test_a_copy_that_is_put_back_beside_an_older_log_is_the_copy_or_an_error(
    closed: Path, tmp_path: Path
) -> None:
    """`cp copy.benzer index.benzer` after a crash, with copies made before and during the writer's life.

    A copy that `cp` makes of an open index lacks what is in the log. It may have the same bytes as the file that it
    replaces; then nothing was put back, and the log gives the last acknowledged state.
    """
    tally: Counter[str] = Counter()
    for number in range(FAULTS):
        chance = random.Random(number)
        path = copy(closed, tmp_path / "index")
        saved = tmp_path / "saved" / path.name

        def write(path: Path = path, chance: random.Random = chance, saved: Path = saved) -> None:
            if chance.random() < 0.5:
                with opened(path) as index:
                    change(index, chance, 0)
                copy(path, saved.parent)
            index = opened(path)
            moment, turns = chance.randrange(12), chance.randrange(1, 12)
            for turn in range(1, turns):
                if turn == moment:
                    (copy(path, saved.parent, [""]).parent / "open").touch()
                change(index, chance, turn)

        copy(path, saved.parent)
        killed_after(write)
        expected = _state_or_none(copy(saved, tmp_path / "alone"))
        if (saved.parent / "open").exists() and saved.read_bytes() == path.read_bytes():
            expected["the same bytes"] = state_of(copy(path, tmp_path / "before"))
        shutil.copy(saved, path)
        tally[verdict(path, expected)] += 1
        assert faults_in(tally) == {}, number
    print(dict(tally))  # pytest -s shows it
    assert tally["told by StoreFormatError"] > FAULTS // 2


def _state_or_none(path: Path) -> dict[str, State]:
    """The state of a copy; a copy of a file that was being written may be damaged by itself."""
    if not verdict(path, {}).startswith("FAULT: another state"):
        return {}
    check(path)
    return {"the copy": state_of(path)}
