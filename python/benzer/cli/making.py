"""Creates an index atomically."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from benzer.cli.location import index_exists, is_server
from benzer.cli.output import remove_leftovers
from benzer.errors import BenzerError, StorageError

if TYPE_CHECKING:
    from benzer.index import Index, IndexSettings


@contextmanager
def made(location: str, settings: IndexSettings) -> Iterator[Index]:
    """Create an index; an error removes the incomplete index."""
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
    except BaseException:  # otherwise an empty index remains, which rejects other settings
        with suppress(BenzerError):
            discard(location)
        raise


@contextmanager
def named_as(location: str, partial: Path) -> Iterator[None]:
    """Replace the path of the temporary file in errors by the location of the index."""
    try:
        yield
    except StorageError as error:
        raise type(error)(str(error).replace(str(partial), location)) from error


@contextmanager
def made_or_opened(location: str, settings: IndexSettings) -> Iterator[Index]:
    """Open an index to change it in one transaction; create it with `settings` if it does not exist."""
    from benzer.index import Index

    if not index_exists(location):
        with made(location, settings) as index:
            yield index
        return
    with Index.open(location) as index:
        yield index
