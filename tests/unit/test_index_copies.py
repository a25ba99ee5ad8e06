"""An index file is backed up while it is used, and a copy is put back whatever lies beside the old file."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from itertools import count
from pathlib import Path
from random import Random

import pytest

from benzer.errors import OutputError, StorageError, StoreFormatError, StoreLockedError
from benzer.index import Index, restore
from benzer.storage import copies
from tests.doors.index_faults import (
    BESIDE,
    FAULTS,
    change,
    copy,
    fill,
    killed_after,
    opened,
    state_of,
    verdict,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An index file after a killed writer, with a log."""
    path = tmp_path / "index.benzer"
    with opened(path) as index:
        fill(index, range(240))

    def write() -> None:
        index = opened(path)
        for turn in range(3):
            fill(index, range(1000 + turn, 1060 + turn), turn)

    killed_after(write)
    return path


def harm(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE document SET payload = x'00' WHERE number = 50")
        connection.commit()


def files(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir() if file.is_file())


def test_a_backup_is_the_committed_state_also_beside_a_writer(path: Path, tmp_path: Path) -> None:
    with opened(path) as writer:
        committed = state_of(path)
        writer.add([("new", "one two three four")])
        assert writer.backup(tmp_path / "copy.benzer") == len(committed["documents"])
        assert state_of(tmp_path / "copy.benzer") == committed
        writer.rollback()
    assert files(path) == ["copy.benzer", "index.benzer"]


def test_a_backup_beside_a_busy_writer_is_one_of_its_states(path: Path, tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        index = opened(path)
        for turn in count():
            index.add([(f"{turn}.{at}", f"turn {turn} at {at}") for at in range(10)])
            index.commit()
    try:
        counts: list[int] = []
        with Index.open(path, mode="read") as index:
            while len(counts) < 5 or counts[-1] == counts[0]:  # the writer may have to wait for its turn
                index.backup(tmp_path / "copy.benzer", replace=True)
                with Index.open(tmp_path / "copy.benzer", mode="read") as made:
                    counts.append(sum(1 for one in made if isinstance(one, str)))
                    assert list(made)[-1] == f"{counts[-1] // 10 - 1}.9" if counts[-1] else True
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert counts == sorted(counts)
    assert all(made % 10 == 0 for made in counts)


def test_a_backup_takes_no_place_that_is_taken(path: Path, tmp_path: Path) -> None:
    with opened(path) as index:
        (tmp_path / "copy.benzer").write_text("mine")
        with pytest.raises(OutputError, match="already exists"):
            index.backup(tmp_path / "copy.benzer")
        with pytest.raises(OutputError, match="is the index itself"):
            index.backup(path, replace=True)
    with Index.open("memory:") as index, pytest.raises(StorageError, match="export this one instead"):
        index.backup(tmp_path / "other.benzer")


def test_a_damaged_index_is_not_backed_up(path: Path, tmp_path: Path) -> None:
    opened(path).close()
    harm(path)
    with Index.open(path, mode="read") as index, pytest.raises(StoreFormatError, match="is damaged"):
        index.backup(tmp_path / "copy.benzer")
    assert files(path) == ["index.benzer"]


def test_a_restored_index_is_the_copy_whatever_the_old_one_was(path: Path, tmp_path: Path) -> None:
    (tmp_path / "copies").mkdir()
    with Index.open(path, mode="read") as index:
        index.backup(tmp_path / "copies" / "copy.benzer")
    saved = state_of(tmp_path / "copies" / "copy.benzer")
    tally: Counter[str] = Counter()
    for number in range(max(5, FAULTS // 3)):
        chance = Random(number)
        place = copy(path, tmp_path / "place")

        def write(place: Path = place, chance: Random = chance) -> None:
            index = opened(place)
            for turn in range(chance.randrange(6)):
                change(index, chance, turn)

        killed_after(write)
        for ending in BESIDE:
            file = place.with_name(place.name + ending)
            if file.exists() and chance.random() < 0.3:
                file.write_bytes(chance.randbytes(chance.choice([0, 5000])))
        if chance.random() < 0.2:
            place.unlink()
        assert restore(place, tmp_path / "copies" / "copy.benzer") == saved["length"]
        assert files(place) == ["index.benzer"]
        tally[verdict(place, {"the copy": saved})] += 1
    assert list(tally) == ["the copy"]


@pytest.mark.parametrize("step", ["the log is removed", "the copy is in place"])
def test_a_restore_that_is_killed_leaves_a_state_or_an_index_that_is_refused(
    path: Path, tmp_path: Path, step: str
) -> None:
    with Index.open(copy(path, tmp_path / "whole"), mode="read") as index:
        index.backup(tmp_path / "copy.benzer")
    with opened(tmp_path / "copy.benzer") as index:
        index.remove([5])
    place, saved = copy(path, tmp_path / "place"), state_of(tmp_path / "copy.benzer")

    def killed_restore() -> None:
        steps = iter(["the log is removed", "the copy is in place"])

        def sync_or_die(_: Path) -> None:
            if next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)

        copies.sync_folder = sync_or_die
        restore(place, tmp_path / "copy.benzer")

    killed_after(killed_restore)
    expected = "told by StoreFormatError" if step == "the log is removed" else "the copy"
    assert verdict(place, {"the copy": saved}) == expected
    restore(place, tmp_path / "copy.benzer")
    assert verdict(place, {"the copy": saved}) == "the copy"


def test_an_index_that_lost_commits_can_be_kept_without_them(path: Path, tmp_path: Path) -> None:
    place = copy(path, tmp_path / "place")
    place.with_name("index.benzer-wal").unlink()
    with pytest.raises(
        StoreFormatError, match=r"lacks acknowledged commits \(it has 1 of 4\).*remove .*-commits to continue"
    ):
        Index.open(place)
    place.with_name("index.benzer-commits").unlink()
    with Index.open(place) as index:
        index.check()
        assert len(index) == 231


def test_an_index_in_use_is_not_replaced(path: Path, tmp_path: Path) -> None:
    with Index.open(path, mode="read") as index:
        index.backup(tmp_path / "copy.benzer")
        before = list(index)
        with pytest.raises(StoreLockedError, match=r"is in use: close it in all processes.*in this process"):
            restore(path, tmp_path / "copy.benzer")
        child = os.fork()
        if child == 0:
            index.close()
            try:
                restore(path, tmp_path / "copy.benzer")
            except StoreLockedError:
                os._exit(3)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        assert list(index) == before
    assert restore(path, tmp_path / "copy.benzer") == len(before)


def test_a_damaged_copy_is_not_put_back(path: Path, tmp_path: Path) -> None:
    with Index.open(path, mode="read") as index:
        index.backup(tmp_path / "copy.benzer")
        before = list(index)
    harm(tmp_path / "copy.benzer")
    for place in ("copy.benzer", "nowhere.benzer"):
        with pytest.raises(StorageError):
            restore(path, tmp_path / place)
    with Index.open(path, mode="read") as index:
        assert list(index) == before
    assert files(path) == ["copy.benzer", "index.benzer"]


def test_a_copy_that_was_put_there_by_hand_can_be_kept(path: Path, tmp_path: Path) -> None:
    with Index.open(path, mode="read") as index:
        index.backup(tmp_path / "copy.benzer")
    killed = opened(path)
    killed.add([("lost", "one two three")])
    killed.commit()
    place = copy(path, tmp_path / "place")
    killed.close()
    place.write_bytes((tmp_path / "copy.benzer").read_bytes())
    with pytest.raises(StoreFormatError, match=r"index.benzer-wal does not belong to .*`benzer restore`"):
        Index.open(place, mode="read")
    restore(place, place)
    with Index.open(place) as index, closing(opened(tmp_path / "copy.benzer", "read")) as made:
        index.check()
        assert list(index) == list(made)
