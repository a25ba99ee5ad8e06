"""Maintenance of an index: last seen, evict, merge, export and import."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benzer.checks import check_time, is_number, listed_ids
from benzer.document import Document
from benzer.errors import InputError, SettingsError, SettingsMismatchError, StorageError
from benzer.index.answers import SeenDocuments
from benzer.index.copying import backup, the_index_itself
from benzer.index.settings import IndexSettings, differences
from benzer.sketcher import Sketcher
from benzer.storage import DocumentId, Storage

When = datetime | float
"""A moment: a `datetime` with its time zone, or seconds since 1970."""

CONFLICTS = ("replace", "keep")
LATEST = 253_402_300_799  # the end of the year 9999, beyond which a datetime cannot go


class Taken(NamedTuple):
    """The counts of a merge or import.

    Attributes:
        added: Documents with new ids.
        replaced: Documents that replaced an existing one with the same id.
        kept: Documents that were not added because an existing one with the same id was kept.
    """

    added: int
    replaced: int
    kept: int


class Upkeep(ABC):
    """The maintenance methods of `Index`."""

    _storage: Storage
    _sketcher: Sketcher
    settings: IndexSettings

    @abstractmethod
    def _file(self, documents: Sequence[Document], threads: int, seen: int) -> None:
        """Add documents with described contents to the storage."""

    def touch(self, ids: Iterable[DocumentId], seen_at: When | None = None) -> int:
        """Record that unchanged documents were seen; much cheaper than adding them again.

        Takes effect with the next commit.

        Args:
            ids: Ids of documents; unknown ids are ignored.
            seen_at: When they were seen. Defaults to now. A time before the stored one changes nothing.

        Returns:
            The number of documents that are in the index.

        >>> from benzer.index import Index
        >>> with Index.open("memory:") as index:
        ...     added = index.add({"a": "one two three", "b": "four five six"}, seen_at=1000)
        ...     index.touch(["a", "nowhere"], seen_at=2000), index.unseen(since=1500)
        (1, ['b'])
        """
        listed = listed_ids(ids)
        return self._storage.touch(listed, [second_of(seen_at)] * len(listed))

    def last_seen(self, document_id: DocumentId) -> datetime | None:
        """Return when a document was added or last touched, in UTC, to the second.

        Returns:
            The time; None if the id is unknown, or if an earlier version of Benzer added the document and nothing
            was added since.
        """
        with self._storage.snapshot():
            (number,) = self._storage.numbers([document_id]).tolist()
            second = int(self._storage.last_seen([number])[0]) if number >= 0 else 0
        return datetime.fromtimestamp(second, timezone.utc) if second else None

    def unseen(self, since: When) -> list[DocumentId]:
        """Return the ids of documents last seen before a time, in the order in which they were added."""
        return self._storage.unseen(_given_second(since))

    def evict(self, unseen_since: When) -> int:
        """Remove the documents last seen before a time and return how many; `unseen` lists them.

        >>> from benzer.index import Index
        >>> with Index.open("memory:") as index:
        ...     added = index.add({"old": "one two three"}, seen_at=1000)
        ...     added = index.add({"new": "four five six"}, seen_at=2000)
        ...     index.evict(unseen_since=1500), list(index)
        (1, ['new'])
        """
        second = _given_second(unseen_since)
        self._storage.remove([])  # begins the transaction, so that no other process can write in between
        return self._storage.remove(self._storage.unseen(second))

    def merge(
        self, other: Upkeep, on_conflict: str = "replace", batch_size: int = 2000, threads: int = 0
    ) -> Taken:
        """Add the documents of another index with equal settings, in their order.

        Takes effect with the next commit. After an error, call `rollback` or leave the `with` block.

        Args:
            other: An open index in any storage. It is read in one snapshot and not changed; other threads that use
                the same object wait.
            on_conflict: "replace" or "keep" existing documents with the same id. In both cases the later last-seen
                time is stored.
            batch_size: Documents to process at a time.
            threads: Number of threads; 0 uses all cores.

        Returns:
            The number of added, replaced and kept documents.

        Raises:
            SettingsMismatchError: The settings differ.
        """
        if not isinstance(other, Upkeep):
            raise InputError(
                f"the source must be an open index, e.g. Index.open(path, mode='read'), got {other!r:.80}"
            )
        if other is self:
            raise SettingsError("an index cannot be merged into itself: use another one")
        if other.settings != self.settings:
            faults = differences(other.settings, self.settings)
            raise SettingsMismatchError(
                f"the two indexes were created with different settings: {faults}. Index the documents of one again "
                f"with the settings of the other"
            )
        # Without a snapshot a document that is replaced meanwhile could be missed in both of its states.
        with other._storage.snapshot():
            return self._take(other._departing(batch_size), on_conflict, threads)

    def _departing(self, batch_size: int = 2000) -> Iterator[SeenDocuments]:
        """All documents with their times, in order."""
        for batch in self._storage.iterate(batch_size):
            documents = list(map(self._sketcher.decode, batch.ids, batch.payloads))
            yield SeenDocuments(documents, self._storage.last_seen(batch.numbers).tolist())

    def _take(self, batches: Iterable[SeenDocuments], on_conflict: str, threads: int) -> Taken:
        if on_conflict not in CONFLICTS:
            raise SettingsError(f'on_conflict must be "replace" or "keep", got {on_conflict!r}')
        added = replaced = kept = 0
        for documents, seen in _without_repeats(batches):
            ids = [document.id for document in documents]
            held = self._storage.contains(ids)
            stays = held & (on_conflict == "keep")
            later = np.maximum(seen, self._times(ids))
            coming = np.flatnonzero(~stays).tolist()
            if coming:
                self._file([documents[at] for at in coming], threads, int(later[coming].min()))
            again = np.flatnonzero(stays | (later > (later[coming].min() if coming else 0))).tolist()
            self._storage.touch([ids[at] for at in again], later[again])
            added += len(ids) - int(held.sum())
            replaced += int((held & ~stays).sum())
            kept += int(stays.sum())
        return Taken(added, replaced, kept)

    def _times(self, ids: list[DocumentId]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """When documents were last seen; 0 for what is not held."""
        with self._storage.snapshot():
            numbers = self._storage.numbers(ids)
            times = np.zeros(len(ids), np.int64)
            times[numbers >= 0] = self._storage.last_seen(numbers[numbers >= 0])
        return times

    def export(self, path: str | Path, replace: bool = False) -> int:
        """Write all documents with ids and last-seen times to a JSONL file that later versions can import.

        The file is written atomically. docs/reference/formats.md describes the format.

        Args:
            path: Output file; `.gz` or `.zst` at the end of the name compresses it.
            replace: Whether to replace an existing file.

        Returns:
            The number of documents.
        """
        from benzer.index.exchange import write_export

        if replace and Path(path).exists() and _same_file(self._storage.info().get("path"), path):
            raise the_index_itself(path)
        with self._storage.snapshot():
            return write_export(Path(path), self.settings, self._departing(), replace)

    def backup(self, path: str | Path, replace: bool = False) -> int:
        """Copy the last committed state of an index file to another file, and check the copy.

        Other processes can read and write meanwhile. The copy is written atomically and is a complete index. Copying
        the file by other means is safe only while no process has the index open. Reads the index twice.

        Args:
            path: Path of the copy.
            replace: Whether to replace an existing file.

        Returns:
            The number of documents in the copy.

        Raises:
            StoreFormatError: The index is damaged; nothing is written.
            StorageError: The index is not in a file; export it instead.

        >>> import tempfile
        >>> from benzer.index import Index, restore
        >>> folder = Path(tempfile.mkdtemp())
        >>> with Index.open(folder / "docs.benzer") as index:
        ...     added = index.add({"a": "one two three"})
        ...     index.commit()
        ...     index.backup(folder / "copy.benzer")
        1
        >>> restore(folder / "docs.benzer", folder / "copy.benzer")
        1
        """
        place = self._storage.info().get("path")
        if place is None:
            raise StorageError("only an index in a file can be backed up: export this one instead")
        return backup(Path(place), Path(path), replace)

    def import_(self, path: str | Path, on_conflict: str = "replace", threads: int = 0) -> Taken:
        """Add the documents of a file written by `export`, as `merge` does from another index.

        Create a new index for it with `benzer.index.exported_settings(path)`. A truncated file raises an InputError at
        its end: call `rollback` then, or leave the `with` block.
        """
        from benzer.index.exchange import exported_settings, read_export

        stored = exported_settings(path)
        if stored != self.settings:
            faults = differences(stored, self.settings)
            raise SettingsMismatchError(
                f"{path} was exported from an index with other settings: {faults}. Import it into an index created "
                f"with exported_settings, or index the documents again"
            )
        return self._take(read_export(Path(path), self.settings.schema), on_conflict, threads)


def _without_repeats(batches: Iterable[SeenDocuments]) -> Iterator[SeenDocuments]:
    """The same, cut so that no batch has an id twice, as a file that somebody changed may have."""
    for documents, seen in batches:
        start, met = 0, set[DocumentId]()
        for at, document in enumerate(documents):
            if document.id in met:
                yield SeenDocuments(documents[start:at], seen[start:at])
                start, met = at, set()
            met.add(document.id)
        yield SeenDocuments(documents[start:], seen[start:])


def second_of(when: When | None) -> int:
    """A moment in whole seconds since 1970; None is now.

    >>> second_of(datetime(2026, 1, 31, 12, tzinfo=timezone.utc)), second_of(12.9)
    (1769860800, 12)
    >>> second_of(datetime(2026, 1, 31))
    Traceback (most recent call last):
    benzer.errors.InputError: 2026-01-31 00:00:00 has no time zone: give a datetime with tzinfo, or seconds since 1970
    """
    if when is None:
        return int(time.time())
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise InputError(f"{when} has no time zone: give a datetime with tzinfo, or seconds since 1970")
        when = when.timestamp()
    if not is_number(when) or not 0 <= when <= LATEST:
        raise InputError(
            f"a moment must be a datetime, or from 0 to {LATEST} seconds (not milliseconds) since 1970, got {when!r}"
        )
    return max(1, int(when))  # to a storage 0 says that the time is not known


def _given_second(when: When) -> int:
    """A moment that must not be left out: as now it would name everything."""
    check_time(when)
    return second_of(when)


def _same_file(home: str | None, path: str | Path) -> bool:
    """Whether a path is that of the index; `home` is None for one that lies in no file."""
    return home is not None and Path(home).exists() and Path(home).samefile(path)
