"""The connection to an index file, its lock and its transaction."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from benzer._native import Blocks
from benzer.errors import StorageError
from benzer.storage.base import DocumentId, read_only, within_snapshot
from benzer.storage.commits import CommitRecord, Commits
from benzer.storage.file_seen import tidy
from benzer.storage.layout import (
    FileConnection,
    FileState,
    connect,
    facts_of,
    failed,
    load_state,
    renew_stamp,
    save_state,
    stamp_of,
    storage_error,
)
from benzer.storage.merge import move_to_runs, read_delta
from benzer.storage.postings import PostingPieces, Postings
from benzer.storage.runs import PostingRun, RunLimits, load_runs
from benzer.storage.upgrade import upgrade

_LOG_BYTES = 32 << 20  # of the write-ahead log, beyond which it is moved into the file
_COMMITS = 100  # until the next attempt, where readers keep the log from being moved
_WAIT = 50  # milliseconds for readers, when the log is moved
_ENTRY = 200  # bytes that a document takes in a dictionary beside its payload


class FileSession:
    """An open index file. Threads wait for each other; a forked child opens the file again on first use.

    `state`, `runs` and `pending` are valid within `reading` and `changing`: the counts, the runs, and the postings of
    this transaction that are not in the file yet. `blocks` caches blocks of runs: the content of a run never changes,
    and its number is used again only after an undone transaction. `documents` caches documents by number for one
    generation, until any process commits a change or this object begins one.
    """

    def __init__(
        self, path: Path, settings: str | None, mode: str, timeout: float, limits: RunLimits
    ) -> None:
        self.path, self.mode, self.timeout, self.limits = path, mode, timeout, limits
        self._connection: FileConnection | None = connect(path, settings, mode, timeout)
        self._commits = Commits(path, timeout)
        self._next_attempt = 0
        self._closed = False
        self.undone = 0
        self._start()
        _SESSIONS.add(self)

    def _start(self) -> None:
        self._lock = threading.RLock()
        self._end()
        self._used_numbers = 0
        self.state = FileState(-1, 0, 0, 0, 0, 0)
        self.runs: list[PostingRun] = []
        self.blocks = Blocks(self.limits.kept_bytes)
        self.forget_documents()

    def _end(self) -> None:
        self.writing = False
        self.changes = 0
        self.pending = PostingPieces()

    def forget_documents(self) -> None:
        """Remove the cached documents."""
        self.documents: dict[int, tuple[DocumentId, bytes]] = {}
        self._documents_bytes = 0

    def keep(self, documents: dict[int, tuple[DocumentId, bytes]]) -> None:
        """Cache documents for the next search, until the next commit; does nothing while this object is writing."""
        if self.writing:
            return
        size = sum(len(payload) + len(str(document)) + _ENTRY for document, payload in documents.values())
        if self._documents_bytes + size > self.limits.kept_documents:
            self.forget_documents()
        if size <= self.limits.kept_documents:
            self.documents |= documents
            self._documents_bytes += size

    def after_fork(self) -> None:
        """Do not use the parent's connection; its transaction and its locks are not the child's."""
        if self._connection is not None:
            _never_free(self._connection)
            self._connection = None
        self.undone += 1
        self._start()

    @property
    def connection(self) -> FileConnection:
        """The connection of this process; only used while the lock is held."""
        if self._closed:
            raise StorageError(f"{self.path} is closed: open it again")
        if self._connection is None:
            self._connection = connect(self.path, None, self.mode, self.timeout)
        return self._connection

    def run(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Execute one statement."""
        return self.connection.execute(statement, values)

    def _in_transaction(self) -> bool:
        return self.connection.in_transaction

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Make all reads in the block see one state; other threads of this process wait, other processes do not."""
        with self._lock:
            try:
                if self._in_transaction():
                    yield
                    return
                self._look_again()
                self.run("BEGIN")
                try:
                    self._refresh()
                    yield
                finally:
                    if self._in_transaction():
                        self.run("COMMIT")
                    self._check_unchanged()
            except sqlite3.Error as error:
                raise storage_error(error, self.path, self.timeout) from error

    def _look_again(self) -> None:
        """Open a file again that was read without its log, if another process has written to it."""
        as_of = self.connection.as_of
        if as_of is not None and as_of != facts_of(self.path):
            self.connection.close()
            self._connection = None
            self.blocks.clear()
            self.state.generation = -1

    def _check_unchanged(self) -> None:
        if self.connection.as_of is not None and self.connection.as_of != facts_of(self.path):
            raise StorageError(f"{self.path} has changed while it was read without locks: try again")

    def _refresh(self) -> None:
        state = load_state(self.connection)
        if state.generation != self.state.generation:
            self.forget_documents()
            self.runs = load_runs(self.connection)
        self.state = state

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Run a block in the write transaction. A failure inside (a full disk, an interrupt) undoes it as a whole."""
        with self._lock:
            self._check_allowed()
            try:
                if not self.writing:
                    self._begin()
                yield
            except BaseException as error:
                self._undo()
                if isinstance(error, sqlite3.Error):
                    raise storage_error(error, self.path, self.timeout) from error
                raise

    def _check_allowed(self) -> None:
        if self.mode == "read":
            raise read_only(self.path)
        if self._in_transaction() and not self.writing:
            raise within_snapshot()

    def _begin(self) -> None:
        with self._locked() as file:
            record = self._commits.read()
            if record is None or not self._commits.log_bytes():
                self._begin_log(file)
            elif record.stamps[0] != record.stamps[1] == stamp_of(self.path):
                self._commits.write(file, record._replace(stamps=(record.stamps[1],) * 2))
            self.run("BEGIN IMMEDIATE")
        self.writing = True
        self._refresh()
        self.forget_documents()
        self.state.next_number = max(self._used_numbers, self.state.next_number)

    def _begin_log(self, file: int) -> None:
        """Give the file a new stamp if readers allow to move the log into the file, and record it."""
        old = stamp_of(self.path)
        self.run("PRAGMA synchronous = NORMAL")  # what is written here is synced when the log is moved
        try:
            self.run("BEGIN IMMEDIATE")
            self._commits.clear(file)
            upgrade(self.connection)
            new = renew_stamp(self.connection)
            generation = load_state(self.connection).generation
            self.run("COMMIT")
            old = new if self._move_log() else old
        finally:
            if self._in_transaction():
                self.run("ROLLBACK")
            self.run("PRAGMA synchronous = FULL")
        if old is not None:  # else nothing is claimed until the next transaction begins a log
            self._commits.begin(file, CommitRecord((old, new), generation))

    def _move_log(self) -> bool:
        """Move the log into the file and empty it; returns False if readers prevented it.

        The caller holds the lock of `Commits`, and no other process is writing.
        """
        self.run(f"PRAGMA busy_timeout = {_WAIT}")
        try:
            return bool(self.run("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
        finally:
            self.run(f"PRAGMA busy_timeout = {int(self.timeout * 1000)}")

    @contextmanager
    def _locked(self, patient: bool = False) -> Iterator[int]:
        """Hold the lock of `Commits`; a file that cannot be written is a StorageError."""
        try:
            with self._commits.locked(patient=patient) as file:
                yield file
        except OSError as error:
            raise failed(error, self.path) from error

    def checkpoint(self) -> None:
        """Move the log into the file, unless another process is writing: that one will do it."""
        with self._locked():
            self.run("PRAGMA busy_timeout = 0")
            try:
                self.run("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return
            finally:
                self.run(f"PRAGMA busy_timeout = {int(self.timeout * 1000)}")
            self.run("ROLLBACK")
            self._move_log()

    def commit(self) -> None:
        """Write the changes together; returns when they are on the disk."""
        with self._lock:
            if self.writing:
                with self.changing():
                    self._settle_postings()
                    self._finish()
                self._checkpoint_when_due()

    def _checkpoint_when_due(self) -> None:
        """Checkpoint if the log is long; after a failure the log with all commits remains."""
        if self._commits.log_bytes() > _LOG_BYTES and self.state.generation >= self._next_attempt:
            self._next_attempt = self.state.generation + _COMMITS
            with suppress(sqlite3.Error, StorageError):
                self.checkpoint()
                if not self._commits.log_bytes():
                    self._next_attempt = 0

    def _settle_postings(self) -> None:
        purge = self.state.removed > max(self.limits.purge_documents, self.state.documents)
        if purge or len(self.pending) > self.limits.delta_postings - self.state.delta:
            self.move_to_runs(everything=purge)
        else:
            self._add_to_delta()

    def _add_to_delta(self) -> None:
        postings = Postings.merged(self.pending.pieces)
        rows = zip(postings.keys.view(np.int64).tolist(), postings.numbers.tolist(), strict=True)
        cursor = self.connection.executemany("INSERT OR IGNORE INTO delta VALUES (?, ?)", rows)
        if cursor.rowcount in (-1, len(postings.keys)):
            self.state.delta += len(postings.keys)
            self.state.delta_sum = ((self.state.delta_sum or 0) + postings.sum()) % 2**63
        else:  # some were there already
            delta = read_delta(self.connection)
            self.state.delta, self.state.delta_sum = len(delta.keys), delta.sum()

    def _finish(self) -> None:
        self.state.generation += 1
        save_state(self.connection, self.state)
        self.run("COMMIT")
        self._end()
        with self._locked(patient=True) as file:
            self._commits.acknowledge(file, self.state.generation)

    def move_to_runs(self, everything: bool = False) -> None:
        """Move all postings that are in no run yet into one, merging older runs as is due (or all of them)."""
        self.runs = move_to_runs(
            self.connection, self.state, self.runs, self.pending.pieces, self.limits, everything
        )
        self.pending = PostingPieces()

    def rollback(self) -> None:
        """Undo the changes since the last commit."""
        with self._lock:
            if self.writing:
                self._undo()

    def _undo(self) -> None:
        self._used_numbers = max(self._used_numbers, self.state.next_number)
        try:
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        finally:  # also after a Ctrl-C, which Python raises as soon as SQLite is done
            self.state.generation = -1  # so that state and runs are read again
            self.blocks.clear()  # the number of a run that was undone will be that of another
            self.undone += 1
            self._end()

    def compact(self) -> None:
        """Commit, merge all runs into one, purge removed documents, and return free space to the disk."""
        with self._lock:
            with self.changing():
                self.move_to_runs(everything=True)
                tidy(self.connection)
                self._finish()
            try:
                with self._locked():
                    self.run("VACUUM")
                self.checkpoint()
            except sqlite3.Error as error:
                raise storage_error(error, self.path, self.timeout) from error

    def has_open(self, path: Path) -> bool:
        """Whether this is an open session of the file at `path`."""
        if self._connection is None or not self.path.exists() or not path.exists():
            return False
        return self.path.samefile(path)

    def close(self) -> None:
        """Close the file and undo uncommitted changes."""
        with self._lock:
            if self.writing:
                self._undo()
            if self._connection is not None:
                self._connection.close()
                self._commits.tidy()
            self._connection, self._closed = None, True


_SESSIONS: weakref.WeakSet[FileSession] = weakref.WeakSet()


def is_open(path: Path) -> bool:
    """Whether this process has an index file open."""
    return any(session.has_open(path) for session in list(_SESSIONS))


def _after_fork_in_child() -> None:
    for session in list(_SESSIONS):
        session.after_fork()


def _never_free(connection: sqlite3.Connection) -> None:
    """Keep an inherited connection forever: freeing it would roll back in memory shared with the parent."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
