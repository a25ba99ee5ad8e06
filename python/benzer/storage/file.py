"""Storage in one file, which survives a killed process."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer.storage import file_seen
from benzer.storage.base import (
    WRONG_COUNT,
    DocumentId,
    Keys,
    Numbers,
    Pairs,
    StoredBatch,
    check_room,
    checked_batch,
    checked_id,
    checked_keys,
    checked_time,
    checked_times,
    last_of_each,
    missing_number,
    uncommitted,
)
from benzer.storage.check import check_file
from benzer.storage.layout import format_of, load_settings
from benzer.storage.merge import delta_of, merged_slices, removed_from
from benzer.storage.postings import Postings, bucket_sizes, sorted_lookup, unique_pairs
from benzer.storage.rows import (
    Damaged,
    StoredId,
    document_checksum,
    given_id,
    integers,
    sound_id,
    sound_payload,
    stored_id,
)
from benzer.storage.runs import RunLimits, find_few, find_in_runs, names_document
from benzer.storage.session import FileSession


class FileStorage:
    """One SQLite file: one writer at a time, and any number of readers, which never wait.

    The first change takes the write lock until `commit` or `rollback`; another writer gets a StoreLockedError after
    `timeout` seconds. Committed changes survive a killed process and a power failure. Several threads may use the
    object; they wait for each other. A pickled copy opens the same path.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: str | None = None,
        mode: str = "write",
        timeout: float = 1.0,
        limits: RunLimits | None = None,
    ) -> None:
        self._session = FileSession(Path(path), settings, mode, timeout, limits or RunLimits())
        self._run = self._session.run

    def __reduce__(self) -> tuple[Any, ...]:
        session = self._session
        if session.writing:
            raise uncommitted(session.path, session.changes)
        return type(self), (session.path.absolute(), None, session.mode, session.timeout, session.limits)

    def settings(self) -> str:
        """The settings text that the file was created with."""
        with self.snapshot():
            return load_settings(self._session.connection)

    def snapshot(self) -> AbstractContextManager[None]:
        """Make all reads in the block see one state; other threads of this process wait, other processes do not."""
        return self._session.reading()

    def commit(self) -> None:
        """Write the changes together; returns when they are on the disk."""
        self._session.commit()

    def rollback(self) -> None:
        """Undo the changes since the last commit; numbers assigned since then are not used again."""
        self._session.rollback()

    def undone(self) -> int:
        """How often changes were undone; see Storage.undone."""
        return self._session.undone

    def compact(self) -> None:
        """Commit, merge all runs into one, purge removed documents and return free space to the disk.

        Needs free disk space of up to twice the size of the file meanwhile.
        """
        self._session.compact()

    def close(self) -> None:
        """Close the file and undo uncommitted changes."""
        self._session.close()

    def add(self, ids: Sequence[DocumentId], payloads: Sequence[bytes], keys: Keys, seen: int = 0) -> Numbers:
        """Add documents; see Storage.add."""
        ids, payloads, keys = checked_batch(ids, payloads, keys)
        keep, seen = last_of_each(ids), checked_time(seen)
        session = self._session
        with session.changing():
            first = session.state.next_number
            check_room(first, len(keep))
            numbers = np.arange(first, first + len(keep))
            if keep:
                file_seen.arrive(session.connection, first, seen)
            repeats = len(keep) < len(ids)
            once = [ids[i] for i in keep] if repeats else ids
            self._insert(first, once, [payloads[i] for i in keep] if repeats else payloads)
            session.state.next_number += len(keep)
            session.state.documents += len(keep)
            session.changes += len(keep)
            session.pending.add(Postings.of_documents(keys[keep] if repeats else keys, numbers))
            if len(session.pending) > session.limits.pending_postings:
                session.move_to_runs()
        if not repeats:
            return numbers
        given = dict(zip(once, numbers.tolist(), strict=True))
        return np.array([given[document_id] for document_id in ids], np.int64)

    def _insert(self, first: int, ids: list[DocumentId], payloads: list[bytes]) -> None:
        documents = zip(range(first, first + len(ids)), map(stored_id, ids), payloads, strict=True)
        rows = [
            (number, stored, document_checksum(number, stored, payload), payload)
            for number, stored, payload in documents
        ]
        insert = "INSERT OR IGNORE INTO document VALUES (?, ?, ?, ?)"
        connection = self._session.connection
        if rows and connection.executemany(insert, rows).rowcount < len(rows):  # some ids are held already
            self._delete([row[1] for row in rows], below=rows[0][0])
            connection.executemany(insert, rows)

    def remove(self, ids: Sequence[DocumentId]) -> int:
        """Remove documents; see Storage.remove."""
        stored = dict.fromkeys(stored_id(checked_id(document_id)) for document_id in ids)
        with self._session.changing():
            return self._delete(stored, below=self._session.state.next_number)

    def _delete(self, ids: Iterable[StoredId], below: int) -> int:
        """Delete the documents with these ids and a number under `below`, and record their removal."""
        session = self._session
        find = "SELECT number FROM document WHERE id = ? AND number < ?"
        rows = [row for stored in ids for row in self._run(find, (stored, below))]
        session.connection.executemany("INSERT INTO removed VALUES (?)", rows)
        session.connection.executemany("DELETE FROM document WHERE number = ?", rows)
        file_seen.forget(session.connection, rows)
        session.state.documents -= len(rows)
        session.state.removed += len(rows)
        session.changes += len(rows)
        return len(rows)

    def touch(self, ids: Sequence[DocumentId], seen: Sequence[int] | Numbers) -> int:
        """Record when documents were seen; see Storage.touch."""
        latest = {
            stored_id(checked_time): second for checked_time, second in checked_times(ids, seen).items()
        }
        session = self._session
        with session.changing():
            find = "SELECT number FROM document WHERE id = ?"
            rows = [(row[0], second) for item, second in latest.items() for row in self._run(find, (item,))]
            file_seen.touch(session.connection, rows)
            session.changes += len(rows)
        return len(rows)

    def last_seen(self, numbers: Sequence[int] | Numbers) -> Numbers:
        """Return when documents were last seen; see Storage.last_seen."""
        with self.snapshot():
            return file_seen.last_seen(self._session.connection, [int(number) for number in numbers])

    def unseen(self, before: int) -> list[DocumentId]:
        """Return the ids of documents last seen before a second; see Storage.unseen."""
        with self.snapshot():
            return [given_id(stored) for stored in file_seen.unseen(self._session.connection, before)]

    def stored(self, numbers: Sequence[int] | Numbers) -> npt.NDArray[np.bool_]:
        """Return which document numbers are stored."""
        select = (
            "SELECT document.number IS NOT NULL FROM json_each(?) AS wanted "
            "LEFT JOIN document ON document.number = wanted.value ORDER BY wanted.key"
        )
        with self.snapshot():
            rows = self._run(select, (str([int(number) for number in numbers]),)).fetchall()
        return np.array([row[0] for row in rows], np.bool_)

    def candidates(self, keys: Keys) -> Pairs:
        """Return (row, number) of the documents that share a key; see Storage.candidates."""
        keys, session = checked_keys(keys), self._session
        with session.reading():
            row, number = self._find(keys)
            if session.state.removed and len(number):
                kept = ~np.isin(number, self._removed(number))
                row, number = row[kept], number[kept]
        return row, number

    def bucket_sizes(self) -> dict[int, int]:
        """Return the number of buckets of each size; see Storage.bucket_sizes."""
        session = self._session
        with session.reading():
            connection, runs, limits = session.connection, session.runs, session.limits
            fresh = [
                piece
                for piece in (delta_of(connection, session.state), *session.pending.pieces)
                if len(piece.keys)
            ]
            new, removed = Postings.merged(fresh), removed_from(connection, 0)
            total = len(new.keys) + sum(run.postings for run in runs)
            parts, count = max(1, total // limits.block_postings), -(-total // limits.slice_postings)
            return bucket_sizes(merged_slices(connection, runs, new, parts, count, removed))

    def _find(self, keys: Keys) -> Pairs:
        """Return (row, number) of the postings under the keys, also of documents removed since."""
        session = self._session
        if keys.size <= session.limits.few_keys:
            pieces = session.pending.pieces
            if session.state.delta:
                pieces = [*pieces, self._delta_under(keys)]
            runs = [(run.number, run.parts) for run in session.runs]
            return find_few(session.connection, session.blocks, runs, keys, pieces)
        wanted, rows = sorted_lookup(keys)
        pairs = session.pending.find(wanted)
        pairs.extend(find_in_runs(session.connection, session.runs, wanted))
        if session.state.delta:
            pairs.append(self._find_in_delta(wanted))
        return unique_pairs(rows, pairs)

    def _delta_under(self, keys: Keys) -> Postings:
        """Return the postings of the delta under some keys."""
        wanted = np.unique(keys)
        position, number = self._find_in_delta(wanted)
        order = np.argsort(position, kind="stable")
        return Postings(wanted[position[order]], number[order].astype(np.uint32))

    def _find_in_delta(self, wanted: Keys) -> Pairs:
        rows = self._run(
            "SELECT wanted.key, delta.number FROM json_each(?) AS wanted "
            "CROSS JOIN delta ON delta.band_key = wanted.value",
            (str(wanted.view(np.int64).tolist()),),
        ).fetchall()
        table = np.array(integers(rows, "delta"), np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    def _removed(self, numbers: Numbers) -> list[int]:
        rows = self._run(
            "SELECT number FROM json_each(?) AS wanted CROSS JOIN removed ON removed.number = wanted.value",
            (str(list(set(numbers.tolist()))),),
        )
        return [number for (number,) in rows]

    def _documents(self, columns: str, numbers: Sequence[int] | Numbers) -> list[tuple[Any, ...]]:
        wanted = numbers.tolist() if isinstance(numbers, np.ndarray) else [int(number) for number in numbers]
        with self.snapshot():
            rows = self._run(
                f"SELECT {columns} FROM json_each(?) AS wanted "
                "CROSS JOIN document ON document.number = wanted.value",
                (str(wanted),),
            ).fetchall()
            if len(rows) != len(wanted):
                missing = next(number for number in wanted if not self._is_held(number))
                self._check_not_posted(missing)
                raise missing_number(missing)
        return rows

    def _check_not_posted(self, number: int) -> None:
        """Raise Damaged if postings name a document that is neither stored nor removed."""
        session = self._session
        if self._removed(np.array([number])):
            return
        pieces = [delta_of(session.connection, session.state), *session.pending.pieces]
        if any(number in piece.numbers for piece in pieces) or any(
            names_document(session.connection, run, number) for run in session.runs
        ):
            raise Damaged(f"document {number} is missing, though postings name it")

    def _is_held(self, number: int) -> bool:
        return self._run("SELECT 1 FROM document WHERE number = ?", (number,)).fetchone() is not None

    def payloads(self, numbers: Sequence[int] | Numbers) -> list[bytes]:
        """Return the payloads of documents, in the given order."""
        with self.snapshot():
            rows = self._documents("document.number, checksum, payload", numbers)
            return [sound_payload(*row) for row in rows]

    def ids(self, numbers: Sequence[int] | Numbers) -> list[DocumentId]:
        """Return the ids of documents, in the given order."""
        with self.snapshot():
            return [
                sound_id(*row) for row in self._documents("document.number, checksum, document.id", numbers)
            ]

    def documents(self, numbers: Sequence[int] | Numbers) -> tuple[list[DocumentId], list[bytes]]:
        """Return the ids and the payloads of documents, in the given order."""
        wanted = numbers.tolist() if isinstance(numbers, np.ndarray) else [int(number) for number in numbers]
        session = self._session
        with session.reading():
            cached, fresh = session.documents, dict[int, tuple[DocumentId, bytes]]()
            if missing := [number for number in wanted if number not in cached]:
                fresh = self._read_documents(missing)
                session.keep(fresh)
        both = [fresh[number] if number in fresh else cached[number] for number in wanted]
        return [document_id for document_id, _ in both], [payload for _, payload in both]

    def _read_documents(self, numbers: list[int]) -> dict[int, tuple[DocumentId, bytes]]:
        rows = self._documents("document.number, checksum, payload, document.id", numbers)
        return {
            number: (sound_id(number, checksum, stored), sound_payload(number, checksum, payload))
            for number, checksum, payload, stored in rows
        }

    def numbers(self, ids: Sequence[DocumentId]) -> Numbers:
        """Return the numbers of documents, in the given order; -1 for an unknown id."""
        stored = [stored_id(checked_id(document_id)) for document_id in ids]
        find = (
            "SELECT number, (SELECT id FROM document AS held WHERE held.number = document.number) "
            "FROM document WHERE id = ?"
        )
        with self.snapshot():
            rows = [self._run(find, (entry,)).fetchone() for entry in stored]
            for item, row in zip(stored, rows, strict=True):
                if row and row[1] != item:
                    raise Damaged("the index of ids has another id", f"document {row[0]}")
        return np.array([row[0] if row else -1 for row in rows], np.int64)

    def contains(self, ids: Sequence[DocumentId]) -> npt.NDArray[np.bool_]:
        """Return which of the ids are stored."""
        return self.numbers(ids) >= 0

    def iterate(self, batch_size: int = 1000, after: int = -1) -> Iterator[StoredBatch]:
        """Yield all documents by number, in batches; see Storage.iterate."""
        session, whole, count = self._session, after < 0, 0
        with self.snapshot():
            state, unchanged = session.state, not session.writing
            end, documents, generation = state.next_number, state.documents, state.generation
        while len((batch := self._after(after, end, batch_size)).numbers):
            after = int(batch.numbers[-1])
            count += len(batch.numbers)
            yield batch
        with self.snapshot():
            unchanged = unchanged and not session.writing and session.state.generation == generation
            if whole and unchanged and count != documents:
                raise Damaged(WRONG_COUNT.format(count, documents))

    def _after(self, number: int, end: int, count: int) -> StoredBatch:
        """Return the next documents in the order of their numbers, also from a damaged file."""
        with self.snapshot():
            rows = self._run(
                "SELECT number, checksum, payload, id FROM document WHERE number > ? AND number < ? "
                "ORDER BY number LIMIT ?",
                (number, end, count),
            ).fetchall()
            numbers = np.array([row[0] for row in rows], np.int64)
            if (np.diff(numbers, prepend=number) <= 0).any() or (numbers >= end).any():
                raise Damaged(f"documents after number {number} are out of order")
            payloads = [sound_payload(*row[:3]) for row in rows]
            ids = [sound_id(number, checksum, stored) for number, checksum, _, stored in rows]
        return StoredBatch(numbers, ids, payloads)

    def __len__(self) -> int:
        with self.snapshot():
            return self._session.state.documents

    def check(self) -> None:
        """Read the whole file and raise StoreFormatError at the first inconsistency."""
        session = self._session
        with session.reading():
            check_file(session.connection, session.state, session.runs, session.pending.pieces)
            for _ in self.iterate():
                pass  # the checksums of each document are compared on the way

    def info(self) -> dict[str, Any]:
        """Return information; `bytes` is the size of the file and its write-ahead log on disk."""
        session = self._session
        with session.reading():
            state, path = session.state, session.path
            files = [path, path.with_name(path.name + "-wal")]
            in_runs = sum(run.postings for run in session.runs)
            return {
                "home": "file",
                "path": str(path),
                "format": format_of(session.connection),
                "sqlite": sqlite3.sqlite_version,
                "documents": state.documents,
                "removed": state.removed,
                "postings": in_runs + state.delta + len(session.pending),
                "delta": state.delta,
                "runs": len(session.runs),
                "uncommitted": session.changes,
                "bytes": sum(file.stat().st_size for file in files if file.exists()),
            }
