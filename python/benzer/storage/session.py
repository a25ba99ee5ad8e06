"""Who may change the file now, and what does a reader see? One connection, its lock and its transaction."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benzer._native import Blocks
from benzer.errors import StorageError
from benzer.storage.base import DocumentId
from benzer.storage.file_seen import tidy
from benzer.storage.layout import State, connect, load_state, save_state, told
from benzer.storage.merge import move_to_runs
from benzer.storage.postings import PostingPieces, Postings
from benzer.storage.runs import Limits, Run, load_runs

_ENTRY = 200  # bytes that a document takes in a dictionary beside its payload


class Session:
    """An open index file. Threads take turns; a forked child opens the file anew when it first uses it.

    `state`, `runs` and `pending` hold within `reading` and `changing`: the counts, the runs, and the postings
    of this transaction that are not in the file yet. `blocks` keeps blocks of runs: what a run holds never
    changes, and its number is never given to another, but by who undid it. `documents` keeps documents by
    number as of one generation: they are let go of once anybody commits a change, or this object begins one.
    """

    def __init__(self, path: Path, settings: str | None, mode: str, timeout: float, limits: Limits) -> None:
        self.path, self.mode, self.timeout, self.limits = path, mode, timeout, limits
        self._connection: sqlite3.Connection | None = connect(path, settings, mode, timeout)
        self._closed = False
        self.undone = 0
        self._start()
        _SESSIONS.add(self)

    def _start(self) -> None:
        self._lock = threading.RLock()
        self._end()
        self._used_numbers = 0
        self.state = State(-1, 0, 0, 0, 0, 0)
        self.runs: list[Run] = []
        self.blocks = Blocks(self.limits.kept_bytes)
        self.forget_documents()

    def _end(self) -> None:
        self.writing = False
        self.changes = 0
        self.pending = PostingPieces()

    def forget_documents(self) -> None:
        """Let go of the documents that were read."""
        self.documents: dict[int, tuple[DocumentId, bytes]] = {}
        self._documents_bytes = 0

    def keep(self, documents: dict[int, tuple[DocumentId, bytes]]) -> None:
        """Keep documents for the next search, until anybody commits; nothing while this object is writing."""
        if self.writing:
            return
        size = sum(len(payload) + len(str(one)) + _ENTRY for one, payload in documents.values())
        if self._documents_bytes + size > self.limits.kept_documents:
            self.forget_documents()
        if size <= self.limits.kept_documents:
            self.documents |= documents
            self._documents_bytes += size

    def after_fork(self) -> None:
        """Leave the parent's connection alone; its transaction and its locks are not the child's."""
        if self._connection is not None:
            _never_free(self._connection)
            self._connection = None
        self.undone += 1
        self._start()

    @property
    def connection(self) -> sqlite3.Connection:
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
        """All reads within see one state; other threads of this process wait, other processes do not."""
        with self._lock:
            try:
                if self._in_transaction():
                    yield
                    return
                self.run("BEGIN")
                try:
                    self._refresh()
                    yield
                finally:
                    if self._in_transaction():
                        self.run("COMMIT")
            except sqlite3.Error as error:
                raise told(error, self.path, self.timeout) from error

    def _refresh(self) -> None:
        state = load_state(self.connection)
        if state.generation != self.state.generation:
            self.forget_documents()
            self.runs = load_runs(self.connection)
        self.state = state

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Within the write transaction. A failure within (a full disk, an interrupt) undoes it as a whole."""
        with self._lock:
            self._check_allowed()
            try:
                if not self.writing:
                    self._begin()
                yield
            except BaseException as error:
                self._undo()
                if isinstance(error, sqlite3.Error):
                    raise told(error, self.path, self.timeout) from error
                raise

    def _check_allowed(self) -> None:
        if self.mode == "read":
            raise StorageError(f"{self.path} was opened with mode='read': open it with mode='write'")
        if self._in_transaction() and not self.writing:
            raise StorageError("a snapshot is for reading: make changes outside of it")

    def _begin(self) -> None:
        self.run("BEGIN IMMEDIATE")
        self.writing = True
        self._refresh()
        self.forget_documents()
        self.state.next_number = max(self._used_numbers, self.state.next_number)

    def commit(self) -> None:
        """Write the changes down, together; returns when they are on the disk."""
        with self._lock:
            if self.writing:
                with self.changing():
                    self._settle_postings()
                    self._finish()

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
        self.state.delta += max(0, cursor.rowcount)

    def _finish(self) -> None:
        self.state.generation += 1
        save_state(self.connection, self.state)
        self.run("COMMIT")
        self._end()

    def move_to_runs(self, everything: bool = False) -> None:
        """Put all postings that are in no run yet into one, merging older runs as is due (or all of them)."""
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
        """Commit, merge all runs into one, purge removed documents, and give free space back to the disk."""
        with self._lock:
            with self.changing():
                self.move_to_runs(everything=True)
                tidy(self.connection)
                self._finish()
            try:
                self.run("VACUUM")
                self.run("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except sqlite3.Error as error:
                raise told(error, self.path, self.timeout) from error

    def close(self) -> None:
        """Close the file; changes that were not committed are undone."""
        with self._lock:
            if self.writing:
                self._undo()
            if self._connection is not None:
                self._connection.close()
            self._connection, self._closed = None, True


_SESSIONS: weakref.WeakSet[Session] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for session in list(_SESSIONS):
        session.after_fork()


def _never_free(connection: sqlite3.Connection) -> None:
    """Keep an inherited connection for ever: freeing it would roll back in memory shared with the parent."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
