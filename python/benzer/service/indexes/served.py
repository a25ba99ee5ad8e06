"""An index shared by many requests: one thread writes, and readers never wait for it."""

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
"""Seconds after the last block of an upload until the process that wrote it ends."""


class ServedIndex:
    """One index, opened once for reading and once for writing. The event loop never waits for either.

    A write is committed before `write` returns, or rolled back. Readers see only committed changes, as soon as `write`
    has returned, including those of other processes.

    wrote: called in the event loop after each write with its outcome, "done", "refused" or "failed".
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
        self._loads = 0  # blocks of uploads that are queued or being written
        self._ending: asyncio.Future[None] | None = None
        self._closed = False
        self.writes = 0
        self.wrote: Callable[[str], object] = str

    @classmethod
    def open(cls, location: str | os.PathLike[str], timeout: float = 1.0, name: str = "") -> ServedIndex:
        """Open an existing index.

        timeout: seconds that a write waits for another process. name: the served name.

        Raises the errors of `Index.open`, and rejects an index in memory, which cannot be shared.
        """
        reader = Index.open(location, mode="read")
        try:
            writer = Index.open(location, timeout=timeout)
        except BaseException:
            reader.close()
            raise
        return cls(reader, writer, location, name, timeout)

    def again(self) -> Index:
        """A separate handle for long reads: others would wait for a snapshot of the shared one."""
        return Index.open(self.location, mode="read")

    @property
    def settings(self) -> IndexSettings:
        """The settings of the index."""
        return self._reader.settings

    def watch(self, candidates: Callable[[int], object], wrote: Callable[[str], object]) -> None:
        """Report the number of candidates of each query and the outcome of each write."""
        self._reader.on_candidates, self.wrote = candidates, wrote

    async def read(self, work: Callable[[Index], Result]) -> Result:
        """Run `work` on the reading handle, concurrently with other reads."""
        return await self._run(self._reading, partial(work, self._reader))

    async def find_similar(
        self, query: Callable[[Index], Any], limit: int, threshold: float | None
    ) -> list[Match]:
        """Search for a small document, which `asked` derives from the index, batched with other queries."""
        try:
            return await self._together.find_similar(query, limit, threshold)
        except (asyncio.CancelledError, RuntimeError):
            self._check_open()
            raise

    async def write(self, work: Callable[[Index], Result]) -> Result:
        """Run `work` on the writing handle, exclusively, and commit; after an error it is rolled back."""
        return await self._written(partial(committed(work), self._writer))

    async def load(self, block: bytes, first: int, skip: bool, limits: Limits) -> Written:
        """Write and commit a block of an upload in a separate process; only writing is exclusive, not parsing."""
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
            if not self._loads:  # otherwise another upload is running
                self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._end_loader)

    def _end_loader(self) -> None:
        self._ending = asyncio.ensure_future(self._loader_ended())

    async def _loader_ended(self) -> None:
        async with self._loading:  # not between parsing and writing a block
            await asyncio.to_thread(self._loader.close)

    async def _written(self, work: Callable[[], Result]) -> Result:
        """Run a committing write when it is its turn, and report the outcome."""
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
        """Reject queued and new requests after the index was closed."""
        if self._closed:
            raise Refusal(404, "the index was deleted while the request was queued") from None

    def close(self) -> None:
        """Wait for running work, then close the index."""
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
    """Whether a write failed for a reason other than the request.

    >>> is_fault(StorageError("the disk is full")), is_fault(Refusal(404, "no document has the id 'a'"))
    (True, False)
    """
    if isinstance(error, Refusal):
        return error.status >= 500
    return isinstance(error, StorageError) or not isinstance(error, BenzerError)


def committed(work: Callable[[Index], Result]) -> Callable[[Index], Result]:
    """The same work, committed when it returns and rolled back when it fails.

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
    """Run `work`; a panic of the native core, which is not an Exception, becomes one that the server can handle."""
    try:
        return work()
    except Exception:
        raise
    except BaseException as panic:
        raise RuntimeError(f"the native core failed: {panic}") from panic
