"""Upgrades an index file of an earlier format in its first transaction.

Data that grows with the documents is not rewritten: documents keep their checksums, which cover only the payload;
those that are added later have checksums of their ids, too.
"""

from __future__ import annotations

import sqlite3

from benzer.storage import file_seen
from benzer.storage.layout import (
    CHECKSUMS_SINCE,
    format_of,
    load_settings,
    load_state,
    save_settings,
    save_state,
)
from benzer.storage.merge import read_delta
from benzer.storage.runs import load_runs, save_run


def upgrade(connection: sqlite3.Connection) -> None:
    """Convert the file to the newest format, except its user version, within the open transaction."""
    if format_of(connection) >= CHECKSUMS_SINCE:
        return
    state, runs, settings = load_state(connection), load_runs(connection), load_settings(connection)
    file_seen.upgrade(connection)
    for statement in (
        "ALTER TABLE state ADD COLUMN delta_sum INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE state ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE run ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0",
    ):
        connection.execute(statement)
    state.delta_sum = read_delta(connection).sum()
    save_state(connection, state)
    for run in runs:
        save_run(connection, run)
    save_settings(connection, settings)
