"""Which key is this? A file says: for each key its name, what it may do, and a hash from which no key can be had."""

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
"""What a key may do, by the scope it was made with: who may write may also read."""


@dataclass(frozen=True)
class Key:
    """A key as the file holds it.

    created: when it was made, ISO 8601 in UTC. rate: requests a minute, None for the service's own.
    sha256: of the whole key, in hexadecimal. A fast hash suffices: a password could be guessed, and a slow hash is
    there to make each guess dear; a key holds 256 random bits, and nobody can try a part of them worth naming.
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
                f"the key {self.name!r} has scopes {list(self.scopes)}: it takes read or write"
            )
        check_rate(self.rate)


def digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


NOBODY = digest("")
"""What a key of an unknown id is compared to, so that it takes as long as a known one."""


class Keyring:
    """The keys of a file, which is read again as soon as it has changed: a removed key ends at once.

    Raises, then as at the start: SettingsError, the file holds no keys, or others may write it; OSError, it cannot
    be read. A service lets nobody in then; the keys that it knew before may have been removed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._read: tuple[int, ...] | None = None
        self._keys: Mapping[str, Key] = {}
        self._current()

    def find(self, secret: str) -> Key | None:
        """The key that was sent; None where there is no such key."""
        key = self.get(id_of(secret))
        same = compare_digest(digest(secret), NOBODY if key is None else key.sha256)
        return key if same else None

    def get(self, id: str) -> Key | None:
        """The key of an id, as long as the file holds it."""
        return self._current().get(id)

    def _current(self) -> Mapping[str, Key]:
        found = os.stat(self._path)
        # A new file that replaces this one has another number, even when both were written within one tick.
        seen = (found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size)
        if seen != self._read:
            self._keys = {key.id: key for key in read_keys(self._path)}
            self._read = seen
        return self._keys


def id_of(secret: str) -> str:
    """The part of a key that says which it is.

    >>> id_of("bz_4f3a9c1b_theRest"), id_of("anything")
    ('4f3a9c1b', '')
    """
    prefix, _, rest = secret.partition("_")
    return rest.partition("_")[0] if prefix == PREFIX else ""


def read_keys(path: str | os.PathLike[str]) -> list[Key]:
    """The keys of a file, in the order in which they were made."""
    with open(path, "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise SettingsError(
                f"{path} may be written by others (mode {stat.S_IMODE(mode):04o}): chmod 600 {path}"
            )
        data = file.read()
    try:
        return keys_of(json.loads(data))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        reason = str(error) if isinstance(error, SettingsError) else "it is no JSON that benzer keys wrote"
        raise SettingsError(f"{path} holds no keys: {reason}") from error


def keys_of(held: Any) -> list[Key]:
    """What a file says, as keys."""
    if held["format"] != FORMAT:
        raise SettingsError(f"its format is {held['format']!r}, this version reads {FORMAT}")
    keys = [Key(**{**one, "scopes": tuple(one["scopes"])}) for one in held["keys"]]
    for key in keys:
        texts = (key.id, key.name, key.created, key.sha256)
        if not all(isinstance(text, str) for text in texts) or len(key.sha256) != len(NOBODY):
            raise SettingsError(f"the key {key.name!r} is not as benzer keys writes it")
    if len({key.id for key in keys}) < len(keys):
        raise SettingsError("two keys have the same id")
    return keys


def written(keys: list[Key]) -> bytes:
    """What the file says of these keys."""
    return (json.dumps({"format": FORMAT, "keys": [asdict(key) for key in keys]}, indent=1) + "\n").encode()
