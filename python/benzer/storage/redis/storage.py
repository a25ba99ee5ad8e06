"""Storage in a Redis server that several machines share."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer.errors import SettingsMismatchError, StorageError, StoreFormatError
from benzer.storage.base import (
    DocumentId,
    Keys,
    Numbers,
    Pairs,
    StoredBatch,
    check_format,
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
from benzer.storage.postings import Postings
from benzer.storage.redis.address import RedisAddress, read_address
from benzer.storage.redis.check import check_server, counted
from benzer.storage.redis.records import (
    Record,
    grouped,
    id_hash,
    id_postings,
    id_text,
    packed_numbers,
    portions,
    read_record,
    record_of,
    unpacked_numbers,
)
from benzer.storage.redis.search import alive, find
from benzer.storage.redis.server import IndexServer
from benzer.storage.redis.session import RedisLimits, RedisSession

FORMAT = 2
_IDS_AT_ONCE = 1000
_TIMES_AT_ONCE = 5000
_FEW_POSTINGS = 2000  # go along with their documents, the shards they need are made at once
_FEW_NUMBERS = 256
_REPLY_BYTES = 1 << 21
_RECORDS_KEPT = 20_000  # by one snapshot, which is often asked for ids and then for payloads


class RedisStorage:
    """An index in a Redis server (6.2 or later, or Valkey), under keys that begin with its prefix.

    One writer at a time, and any number of readers, which never wait. The first change takes the writer's lease,
    which is renewed until `commit` or `rollback`; another writer gets a StoreLockedError after `timeout` seconds.
    Uncommitted changes of a killed writer are never visible. A commit is one script, so it is applied completely or
    not at all; the server's own persistence (`appendonly`, `appendfsync`) determines whether it survives a failure of
    the server. Several threads may use the object; they wait for each other. A pickled copy opens the same URL.
    """

    def __init__(
        self,
        location: str,
        settings: str | None = None,
        mode: str = "write",
        timeout: float = 1.0,
        limits: RedisLimits | None = None,
    ) -> None:
        address = read_address(location)
        self._session = RedisSession(address, mode, timeout, limits or RedisLimits())
        try:
            self._settings, ttl = _opened(
                self._session.server, address, settings if mode == "write" else None
            )
        except BaseException:
            self._session.server.close()
            raise
        self._mortal = ttl > 0
        self._ttl = ttl

    def __reduce__(self) -> tuple[Any, ...]:
        session = self._session
        if session.writing:
            raise uncommitted(repr(session.address), session.changes)
        return type(self), (session.address.given, None, session.mode, session.timeout, session.limits)

    def settings(self) -> str:
        """The settings text that the index was created with."""
        self._session.check_open()
        return self._settings

    def snapshot(self) -> AbstractContextManager[None]:
        """Make all reads in the block see one state; other threads of this process wait, other processes do not.

        A snapshot that lasts longer than a minute while documents are removed, or that spans a compaction, may end
        with a StorageError; it never shows another state.
        """
        return self._session.reading()

    def commit(self) -> None:
        """Make the changes visible to all, together; purge postings if half of their documents are removed."""
        self._session.commit()

    def rollback(self) -> None:
        """Undo the changes since the last commit; numbers assigned since then are not used again."""
        self._session.rollback()

    def undone(self) -> int:
        """How often changes were undone; see Storage.undone."""
        return self._session.undone

    def compact(self) -> None:
        """Commit, purge all removed documents, and join shards if the collection has become smaller."""
        self._session.compact()

    def close(self) -> None:
        """Close the connections and undo uncommitted changes."""
        self._session.close()

    def add(self, ids: Sequence[DocumentId], payloads: Sequence[bytes], keys: Keys, seen: int = 0) -> Numbers:
        """Add documents; see Storage.add."""
        ids, payloads, keys = checked_batch(ids, payloads, keys)
        keep, seen = last_of_each(ids), checked_time(seen)
        session = self._session
        with session.changing():
            first = session.next_number
            check_room(first, len(keep))
            postings = Postings.of_documents(keys[keep], np.arange(first, first + len(keep)))
            alone = not session.pending and len(postings.keys) <= _FEW_POSTINGS
            along = next(grouped(postings, session.shards)) if alone else (b"", b"")
            for some in portions([len(payloads[place]) for place in keep]):
                self._add([(ids[place], payloads[place]) for place in keep[some]], along, seen)
                along = (b"", b"")
            if not alone:
                session.pending.append(postings)
                if sum(len(piece.keys) for piece in session.pending) > session.limits.pending_postings:
                    session.flush()
            session.changes += len(keep)
        given = {ids[place]: number for number, place in enumerate(keep, first)}
        return np.array([given[document_id] for document_id in ids], np.int64)

    def _add(self, documents: list[tuple[DocumentId, bytes]], along: tuple[bytes, bytes], seen: int) -> None:
        session = self._session
        first = session.next_number
        texts = [id_text(document_id) for document_id, _ in documents]
        records = [
            record_of(number, text, payload)
            for number, (text, (_, payload)) in enumerate(zip(texts, documents, strict=True), first)
        ]
        (named,) = grouped(id_postings(texts, first), session.id_shards)
        session.write("add", session.shards, session.id_shards, first, *named, *along, seen, *records)

    def remove(self, ids: Sequence[DocumentId]) -> int:
        """Remove documents; see Storage.remove."""
        fields = list(dict.fromkeys(_field(document_id) for document_id in ids))
        session = self._session
        count = 0
        with session.changing():
            for start in range(0, len(fields), _IDS_AT_ONCE):
                count += session.write("remove", *fields[start : start + _IDS_AT_ONCE])
            session.changes += count
        return count

    def touch(self, ids: Sequence[DocumentId], seen: Sequence[int] | Numbers) -> int:
        """Record when documents were seen; see Storage.touch. Does not extend a document's ttl."""
        latest = list(checked_times(ids, seen).items())
        session, last = self._session, max((second for _, second in latest), default=0)
        count = 0
        with session.changing():
            for start in range(0, len(latest), _IDS_AT_ONCE):
                some = latest[start : start + _IDS_AT_ONCE]
                fields = [part for item, second in some for part in (_field(item), second)]
                count += session.write("touch", *fields, last)
            session.changes += count
        return count

    def last_seen(self, numbers: Sequence[int] | Numbers) -> Numbers:
        """Return when documents were last seen; see Storage.last_seen."""
        wanted, parts = np.asarray(numbers, np.int64), []
        with self._session.reading():
            for start in range(0, len(wanted), _TIMES_AT_ONCE):
                packed = packed_numbers(wanted[start : start + _TIMES_AT_ONCE])
                parts.append(bytes(self._session.read("seen", packed)[0]))
        return np.frombuffer(b"".join(parts), "<f8").astype(np.int64)

    def unseen(self, before: int) -> list[DocumentId]:
        """Return the ids of documents last seen before a second; see Storage.unseen. Reads all documents."""
        ids: list[DocumentId] = []
        for batch in self.iterate():
            times = self.last_seen(batch.numbers).tolist()
            ids.extend(item for item, time in zip(batch.ids, times, strict=True) if 0 < time < before)
        return ids

    def stored(self, numbers: Sequence[int] | Numbers) -> npt.NDArray[np.bool_]:
        """Return which document numbers are stored."""
        wanted = np.asarray(numbers, np.int64)
        there = wanted[(wanted >= 0) & (wanted < 2**32)]
        with self._session.reading():
            return np.isin(wanted, alive(self._session, np.unique(there)))

    def candidates(self, keys: Keys) -> Pairs:
        """Return (row, number) of the documents that share a key; see Storage.candidates."""
        keys = checked_keys(keys)
        with self._session.reading():
            return find(self._session, keys, self._mortal)

    def bucket_sizes(self) -> dict[int, int]:
        """Return the number of buckets of each size; see Storage.bucket_sizes.

        They are counted again if a writer has moved postings to other shards meanwhile.
        """
        return counted(self._session)

    def payloads(self, numbers: Sequence[int] | Numbers) -> list[bytes]:
        """Return the payloads of documents, in the given order."""
        return [record.payload for record in self._records(numbers)]

    def ids(self, numbers: Sequence[int] | Numbers) -> list[DocumentId]:
        """Return the ids of documents, in the given order."""
        return [record.id for record in self._records(numbers)]

    def documents(self, numbers: Sequence[int] | Numbers) -> tuple[list[DocumentId], list[bytes]]:
        """Return the ids and the payloads of documents, in the given order."""
        records = self._records(numbers)
        return [record.id for record in records], [record.payload for record in records]

    def _records(self, numbers: Sequence[int] | Numbers) -> list[Record]:
        wanted = numbers.tolist() if isinstance(numbers, np.ndarray) else [int(number) for number in numbers]
        session = self._session
        with session.reading():
            missing = sorted({number for number in wanted if number not in session.documents})
            if not missing:
                return [session.documents[number] for number in wanted]
            records = dict(self._fetched(missing))
            if len(session.documents) + len(records) <= _RECORDS_KEPT:
                session.documents.update(records)
            records |= session.documents
            return [records[number] for number in wanted]

    def _fetched(self, numbers: list[int]) -> Iterator[tuple[int, Record]]:
        if numbers[0] < 0 or numbers[-1] >= 2**32:
            raise missing_number(numbers[0] if numbers[0] < 0 else numbers[-1])
        if len(numbers) > _FEW_NUMBERS:
            yield from self._fetched_plainly(numbers)
            return
        position = 0
        while position < len(numbers):
            (records,) = self._session.read("fetch", packed_numbers(np.array(numbers[position:], np.int64)))
            yield from self._read(numbers[position:], records)
            position += len(records)

    def _fetched_plainly(self, numbers: list[int]) -> Iterator[tuple[int, Record]]:
        """Yield records without a script, which would be slow for many. A record never changes, it is only removed."""
        wanted = np.array(numbers, np.int64)
        records: list[bytes | None] = []
        count = 64
        while len(records) < len(numbers):
            some = self._session.server.records(numbers[len(records) : len(records) + count])
            records += some
            mean = sum(len(record or b"") for record in some) // len(some) + 1
            count = max(1, min(2000, _REPLY_BYTES // mean))
        # asked last, so that all of them are this index's and this snapshot's
        strange = wanted[~np.isin(wanted, alive(self._session, wanted))]
        if len(strange):
            raise missing_number(int(strange[0]))
        yield from self._read(numbers, records)

    def _read(self, numbers: Sequence[int], records: Sequence[bytes | None]) -> Iterator[tuple[int, Record]]:
        for number, record in zip(numbers, records, strict=False):
            if record is None:
                raise missing_number(number)
            yield number, read_record(number, record, self._mortal)

    def numbers(self, ids: Sequence[DocumentId]) -> Numbers:
        """Return the numbers of documents, in the given order; -1 for an unknown id."""
        fields = [_field(document_id) for document_id in ids]
        with self._session.reading():
            parts = [
                self._session.read("numbers", *fields[start : start + _IDS_AT_ONCE])[0]
                for start in range(0, len(fields), _IDS_AT_ONCE)
            ]
        return np.frombuffer(b"".join(parts), "<f8").astype(np.int64)

    def contains(self, ids: Sequence[DocumentId]) -> npt.NDArray[np.bool_]:
        """Return which of the ids are stored."""
        return self.numbers(ids) >= 0

    def iterate(self, batch_size: int = 1000, after: int = -1) -> Iterator[StoredBatch]:
        """Yield all documents by number, in batches; see Storage.iterate."""
        session = self._session
        with session.reading():
            first, end = after + 1, session.next_number if session.writing else session.view.published
        while first < end:
            with session.reading():
                last, (first, packed, records) = first, session.read("walk", first, end, batch_size)
                numbers = unpacked_numbers(packed)
                batch = [
                    read_record(number, record, self._mortal)
                    for number, record in zip(numbers.tolist(), records, strict=True)
                ]
            if first <= last:
                return  # the index was made anew meanwhile
            if batch:
                yield StoredBatch(numbers, [item.id for item in batch], [item.payload for item in batch])

    def __len__(self) -> int:
        session = self._session
        with session.reading():
            if not self._mortal:
                return session.view.documents
            expired = int(session.read("expired")[0])  # the first to be asked, so that it makes the view
            return session.view.documents - expired

    def check(self) -> None:
        """Read the whole index and raise StoreFormatError at the first inconsistency.

        If others write meanwhile, inconsistent parts are read again.
        """
        check_server(self._session, self._mortal)

    def info(self) -> dict[str, Any]:
        """Return information; `bytes` is the server's memory, computed from a sample of the keys.

        `runs` counts the shards of the postings.
        """
        session = self._session
        with session.reading():
            documents = len(self)
            postings, shards, _, _, removed, memory = session.read("facts")
            return {
                "home": "redis",
                "url": repr(session.address),
                "format": FORMAT,
                "ttl": self._ttl,
                "documents": documents,
                "removed": removed,
                "postings": postings,
                "runs": shards,
                "uncommitted": session.changes,
                "bytes": memory,
            }


def _field(document_id: DocumentId) -> bytes:
    text = id_text(checked_id(document_id))
    return id_hash(text) + text


def exists(location: str) -> bool:
    """Whether there is an index at a redis:// URL."""
    server = IndexServer(read_address(location))
    try:
        return bool(server.run_raw("create", "", "", "", "")[0] == 0)
    finally:
        server.close()


def discard(location: str) -> None:
    """Delete the index at a redis:// URL if nothing was ever committed to it and no process writes to it."""
    address = read_address(location)
    server = IndexServer(address)
    try:
        reply = server.run_raw("create", "", "", "", "")
        if reply[0] == 0:
            server.made = bytes(reply[4])
            while server.run("discard")[0]:
                pass
    finally:
        server.close()


def _opened(server: IndexServer, address: RedisAddress, settings: str | None) -> tuple[str, int]:
    """Create a missing index if `settings` are given; returns the stored settings and ttl."""
    _check_server_fits(server, address)
    if settings is None:
        reply = server.run("create", "", "", "", "")
    else:
        reply = server.run(
            "create", settings.encode("utf-8", "surrogatepass"), address.ttl or 0, FORMAT, uuid.uuid4().hex
        )
    version, text, ttl, made = (bytes(value).decode("utf-8", "surrogatepass") for value in reply)
    if not version.isdecimal():
        raise StoreFormatError(
            f"{address!r}: the keys of another program use this prefix: choose another prefix"
        )
    check_format(repr(address), int(version), FORMAT)
    if address.ttl is not None and address.ttl != int(ttl):
        raise SettingsMismatchError(
            f"{address!r} was created with ttl={ttl}, got ttl={address.ttl}: remove it, or create another index"
        )
    server.made = made.encode()
    return text, int(ttl)


def _check_server_fits(server: IndexServer, address: RedisAddress) -> None:
    facts = server.facts()
    version = str(facts.get("redis_version", "6.2"))
    if tuple(int(part) for part in version.split(".")[:2]) < (6, 2):
        raise StorageError(f"{address!r} is Redis {version}: use 6.2 or later")
    policy = str(facts.get("maxmemory_policy", "noeviction"))
    if int(facts.get("maxmemory", 0)) and policy != "noeviction":
        raise StorageError(
            f"{address!r} evicts parts of an index when its memory is full (maxmemory-policy {policy}): "
            f"set it to noeviction"
        )
