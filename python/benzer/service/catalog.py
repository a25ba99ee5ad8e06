"""Which indexes are served, and under which names? Those given at the start, and those made since."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from benzer.errors import SettingsError
from benzer.index import Index, IndexSettings
from benzer.service.errors import Refusal
from benzer.service.served import ServedIndex
from benzer.storage import is_url

if TYPE_CHECKING:
    from benzer.service.metrics import Metrics

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
ENDING = ".benzer"


class Catalog(Mapping[str, ServedIndex]):
    """The served indexes by name. Only those that lie in `home`, a folder, can be made and deleted by request."""

    def __init__(self, home: str | os.PathLike[str] | None = None) -> None:
        self._home = None if home is None else Path(home)
        self._served: dict[str, ServedIndex] = {}
        self._changing = asyncio.Lock()
        self._metrics: Metrics | None = None
        if self._home is not None:
            self._home.mkdir(parents=True, exist_ok=True)
            for path in sorted(self._home.glob(f"*{ENDING}")):
                self.open(path)

    def open(self, location: str | os.PathLike[str], name: str | None = None) -> ServedIndex:
        """Serve the index at a path or URL under a name, by default that of its file or its prefix in Redis."""
        name = checked_name(name_of(location) if name is None else name)
        if name in self._served:
            raise SettingsError(
                f"two indexes would be served as {name!r}: name one, as in benzer serve other={os.fspath(location)}"
            )
        return self._serve(name, ServedIndex.open(location, name=name))

    def _serve(self, name: str, served: ServedIndex) -> ServedIndex:
        self._served[name] = served
        if self._metrics is not None:
            self._metrics.watch(name, served)
        return served

    def watch(self, metrics: Metrics) -> None:
        """Have the indexes counted in, those that are served and those that will be."""
        self._metrics = metrics
        for name, served in self._served.items():
            metrics.watch(name, served)

    async def create(self, name: str, settings: IndexSettings) -> ServedIndex:
        """Make an index in the home; it is complete, and durable, when this returns."""
        async with self._changing:
            if checked_name(name) in self._served:
                raise Refusal(
                    409, f"there is an index {name!r} already: choose another name, or delete it first"
                )
            path = self._path(name)
            await asyncio.to_thread(lambda: Index.open(path, settings).close())
            return self._serve(name, await asyncio.to_thread(ServedIndex.open, path, name=name))

    async def delete(self, name: str) -> None:
        """Delete an index that lies in the home, with all its documents."""
        async with self._changing:
            served, path = self[name], self._path(name)
            if not path.exists():
                raise Refusal(
                    403,
                    f"the index {name!r} was named when the service was started: only its keeper can delete it",
                )
            del self._served[name]
            await asyncio.to_thread(served.close)
            for one in path.parent.glob(path.name + "*"):
                one.unlink()

    @property
    def grows(self) -> bool:
        """Whether indexes can be made by request."""
        return self._home is not None

    def _path(self, name: str) -> Path:
        if self._home is None:
            raise Refusal(403, "this service makes and deletes no indexes: start it with --home FOLDER")
        return self._home / f"{name}{ENDING}"

    def __getitem__(self, name: str) -> ServedIndex:
        if name not in self._served:
            raise Refusal(404, f"there is no index {name!r}: GET /v1/indexes lists those there are")
        return self._served[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._served))

    def __len__(self) -> int:
        return len(self._served)

    def without_places(self, message: str) -> str:
        """A message of the library as a client may read it: an index goes by its name, not by where it lies."""
        return message

    def close(self) -> None:
        """Let the work that has begun come to its end, then close all indexes."""
        for served in self._served.values():
            served.close()
        self._served.clear()

    def __enter__(self) -> Catalog:  # noqa: PYI034 (Self needs Python 3.11)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def name_of(location: str | os.PathLike[str]) -> str:
    """Under which name an index is served unless another is given.

    >>> name_of("folder/news.benzer"), name_of("redis://localhost/0?prefix=news")
    ('news', 'news')
    """
    text = os.fspath(location)
    if is_url(text):
        from benzer.storage.redis.address import read_address

        return read_address(text).prefix
    return Path(text).name.removesuffix(ENDING)


def checked_name(name: str) -> str:
    """Refuse what cannot stand in a URL, or would be another file.

    >>> checked_name("../news")
    Traceback (most recent call last):
    benzer.errors.SettingsError: an index's name must be 1 to 64 of A-Z a-z 0-9 . _ -, got '../news'
    """
    if not NAME.fullmatch(name):
        raise SettingsError(f"an index's name must be 1 to 64 of A-Z a-z 0-9 . _ -, got {name!r}")
    return name
