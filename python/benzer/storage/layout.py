"""The structure of an index file: one SQLite database in WAL mode.

    state     one row: generation, documents, removed, next_number, next_run, delta, delta_sum, checksum
    meta      name, value: the settings text and its checksum
    document  number, id, checksum, payload: the stored documents; see rows.py for id and checksum
    removed   number: removed documents whose postings may still be in runs or delta
    delta     band_key, number: postings of small commits, until there are enough for a run
    run       number, postings, parts, blocks, first, checksum: sorted postings; `first`: lowest document number
    block     place, checksum, keys, numbers: the postings of one part of a run, see runs.py
    arrival, seen: when documents were last seen, see file_seen.py; a file of format 1 lacks them

Band keys are stored as signed 64-bit integers with the same bits. The user version in the header has the format in
its lowest 8 bits. The bits above are the stamp: a random number that changes whenever a new write-ahead log begins,
so that a log is only applied to the file that it was written for (see commits.py). Formats 1 and 2 have no stamp, and
no checksums of state, meta, run, arrival, seen and ids; see upgrade.py.
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
import zlib
from dataclasses import astuple, dataclass
from pathlib import Path

from benzer.errors import StorageError, StoreFormatError, StoreLockedError
from benzer.storage.base import MAKE_ONE, check_format
from benzer.storage.commits import Commits
from benzer.storage.file_seen import TABLES
from benzer.storage.rows import Damaged, checksum_of, integers

FORMAT = 3
TIMES_SINCE, CHECKSUMS_SINCE = 2, 3
"""The formats from which on a file has times, and checksums of all that it holds."""
RESTORE = "restore the file from a copy with `benzer restore`"
_FORMAT_BITS, _STAMP_BITS = 8, 23
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
    delta INTEGER NOT NULL,
    delta_sum INTEGER NOT NULL,
    checksum INTEGER NOT NULL);
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
    first INTEGER NOT NULL,
    checksum INTEGER NOT NULL);
CREATE TABLE block (
    place INTEGER PRIMARY KEY,
    checksum INTEGER NOT NULL,
    keys BLOB NOT NULL,
    numbers BLOB NOT NULL);
INSERT INTO state VALUES (1, 0, 0, 0, 0, 1, 0, 0, 0);
""" + TABLES.lstrip()


@dataclass(slots=True)
class FileState:
    """The one row of `state`; `removed` and `delta` count the rows of those tables.

    `delta_sum` is the sum of the postings in delta (`Postings.sum`); None in files of formats 1 and 2.
    """

    generation: int
    documents: int
    removed: int
    next_number: int
    next_run: int
    delta: int
    delta_sum: int | None = None


