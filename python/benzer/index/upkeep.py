"""Maintenance of an index: times, the counts of a merge, backup and restore."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from benzer.checks import check_time, is_number
from benzer.errors import InputError, OutputError, StorageError
from benzer.index.documents import SeenDocuments
from benzer.storage import DocumentId
from benzer.tables import atomic_write

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


def without_repeats(batches: Iterable[SeenDocuments]) -> Iterator[SeenDocuments]:
    """Divide batches so that none has an id twice, as can happen in an edited file."""
    for documents, seen in batches:
        start, met = 0, set[DocumentId]()
        for position, document in enumerate(documents):
            if document.id in met:
                yield SeenDocuments(documents[start:position], seen[start:position])
                start, met = position, set()
            met.add(document.id)
        yield SeenDocuments(documents[start:], seen[start:])


def second_of(when: When | None) -> int:
    """Return a time as whole seconds since 1970; None is now.

    >>> from datetime import timezone
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
            f"a time must be a datetime, or from 0 to {LATEST} seconds (not milliseconds) since 1970, got {when!r}"
        )
    return max(1, int(when))  # to a storage 0 says that the time is not known


def given_second(when: When) -> int:
    """Return a time that must not be omitted: with the current time as default it would select all documents."""
    check_time(when)
    return second_of(when)


def same_file(home: str | None, path: str | Path) -> bool:
    """Whether a path is that of the index; `home` is None for an index that is not in a file."""
    return home is not None and Path(home).exists() and Path(home).samefile(path)


def backup(index: Path, copy: Path, replace: bool) -> int:
    """Copy an index file; see `Index.backup`."""
    from benzer.storage.commits import sync_folder
    from benzer.storage.copies import copy_index

    if copy.exists() and copy.samefile(index):
        raise the_index_itself(copy)
    with atomic_write(copy, replace) as partial:
        count = copy_index(index, partial)
    sync_folder(copy.absolute().parent)
    return count


def the_index_itself(path: str | Path) -> OutputError:
    """Return the error for an output that is the index itself."""
    return OutputError(f"{path} is the index itself: choose another path")


def restore(index: str | Path, copy: str | Path) -> int:
    """Replace an index file with a copy of an index, e.g. one made by `Index.backup`.

    The copy is checked first, and is not changed. The write-ahead log of the old file is removed, because it would
    otherwise be applied to the copy. If `copy` is the index file itself, that file is used as it is, without its log:
    for a copy that was put there by other means. After a crash there is the old state, the new one, or an index that
    is rejected with a message to restore it again.

    Args:
        index: The path of the index file, which no process may have open. It may be missing or damaged.
        copy: The path of the copy.

    Returns:
        The number of documents in the restored index.

    Raises:
        StoreFormatError: The copy is damaged; nothing was changed.
        StoreLockedError: The index is open here, or in another process.
        StorageError: There is no copy at this path.

    >>> restore("docs.benzer", "nowhere.benzer")
    Traceback (most recent call last):
    benzer.errors.StorageError: there is no copy at nowhere.benzer: give the path of an index file
    """
    from benzer.storage.copies import restore_index

    if not Path(copy).is_file():
        raise StorageError(f"there is no copy at {copy}: give the path of an index file")
    return restore_index(Path(index), Path(copy))
