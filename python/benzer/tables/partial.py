"""Temporary files of an output, and removal of those left by killed processes."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from benzer.errors import OutputError
from benzer.tables.durable import exchange, make_folder, sync_folder, sync_tree

LOCK, NEW, OLD = "lock", "new", "old"


class Partial:
    """A hidden folder next to an output, locked by the process that fills it.

    It contains `lock`, the unfinished output as `new`, and the previous output while it is replaced. The lock is that
    of a file (`flock`): the system releases it at the end of the process in any case, so neither the reuse of process
    ids nor other machines on the same network disk matter.
    """

    def __init__(self, output: Path) -> None:
        self.output = output
        make_folder(output.parent)
        path = hidden(output, "partial")
        lock = _created(path)
        while lock is None:
            path = hidden(output, "partial", os.urandom(4).hex())
            lock = _created(path)
        self.path, self._lock = path, lock

    @property
    def new(self) -> Path:
        """The path of the new output, which does not exist at first."""
        return self.path / NEW

    def place(self) -> None:
        """Give the output its name, replacing the previous one; afterwards it is on the disk.

        Contents are on the disk before their names are. If two names cannot be exchanged in one step, the previous
        folder is moved into this one first; `sweep` moves it back if the process is killed at that moment.
        """
        sync_tree(self.new)
        sync_folder(self.path)
        if not self.output.is_dir():
            self.new.replace(self.output)
        elif not exchange(self.new, self.output):
            self._swap()
        sync_folder(self.output.parent)

    def _swap(self) -> None:
        old = self.path / OLD
        self.output.rename(old)
        try:
            self.new.rename(self.output)
        except BaseException:
            old.rename(self.output)
            raise

    def close(self) -> None:
        """Remove an unfinished or replaced output."""
        _remove(self.path)
        os.close(self._lock)
        with suppress(OSError):  # NFS keeps a removed file until it is closed
            self.path.rmdir()


def sweep(output: str | os.PathLike[str]) -> list[Path]:
    """Remove leftovers of killed processes next to an output, and return their paths.

    A previous output that was about to be replaced is restored.
    """
    place = followed(output)
    return [path for path in _leftovers(place) if _removed(path, place)]


def followed(path: str | os.PathLike[str]) -> Path:
    """Return the path of an output, or the target of a link.

    >>> followed("clean").name
    'clean'
    >>> followed("/")
    Traceback (most recent call last):
    benzer.errors.OutputError: / is a mount point, which cannot be replaced: choose a folder inside it
    """
    place = Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)
    if place.is_symlink():
        raise OutputError(f"{os.fspath(path)} is a link to itself: choose another path")
    if os.path.ismount(place):
        raise OutputError(
            f"{os.fspath(path)} is a mount point, which cannot be replaced: choose a folder inside it"
        )
    return place


def hidden(path: Path, purpose: str, *more: str) -> Path:
    """Return a hidden name in the folder of a path, different for each process.

    >>> hidden(Path("out/results"), "partial").name == f".results.partial-{os.getpid()}"
    True
    """
    whole = Path(os.path.abspath(path))
    return whole.with_name("-".join((f".{whole.name}.{purpose}", str(os.getpid()), *more)))


def _leftovers(output: Path) -> Iterator[Path]:
    whole = Path(os.path.abspath(output))
    name = re.compile(rf"\.{re.escape(whole.name)}\.partial-\d+(-[0-9a-f]{{8}})?")
    for path in (
        whole.with_name(file_name) for file_name in _names(whole.parent) if name.fullmatch(file_name)
    ):
        # The lock is the first thing in such a folder; what holds other things only is not ours.
        if _is_folder(path) and (LOCK in (inside := _names(path)) or not inside):
            yield path


def _names(folder: Path) -> list[str]:
    """Return the names in a folder; none if it cannot be listed, or was removed meanwhile."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _removed(path: Path, output: Path) -> bool:
    """Remove a partial folder of a dead process; returns whether it was one."""
    try:
        lock = _locked(path)
    except OSError:  # of another user, on a file system without locks, or removed meanwhile
        return False
    if lock is None:
        return False
    try:
        if (path / OLD).exists() and not output.exists():
            (path / OLD).rename(output)
            sync_folder(Path(os.path.abspath(output)).parent)
        _remove(path)
        return not path.exists()
    finally:
        os.close(lock)


def _remove(path: Path) -> None:
    """Remove a partial folder as far as possible; its lock, which identifies the folder, is removed last."""
    with suppress(OSError):
        for child in path.iterdir():
            if _is_folder(child):
                shutil.rmtree(child)
            elif child.name != LOCK:
                child.unlink()
        (path / LOCK).unlink()
        path.rmdir()


def _created(path: Path) -> int | None:
    """Return the lock of a new partial folder; None if another process has this name, or just removed the folder."""
    try:
        path.mkdir(mode=stat.S_IRWXU)
        return _locked(path, or_open=True)
    except (FileExistsError, FileNotFoundError):
        return None
    except OSError:
        with suppress(OSError):
            path.rmdir()
        raise


def _locked(path: Path, or_open: bool = False) -> int | None:
    """Return the open lock of a partial folder; None if another process holds it.

    Args:
        path: The folder.
        or_open: Whether to return it without a lock on file systems without locks. No process removes such a folder.
    """
    lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), os.stat(path / LOCK)):
            return lock
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:
        if or_open:
            return lock
        os.close(lock)
        raise
    os.close(lock)
    return None
