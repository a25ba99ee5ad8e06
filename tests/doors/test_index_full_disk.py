"""On a full disk an index is read, changes are refused with a message that names the place, and nothing is lost."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benzer.errors import StorageError
from benzer.index import Index
from tests.doors.index_faults import BESIDE, SETTINGS, copy, fill, killed_after, opened, state_of
from tests.doors.shell import process

SIZE = 6_000_000


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"none", bytes(place), b"tmpfs", 0, b"size=%d" % SIZE):
        pytest.skip(f"no disk can be mounted here: {os.strerror(ctypes.get_errno())}")
    try:
        yield place
    finally:
        libc.umount2(bytes(place), 2)


def fill_up(disk: Path) -> None:
    """Leave not one byte free."""
    with (disk / "filler").open("wb", buffering=0) as filler:
        for size in (1 << 16, 1):
            try:
                while filler.write(bytes(size)) == size:
                    pass
            except OSError:
                pass
    assert os.statvfs(disk).f_bavail == 0


@pytest.fixture
def index(disk: Path) -> Path:
    with opened(disk / "docs.benzer") as index:
        fill(index, range(240))
    return disk / "docs.benzer"


def test_a_closed_index_is_read(index: Path, disk: Path, tmp_path: Path) -> None:
    before = state_of(index)
    fill_up(disk)
    assert state_of(index) == before
    text = before["documents"][5][1]
    done = process("search", str(index), text, "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    for command in (["info"], ["check"]):
        assert process(*command, str(index)).returncode == 0
    assert process("export", str(index), str(tmp_path / "out.jsonl")).returncode == 0
    assert process("backup", str(index), str(tmp_path / "copy.benzer")).returncode == 0


def test_an_index_is_read_while_it_is_written(index: Path, disk: Path) -> None:
    with opened(index) as writer:
        fill(writer, range(300, 360))
        fill_up(disk)
        assert process("search", str(index), "w1 w2").returncode == 0
        with Index.open(index, mode="read") as reader:
            assert len(reader) == len(writer)


def test_an_index_is_read_after_a_killed_writer(index: Path, disk: Path) -> None:
    killed_after(lambda: fill(opened(index), range(300, 360)))
    before = state_of(copy(index, disk.parent / "whole"))
    fill_up(disk)
    assert state_of(index) == before


@pytest.mark.parametrize("open_before", [False, True])
def test_changes_are_refused_with_the_place_and_nothing_is_lost(
    index: Path, disk: Path, open_before: bool
) -> None:
    before = state_of(index)
    writer = opened(index) if open_before else None
    fill_up(disk)
    with pytest.raises(StorageError, match=f"{disk}.*free space"):  # noqa: PT012
        writer = writer or Index.open(index, SETTINGS)
        fill(writer, range(300, 2300))
    if writer is not None:
        assert len(writer) == before["length"]
        writer.close()
    assert state_of(index) == before
    (disk / "filler").unlink()
    with opened(index) as writer:
        fill(writer, range(300, 330))
        writer.check()
        assert len(writer) > before["length"]


def test_an_index_that_was_read_as_it_stands_is_seen_to_change(index: Path, disk: Path) -> None:
    fill_up(disk)
    with Index.open(index, mode="read") as reader:
        before = len(reader)
        (disk / "filler").unlink()
        with opened(index) as writer:
            fill(writer, range(300, 330))
            assert len(reader) == len(writer) > before
            reader.check()
    assert [file.name for file in disk.iterdir()] == [index.name]
    assert all(not index.with_name(index.name + ending).exists() for ending in BESIDE if ending)
