"""How do many requests share one index? All write through one thread, in turn; those that read never wait for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

from benzer.errors import BenzerError, StorageError
from benzer.index import Index, IndexSettings, Match
from benzer.service.errors import Refusal
from benzer.service.indexes.loading import Loader
from benzer.service.indexes.together import Together
from benzer.service.indexes.written import Written
from benzer.service.pictures.thumbnails import thumbnails_beside
from benzer.service.settings import Limits

Result = TypeVar("Result")
READING_THREADS = 8
IDLE_SECONDS = 30.0
"""After the last block of an upload: then the process that wrote it ends."""


class ServedIndex:
    """One index, opened twice: to read, and to write. The event loop never waits for either.

    What is written is committed before `write` returns, or undone. A reader sees committed changes only, and
    each of them as soon as `write` has returned, also those of other processes.

    wrote: called after each write with how it ended, "done", "refused" or "failed"; in the event loop.
    """

    def __init__(
        self, reader: Index, writer: Index, location: str | os.PathLike[str] = "", name: str = "",
        timeout: float = 1.0,
    ) -> None:  # fmt: skip
        self._reader, self._writer, self.location = reader, writer, location
        self.name, self.thumbnails = name, thumbnails_beside(location)
        self._reading = ThreadPoolExecutor(min(READING_THREADS, os.cpu_count() or 1), "benzer-read")
        self._writing = ThreadPoolExecutor(1, "benzer-write")  # one thread: writes take turns
        self._together = Together(reader, self._reading)
        self._loading, self._loader = asyncio.Lock(), Loader(location, timeout)
        self._idle: asyncio.TimerHandle | None = None
        self._loads = 0  # blocks of uploads that wait, or are being written
        self._ending: asyncio.Future[None] | None = None
        self._closed = False
        self.writes = 0
        self.wrote: Callable[[str], object] = str

    @classmethod
    def open(cls, location: str | os.PathLike[str], timeout: float = 1.0, name: str = "") -> ServedIndex:
        """Open an index that is there; `timeout`: seconds that a write waits for another process's.

        name: under which it is served.

        Raises what `Index.open` raises; an index in memory cannot be shared, and is refused.
        """
        reader = Index.open(location, mode="read")
        try:
            writer = Index.open(location, timeout=timeout)
        except BaseException:
            reader.close()
            raise
        return cls(reader, writer, location, name, timeout)

    def again(self) -> Index:
        """The index opened once more, to be read for long: others would wait for a snapshot of the shared one."""
        return Index.open(self.location, mode="read")

    @property
    def settings(self) -> IndexSettings:
        """By which settings its documents are compared."""
        return self._reader.settings

    def watch(self, candidates: Callable[[int], object], wrote: Callable[[str], object]) -> None:
        """Have it told how many candidates each question has, and how each write ended."""
        self._reader.on_candidates, self.wrote = candidates, wrote

    async def read(self, work: Callable[[Index], Result]) -> Result:
        """Run `work` on the index that reads, beside others."""
        return await self._run(self._reading, partial(work, self._reader))

    async def find_similar(
        self, asked: Callable[[Index], Any], limit: int, threshold: float | None
    ) -> list[Match]:
        """Ask for the documents like a small one, which `asked` makes of the index; together with other questions."""
        try:
            return await self._together.find_similar(asked, limit, threshold)
        except (asyncio.CancelledError, RuntimeError):
            self._check_open()
            raise

    async def write(self, work: Callable[[Index], Result]) -> Result:
        """Run `work` on the index that writes, alone, and commit; after an error nothing of it is left."""
        return await self._written(partial(committed(work), self._writer))

    async def load(self, block: bytes, first: int, skip: bool, limits: Limits) -> Written:
        """Write a block of an upload, and commit, in a process of its own; it takes its turn to write, not to read."""
        self._loads += 1
        if self._idle is not None:
            self._idle.cancel()
        try:
            async with self._loading:
                number = await asyncio.to_thread(self._loader.read, block, first, skip, limits)
                return await self._written(partial(self._loader.write, number))
        except BenzerError:
            self._check_open()
            raise
        finally:
            self._loads -= 1
            if not self._loads:  # else another upload goes on
                self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._end_loader)

    def _end_loader(self) -> None:
        self._ending = asyncio.ensure_future(self._loader_ended())

    async def _loader_ended(self) -> None:
        async with self._loading:  # not between the reading and the writing of a block
            await asyncio.to_thread(self._loader.close)

    async def _written(self, work: Callable[[], Result]) -> Result:
        """Do what writes and commits, when it is its turn, and tell how it ended."""
        try:
            result = await self._run(self._writing, work)
        except Exception as error:
            self.wrote("failed" if is_fault(error) else "refused")
            raise
        self.writes += 1
        self.wrote("done")
        return result

    async def _run(self, threads: ThreadPoolExecutor, work: Callable[[], Result]) -> Result:
        try:
            return await asyncio.get_running_loop().run_in_executor(threads, contained, work)
        except (asyncio.CancelledError, RuntimeError):
            self._check_open()
            raise

    def _check_open(self) -> None:
        """Refuse what waited and was dropped, and what comes and is not taken."""
        if self._closed:
            raise Refusal(404, "the index was deleted while the request waited for its turn") from None

    def close(self) -> None:
        """Let the work that has begun come to its end, then close the index."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        for threads in (self._writing, self._reading):
            threads.shutdown(cancel_futures=True)
        self._loader.close()
        self._writer.close()
        self._reader.close()
        self.thumbnails.close()

    def __len__(self) -> int:
        return len(self._reader)

    def __enter__(self) -> ServedIndex:  # noqa: PYI034 (Self needs Python 3.11)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def is_fault(error: Exception) -> bool:
    """Whether a write failed by no fault of the request.

    >>> is_fault(StorageError("the disk is full")), is_fault(Refusal(404, "no document has the id 'a'"))
    (True, False)
    """
    if isinstance(error, Refusal):
        return error.status >= 500
    return isinstance(error, StorageError) or not isinstance(error, BenzerError)


def committed(work: Callable[[Index], Result]) -> Callable[[Index], Result]:
    """The same work, durable when it returns and undone when it fails.

    >>> with Index.open("memory:") as index:
    ...     committed(lambda index: index.add({"a": "one two three"}))(index)
    ...     index.rollback()
    ...     len(index)
    1
    1
    """

    def run(index: Index) -> Result:
        try:
            result = work(index)
            index.commit()
        except BaseException:
            index.rollback()
            raise
        return result

    return run


def contained(work: Callable[[], Result]) -> Result:
    """Run `work`; a panic of the native core, which is no Exception, becomes one that a server can answer."""
    try:
        return work()
    except Exception:
        raise
    except BaseException as panic:
        raise RuntimeError(f"the native core failed: {panic}") from panic
