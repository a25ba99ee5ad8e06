"""What does an index file look like inside, and is this one? One SQLite database in WAL mode:

    state     one row: generation, documents, removed, next_number, next_run, delta
    meta      name, value: the settings text
    document  number, id, checksum, payload: what is held; an id keeps its type, see `stored_id`
    removed   number: removed documents whose postings may still lie in runs or delta
    delta     band_key, number: postings of small commits, until there are enough for a run
    run       number, postings, parts, blocks, first: sorted postings; `first` is the least document number
    block     place, checksum, keys, numbers: the postings of one part of a run, see runs.py
    arrival, seen: when documents were last seen, see file_seen.py; a file of format 1 lacks them

Band keys are stored as signed 64-bit integers of the same bits.
"""

from __future__ import annotations

import os
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from benzer.errors import StorageError, StoreFormatError, StoreLockedError
from benzer.storage.base import MAKE_ONE, DocumentId
from benzer.storage.file_seen import SINCE, TABLES

FORMAT = 2
_LEAST = 512  # bytes of the smallest file of SQLite
APPLICATION = 0x426E7A72  # "Bnzr", in the header of every index file

_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE state (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    generation INTEGER NOT NULL,
    documents INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    next_number INTEGER NOT NULL,
    next_run INTEGER NOT NULL,
    delta INTEGER NOT NULL);
CREATE TABLE document (
    number INTEGER PRIMARY KEY,
    id NOT NULL UNIQUE,
    checksum INTEGER NOT NULL,
    payload BLOB NOT NULL);
CREATE TABLE removed (number INTEGER PRIMARY KEY);
CREATE TABLE delta (
    band_key INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (band_key, number)) WITHOUT ROWID;
CREATE TABLE run (
    number INTEGER PRIMARY KEY,
    postings INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    blocks INTEGER NOT NULL,
    first INTEGER NOT NULL);
CREATE TABLE block (
    place INTEGER PRIMARY KEY,
    checksum INTEGER NOT NULL,
    keys BLOB NOT NULL,
    numbers BLOB NOT NULL);
INSERT INTO state VALUES (1, 0, 0, 0, 0, 1, 0);
""" + TABLES.lstrip()


@dataclass(slots=True)
class State:
    """The one row of `state`; `removed` and `delta` count the rows of those tables."""

    generation: int
    documents: int
    removed: int
    next_number: int
    next_run: int
    delta: int


def told(error: sqlite3.Error, path: Path, timeout: float = 0.0) -> StorageError:
    """Our error for one of SQLite's, with the path and the cure."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return StoreLockedError(
            f"{path} is being written by another process or another open index (waited {timeout:g} s): "
            f"commit or close that one first, or open this one with mode='read'"
        )
    if "malformed" in text or "not a database" in text:
        return StoreFormatError(f"{path} is damaged ({text}): restore it from a copy")
    return StorageError(f"{path}: {text}")


def connect(path: Path, settings: str | None, mode: str, timeout: float) -> sqlite3.Connection:
    """Open an index file, or in mode "write" make one with `settings` where there is none."""
    _check_path(path, settings, mode)
    connection = None
    try:
        connection = _open(path, mode, timeout)
        if mode == "write" and _is_blank(connection) and settings is not None:
            _create(connection, settings, timeout)
        _check_format(connection, path)
        _tune(connection)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.DatabaseError) and "not a database" in str(error):
            raise _no_index(path) from error
        if isinstance(error, sqlite3.Error):
            raise told(error, path, timeout) from error
        raise
    return connection


def _check_path(path: Path, settings: str | None, mode: str) -> None:
    """Refuse what cannot be an index, without a look into the file.

    To close a file lets go of all locks that this process has on it, also those of SQLite's connections: another
    process would then take the file for one that nobody uses, and remove the log from under them.
    """
    if path.is_dir():
        raise StorageError(f"{path} is a folder: give the path of an index file")
    if not path.exists():
        if mode == "read" or settings is None:
            raise StorageError(f"there is no index at {path}: {MAKE_ONE}")
        if not path.parent.is_dir():
            raise StorageError(f"there is no folder {path.parent} to make an index in: make it first")
    elif 0 < path.stat().st_size < _LEAST:  # SQLite would take it for a new file, and write over it
        raise _no_index(path)


def _no_index(path: Path) -> StoreFormatError:
    return StoreFormatError(f"{path} is not a Benzer index: give the path of one, or of no file yet")


