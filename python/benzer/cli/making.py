"""How does a command make an index? It appears complete, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from benzer.cli.location import found, is_server
from benzer.cli.output import remove_leftovers
from benzer.errors import BenzerError, StorageError

if TYPE_CHECKING:
    from benzer.index import Index, IndexSettings


@contextmanager
def made(location: str, settings: IndexSettings) -> Iterator[Index]:
    """Make an index where there is none; an error removes what was made of it."""
    from benzer.index import Index
    from benzer.tables import atomic_write

    if not is_server(location):
        remove_leftovers(Path(location))
        with (
            atomic_write(Path(location)) as partial,
            named_as(location, partial),
            Index.open(partial, settings) as index,
        ):
            yield index
        return
    from benzer.storage.redis.storage import discard

    index = Index.open(location, settings)
    try:
        with index:
            yield index
    except BaseException:  # else an empty index stays, which refuses other settings
        with suppress(BenzerError):
            discard(location)
        raise


@contextmanager
def named_as(location: str, partial: Path) -> Iterator[None]:
    """Name the index by its place in errors, not by that of its unfinished file."""
    try:
        yield
    except StorageError as error:
        raise type(error)(str(error).replace(str(partial), location)) from error


@contextmanager
def made_or_opened(location: str, settings: IndexSettings) -> Iterator[Index]:
    """Open an index to change it, all or nothing; make it by `settings` where there is none."""
    from benzer.index import Index

    if not found(location):
        with made(location, settings) as index:
            yield index
        return
    with Index.open(location) as index:
        yield index
