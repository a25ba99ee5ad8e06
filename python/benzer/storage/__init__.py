"""Where do documents and their band keys live? In memory, or in one file; every home gives the same results.

A new home is one new file with the methods of `base.Storage`, one line in `HOMES`, and a line in the list of
homes in `tests/contracts/test_storage.py`.
"""

from __future__ import annotations

import os
from typing import cast

from benzer.errors import SettingsError, StorageError
from benzer.registry import Registry
from benzer.storage.base import NO_KEY, DocumentId, Storage, StoredBatch

__all__ = ["HOMES", "NO_KEY", "DocumentId", "Storage", "StoredBatch", "open_storage"]

HOMES = Registry(
    "storage",
    {"memory": "benzer.storage.memory:MemoryStorage", "file": "benzer.storage.file:FileStorage"},
)


def open_storage(
    location: str | os.PathLike[str], settings: str | None = None, mode: str = "write", timeout: float = 1.0
) -> Storage:
    """Open the storage at `location`: the path of a file, or "memory:" for a new one in memory.

    Where there is none yet, mode "write" makes one that keeps the text `settings`; an existing one keeps its
    own. Mode "read" makes nothing. `timeout`: seconds to wait for another writer.

    >>> storage = open_storage("memory:", settings="{}")
    >>> len(storage), storage.settings()
    (0, '{}')
    """
    if mode not in ("read", "write"):
        raise SettingsError(f'mode must be "read" or "write", got {mode!r}')
    if not timeout >= 0:
        raise SettingsError(f"timeout must be 0 or more seconds, got {timeout}")
    name = os.fspath(location)
    if name == "memory:":
        if mode == "read" or settings is None:
            raise StorageError('an index in memory starts empty: open it with mode="write" and settings')
        return cast(Storage, HOMES.load("memory")(settings))
    if "://" in name:
        raise SettingsError(
            f'there is no storage for {name.partition("://")[0]}://: give the path of a file, or "memory:"'
        )
    return cast(Storage, HOMES.load("file")(name, settings, mode, timeout))
