"""How does a file of keys change? It is replaced as a whole, by one process at a time, and only its owner reads it."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path

from benzer.errors import SettingsError
from benzer.service.keys.keyring import PREFIX, SCOPES, Key, digest, read_keys, written
from benzer.service.settings import check_rate
from benzer.tables import atomic_write

NAME_LENGTH = 64


def add_key(
    path: str | os.PathLike[str], name: str, scope: str = "read", rate: float | None = None
) -> tuple[Key, str]:
    """Make a key, and write it into a file, which is made where there is none: what the file holds, and the key.

    scope: "read", or "write", which includes it. rate: requests a minute; None for that of the service. The key
    itself is nowhere else: who loses it makes another.
    """
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise SettingsError(f"a key's name must be 1 to {NAME_LENGTH} printable characters, got {name!r}")
    if scope not in SCOPES:
        raise SettingsError(f"a key's scope must be read or write, got {scope!r}")
    check_rate(rate)
    with changing(Path(path)) as keys:
        if any(key.name == name for key in keys):
            raise SettingsError(f"there is a key {name!r} already: choose another name, or remove it first")
        id = secrets.token_hex(4)
        while any(key.id == id for key in keys):
            id = secrets.token_hex(4)
        secret = f"{PREFIX}_{id}_{secrets.token_urlsafe(32)}"
        created = datetime.now(timezone.utc).isoformat(timespec="seconds")
        keys.append(Key(id, name, SCOPES[scope], created, digest(secret), rate))
        return keys[-1], secret


def remove_key(path: str | os.PathLike[str], name: str) -> Key:
    """Remove the key of a name or an id; a service that runs lets it in no more."""
    os.stat(path)  # a file that is not there is not made
    with changing(Path(path)) as keys:
        for key in keys:
            if name in (key.name, key.id):
                keys.remove(key)
                return key
        raise SettingsError(f"there is no key {name!r}: benzer keys list shows those there are")


@contextmanager
def changing(path: Path) -> Iterator[list[Key]]:
    """The keys of a file, to change; they are written when this ends well, and no other process changes them."""
    path = path.resolve()  # a link stays one
    path.parent.mkdir(parents=True, exist_ok=True)
    turn = os.open(path.parent, os.O_RDONLY)  # the folder: the file itself is replaced by another
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        keys = read_keys(path) if path.exists() else []
        yield keys
        replace(path, written(keys))
    finally:
        os.close(turn)


def replace(path: Path, data: bytes) -> None:
    """Write a file that its owner alone may read; one that is there keeps its owner, and who else may read it."""
    before = path.stat() if path.exists() else None
    with atomic_write(path, replace=True) as partial:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            if before is not None:
                with suppress(PermissionError):
                    os.fchown(descriptor, before.st_uid, before.st_gid)
                os.fchmod(descriptor, 0o600 | stat.S_IMODE(before.st_mode) & 0o640)
            file.write(data)