def storage_error(error: sqlite3.Error, path: Path, timeout: float = 0.0) -> StorageError:
    """Convert an error of SQLite to one of ours, with the path and the fix."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return StoreLockedError(
            f"{path} is being written by another process or another open index (waited {timeout:g} s): "
            f"commit or close that one first, or open this one with mode='read'"
        )
    if "readonly" in text:
        return StorageError(f"{path} cannot be written ({text}): open it with mode='read'")
    if "disk is full" in text or "disk I/O" in text:
        return StorageError(f"{path}: {text}: make sure that there is free space in {path.absolute().parent}")
    if "unable to open" in text or isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
        return StorageError(f"{path}: {text}")
    place = f"{error.part} of {path}" if isinstance(error, Damaged) and error.part else str(path)
    fault = f" ({text})" if text else ""
    return StoreFormatError(f"{place} is damaged{fault}: {RESTORE}")


def failed(error: OSError, path: Path) -> StorageError:
    """Return the error for a file of the index that cannot be read or written."""
    place = error.filename or f"a file beside {path}"
    reason = "readonly: " if isinstance(error, PermissionError) else ""
    return StorageError(
        f"{place} cannot be written ({reason}{error.strerror}): make sure that {path.absolute().parent} can be "
        f"written and has free space"
    )


def connect(path: Path, settings: str | None, mode: str, timeout: float) -> FileConnection:
    """Open an index file; in mode "write", create a missing one with `settings`."""
    _check_path(path, settings, mode)
    connection = None
    try:
        check_log(path, timeout)
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
            raise storage_error(error, path, timeout) from error
        raise
    return connection


def _check_path(path: Path, settings: str | None, mode: str) -> None:
    """Raise an error for a path that cannot be an index, without opening the file.

    Closing a file releases all locks that this process has on it, also those of SQLite's connections: another process
    would then treat the file as unused, and remove its log.
    """
    if path.is_dir():
        raise StorageError(f"{path} is a folder: give the path of an index file")
    if not path.exists():
        if mode == "read" or settings is None:
            raise StorageError(f"there is no index at {path}: {MAKE_ONE}")
        if not path.parent.is_dir():
            raise StorageError(f"there is no folder {path.parent} to create an index in: create it first")
    elif 0 < path.stat().st_size < _LEAST:  # SQLite would take it for a new file, and write over it
        raise _no_index(path)


def _no_index(path: Path) -> StoreFormatError:
    return StoreFormatError(f"{path} is not a Benzer index: use the path of an index, or of a new file")


def check_log(path: Path, timeout: float) -> None:
    """Raise StoreFormatError if the log belongs to another file, or an acknowledged commit is missing.

    Nothing is changed: a connection with write access would apply the log when it is closed.
    """
    commits = Commits(path, timeout)
    record = commits.read()
    if record is None or (stamp := stamp_of(path)) is None:
        return
    if stamp not in record.stamps:  # unless a new log has begun between the two reads
        try:
            with commits.locked(make=False):
                record, stamp = commits.read(), stamp_of(path)
        except FileNotFoundError:
            return
    if record is None or stamp is None:
        return
    if stamp not in record.stamps:
        if commits.log_bytes():
            raise StoreFormatError(
                f"{commits.log} does not belong to {path}, which was copied there: restore the copy with "
                f"`benzer restore`, which removes the log"
            )
        return
    generation = _generation(path, timeout)
    if generation is not None and generation < record.generation:
        raise StoreFormatError(
            f"{path} lacks acknowledged commits (it has {generation} of {record.generation}) because {commits.log} is "
            f"damaged or missing: {RESTORE}, or remove {commits.path} to continue without them"
        )


def connect_alone(path: Path) -> FileConnection:
    """Open the index file itself, as if it had no log, and without locks."""
    facts = facts_of(path)
    connection = _connection(path.absolute().as_uri() + "?mode=ro&immutable=1", 0.0)
    connection.as_of = facts
    return connection


def stamp_of(path: Path) -> int | None:
    """Return the stamp in the index file itself, whatever its log contains; None if it cannot be read.

    It is read by SQLite, because closing a file would release the locks that this process has on it.
    """
    try:
        connection = connect_alone(path)
    except (sqlite3.Error, OSError):
        return None
    try:
        if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
            return None
        return int(connection.execute("PRAGMA user_version").fetchone()[0] >> _FORMAT_BITS)
    except sqlite3.Error:
        return None
    finally:
        connection.close()


def _generation(path: Path, timeout: float) -> int | None:
    """Return the generation with all commits in the log; None if the log cannot be read without writing."""
    connection = _connection(path.absolute().as_uri() + "?mode=ro", timeout)
    try:
        return load_state(connection).generation
    except sqlite3.OperationalError:
        return None
    finally:
        connection.close()


def _open(path: Path, mode: str, timeout: float) -> FileConnection:
    place = path.absolute().as_uri()
    if mode == "write":
        return _connection(place + "?mode=rwc", timeout)
    attempts = ["?mode=rw", "?mode=ro"] if _writable(path) and _writable(path.parent) else ["?mode=ro"]
    for attempt in attempts:
        connection = _connection(place + attempt, timeout)
        try:
            connection.execute("PRAGMA query_only = ON")
            _is_blank(connection)
            return connection  # of a file that may be written, the last one to close it tidies up
        except sqlite3.OperationalError as error:
            connection.close()
            # A read-only folder or a full disk: SQLite cannot make its shared-memory file there. Without a log
            # nobody is writing, and the file may be read as it stands; see `FileSession.reading`.
            if "locked" in str(error) or Commits(path, timeout).log_bytes():
                raise
    return connect_alone(path)


def _writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


class FileConnection(sqlite3.Connection):
    """A connection; if it reads the file without its log, `as_of` identifies the state of the file."""

    as_of: tuple[int, ...] | None = None


def _connection(place: str, timeout: float) -> FileConnection:
    return sqlite3.connect(
        place, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False, cached_statements=64,
        factory=FileConnection,
    )  # fmt: skip


def facts_of(path: Path) -> tuple[int, ...]:
    """Return values that change with any change of an index file or its log; empty if there is no file."""
    try:
        file = path.stat()
    except FileNotFoundError:
        return ()
    return file.st_ino, file.st_size, file.st_mtime_ns, Commits(path, 0).log_bytes()


def _is_blank(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) = 0 FROM sqlite_master").fetchone()[0])


def _create(connection: sqlite3.Connection, settings: str, timeout: float) -> None:
    connection.execute("PRAGMA page_size = 8192")
    _enter_wal_mode(connection, timeout)
    connection.execute("BEGIN IMMEDIATE")
    if _is_blank(connection):  # else another process was faster
        for statement in _TABLES.split(";\n"):
            connection.execute(statement)
        save_state(connection, FileState(0, 0, 0, 0, 1, 0, 0))
        save_settings(connection, settings)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        renew_stamp(connection)
    connection.execute("COMMIT")


def format_of(connection: sqlite3.Connection) -> int:
    """Return the version of the format of an open file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0] & (1 << _FORMAT_BITS) - 1)


