"""Writes files and folders so that they survive a power failure."""

from __future__ import annotations

import ctypes
import errno
import os
from functools import cache
from pathlib import Path
from typing import Any

AT_FDCWD, RENAME_EXCHANGE = -100, 2
"""Constants of the Linux call `renameat2`."""
NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)
"""What `renameat2` reports where the kernel or the file system cannot exchange two names."""
NO_FOLDER_SYNC = (errno.EINVAL, errno.EBADF, errno.EOPNOTSUPP)
"""What `fsync` of a folder reports on file systems that do not support it, e.g. some network shares."""


def sync_file(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk. Does nothing on Windows, which cannot sync a folder."""
    if os.name == "nt":
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:  # names can be made in the folder, but it cannot be read
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def sync_tree(path: Path) -> None:
    """Wait until a file, or a folder with its content, is on the disk.

    Links are not followed.
    """
    if not path.is_dir():
        sync_file(path)
        return
    for folder, _, names in os.walk(path, topdown=False):
        for name in names:
            file = Path(folder, name)
            if not file.is_symlink():
                sync_file(file)
        sync_folder(Path(folder))


def make_folder(path: Path) -> None:
    """Make a folder and its missing parents, and wait until their names are on the disk."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        sync_folder(folder.parent)


def exchange(path: Path, other: Path) -> bool:
    """Exchange the names of two files or folders in one step; returns False if the system cannot do that.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("old", "new"):
    ...     _ = (folder / name).write_text(name)
    >>> exchange(folder / "old", folder / "new") == ((folder / "old").read_text() == "new")
    True
    """
    call = _renameat2()
    if call is None:
        return False
    if call(AT_FDCWD, os.fsencode(path), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(path), None, str(other))


@cache
def _renameat2() -> Any:
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux, or an old C library
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call
