"""The served indexes by name: those given at the start and those created since."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from benzer.errors import SettingsError
from benzer.index import IndexSettings
from benzer.service.errors import Refusal
from benzer.service.indexes.homes import ENDING, NAME, Home, home_at, name_conflict
from benzer.service.indexes.served import ServedIndex
from benzer.storage import is_url

if TYPE_CHECKING:
    from benzer.service.telemetry.metrics import Metrics


class Catalog(Mapping[str, ServedIndex]):
    """The served indexes by name. Only indexes in `home` can be created and deleted by request.

    home: a folder, which is created if it does not exist, or a redis:// URL; the indexes in it are served.
    """

    def __init__(self, home: str | os.PathLike[str] | None = None) -> None:
        self._home = None if home is None else home_at(home)
        self._served: dict[str, ServedIndex] = {}
        self._places: list[tuple[re.Pattern[str], str]] = []
        self._changing = asyncio.Lock()
        self._metrics: Metrics | None = None
        if self._home is not None:
            try:
                for name, location in self._home.existing():
                    self.open(location, name)
            except BaseException:
                self.close()
                raise

    def open(self, location: str | os.PathLike[str], name: str | None = None) -> ServedIndex:
        """Serve the index at a path or URL. The default name is that of its file or its Redis prefix.

        An index of the home that is named again is served once.
        """
        name = checked_name(name_of(location) if name is None else name)
        if name in self._served:
            if self._home is not None and same(location, self._home.location(name)):
                return self._served[name]
            raise SettingsError(
                f"two indexes have the name {name!r}: rename one, as in benzer serve other={os.fspath(location)}"
            )
        served = self._served[name] = ServedIndex.open(location, name=name)
        self._places += [(place, f"the index {name!r}") for place in places_of(location)]
        if self._metrics is not None:
            served.watch(*self._metrics.observers(name))
        return served

    def watch(self, metrics: Metrics) -> None:
        """Collect metrics of the indexes, including those that are served later."""
        self._metrics = metrics
        for name, served in self._served.items():
            served.watch(*metrics.observers(name))

    async def create(self, name: str, settings: IndexSettings) -> ServedIndex:
        """Create an index in the home; it is complete and durable when this returns."""
        return await asyncio.shield(
            self._create(name, settings)
        )  # a started operation is completed, even if the request is cancelled

    async def _create(self, name: str, settings: IndexSettings) -> ServedIndex:
        async with self._changing:
            if checked_name(name) in self._served:
                raise name_conflict(name)
            home = self._own_home()
            await asyncio.to_thread(home.make, name, settings)
            return await asyncio.to_thread(self.open, home.location(name), name)

    async def delete(self, name: str) -> None:
        """Delete an index in the home with all its documents."""
        await asyncio.shield(self._delete(name))

    async def _delete(self, name: str) -> None:
        async with self._changing:
            served, home = self[name], self._own_home()
            if not self.deletable(name):
                raise Refusal(
                    403,
                    f"the index {name!r} was named when the service was started: only the operator can delete it",
                )
            del self._served[name]
            await asyncio.to_thread(served.close)
            self._places = [_place for _place in self._places if _place[1] != f"the index {name!r}"]
            if self._metrics is not None:
                self._metrics.forget(name)
            await asyncio.to_thread(home.remove, name)

    @property
    def grows(self) -> bool:
        """Whether indexes can be created by request."""
        return self._home is not None

    def deletable(self, name: str) -> bool:
        """Whether an index can be deleted by request, because it is in the home."""
        return self._home is not None and same(self[name].location, self._home.location(name))

    def _own_home(self) -> Home:
        if self._home is None:
            raise Refusal(403, "this service cannot create or delete indexes: start it with --home FOLDER")
        return self._home

    def without_places(self, message: str) -> str:
        """A message of the library with the name of an index instead of its location."""
        for place, name in self._places:
            message = place.sub(name, message)
        return message if self._home is None else self._home.without_places(message)

    def __getitem__(self, name: str) -> ServedIndex:
        if name not in self._served:
            raise Refusal(404, f"index {name!r} does not exist: see GET /v1/indexes for all names")
        return self._served[name]

    def __contains__(self, name: object) -> bool:
        return name in self._served

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._served))

    def __len__(self) -> int:
        return len(self._served)

    def close(self) -> None:
        """Wait for running work, then close all indexes."""
        for served in self._served.values():
            served.close()
        self._served.clear()

    def __enter__(self) -> Catalog:  # noqa: PYI034 (Self needs Python 3.11)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def given(argument: str) -> tuple[str | None, str]:
    """The name and the location in a command line argument, NAME=LOCATION or LOCATION.

    >>> given("news=data/x.benzer"), given("redis://localhost?prefix=news"), given("./a=b.benzer")
    (('news', 'data/x.benzer'), (None, 'redis://localhost?prefix=news'), (None, './a=b.benzer'))
    """
    name, equals, location = argument.partition("=")
    return (name, location) if equals and location and NAME.fullmatch(name) else (None, argument)


def name_of(location: str | os.PathLike[str]) -> str:
    """The default name of an index.

    >>> name_of("folder/news.benzer"), name_of("redis://localhost/0?prefix=news")
    ('news', 'news')
    """
    text = os.fspath(location)
    if is_url(text):
        from benzer.storage.redis.address import read_address

        return read_address(text).prefix
    return Path(text).name.removesuffix(ENDING)


def checked_name(name: str) -> str:
    """Reject names that cannot be used in a URL or would refer to another file.

    >>> checked_name("../news")
    Traceback (most recent call last):
    benzer.errors.SettingsError: an index's name must be 1 to 64 of A-Z a-z 0-9 . _ -, got '../news'
    """
    if not NAME.fullmatch(name):
        raise SettingsError(f"an index's name must be 1 to 64 of A-Z a-z 0-9 . _ -, got {name!r}")
    return name


def same(item: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two locations are the same.

    >>> same("a/../b.benzer", "b.benzer"), same("redis://h/0?prefix=a", "redis://h/0?prefix=b")
    (True, False)
    """
    if is_url(item) != is_url(other):
        return False
    if is_url(item):
        from benzer.storage.redis.address import read_address

        return repr(read_address(os.fspath(item))) == repr(read_address(os.fspath(other)))
    return Path(item).resolve() == Path(other).resolve()


def places_of(location: str | os.PathLike[str]) -> list[re.Pattern[str]]:
    """The spellings of a location in messages of the library, longest first.

    A relative path is matched only as a whole word, because it may be short.
    """
    text = os.fspath(location)
    if is_url(text):
        from benzer.storage.redis.address import read_address

        return [re.compile(re.escape(item)) for item in (text, repr(read_address(text)))]
    absolute = {str(Path(text).absolute()), str(Path(text).resolve())}
    places = [re.compile(re.escape(item)) for item in sorted(absolute, key=len, reverse=True)]
    return [*places, re.compile(rf"(?<![\w./-]){re.escape(text)}(?![\w/])")]
