"""The last acknowledged commit of an index file, recorded in a small file NAME-commits.

SQLite treats a damaged record in its write-ahead log as the end of the log, and applies any log to the file next to
it. So this file records two facts, and opening an index compares them:

- the generation of the last commit that was acknowledged: an index of an earlier generation has lost commits;
- the stamp of the index file that the log was written for: a file with another stamp was put there from a copy.

A generation is recorded, and on the disk, after its commit is durable and before it is acknowledged. So a valid file
is never rejected: at worst the record names an earlier commit. Without this file nothing is compared. It is removed
with the log. Two slots are written alternately, so that an incomplete write leaves the other one.

The file is also a lock between processes: a process that begins a transaction or a new log, or moves the log into the
index file, holds it. So no transaction begins while the log is moved, which some versions of SQLite do not support
(the "WAL-reset bug", fixed in 3.51.3, 3.50.7 and 3.44.6).
"""

from __future__ import annotations

import fcntl
import math
import os
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from benzer.errors import StoreLockedError

_MARK = b"BnzrCmt1"
_RECORD = struct.Struct("<8sIIQ")  # mark, the two stamps, generation; the CRC-32 of these follows
_CHECKSUM = struct.Struct("<I")
_SLOT = 512
_PATIENCE = 5.0  # seconds beyond the timeout: the lock is held for a few writes to the disk


class CommitRecord(NamedTuple):
    """The last acknowledged generation, and the stamps that the index file may have.

    There are two stamps while the change from one to the other may be in the log only.
    """

    stamps: tuple[int, int]
    generation: int


class Commits:
    """The file NAME-commits of an index file."""

    def __init__(self, index: Path, timeout: float) -> None:
        self.index = index
        self.path = index.with_name(index.name + "-commits")
        self.log = index.with_name(index.name + "-wal")
        self._patience = timeout + _PATIENCE

    def log_bytes(self) -> int:
        """Return the size of the write-ahead log; 0 if there is none."""
        try:
            return self.log.stat().st_size
        except OSError:
            return 0

    def read(self) -> CommitRecord | None:
        """Return the record; None if there is none."""
        try:
            return _record_of(self.path.read_bytes())
        except OSError:
            return None

    @contextmanager
    def locked(self, make: bool = True, patient: bool = False) -> Iterator[int]:
        """Hold the lock and yield the open file; without `make` a missing file is a FileNotFoundError.

        With `patient` the wait is not limited: a commit is durable, and only has to be recorded.
        """
        deadline = time.monotonic() + (math.inf if patient else self._patience)
        while True:
            file = self._open(make)
            try:
                self._lock(file, deadline)
                if self._is_there(file):
                    yield file
                    return
            finally:
                with suppress(OSError):
                    fcntl.flock(file, fcntl.LOCK_UN)  # a forked child may have the same open file
                os.close(file)

    def _open(self, make: bool) -> int:
        if not make:
            return os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        mode = self.index.stat().st_mode & 0o666
        file = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_CREAT, mode)
        if os.fstat(file).st_mode & 0o666 != mode:
            with suppress(OSError):
                os.fchmod(file, mode)  # whoever may write the index may lock it, whatever the umask
        return file

    def _lock(self, file: int, deadline: float) -> None:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise StoreLockedError(
                        f"{self.path} has been locked by another process for {self._patience:g} s: end that process"
                    ) from None
                time.sleep(0.001)

    def _is_there(self, file: int) -> bool:
        """Whether the locked file is still the one with this name."""
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(file), self.path.stat())
        return False

    def clear(self, file: int) -> None:
        """Remove the record; `file` is the one that `locked` yielded."""
        if os.fstat(file).st_size:
            os.ftruncate(file, 0)
            os.fsync(file)

    def begin(self, file: int, record: CommitRecord) -> None:
        """Record a new log in the empty file, and make its name durable."""
        self.write(file, record)
        sync_folder(self.path.parent)

    def acknowledge(self, file: int, generation: int) -> None:
        """Record that a commit is acknowledged. Does nothing without a record of the log."""
        record = _record_of(os.pread(file, 2 * _SLOT, 0))
        if record is not None and record.generation < generation:
            self.write(file, record._replace(generation=generation))

    def write(self, file: int, record: CommitRecord) -> None:
        """Write a record; an incomplete write leaves an earlier record."""
        data = _RECORD.pack(_MARK, *record.stamps, record.generation)
        slot = (data + _CHECKSUM.pack(zlib.crc32(data))).ljust(_SLOT, b"\0")
        if os.pwrite(file, slot, record.generation % 2 * _SLOT) != _SLOT:
            raise OSError(28, "No space left on device", str(self.path))
        os.fdatasync(file)

    def tidy(self) -> None:
        """Remove the file if there is no log, so that all commits are in the index file."""
        with suppress(OSError):
            if not self.log.exists() and self.path.exists():
                with self.locked(make=False):
                    if not self.log.exists():
                        self.path.unlink()


def _record_of(content: bytes) -> CommitRecord | None:
    """Return the later one of the valid slots."""
    records = []
    for slot in (content[:_SLOT], content[_SLOT : 2 * _SLOT]):
        data, rest = slot[: _RECORD.size], slot[_RECORD.size :]
        if len(rest) >= _CHECKSUM.size and data.startswith(_MARK):
            _, old, new, generation = _RECORD.unpack(data)
            if _CHECKSUM.unpack_from(rest) == (zlib.crc32(data),):
                records.append(CommitRecord((old, new), generation))
    return max(records, key=lambda record: record.generation, default=None)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
