"""Backup and restore of an index file."""

from __future__ import annotations

from pathlib import Path

from benzer.errors import OutputError, StorageError
from benzer.tables import atomic_write


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
    """Return the error for an output in the place of the index."""
    return OutputError(f"{path} is the index itself: choose another place")


def restore(index: str | Path, copy: str | Path) -> int:
    """Put a copy of an index, such as `Index.backup` makes, in the place of an index file.

    The copy is checked first, and stays. The write-ahead log of the old file is removed: beside the copy it would be
    applied to it. If `copy` is the index file itself, that file is taken as it stands, without its log: for a copy
    that was put there by other means. A crash leaves the old state, the new one, or an index that is refused with
    a message to restore it again.

    Args:
        index: The path of the index file, which nobody may have open. It may be missing or damaged.
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
