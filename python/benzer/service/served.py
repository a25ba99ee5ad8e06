"""How do many requests share one index? All write through one thread, in turn; those that read never wait for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

from benzer.errors import BenzerError, StorageError
from benzer.index import Index, IndexSettings
from benzer.service.errors import Refusal
from benzer.service.thumbnails import thumbnails_beside

Result = TypeVar("Result")
READING_THREADS = 8


class ServedIndex:
    """One index, opened twice: to read, and to write. The event loop never waits for either.

    What is written is committed before `write` returns, or undone. A reader sees committed changes only, and
    each of them as soon as `write` has returned, also those of other processes.

    wrote: called after each write with how it ended, "done", "refused" or "failed"; in the event loop.
    """

    def __init__(
        self, reader: Index, writer: Index, location: str | os.PathLike[str] = "", name: str = ""
    ) -> None:
        self._reader, self._writer, self._location = reader, writer, location
        self.name, self.thumbnails = name, thumbnails_beside(location)
        self._reading = ThreadPoolExecutor(min(READING_THREADS, os.cpu_count() or 1), "benzer-read")
        self._writing = ThreadPoolExecutor(1, "benzer-write")  # one thread: writes take turns
        self._closed = False
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
        return cls(reader, writer, location, name)

    def again(self) -> Index:
        """The index opened once more, to be read for long: others would wait for a snapshot of the shared one."""
        return Index.open(self._location, mode="read")

    @property
    def settings(self) -> IndexSettings:
        """By which settings its documents are compared."""
        return self._reader.settings

    def watch(self, candidates: Callable[[int], object], wrote: Callable[[str], object]) -> None:
        """Have it told how many candidates each question has, and how each write ended."""
        self._reader.on_candidates, self.wrote = candidates, wrote

    async def read(self, work: Callable[[Index], Result]) -> Result:
        """Run `work` on the index that reads, beside others."""
        return await self._run(self._reading, work, self._reader)

    async def write(self, work: Callable[[Index], Result]) -> Result:
        """Run `work` on the index that writes, alone, and commit; after an error nothing of it is left."""
        try:
            result = await self._run(self._writing, committed(work), self._writer)
        except Exception as error:
            self.wrote("failed" if is_fault(error) else "refused")
            raise
        self.wrote("done")
        return result

    async def _run(
        self, threads: ThreadPoolExecutor, work: Callable[[Index], Result], index: Index
    ) -> Result:
        try:
            return await asyncio.get_running_loop().run_in_executor(threads, contained, work, index)
        except (asyncio.CancelledError, RuntimeError):
            if self._closed:  # what waited was dropped, and what comes is not taken
                raise Refusal(404, "the index was deleted while the request waited for its turn") from None
            raise

    def close(self) -> None:
        """Let the work that has begun come to its end, then close the index."""
        self._closed = True
        for threads in (self._writing, self._reading):
            threads.shutdown(cancel_futures=True)
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


def contained(work: Callable[[Index], Result], index: Index) -> Result:
    """Run `work`; a panic of the native core, which is no Exception, becomes one that a server can answer."""
    try:
        return work(index)
    except Exception:
        raise
    except BaseException as panic:
        raise RuntimeError(f"the native core failed: {panic}") from panic
