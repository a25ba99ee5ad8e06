"""The keys of a file: for each its name, its scopes and a hash from which the key cannot be recovered."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any

from benzer.errors import SettingsError
from benzer.service.settings import check_rate

PREFIX = "bz"
FORMAT = 1
SCOPES = {"read": ("read",), "write": ("read", "write")}
"""The scopes of a key by the scope it was created with: write includes read."""


@dataclass(frozen=True)
class Key:
    """A key as stored in the file.

    created: time of creation, ISO 8601 in UTC. rate: requests per minute, None for the rate of the service.
    sha256: hash of the whole key, in hexadecimal. A fast hash suffices, because a key has 256 random bits; slow hashes
    protect passwords, which can be guessed.
    """

    id: str
    name: str
    scopes: tuple[str, ...]
    created: str
    sha256: str
    rate: float | None = None

    def __post_init__(self) -> None:
        if self.scopes not in SCOPES.values():
            raise SettingsError(
                f"the key {self.name!r} has the scopes {list(self.scopes)}: use read or write"
            )
        check_rate(self.rate)


def digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


NOBODY = digest("")
"""Compared with keys of unknown ids, so that the check takes the same time as for known ids."""


class Keyring:
    """The keys of a file, which is read again when it changes, so that a removed key is rejected at once.

    Raises, on every read: SettingsError if the file has no valid keys or others may write it; OSError if it cannot be
    read. A service then rejects all requests, because the keys that it knew may have been removed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._read: tuple[int, ...] | None = None
        self._keys: Mapping[str, Key] = {}
        self._current()

    def find(self, secret: str) -> Key | None:
        """The entry of a key; None if it is unknown."""
        key = self.get(id_of(secret))
        same = compare_digest(digest(secret), NOBODY if key is None else key.sha256)
        return key if same else None

    def get(self, id: str) -> Key | None:
        """The key with an id; None if the file does not have it."""
        return self._current().get(id)

    def _current(self) -> Mapping[str, Key]:
        stat = os.stat(self._path)
        # A replaced file has another inode number, even if both were written within one clock tick.
        seen = (stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size)
        if seen != self._read:
            self._keys = {key.id: key for key in read_keys(self._path)}
            self._read = seen
        return self._keys


def id_of(secret: str) -> str:
    """The id in a key.

    >>> id_of("bz_4f3a9c1b_theRest"), id_of("anything")
    ('4f3a9c1b', '')
    """
    prefix, _, rest = secret.partition("_")
    return rest.partition("_")[0] if prefix == PREFIX else ""


def read_keys(path: str | os.PathLike[str]) -> list[Key]:
    """The keys of a file in the order of their creation."""
    with open(path, "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise SettingsError(
                f"{path} is writable by others (mode {stat.S_IMODE(mode):04o}): run chmod 600 {path}"
            )
        data = file.read()
    try:
        return keys_of(json.loads(data))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        reason = str(error) if isinstance(error, SettingsError) else "it is not a JSON file of benzer keys"
        raise SettingsError(f"{path} is not a valid key file: {reason}") from error


def keys_of(content: Any) -> list[Key]:
    """Parse the keys of a file."""
    if content["format"] != FORMAT:
        raise SettingsError(f"its format is {content['format']!r}, this version reads {FORMAT}")
    keys = [Key(**{**key, "scopes": tuple(key["scopes"])}) for key in content["keys"]]
    for key in keys:
        texts = (key.id, key.name, key.created, key.sha256)
        if not all(isinstance(text, str) for text in texts) or len(key.sha256) != len(NOBODY):
            raise SettingsError(f"the key {key.name!r} is not in the format of benzer keys")
    if len({key.id for key in keys}) < len(keys):
        raise SettingsError("two keys have the same id")
    return keys


def written(keys: list[Key]) -> bytes:
    """The content of a file with these keys."""
    return (json.dumps({"format": FORMAT, "keys": [asdict(key) for key in keys]}, indent=1) + "\n").encode()
