"""Runs of postings: sorted by key, divided into blocks, and never changed.

A run of p postings has about p / 290 parts of equal width of the key space, so that two blocks fill a page of 8 KB
and a key needs one block. The block of a part has its sorted keys (uint64, little-endian), the numbers of their
documents (uint32, little-endian), and the CRC-32 of both, started with the part's number. Its place is run number <<
32 | part; a part without postings has no block.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from benzer._native import Blocks
from benzer.storage.base import Keys, Numbers, Pairs
from benzer.storage.postings import Postings
from benzer.storage.rows import Damaged, checksum_of, integers

_KEY, _NUMBER = np.dtype("<u8"), np.dtype("<u4")
_Row = tuple[int, int, bytes, bytes]
_KEYS_AT_ONCE = 4096  # bounds the blocks in memory while many keys are looked up


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits from which postings are moved; they do not affect the results."""

    delta_postings: int = 16_384  # up to these, small commits go to the delta table
    pending_postings: int = 2_000_000  # beyond these, a transaction writes a run before it ends
    block_postings: int = 290
    slice_postings: int = 262_144  # merged at a time
    few_keys: int = 4096  # up to so many are searched by blocks that are kept, more in passing
    kept_bytes: int = 128 << 20  # of blocks that were read, for the next search
    kept_documents: int = 16 << 20  # bytes of documents that were read
    purge_documents: int = 1000  # removed documents are too few to rewrite everything for, below this


@dataclass(frozen=True, slots=True)
class PostingRun:
    """A row of `run`: the number of postings, parts and blocks, and the lowest document number in it."""

    number: int
    postings: int
    parts: int
    blocks: int
    first: int


def load_runs(connection: sqlite3.Connection) -> list[PostingRun]:
    """Return all runs, from old to new."""
    rows = integers(connection.execute("SELECT * FROM run ORDER BY number").fetchall(), "run")
    for number, *facts, checksum in rows:
        if len(facts) > 3 and checksum != checksum_of(number, *facts):
            raise Damaged(f"the entry of run {number} has another checksum")
    return [PostingRun(*row[:5]) for row in rows]


def save_run(connection: sqlite3.Connection, run: PostingRun) -> None:
    """Write the entry of a run."""
    facts = (run.number, run.postings, run.parts, run.blocks, run.first)
    connection.execute("INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?, ?)", (*facts, checksum_of(*facts)))


def _part(keys: Keys, parts: int) -> Numbers:
    return (((keys >> np.uint64(32)) * np.uint64(parts)) >> np.uint64(32)).astype(np.int64)


