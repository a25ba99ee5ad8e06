"""Where does an index lie? In a file, or on a server that a URL names."""

from __future__ import annotations

import re
from pathlib import Path

import click

from benzer.errors import InputError

SQLITE_HEADER = b"SQLite format 3\x00"


class Location(click.Path):
    """The type of the argument INDEX: shells complete file names."""

    def __init__(self) -> None:
        super().__init__(path_type=str)


def found(location: str) -> bool:
    """Tell whether an index is there."""
    from benzer.storage import exists

    return exists(location)


def existing(location: str) -> str:
    """Return the place of an index; an error where there is none."""
    if not found(location):
        name = shown(location)
        raise InputError(f"{name}: no such index; make it with: benzer index {name} INPUT...")
    return location


def is_server(location: str) -> bool:
    """Tell a URL from a path."""
    from benzer.storage import is_url

    return is_url(location)


def is_index(location: str) -> bool:
    """Tell an index by its URL or first bytes; what is not there is an error here already."""
    if is_server(location):
        return True
    path = Path(location)
    if not path.exists():
        raise InputError(f"{location}: no such file or index")
    if path.is_dir():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE_HEADER)) == SQLITE_HEADER


def shown(location: str) -> str:
    """Write a place without the password that a URL may hold.

    >>> shown("redis://reader:secret@localhost:6379/0?prefix=a"), shown("redis://localhost?password=secret&db=1")
    ('redis://reader:***@localhost:6379/0?prefix=a', 'redis://localhost?password=***&db=1')
    """
    # up to the last @, for a password may have letters that it should not have
    location = re.sub(r"(?<=://)([^/@:]*):.*@", r"\1:***@", location)
    return re.sub(r"(?<=[?&]password=)[^&]*", "***", location)
