"""Storage of the indexes created by request: a folder or a Redis server. Creation is atomic."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import uuid4

from benzer.errors import SettingsError, StorageError
from benzer.index import Index, IndexSettings
from benzer.service.errors import Refusal
from benzer.service.pictures.thumbnails import ENDING as THUMBNAILS
from benzer.storage import is_url
from benzer.tables.durable import sync_folder

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
ENDING = ".benzer"
BESIDE = ("-wal", "-shm", "-commits", "-journal", THUMBNAILS, f"{THUMBNAILS}-journal")
"""Suffixes of files next to an index file that are deleted with it."""
UNFINISHED = (".making", ".deleting")
UNLINKED = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
"""The errors of file systems without hard links."""
_AT_ONCE = 1000
_CLEAR = """
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('UNLINK', unpack(KEYS, 2))
return 1
"""


class Home(Protocol):
    """Storage for indexes by name. The methods are slow: call them in a thread."""

    def existing(self) -> Iterator[tuple[str, str]]:
        """The name and location of each index; leftovers of interrupted requests are deleted."""

    def location(self, name: str) -> str:
        """The location of the index with a name, whether it exists or not."""

    def make(self, name: str, settings: IndexSettings) -> None:
        """Create an empty index atomically and durably; 409 if it exists."""

    def remove(self, name: str) -> None:
        """Delete an index that is not open. It disappears at once; its remains are deleted afterwards."""

    def without_places(self, message: str) -> str:
        """A message without locations of this home."""


def home_at(location: str | os.PathLike[str]) -> Home:
    """The home at a folder path or a redis:// URL."""
    return RedisHome(os.fspath(location)) if is_url(location) else FolderHome(Path(location))


def name_conflict(name: str) -> Refusal:
    """The refusal of a name that is taken."""
    return Refusal(
        409, f"index {name!r} already exists: choose another name, or delete it first", field="body.name"
    )


class FolderHome:
    """A folder with one file per index, NAME.benzer."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        if self._folder.exists() and not self._folder.is_dir():
            raise SettingsError(f"{folder} is a file: give --home a folder, or the URL of a Redis server")
        self._folder.mkdir(parents=True, exist_ok=True)

    def existing(self) -> Iterator[tuple[str, str]]:
        """See `Home`."""
        for path in self._folder.iterdir():
            if any(f"{ENDING}{mark}" in path.name for mark in UNFINISHED):
                path.unlink(missing_ok=True)
        for path in sorted(self._folder.glob(f"*{ENDING}")):
            yield path.name.removesuffix(ENDING), str(path)

    def location(self, name: str) -> str:
        """See `Home`."""
        return str(self._folder / f"{name}{ENDING}")

    def make(self, name: str, settings: IndexSettings) -> None:
        """See `Home`."""
        path = Path(self.location(name))
        if path.exists():
            raise name_conflict(name)
        made = path.with_name(f".{path.name}.making-{uuid4().hex}")
        try:
            Index.open(made, settings).close()
            for ending in (
                BESIDE
            ):  # leftovers of a file that was removed by hand; they would be read as parts of the new one
                path.with_name(path.name + ending).unlink(missing_ok=True)
            put(made, path)
        except FileExistsError:
            raise name_conflict(name) from None
        except OSError as error:
            raise StorageError(f"the index {name!r} cannot be created: {error.strerror}") from error
        finally:
            for ending in ("", *BESIDE):
                with suppress(OSError):
                    made.with_name(made.name + ending).unlink(missing_ok=True)
        self._settle()

    def remove(self, name: str) -> None:
        """See `Home`."""
        path = Path(self.location(name))
        gone = path.with_name(f".{path.name}.deleting-{uuid4().hex}")
        try:
            path.rename(gone)
            self._settle()
            for item in (gone, *(path.with_name(path.name + ending) for ending in BESIDE)):
                item.unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"the index {name!r} cannot be deleted: {error.strerror}") from error

    def _settle(self) -> None:
        """Flush the names in the folder to disk."""
        sync_folder(self._folder)

    def without_places(self, message: str) -> str:
        """See `Home`."""
        return re.sub(re.escape(str(self._folder)) + r"(/[^\s:;,'\"]*)?", "the home", message)


def put(made: Path, path: Path) -> None:
    """Rename a file unless the name is taken."""
    try:
        os.link(made, path)  # unlike a rename, this replaces no file
    except OSError as error:
        if error.errno not in UNLINKED or path.exists():
            raise
        made.rename(path)


class RedisHome:
    """A Redis server in which each index has its own prefix: its name, after the prefix of the URL if there is one.

    Durability depends on the persistence settings of the server.
    """

    def __init__(self, location: str) -> None:
        from benzer.storage.redis.address import read_address

        self._parts = urlsplit(location)
        self._options = dict(parse_qsl(self._parts.query, keep_blank_values=True))
        given = self._options.pop("prefix", "")
        self._before = f"{given}:" if given else ""
        self._printable = repr(read_address(self.location("index"))).partition("?")[0]
        self._client = read_address(self.location("index")).client()

    def existing(self) -> Iterator[tuple[str, str]]:
        """See `Home`."""
        begin, end = f"{{{self._before}".encode(), b"}:m"
        try:
            keys = sorted(self._client.scan_iter(match=escaped(begin) + b"*" + escaped(end), count=_AT_ONCE))
            for key in keys:
                name = key.removeprefix(begin).removesuffix(end).decode(errors="replace")
                is_index = self._client.type(key) == b"hash" and self._client.hexists(key, "settings")
                if NAME.fullmatch(name) and is_index:
                    yield name, self.location(name)
        except self._errors() as error:
            raise StorageError(f"{self._printable} cannot be reached: {error}") from error

    def location(self, name: str) -> str:
        """See `Home`."""
        return urlunsplit(
            self._parts._replace(query=urlencode({**self._options, "prefix": self._before + name}))
        )

    def make(self, name: str, settings: IndexSettings) -> None:
        """See `Home`."""
        from benzer.storage import exists

        if exists(self.location(name)) or not self._clear(name):  # leftovers of an interrupted removal
            raise name_conflict(name)
        Index.open(self.location(name), settings).close()

    def remove(self, name: str) -> None:
        """See `Home`."""
        try:
            self._client.unlink(self._key(name, b"m"))
        except self._errors() as error:
            raise StorageError(f"the index {name!r} cannot be deleted: {error}") from error
        self._clear(name)

    def _clear(self, name: str) -> bool:
        """Delete all keys of a name. Stops and returns False when an index with that name exists."""
        begin, meta = self._key(name, b""), self._key(name, b"m")
        try:
            keys = iter(list(self._client.scan_iter(match=escaped(begin) + b"*", count=_AT_ONCE)))
            while some := [key for key in islice(keys, _AT_ONCE) if key != meta]:
                if not self._client.eval(_CLEAR, 1 + len(some), meta, *some):
                    return False
            return True
        except self._errors() as error:
            raise StorageError(f"the leftovers of index {name!r} cannot be deleted: {error}") from error

    def _key(self, name: str, letter: bytes) -> bytes:
        return f"{{{self._before}{name}}}:".encode() + letter

    def without_places(self, message: str) -> str:
        """See `Home`."""
        return re.sub(re.escape(self._printable) + r"(\?prefix=[^\s,;]*)?", "the home", message)

    def _errors(self) -> type[Exception]:
        import redis

        return redis.RedisError


def escaped(name: bytes) -> bytes:
    """A name escaped for a Redis pattern.

    >>> escaped(b"a*b")
    b'a\\\\*b'
    """
    return re.sub(rb"([\\*?\[\]^-])", rb"\\\1", name)