def part_start(part: int, parts: int) -> int:
    """Return the lowest key of a part; for `part == parts` the end of the key space.

    >>> part_start(0, 3), hex(part_start(1, 3)), part_start(3, 3) == 2**64
    (0, '0x5555555600000000', True)
    """
    return -(-(part << 32) // parts) << 32


def _checksum(place: int, keys: bytes, numbers: bytes) -> int:
    return zlib.crc32(numbers, zlib.crc32(keys, place & 0xFFFFFFFF))


def _sound(row: _Row) -> _Row:
    place, checksum, keys, numbers = row
    whole = type(keys) is bytes and type(numbers) is bytes
    if not whole or _checksum(place, keys, numbers) != checksum or 2 * len(numbers) != len(keys):
        raise Damaged("", f"block {place & 0xFFFFFFFF} of run {place >> 32}")
    return row


def _postings(rows: Iterable[_Row]) -> Postings:
    """Return the postings of blocks in the order of their places."""
    key_parts, number_parts = [], []
    for _, _, keys, numbers in map(_sound, rows):
        key_parts.append(keys)
        number_parts.append(numbers)
    return Postings(np.frombuffer(b"".join(key_parts), _KEY), np.frombuffer(b"".join(number_parts), _NUMBER))


def read_blocks(connection: sqlite3.Connection, run: PostingRun, first: int, last: int) -> Postings:
    """Return the postings of the parts first <= part < last of a run."""
    return _postings(_rows_between(connection, run.number << 32 | first, run.number << 32 | last))


def _rows_between(connection: sqlite3.Connection, low: int, high: int) -> sqlite3.Cursor:
    select = "SELECT place, checksum, keys, numbers FROM block WHERE place >= ? AND place < ? ORDER BY place"
    return connection.execute(select, (low, high))


def find_in_runs(connection: sqlite3.Connection, runs: Sequence[PostingRun], wanted: Keys) -> Iterator[Pairs]:
    """Look up keys (sorted) in all runs: (position in `wanted`, document number) of every posting."""
    for start in range(0, len(wanted), _KEYS_AT_ONCE):
        some = wanted[start : start + _KEYS_AT_ONCE]
        for postings in _blocks_of_keys(connection, runs, some):
            position, number = postings.find(some)
            yield position + start, number


def _blocks_of_keys(
    connection: sqlite3.Connection, runs: Sequence[PostingRun], wanted: Keys
) -> Iterator[Postings]:
    """Yield for each run the blocks of the keys, joined: parts are ranges, so the whole is sorted."""
    places: list[int] = []
    for run in runs:
        base = run.number << 32
        places.extend(dict.fromkeys([base | part for part in _part(wanted, run.parts).tolist()]))
    rows = _rows_at(connection, places)
    for _, of_run in groupby(rows, key=lambda row: row[0] >> 32):
        yield _postings(of_run)


def _rows_at(connection: sqlite3.Connection, places: list[int]) -> sqlite3.Cursor:
    return connection.execute(
        "SELECT place, checksum, keys, numbers FROM json_each(?) AS wanted "
        "CROSS JOIN block ON block.place = wanted.value",
        (str(places),),
    )


def find_few(
    connection: sqlite3.Connection,
    blocks: Blocks,
    runs: Sequence[tuple[int, int]],
    keys: Keys,
    pieces: Sequence[Postings],
) -> Pairs:
    """Return (row, number) of the documents that share a key with a row of `keys`, sorted, each once.

    Searches runs (their numbers and parts), in the cached blocks and those it adds to them, and `pieces`.
    """
    if missing := blocks.missing(keys, runs):
        rows = _rows_at(connection, missing).fetchall()
        blocks.put(missing, [(row[0], row[2], row[3]) for row in map(_sound, rows)])
    return blocks.search(keys, runs, pieces)


def write_run(
    connection: sqlite3.Connection, number: int, parts: int, first: int, slices: Iterable[Postings]
) -> PostingRun | None:
    """Write a run from consecutive slices of the key space, each of whole parts; None without postings."""
    postings = blocks = 0
    for piece in slices:
        rows = list(_encoded(number, parts, piece))
        connection.executemany("INSERT INTO block VALUES (?, ?, ?, ?)", rows)
        postings += len(piece.keys)
        blocks += len(rows)
    if not postings:
        return None
    run = PostingRun(number, postings, parts, blocks, first)
    save_run(connection, run)
    return run


def _encoded(number: int, parts: int, piece: Postings) -> Iterator[_Row]:
    part = _part(piece.keys, parts)
    bounds = [*np.flatnonzero(np.diff(part, prepend=-1)).tolist(), len(part)]
    for start, end in pairwise(bounds):
        place = number << 32 | int(part[start])
        keys = piece.keys[start:end].astype(_KEY).tobytes()
        numbers = piece.numbers[start:end].astype(_NUMBER).tobytes()
        yield place, _checksum(place, keys, numbers), keys, numbers


def delete_run(connection: sqlite3.Connection, run: PostingRun) -> None:
    """Remove a run and its blocks."""
    connection.execute("DELETE FROM run WHERE number = ?", (run.number,))
    connection.execute(
        "DELETE FROM block WHERE place >= ? AND place < ?", (run.number << 32, (run.number + 1) << 32)
    )


def check_run(connection: sqlite3.Connection, run: PostingRun) -> Iterator[Numbers]:
    """Read all blocks of a run, raise Damaged at an error, and yield the document numbers of each."""
    blocks = postings = 0
    for row in _rows_between(connection, run.number << 32, (run.number + 1) << 32):
        keys, numbers = _postings([row])
        if (keys[1:] < keys[:-1]).any() or (_part(keys, run.parts) != row[0] & 0xFFFFFFFF).any():
            raise Damaged(f"run {run.number} is out of order")
        blocks += 1
        postings += len(keys)
        yield numbers.astype(np.int64)
    if (blocks, postings) != (run.blocks, run.postings):
        raise Damaged(
            f"run {run.number} has {blocks} blocks with {postings} postings instead of {run.blocks} with {run.postings}"
        )


def names_document(connection: sqlite3.Connection, run: PostingRun, number: int) -> bool:
    """Whether a run has postings of a document. Reads the whole run."""
    rows = _rows_between(connection, run.number << 32, (run.number + 1) << 32)
    return any(number in np.frombuffer(numbers, _NUMBER) for _, _, _, numbers in map(_sound, rows))
