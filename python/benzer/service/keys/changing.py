"""Changes of a key file: it is replaced atomically by one process at a time and readable only by its owner."""

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
    """Create a key and add it to a file, which is created if it does not exist.

    Args:
        scope: "read", or "write", which includes "read".
        rate: Requests per minute; None for the rate of the service.

    Returns:
        The entry in the file and the key. The key itself is not stored: a lost key must be replaced.
    """
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise SettingsError(f"a key name must have 1 to {NAME_LENGTH} printable characters, got {name!r}")
    if scope not in SCOPES:
        raise SettingsError(f"the scope of a key must be read or write, got {scope!r}")
    check_rate(rate)
    with changing(Path(path)) as keys:
        if any(key.name == name for key in keys):
            raise SettingsError(f"key {name!r} already exists: choose another name, or remove it first")
        id = secrets.token_hex(4)
        while any(key.id == id for key in keys):
            id = secrets.token_hex(4)
        secret = f"{PREFIX}_{id}_{secrets.token_urlsafe(32)}"
        created = datetime.now(timezone.utc).isoformat(timespec="seconds")
        keys.append(Key(id, name, SCOPES[scope], created, digest(secret), rate))
        return keys[-1], secret


def remove_key(path: str | os.PathLike[str], name: str) -> Key:
    """Remove the key with a name or an id; a running service rejects it at once."""
    os.stat(path)  # a missing file is not created
    with changing(Path(path)) as keys:
        for key in keys:
            if name in (key.name, key.id):
                keys.remove(key)
                return key
        raise SettingsError(f"key {name!r} does not exist: run benzer keys list to see all keys")


@contextmanager
def changing(path: Path) -> Iterator[list[Key]]:
    """The keys of a file for changes; they are written at the end without an error, under an exclusive lock."""
    path = path.resolve()  # keep a link
    path.parent.mkdir(parents=True, exist_ok=True)
    turn = os.open(path.parent, os.O_RDONLY)  # lock the folder, because the file itself is replaced
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        keys = read_keys(path) if path.exists() else []
        yield keys
        replace(path, written(keys))
    finally:
        os.close(turn)


def replace(path: Path, data: bytes) -> None:
    """Write a file that only its owner may read; an existing file keeps its owner and permissions."""
    before = path.stat() if path.exists() else None
    with atomic_write(path, replace=True) as partial:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            if before is not None:
                with suppress(PermissionError):
                    os.fchown(descriptor, before.st_uid, before.st_gid)
                os.fchmod(descriptor, 0o600 | stat.S_IMODE(before.st_mode) & 0o640)
            file.write(data)