def renew_stamp(connection: sqlite3.Connection) -> int:
    """Give the file a new stamp and the newest format within the open transaction; returns the stamp."""
    stamp = random.SystemRandom().randrange(1, 1 << _STAMP_BITS)
    connection.execute(f"PRAGMA user_version = {stamp << _FORMAT_BITS | FORMAT}")
    return stamp


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
            f"{path} is a SQLite file but not a Benzer index: use the path of an index, or of a new file"
        )
    version = format_of(connection)
    check_format(path, version, FORMAT)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    wanted = {"meta", "state", "document", "removed", "delta", "run", "block"}
    missing = wanted.union({"arrival", "seen"} if version >= TIMES_SINCE else ()) - tables
    if missing:
        raise StoreFormatError(f"{path} lacks the tables {sorted(missing)}: {RESTORE}")
    columns = len(connection.execute("SELECT * FROM state LIMIT 0").description)
    if (columns > 7) != (version >= CHECKSUMS_SINCE) or ("seen" in tables) != (version >= TIMES_SINCE):
        raise Damaged(f"it does not have the tables of format {version}")


def _tune(connection: sqlite3.Connection) -> None:
    for setting in (
        "synchronous = FULL",
        "mmap_size = 0",  # with read-ahead one cold page would read 8 MB
        "cache_size = -65536",
        "temp_store = MEMORY",
        "journal_size_limit = 67108864",
        "cell_size_check = ON",
        "wal_autocheckpoint = 0",  # see Session.checkpoint
    ):
        connection.execute(f"PRAGMA {setting}")


def load_state(connection: sqlite3.Connection) -> FileState:
    """Return the state as this transaction sees it."""
    rows = integers(connection.execute("SELECT * FROM state").fetchall(), "state")
    if len(rows) != 1:
        raise Damaged("its state is missing")
    _, *values = rows[0]
    if len(values) > 6:
        *values, checksum = values
        if checksum != checksum_of(*values):
            raise Damaged("its state has another checksum")
    return FileState(*values)


def save_state(connection: sqlite3.Connection, state: FileState) -> None:
    """Write the state within the open transaction."""
    values: tuple[int, ...] = astuple(state)
    connection.execute(
        "UPDATE state SET generation = ?, documents = ?, removed = ?, "
        "next_number = ?, next_run = ?, delta = ?, delta_sum = ?, checksum = ?",
        (*values, checksum_of(*values)),
    )


def load_settings(connection: sqlite3.Connection) -> str:
    """Return the settings text that the file was created with."""
    meta = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    settings = meta.get("settings")
    if not isinstance(settings, str):
        raise Damaged("it has no settings")
    if format_of(connection) >= CHECKSUMS_SINCE and meta.get("checksum") != _text_checksum(settings):
        raise Damaged("its settings have another checksum")
    return settings


def save_settings(connection: sqlite3.Connection, settings: str) -> None:
    """Write the settings text with its checksum within the open transaction."""
    rows = [("settings", settings), ("checksum", _text_checksum(settings))]
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)


def _text_checksum(text: str) -> str:
    return str(zlib.crc32(text.encode()))
