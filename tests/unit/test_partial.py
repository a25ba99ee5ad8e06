"""Unfinished outputs lie beside their place, and what killed processes left is removed."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from benzer.errors import OutputError
from benzer.tables import OutputFolder, atomic_write
from benzer.tables import partial as partial_module
from benzer.tables.partial import Partial, hidden, sweep


def fill(place: AbstractContextManager[Path], write: Callable[[Path], Any]) -> None:
    with place as new:
        write(new)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write_new(folder: Path) -> None:
    (folder / "new").touch()


@pytest.mark.parametrize("in_one_step", [True, False])
def test_a_link_to_a_folder_stays_a_link_and_its_target_is_replaced(
    in_one_step: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "disk" / "results").mkdir(parents=True)
    (tmp_path / "disk" / "results" / "old").touch()
    (tmp_path / "link").symlink_to("disk/results")
    if not in_one_step:
        monkeypatch.setattr(partial_module, "exchange", lambda path, other: False)
    fill(OutputFolder(tmp_path / "link", replace=True), write_new)
    assert names(tmp_path) == ["disk", "link"]
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path / "disk") == ["results"]
    assert names(tmp_path / "link") == ["new"]
    (tmp_path / "disk" / "file").write_text("old")
    (tmp_path / "file").symlink_to("disk/file")
    fill(atomic_write(tmp_path / "file", replace=True), lambda file: file.write_text("new"))
    assert (tmp_path / "file").is_symlink()
    assert (tmp_path / "disk" / "file").read_text() == "new"


def test_a_link_to_nothing_gets_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("results")
    fill(OutputFolder(tmp_path / "link"), write_new)
    assert names(tmp_path) == ["link", "results"]
    assert names(tmp_path / "results") == ["new"]


def test_a_pipe_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="pipe is a device or a pipe, not a file: choose another path"):
        atomic_write(tmp_path / "pipe", replace=True).__enter__()


def left_by_a_dead_process(output: Path, number: int = 1) -> Partial:
    """A partial folder as a killed process leaves it: the system has dropped its lock."""
    left = Partial(output)
    left.new.mkdir()
    (left.new / "half").touch()
    path = left.path.with_name(f".{output.name}.partial-{number}")
    left.path.rename(path)
    left.path = path
    os.close(left._lock)
    return left


def test_what_dead_processes_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    left_by_a_dead_process(tmp_path / "results")
    left_by_a_dead_process(tmp_path / "results", os.getpid())  # in containers numbers repeat
    left_by_a_dead_process(tmp_path / "results.old")
    fill(OutputFolder(tmp_path / "results"), write_new)
    assert names(tmp_path) == [".results.old.partial-1", "results"]
    left = left_by_a_dead_process(tmp_path / "results")
    assert sweep(tmp_path / "results") == [left.path]
    assert sweep(tmp_path / "results") == []
    left = left_by_a_dead_process(tmp_path / "pairs.jsonl")
    fill(atomic_write(tmp_path / "pairs.jsonl"), lambda file: file.write_text("{}"))
    assert not left.path.exists()


def test_what_a_living_process_writes_is_left_alone(tmp_path: Path) -> None:
    with OutputFolder(tmp_path / "results") as first:
        (first / "first").touch()
        assert sweep(tmp_path / "results") == []
        fill(OutputFolder(tmp_path / "results"), write_new)
        assert (first / "first").exists()
        (tmp_path / "results" / "new").unlink()
        (tmp_path / "results").rmdir()
    assert names(tmp_path) == ["results"]
    assert names(tmp_path / "results") == ["first"]


def test_folders_that_benzer_did_not_make_are_left_alone(tmp_path: Path) -> None:
    for name in (".results.partial-1", ".results.partial-x", ".results.partial-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").touch()
    (tmp_path / ".results.partial-2").rename(tmp_path / "elsewhere")
    (tmp_path / ".results.partial-2").symlink_to("elsewhere")
    (tmp_path / ".results.partial-3").touch()
    before = names(tmp_path)
    assert sweep(tmp_path / "results") == []
    assert names(tmp_path) == before


@pytest.mark.parametrize("call", ["open", "listdir"])
def test_leftovers_of_other_users_are_left_alone(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = left_by_a_dead_process(tmp_path / "results")
    allowed = getattr(os, call)

    def refuse(path: Path, *more: Any) -> Any:
        if left.path in (Path(path), Path(path).parent):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return allowed(path, *more)

    monkeypatch.setattr(os, call, refuse)
    fill(OutputFolder(tmp_path / "results"), write_new)
    assert names(tmp_path) == [left.path.name, "results"]


def test_a_failure_to_lock_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opens = os.open

    def full(path: Path, *more: Any) -> int:
        if Path(path).name == partial_module.LOCK:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return opens(path, *more)

    monkeypatch.setattr(partial_module.os, "open", full)
    with pytest.raises(OutputError, match=r"cannot write .*results \(No space left on device\)"):
        OutputFolder(tmp_path / "results").__enter__()
    assert names(tmp_path) == []


def test_an_output_that_was_about_to_be_replaced_is_put_back(tmp_path: Path) -> None:
    left = left_by_a_dead_process(tmp_path / "results")
    (left.path / "old").mkdir()
    (left.path / "old" / "mine").touch()
    assert sweep(tmp_path / "results") == [left.path]
    assert names(tmp_path) == ["results"]
    assert names(tmp_path / "results") == ["mine"]


def test_without_locks_nothing_is_removed_and_outputs_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(lock: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    left = left_by_a_dead_process(tmp_path / "results")
    monkeypatch.setattr(partial_module.fcntl, "flock", no_locks)
    fill(OutputFolder(tmp_path / "results"), write_new)
    assert names(tmp_path) == [left.path.name, "results"]


def test_the_partial_name_of_another_writer_is_not_shared(tmp_path: Path) -> None:
    hidden(tmp_path / "pairs.jsonl", "partial").write_text("left over")
    with atomic_write(tmp_path / "pairs.jsonl") as new:
        new.write_text("new")
    assert (tmp_path / "pairs.jsonl").read_text() == "new"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_with_the_place(number: int, tmp_path: Path) -> None:
    def stop(folder: Path) -> None:
        raise OSError(number, os.strerror(number))

    told = rf"cannot write .*results \({os.strerror(number)}\): free some space, or choose another path"
    for place in (OutputFolder(tmp_path / "results"), atomic_write(tmp_path / "results")):
        with pytest.raises(OutputError, match=told):
            fill(place, stop)
    assert names(tmp_path) == []


def test_a_full_disk_while_syncing_leaves_the_old_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    fill(OutputFolder(tmp_path / "results"), write_new)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"cannot write .*results \(No space"):
        fill(OutputFolder(tmp_path / "results", replace=True), lambda folder: (folder / "newer").touch())
    assert names(tmp_path) == ["results"]
    assert names(tmp_path / "results") == ["new"]
