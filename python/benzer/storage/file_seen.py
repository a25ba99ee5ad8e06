"""Last-seen times of the documents of an index file.

Two tables, which a file of format 1 lacks:

    arrival   number, second, checksum: documents from this number on arrived at this second, up to the next row
    seen      number, second, checksum: a document that was seen again later

The checksum is chosen so that second + 65537 * number + checksum = 0, which SQLite can compute while it scans the
rows. A file of format 2 has no checksums here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np

from benzer.storage.base import Numbers
from benzer.storage.rows import Damaged

TABLES = """
CREATE TABLE arrival (number INTEGER PRIMARY KEY, second INTEGER NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE seen (number INTEGER PRIMARY KEY, second INTEGER NOT NULL, checksum INTEGER NOT NULL);
"""
_DAMAGED = 1 << 60  # in the place of a second: later than any
_WRONG_TIME = "the time of a document has another checksum"
_WITH = "-second - 65537 * number"


def upgrade(connection: sqlite3.Connection) -> None:
    """Add these tables, with checksums, to the file of an earlier format."""
    for statement in filter(str.strip, TABLES.split(";")):
        if has_times(connection):
            (table,) = {"arrival", "seen"} & set(statement.split())
            connection.execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0")
            connection.execute(f"UPDATE {table} SET checksum = {_WITH}")
        else:
            connection.execute(statement)


def _time(connection: sqlite3.Connection, number: str) -> str:
    """Return the SQL for the time when a document was last seen."""
    second = "second"
    if len(connection.execute("SELECT * FROM seen LIMIT 0").description) > 2:
        second = f"CASE WHEN (second + 65537 * number + checksum) IS 0 THEN second ELSE {_DAMAGED} END"
    return f"""max(coalesce((SELECT {second} FROM seen WHERE seen.number = {number}), 0), coalesce((
        SELECT {second} FROM arrival WHERE arrival.number <= {number} ORDER BY arrival.number DESC LIMIT 1), 0))"""


def has_times(connection: sqlite3.Connection) -> bool:
    """Whether the file has any times yet."""
    return bool(connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'seen'").fetchone()[0])


def arrive(connection: sqlite3.Connection, number: int, second: int) -> None:
    """Record that documents from `number` on arrive at `second`.

    Documents from before the first known time count as seen then.
    """
    last = connection.execute("SELECT second FROM arrival ORDER BY number DESC LIMIT 1").fetchone()
    if second != (last[0] if last else 0):
        connection.execute(
            "INSERT OR REPLACE INTO arrival VALUES (?, ?, ?)", _row(number if last else 0, second)
        )


def touch(connection: sqlite3.Connection, rows: Sequence[tuple[int, int]]) -> None:
    """Record that documents (number, second) were seen; before the first known time, all others count as seen then."""
    if not rows:
        return
    if not connection.execute("SELECT 1 FROM arrival LIMIT 1").fetchone():
        arrive(connection, 0, max(second for _, second in rows))
        if not connection.execute("SELECT 1 FROM arrival LIMIT 1").fetchone():
            return  # all of the times are 0
    connection.executemany(
        "INSERT INTO seen VALUES (?, ?, ?) ON CONFLICT (number) DO UPDATE SET second = excluded.second, "
        "checksum = excluded.checksum WHERE excluded.second > second",
        [_row(number, second) for number, second in rows],
    )


def _row(number: int, second: int) -> tuple[int, int, int]:
    return number, second, -second - 65537 * number


def forget(connection: sqlite3.Connection, numbers: Sequence[tuple[int]]) -> None:
    """Remove the times of documents."""
    connection.executemany("DELETE FROM seen WHERE number = ?", numbers)


def last_seen(connection: sqlite3.Connection, numbers: list[int]) -> Numbers:
    """Return when documents were last seen, in seconds since 1970; 0 if unknown."""
    if not has_times(connection):
        return np.zeros(len(numbers), np.int64)
    time = _time(connection, "wanted.value")
    select = f"SELECT {time} FROM json_each(?) AS wanted ORDER BY wanted.key"
    times = np.array([row[0] for row in connection.execute(select, (str(numbers),))], np.int64)
    if (times >= _DAMAGED).any():
        raise Damaged(_WRONG_TIME)
    return times


def unseen(connection: sqlite3.Connection, before: int) -> list[int | str | bytes]:
    """Return the stored ids of documents last seen before a second, in order of arrival."""
    if not has_times(connection):
        return []
    # its index on the id has the numbers as well: no payload is read
    select = (
        f"SELECT id, time FROM (SELECT id, number, {_time(connection, 'document.number')} AS time FROM document) "
        f"WHERE time > 0 AND time < ? OR time >= {_DAMAGED} ORDER BY number"
    )
    rows = connection.execute(select, (before,)).fetchall()
    if any(time >= _DAMAGED for _, time in rows):
        raise Damaged(_WRONG_TIME)
    return [stored for stored, _ in rows]


def check(connection: sqlite3.Connection) -> None:
    """Raise Damaged unless all times are valid, and are those of stored documents."""
    if not has_times(connection):
        return
    for table in ("arrival", "seen"):
        columns = len(connection.execute(f"SELECT * FROM {table} LIMIT 0").description)
        faults = f"SELECT count(*) FROM {table} WHERE (second + 65537 * number + checksum) IS NOT 0"
        if columns > 2 and (count := connection.execute(faults).fetchone()[0]):
            raise Damaged(f"{count} times have another checksum")
    lost = "SELECT count(*) FROM seen WHERE number NOT IN (SELECT number FROM document)"
    if count := connection.execute(lost).fetchone()[0]:
        raise Damaged(f"{count} times are those of documents that are not held")


def tidy(connection: sqlite3.Connection) -> None:
    """Remove arrival times without remaining documents."""
    if has_times(connection):
        connection.execute(
            "DELETE FROM arrival WHERE number > 0 AND NOT EXISTS (SELECT 1 FROM document WHERE number >= "
            "arrival.number AND number < coalesce((SELECT min(later.number) FROM arrival AS later "
            "WHERE later.number > arrival.number), 1 << 40))"
        )
