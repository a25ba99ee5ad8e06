"""Checks an index file by reading and comparing everything in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np

from benzer.storage import file_seen
from benzer.storage.base import UNKNOWN_POSTING, Numbers
from benzer.storage.layout import FileState
from benzer.storage.merge import delta_of
from benzer.storage.postings import Postings
from benzer.storage.rows import Damaged
from benzer.storage.runs import PostingRun, check_run


def check_file(
    connection: sqlite3.Connection, state: FileState, runs: Sequence[PostingRun], pending: Sequence[Postings]
) -> None:
    """Raise Damaged unless pages, counts, runs and postings are consistent.

    Reads the whole file. Each posting must name a stored document, or a removed one that is recorded.
    """
    for (answer,) in connection.execute("PRAGMA integrity_check(1)"):
        if answer != "ok":
            raise Damaged(answer)
    for table, wanted in (("document", state.documents), ("removed", state.removed), ("delta", state.delta)):
        count = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        if count != wanted:
            raise Damaged(f"there are {count} rows in {table}, its state says {wanted}")
    delta = delta_of(connection, state)
    file_seen.check(connection)
    known = _known_numbers(connection)
    for numbers in _posted_numbers(connection, runs, [delta, *pending]):
        strange = numbers[~np.isin(numbers, known)]
        if len(strange):
            raise Damaged(UNKNOWN_POSTING.format(strange[0]))
    if len(known) and int(known[-1]) >= state.next_number:
        raise Damaged(f"document {known[-1]} has a number that was not given out")


def _known_numbers(connection: sqlite3.Connection) -> Numbers:
    """Return the numbers of all documents that are stored or recorded as removed, each once."""
    rows = connection.execute("SELECT number FROM document UNION ALL SELECT number FROM removed ORDER BY 1")
    known = np.array([number for (number,) in rows], np.int64)
    if (known[1:] <= known[:-1]).any():
        raise Damaged("a document is both held and removed")
    return known


def _posted_numbers(
    connection: sqlite3.Connection, runs: Sequence[PostingRun], pieces: Sequence[Postings]
) -> Iterator[Numbers]:
    for run in runs:
        yield from check_run(connection, run)
    for piece in pieces:
        yield piece.numbers.astype(np.int64)
