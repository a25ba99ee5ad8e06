"""Creates and merges runs when the delta is full or there are too many runs.

Only the newest runs are merged, together with all postings that are not in a run yet. So runs, from old to
new, always cover ascending document numbers, and a merge that starts at document n purges every removed
document from n on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np

from benzer.storage.base import Numbers
from benzer.storage.layout import FileState
from benzer.storage.postings import NO_POSTINGS, Postings, pieces_to_merge
from benzer.storage.rows import Damaged, integers
from benzer.storage.runs import PostingRun, RunLimits, delete_run, part_start, read_blocks, write_run


def move_to_runs(
    connection: sqlite3.Connection,
    state: FileState,
    runs: Sequence[PostingRun],
    fresh: Sequence[Postings],
    limits: RunLimits,
    everything: bool = False,
) -> list[PostingRun]:
    """Move the delta and the `fresh` postings into a run, merged with as many of the newest runs as is due.

    With `everything`, all runs are merged into one. Changes `state`, and returns the resulting runs.
    """
    delta = delta_of(connection, state)
    new = Postings.merged([piece for piece in (delta, *fresh) if len(piece.keys)])
    sizes = [run.postings for run in runs] + [len(new.keys)]
    count = len(sizes) if everything else pieces_to_merge(sizes, limits.delta_postings)
    kept, merged = list(runs[: len(runs) - count + 1]), runs[len(runs) - count + 1 :]
    first = 0 if everything else _first(merged, new, state)
    removed = removed_from(connection, first) if state.removed else np.empty(0, np.int64)
    total = sum(sizes[len(kept) :])
    parts = max(1, total // limits.block_postings)
    slices = merged_slices(connection, merged, new, parts, -(-total // limits.slice_postings), removed)
    run = write_run(connection, state.next_run, parts, first, slices)
    state.next_run += 1
    for old in merged:
        delete_run(connection, old)
    connection.execute("DELETE FROM delta")
    state.delta = state.delta_sum = 0
    if len(removed):
        connection.execute("DELETE FROM removed WHERE number >= ?", (first,))
        state.removed -= len(removed)
    return [*kept, run] if run else kept


def delta_of(connection: sqlite3.Connection, state: FileState) -> Postings:
    """Return the postings in delta; their sum must be that of the state."""
    postings = read_delta(connection)
    if state.delta_sum is not None and (len(postings.keys), postings.sum()) != (state.delta, state.delta_sum):
        raise Damaged("delta has other postings than its state says")
    return postings


def read_delta(connection: sqlite3.Connection) -> Postings:
    """Return the postings in delta."""
    rows = integers(connection.execute("SELECT band_key, number FROM delta").fetchall(), "delta")
    if not rows:
        return NO_POSTINGS
    table = np.array(rows, np.int64)
    keys = table[:, 0].copy().view(np.uint64)
    order = np.argsort(keys, kind="stable")
    return Postings(keys[order], table[order, 1].astype(np.uint32))


def _first(merged: Sequence[PostingRun], new: Postings, state: FileState) -> int:
    if merged:
        return merged[0].first
    return int(new.numbers.min()) if len(new.numbers) else state.next_number


def removed_from(connection: sqlite3.Connection, first: int) -> Numbers:
    rows = connection.execute("SELECT number FROM removed WHERE number >= ? ORDER BY number", (first,))
    return np.array([number for (number,) in rows], np.int64)


def merged_slices(
    connection: sqlite3.Connection,
    runs: Sequence[PostingRun],
    new: Postings,
    parts: int,
    slices: int,
    removed: Numbers,
) -> Iterator[Postings]:
    """Yield the postings of `runs` and `new`, merged one slice of the key space at a time to limit the memory."""
    step = -(-parts // max(1, slices))
    for start in range(0, parts, step):
        low, high = part_start(start, parts), part_start(min(start + step, parts), parts)
        pieces = [_slice_of_run(connection, run, low, high) for run in runs]
        yield Postings.merged([*pieces, new.between(low, high)]).without(removed)


def _slice_of_run(connection: sqlite3.Connection, run: PostingRun, low: int, high: int) -> Postings:
    first = (low >> 32) * run.parts >> 32
    last = ((high - 1) >> 32) * run.parts >> 32
    return read_blocks(connection, run, first, last + 1).between(low, high)
