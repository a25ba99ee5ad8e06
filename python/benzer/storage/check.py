"""Is an index file whole? Everything in it is read and compared."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benzer.errors import StoreFormatError
from benzer.storage.base import Numbers
from benzer.storage.file_seen import has_times
from benzer.storage.layout import State
from benzer.storage.postings import Postings
from benzer.storage.runs import Run, check_run


def check_file(
    path: Path, connection: sqlite3.Connection, state: State, runs: Sequence[Run], pending: Sequence[Postings]
) -> None:
    """Raise StoreFormatError unless pages, counts, runs and postings fit together.

    Cost: reads the whole file. Each posting must name a document that is held or whose removal is noted.
    """
    for (answer,) in connection.execute("PRAGMA quick_check(1)"):
        if answer != "ok":
            raise _damaged(path, answer)
    for table, wanted in (("document", state.documents), ("removed", state.removed), ("delta", state.delta)):
        count = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        if count != wanted:
            raise _damaged(path, f"there are {count} rows in {table}, its state says {wanted}")
    if has_times(connection):
        lost = "SELECT count(*) FROM seen WHERE number NOT IN (SELECT number FROM document)"
        if count := connection.execute(lost).fetchone()[0]:
            raise _damaged(path, f"{count} times are those of documents that are not held")
    known = _known_numbers(connection)
    for numbers in _posted_numbers(connection, runs, pending):
        strange = numbers[~np.isin(numbers, known)]
        if len(strange):
            raise _damaged(path, f"a posting names document {strange[0]}, which is not held")
    if len(known) and int(known.max()) >= state.next_number:
        raise _damaged(path, f"document {known.max()} has a number that was not given out")


def _known_numbers(connection: sqlite3.Connection) -> Numbers:
    rows = connection.execute("SELECT number FROM document UNION SELECT number FROM removed ORDER BY 1")
    return np.array([number for (number,) in rows], np.int64)


def _posted_numbers(
    connection: sqlite3.Connection, runs: Sequence[Run], pending: Sequence[Postings]
) -> Iterator[Numbers]:
    for run in runs:
        yield from check_run(connection, run)
    rows = connection.execute("SELECT DISTINCT number FROM delta").fetchall()
    yield np.array([number for (number,) in rows], np.int64)
    for piece in pending:
        yield piece.numbers.astype(np.int64)


def _damaged(path: Path, fault: str) -> StoreFormatError:
    return StoreFormatError(f"{path} is damaged ({fault}): restore it from a copy")
