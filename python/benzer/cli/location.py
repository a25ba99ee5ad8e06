"""Location of an index: a file, or a server named by a URL."""

from __future__ import annotations

import re
from pathlib import Path

import click

from benzer.errors import InputError

SQLITE_HEADER = b"SQLite format 3\x00"


class Location(click.Path):
    """The type of the argument INDEX; shells complete file names for it."""

    def __init__(self) -> None:
        super().__init__(path_type=str)


def index_exists(location: str) -> bool:
    """Return whether an index exists."""
    from benzer.storage import exists

    return exists(location)


def existing(location: str) -> str:
    """Return the location of an index; raise an error if it does not exist."""
    if not index_exists(location):
        name = printable_location(location)
        raise InputError(f"{name}: no such index: create it with benzer index {name} INPUT...")
    return location


def is_server(location: str) -> bool:
    """Return whether a location is a URL, not a path."""
    from benzer.storage import is_url

    return is_url(location)


def is_index(location: str) -> bool:
    """Return whether a location is an index, by its URL or first bytes; raise an error if nothing exists there."""
    if is_server(location):
        return True
    path = Path(location)
    if not path.exists():
        raise InputError(f"{location}: no such file or index")
    if path.is_dir():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE_HEADER)) == SQLITE_HEADER


def printable_location(location: str) -> str:
    """Format a location without the password of its URL.

    >>> printable_location("redis://reader:secret@localhost:6379/0?prefix=a"), printable_location("redis://localhost?password=secret&db=1")
    ('redis://reader:***@localhost:6379/0?prefix=a', 'redis://localhost?password=***&db=1')
    """
    # up to the last @, because a password may contain an unescaped @
    location = re.sub(r"(?<=://)([^/@:]*):.*@", r"\1:***@", location)
    return re.sub(r"(?<=[?&]password=)[^&]*", "***", location)
