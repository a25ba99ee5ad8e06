"""When was each document of an index file last seen?

Two tables, made when the first time is written (which makes the file one of format 2):

    arrival   number, second: documents from this number on came at this second, up to the next row
    seen      number, second: a document that was seen again later
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np

from benzer.storage.base import Numbers

TABLES = """
CREATE TABLE arrival (number INTEGER PRIMARY KEY, second INTEGER NOT NULL);
CREATE TABLE seen (number INTEGER PRIMARY KEY, second INTEGER NOT NULL);
"""
SINCE = 2
"""The format from which on a file has these tables."""

_TIME = """max(coalesce((SELECT second FROM seen WHERE seen.number = {0}), 0),
    coalesce((SELECT second FROM arrival WHERE arrival.number <= {0} ORDER BY arrival.number DESC LIMIT 1), 0))"""


def has_times(connection: sqlite3.Connection) -> bool:
    """Whether the file has any times yet."""
    return bool(connection.execute("PRAGMA user_version").fetchone()[0] >= SINCE)


def arrive(connection: sqlite3.Connection, number: int, second: int) -> None:
    """Documents from `number` on come at `second`; those before the first known time count as seen then."""
    if not has_times(connection):
        if not second:
            return
        for statement in filter(str.strip, TABLES.split(";")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SINCE}")
    last = connection.execute("SELECT second FROM arrival ORDER BY number DESC LIMIT 1").fetchone()
    if second != (last[0] if last else 0):
        connection.execute("INSERT OR REPLACE INTO arrival VALUES (?, ?)", (number if last else 0, second))


def touch(connection: sqlite3.Connection, rows: Sequence[tuple[int, int]]) -> None:
    """Documents (number, second) were seen again; where no time is known yet, all others count as seen then."""
    if not rows:
        return
    if not has_times(connection) or not connection.execute("SELECT 1 FROM arrival LIMIT 1").fetchone():
        arrive(connection, 0, max(second for _, second in rows))
        if not has_times(connection):
            return  # all of the times are 0
    connection.executemany(
        "INSERT INTO seen VALUES (?, ?) ON CONFLICT (number) DO UPDATE SET second = max(second, excluded.second)",
        rows,
    )


def forget(connection: sqlite3.Connection, numbers: Sequence[tuple[int]]) -> None:
    """Documents are gone."""
    if has_times(connection):
        connection.executemany("DELETE FROM seen WHERE number = ?", numbers)


def last_seen(connection: sqlite3.Connection, numbers: list[int]) -> Numbers:
    """When documents were last seen, in seconds since 1970; 0 where that is not known."""
    if not has_times(connection):
        return np.zeros(len(numbers), np.int64)
    select = f"SELECT {_TIME.format('wanted.value')} FROM json_each(?) AS wanted ORDER BY wanted.key"
    return np.array([row[0] for row in connection.execute(select, (str(numbers),))], np.int64)


def unseen(connection: sqlite3.Connection, before: int) -> list[int | str | bytes]:
    """The ids, as they are stored, of documents last seen before a second, in order of arrival."""
    if not has_times(connection):
        return []
    # its index on the id has the numbers as well: no payload is read
    select = (
        f"SELECT id FROM (SELECT id, number, {_TIME.format('document.number')} AS time FROM document) "
        "WHERE time > 0 AND time < ? ORDER BY number"
    )
    return [row[0] for row in connection.execute(select, (before,))]


def tidy(connection: sqlite3.Connection) -> None:
    """Drop the times at which nothing came that is still held."""
    if has_times(connection):
        connection.execute(
            "DELETE FROM arrival WHERE number > 0 AND NOT EXISTS (SELECT 1 FROM document WHERE number >= "
            "arrival.number AND number < coalesce((SELECT min(later.number) FROM arrival AS later "
            "WHERE later.number > arrival.number), 1 << 40))"
        )
