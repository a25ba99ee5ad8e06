"""Storage of documents and band keys in memory, in a file or in Redis, with equal results.

A new storage is one new file with the methods of `base.Storage`, one line in `HOMES`, and a line in the list of
storages in `tests/contracts/storages.py`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

from benzer.errors import SettingsError, StorageError
from benzer.registry import Registry
from benzer.storage.base import NO_KEY, DocumentId, Storage, StoredBatch

__all__ = ["HOMES", "NO_KEY", "DocumentId", "Storage", "StoredBatch", "exists", "is_url", "open_storage"]

HOMES = Registry(
    "storage",
    {
        "memory": "benzer.storage.memory:MemoryStorage",
        "file": "benzer.storage.file:FileStorage",
        "redis": "benzer.storage.redis.storage:RedisStorage",
    },
)

URL_SCHEMES = ("redis", "rediss", "unix")
"""What the URL of an index begins with, before `://`."""


def is_url(location: str | os.PathLike[str]) -> bool:
    """Whether a location is the URL of an index, not a path.

    >>> is_url("redis://localhost:6379/0?prefix=news"), is_url("news.benzer"), is_url("memory:")
    (True, False, False)
    """
    return "://" in os.fspath(location)


def exists(location: str | os.PathLike[str]) -> bool:
    """Whether the location of an index exists; a server that cannot be reached raises a StorageError.

    >>> exists("memory:"), exists("nowhere/news.benzer")
    (False, False)
    """
    name = os.fspath(location)
    if name == "memory:":
        return False
    if is_url(name):
        _check_scheme(name)
        from benzer.storage.redis.storage import exists as exists_in_redis

        return exists_in_redis(name)
    return Path(name).exists()


def _check_scheme(name: str) -> None:
    scheme = name.partition("://")[0]
    if scheme not in URL_SCHEMES:
        raise SettingsError(
            f'there is no storage for {scheme}://: give the path of a file, a redis:// URL, or "memory:"'
        )


def open_storage(
    location: str | os.PathLike[str], settings: str | None = None, mode: str = "write", timeout: float = 1.0
) -> Storage:
    """Open the storage at `location`: the path of a file, a redis:// URL, or "memory:" for a new one in memory.

    Args:
        location: Path, URL or "memory:".
        settings: Text to store in a new storage; an existing one keeps its own.
        mode: "write" creates a missing storage, "read" changes nothing.
        timeout: Seconds to wait for another writer.

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
    if is_url(name):
        _check_scheme(name)
        return cast(Storage, HOMES.load("redis")(name, settings, mode, timeout))
    return cast(Storage, HOMES.load("file")(name, settings, mode, timeout))
