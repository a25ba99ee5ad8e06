"""Copies an index file while it is in use, and restores copies."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from benzer.errors import StoreLockedError
from benzer.storage.commits import sync_folder
from benzer.storage.file import FileStorage
from benzer.storage.layout import (
    CHECKSUMS_SINCE,
    connect,
    connect_alone,
    failed,
    format_of,
    load_state,
    renew_stamp,
    storage_error,
)
from benzer.storage.session import is_open

_PAGES_AT_ONCE = 4096
_LOCKS = 0x40000000  # the bytes of a file that SQLite locks
_LOCKED_BYTES = 512
_TIMEOUT = 5.0


def copy_index(source: Path, target: Path) -> int:
    """Write the last committed state of an index file to a new file, check it, and return its number of documents.

    Other processes can read and write meanwhile. The copy has another stamp, so that a log next to it is never
    mistaken for its own.

    Raises:
        StoreFormatError: The source, and so the copy, is damaged.
    """
    with _made(target):
        _copy_pages(connect(source, None, "read", _TIMEOUT), source, target)
        return _finish(target)


@contextmanager
def _made(target: Path) -> Iterator[None]:
    """Remove everything created for a file if the block fails."""
    try:
        yield
    except BaseException:
        for ending in ("", "-wal", "-shm", "-journal", "-commits"):
            target.with_name(target.name + ending).unlink(missing_ok=True)
        raise


def _copy_pages(connection: sqlite3.Connection, source: Path, target: Path) -> None:
    try:
        with closing(connection), closing(sqlite3.connect(target)) as other:
            connection.execute("BEGIN")
            load_state(connection)  # from here on this connection sees one state
            connection.backup(other, pages=_PAGES_AT_ONCE)
    except sqlite3.Error as error:
        raise storage_error(error, source) from error


def _finish(target: Path) -> int:
    try:
        with closing(connect(target, None, "write", _TIMEOUT)) as connection:
            if format_of(connection) >= CHECKSUMS_SINCE:
                connection.execute("BEGIN IMMEDIATE")
                renew_stamp(connection)
                connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise storage_error(error, target) from error
    with closing(FileStorage(target, mode="read")) as storage:
        storage.check()
        return len(storage)


def restore_index(index: Path, copy: Path) -> int:
    """Replace an index file by a copy, remove its log, and return the number of documents.

    If `copy` is the index file itself, it is used as it is, without the log.

    Raises:
        StoreFormatError: The copy is damaged; nothing was changed.
        StoreLockedError: The index is open here, or in another process.
    """
    partial = index.with_name(f".{index.name}.{os.urandom(4).hex()}.partial")
    with _made(partial):
        if index.exists() and index.samefile(copy):
            _copy_pages(connect_alone(index), index, partial)
            count = _finish(partial)
        else:
            count = copy_index(copy, partial)
        try:
            with _alone(index):
                _put_in_place(partial, index)
        except OSError as error:
            raise failed(error, index) from error
    return count


def _put_in_place(partial: Path, index: Path) -> None:
    """Remove the log first, because it would be applied to the copy, and the record of its commits last."""
    with partial.open("rb+") as file:
        os.fsync(file.fileno())
    for ending in ("-wal", "-journal", "-shm"):
        index.with_name(index.name + ending).unlink(missing_ok=True)
    sync_folder(index.parent)
    partial.replace(index)
    sync_folder(index.parent)
    index.with_name(index.name + "-commits").unlink(missing_ok=True)


@contextmanager
def _alone(index: Path) -> Iterator[None]:
    """Ensure that no process has the index file open or opens it, by the locks of SQLite."""
    message = f"{index} is in use: close it in all processes before restoring a copy"
    if is_open(index):  # the locks of this process would be lost when the file is closed
        raise StoreLockedError(f"{message} (it is open in this process)")
    if not index.exists():
        yield
        return
    with index.open("rb+") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCKED_BYTES, _LOCKS)
        except OSError as error:
            raise StoreLockedError(message) from error
        yield