def _open(path: Path, mode: str, timeout: float) -> sqlite3.Connection:
    place = path.absolute().as_uri()
    if mode == "write":
        return _connection(place + "?mode=rwc", timeout)
    if _writable(path) and _writable(path.parent):
        connection = _connection(place + "?mode=rw", timeout)  # so that the last one to close tidies up
        connection.execute("PRAGMA query_only = ON")
        return connection
    connection = _connection(place + "?mode=ro", timeout)
    try:
        _is_blank(connection)
    except sqlite3.OperationalError:
        # A read-only folder: SQLite cannot make its shared-memory file there. Without a write-ahead log
        # nobody is writing, and the file may be read as it stands.
        connection.close()
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise
        connection = _connection(place + "?mode=ro&immutable=1", timeout)
    return connection


def _writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _connection(place: str, timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(
        place, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False, cached_statements=64
    )


def _is_blank(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) = 0 FROM sqlite_master").fetchone()[0])


def _create(connection: sqlite3.Connection, settings: str, timeout: float) -> None:
    connection.execute("PRAGMA page_size = 8192")
    _enter_wal_mode(connection, timeout)
    connection.execute("BEGIN IMMEDIATE")
    if _is_blank(connection):  # else another process was faster
        for statement in _TABLES.split(";\n"):
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES ('settings', ?)", (settings,))
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def _enter_wal_mode(connection: sqlite3.Connection, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while True:  # SQLite does not wait by itself when the journal mode changes
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION:
        raise StoreFormatError(
            f"{path} is a SQLite file but not a Benzer index: give the path of one, or of no file yet"
        )
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > FORMAT:
        raise StoreFormatError(
            f"{path} has index format {version}, this version of benzer reads up to {FORMAT}: upgrade benzer"
        )
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    wanted = {"meta", "state", "document", "removed", "delta", "run", "block"}
    missing = wanted.union({"arrival", "seen"} if version >= SINCE else ()) - found
    if missing:
        raise StoreFormatError(f"{path} lacks the tables {sorted(missing)}: restore it from a copy")


def _tune(connection: sqlite3.Connection) -> None:
    for setting in (
        "synchronous = FULL",
        "mmap_size = 0",  # with read-ahead one cold page would read 8 MB
        "cache_size = -65536",
        "temp_store = MEMORY",
        "journal_size_limit = 67108864",
        "cell_size_check = ON",
        "wal_autocheckpoint = 4096",  # 32 MB: a page that many commits change is written once
    ):
        connection.execute(f"PRAGMA {setting}")


def load_state(connection: sqlite3.Connection) -> State:
    """The state as this transaction sees it."""
    row = connection.execute(
        "SELECT generation, documents, removed, next_number, next_run, delta FROM state"
    ).fetchone()
    if row is None:
        raise sqlite3.DatabaseError("its state is missing: malformed")
    return State(*row)


def save_state(connection: sqlite3.Connection, state: State) -> None:
    """Write the state within the open transaction."""
    connection.execute(
        "UPDATE state SET generation = ?, documents = ?, removed = ?, "
        "next_number = ?, next_run = ?, delta = ?",
        (state.generation, state.documents, state.removed, state.next_number, state.next_run, state.delta),
    )


def stored_id(document_id: DocumentId) -> int | str | bytes:
    """An id as SQLite keeps it, types apart; what SQLite has no type for becomes bytes.

    >>> stored_id("7"), stored_id(7), stored_id(2**64), stored_id(chr(0xD800))
    ('7', 7, b'i18446744073709551616', b's\\xed\\xa0\\x80')
    """
    if isinstance(document_id, int):
        return document_id if -(2**63) <= document_id < 2**63 else b"i%d" % document_id
    if document_id.isascii():
        return document_id
    try:
        document_id.encode()
    except UnicodeEncodeError:
        return b"s" + document_id.encode("utf-8", "surrogatepass")
    return document_id


def given_id(stored: int | str | bytes) -> DocumentId:
    """The id that the user gave, from what SQLite kept.

    >>> given_id(stored_id(2**64)) == 2**64 and given_id(stored_id(chr(0xD800))) == chr(0xD800)
    True
    """
    if not isinstance(stored, bytes):
        return stored
    return int(stored[1:]) if stored[:1] == b"i" else stored[1:].decode("utf-8", "surrogatepass")
