"""Temporary files beside an output, and removal of those left by killed processes."""

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
    """A hidden folder beside an output, locked by the process that fills it.

    It holds `lock`, the unfinished output as `new`, and while an output is replaced the previous one. The lock is that
    of a file (`flock`): the system drops it when the process ends, however it ends, so neither the reuse of process
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
        """Where the output is written; it does not exist at first."""
        return self.path / NEW

    def place(self) -> None:
        """Give the output its name, in the place of the previous one; afterwards it is on the disk.

        Contents are on the disk before their names are. Where two names cannot be exchanged in one step, the previous
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
        """Remove what is left: an unfinished or a replaced output."""
        _remove(self.path)
        os.close(self._lock)
        with suppress(OSError):  # NFS keeps a removed file until it is closed
            self.path.rmdir()


def sweep(output: str | os.PathLike[str]) -> list[Path]:
    """Remove what killed processes left beside an output, and return its paths.

    A previous output that was about to be replaced is put back.
    """
    place = followed(output)
    return [path for path in _leftovers(place) if _removed(path, place)]


def followed(path: str | os.PathLike[str]) -> Path:
    """The place of an output: where a link points, the path as it is otherwise.

    >>> followed("clean").name
    'clean'
    >>> followed("/")
    Traceback (most recent call last):
    benzer.errors.OutputError: / is a mount point, which cannot be replaced: choose a folder inside it
    """
    place = Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)
    if place.is_symlink():
        raise OutputError(f"{os.fspath(path)} is a link to itself: choose another place")
    if os.path.ismount(place):
        raise OutputError(
            f"{os.fspath(path)} is a mount point, which cannot be replaced: choose a folder inside it"
        )
    return place


def hidden(path: Path, purpose: str, *more: str) -> Path:
    """The hidden name beside a place, one for each process.

    >>> hidden(Path("out/results"), "partial").name == f".results.partial-{os.getpid()}"
    True
    """
    whole = Path(os.path.abspath(path))
    return whole.with_name("-".join((f".{whole.name}.{purpose}", str(os.getpid()), *more)))


def _leftovers(output: Path) -> Iterator[Path]:
    whole = Path(os.path.abspath(output))
    name = re.compile(rf"\.{re.escape(whole.name)}\.partial-\d+(-[0-9a-f]{{8}})?")
    for path in (whole.with_name(found) for found in _names(whole.parent) if name.fullmatch(found)):
        # The lock is the first thing in such a folder; what holds other things only is not ours.
        if _is_folder(path) and (LOCK in (inside := _names(path)) or not inside):
            yield path


def _names(folder: Path) -> list[str]:
    """The names in a folder; none where it cannot be listed, or has been removed meanwhile."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _removed(path: Path, output: Path) -> bool:
    """Whether a partial folder was that of a dead process, and is removed."""
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
    """Remove a partial folder as far as possible; its lock goes last, by which the folder is recognized."""
    with suppress(OSError):
        for child in path.iterdir():
            if _is_folder(child):
                shutil.rmtree(child)
            elif child.name != LOCK:
                child.unlink()
        (path / LOCK).unlink()
        path.rmdir()


def _created(path: Path) -> int | None:
    """The lock of a new partial folder; None where another process has this name, or has just removed the folder."""
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
    """The open lock of a partial folder; None where another process holds it.

    or_open: Whether to return it without a lock on file systems that have none. Nobody removes such a folder.
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
