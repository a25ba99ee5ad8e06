"""Where do jobs wait, run and end? In a bounded queue before a few threads; the last that ended are kept."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from time import time
from typing import Protocol

from benzer.errors import BenzerError
from benzer.service.errors import Refusal
from benzer.service.jobs.job import Cancelled, Failure, Job, Told
from benzer.service.jobs.results import Result
from benzer.service.settings import Limits

AT_ONCE = 2
"""Jobs that run at the same time; each takes all cores while it may."""
NICENESS = 10
"""How far jobs stand back behind requests, where the system can tell threads apart."""
FORGOTTEN = 1000
"""Jobs that gave way and whose ids are still known, to say so."""
RETRY_SECONDS = 5

logger = logging.getLogger("benzer.service")


class Task(Protocol):
    """What a job does, in a thread of its own."""

    def run(self, told: Told) -> Result:
        """Do it, and tell `told` now and then, which raises where the job is no longer wanted."""

    def close(self) -> None:
        """Let go of what it was given: the job has ended, or never began."""


@dataclass
class Kept:
    """A job with what belongs to it; its task goes when it ends, with all that was uploaded."""

    job: Job
    task: Task | None
    stop: threading.Event = field(default_factory=threading.Event)
    future: Future[None] | None = None
    result: Result | None = None


class Jobs:
    """The jobs of a service, in memory: they are gone when it ends.

    All methods may be called from any thread; only `wait` and `close` wait for a job.
    without_places: takes out of a message of the library where indexes lie.
    """

    def __init__(self, limits: Limits, without_places: Callable[[str], str] = str) -> None:
        self._limits, self._without_places = limits, without_places
        self._lock = threading.RLock()
        self._kept: dict[str, Kept] = {}
        self._ended: list[str] = []  # in the order of their ends
        self._forgotten: dict[str, None] = {}
        self._places = 0  # for jobs that are about to be started
        self._closed = False
        self._threads = ThreadPoolExecutor(AT_ONCE, "benzer-job", initializer=stand_back)

    @contextmanager
    def place(self) -> Iterator[Callable[[Task, Job], Job]]:
        """A place in the queue, as what starts a job in it; it is given back when the block ends.

        Raises a `Refusal` (503) where there is none: so an upload is not even read.
        """
        with self._lock:
            busy = self._places + sum(not one.job.is_over for one in self._kept.values())
            if self._closed or busy >= self._limits.max_jobs:
                raise Refusal(
                    503, f"{busy} jobs wait or run already, of {self._limits.max_jobs} at most: try again later",
                    retry_after=RETRY_SECONDS,
                )  # fmt: skip
            self._places += 1
        try:
            yield self._start
        finally:
            with self._lock:
                self._places -= 1

    def _start(self, task: Task, job: Job) -> Job:
        with self._lock:
            kept = self._kept[job.id] = Kept(job, task)
            kept.future = self._threads.submit(self._run, kept, task)
        return job

    def __iter__(self) -> Iterator[Job]:
        """All jobs, the newest first."""
        with self._lock:
            return iter([kept.job for kept in reversed(self._kept.values())])

    def __getitem__(self, id: str) -> Job:
        return self._known(id).job

    def result(self, id: str) -> Result:
        """What a job has found; a `Refusal` (409) where it has found nothing (yet)."""
        kept = self._known(id)
        if kept.result is None:
            job = kept.job
            why = "its result is there when it is done" if not job.is_over else "it has no result"
            raise Refusal(409, f"the job {id} is {job.state}: {why}")
        return kept.result

    def cancel(self, id: str) -> Job:
        """Ask a job to end: one that waits ends at once, one that runs within about a second."""
        with self._lock:
            kept = self._known(id)
            kept.stop.set()
            if kept.future is not None and kept.future.cancel():
                self._end(kept, kept.job.over("cancelled", time()))
            return kept.job

    def delete(self, id: str) -> None:
        """Cancel a job, and forget it with its result."""
        with self._lock:
            self.cancel(id)
            del self._kept[id]
            with suppress(ValueError):
                self._ended.remove(id)

    def wait(self, id: str, seconds: float) -> Job:
        """The job when it is over, or after so many seconds."""
        kept = self._known(id)
        if kept.future is not None and not kept.job.is_over:
            wait_for([kept.future], seconds)
        return kept.job

    def close(self) -> None:
        """Cancel all jobs, wait until none runs, and forget them."""
        with self._lock:
            self._closed = True
            for id in list(self._kept):
                self.cancel(id)
        self._threads.shutdown(cancel_futures=True)
        with self._lock:
            self._kept.clear()
            self._ended.clear()

    def _known(self, id: str) -> Kept:
        with self._lock:
            if id in self._kept:
                return self._kept[id]
            if id in self._forgotten:
                raise Refusal(
                    404, f"the job {id} gave way to later ones, of which the last {self._limits.max_results} are "
                    "kept, as far as memory allows: start it again",
                )  # fmt: skip
            raise unknown(id)

    def _run(self, kept: Kept, task: Task) -> None:
        """Do what a job does; whatever happens is told by its state."""

        def told(stage: str, done: int, total: int | None) -> None:
            if kept.stop.is_set():
                raise Cancelled
            kept.job = kept.job.seen(stage, done, total)

        kept.job = kept.job.begun(time())
        try:
            told("start", 0, None)
            result = task.run(told)
        except Cancelled:
            over = kept.job.over("cancelled", time())
        except BaseException as error:
            over = kept.job.over("failed", time(), error=failure_of(error, self._without_places))
        else:
            kept.result = result
            over = kept.job.over("done", time(), **result.told())
            if "upload" in over.source:
                over = replace(over, source={"upload": result.found.counts["read"]})
        self._end(kept, over)

    def _end(self, kept: Kept, over: Job) -> None:
        task, kept.task = kept.task, None
        if task is not None:
            task.close()
        with self._lock:
            kept.job = over
            if self._kept.get(over.id) is not kept:  # deleted while it ran
                kept.result = None
                return
            self._ended.append(over.id)
            while self._too_many():
                oldest = self._ended.pop(0)
                del self._kept[oldest]
                self._forgotten[oldest] = None
            while len(self._forgotten) > FORGOTTEN:
                del self._forgotten[next(iter(self._forgotten))]

    def _too_many(self) -> bool:
        """Whether the job that ended first has to give way; the last one stays."""
        results = [self._kept[id].result for id in self._ended]
        held = sum(result.bytes for result in results if result is not None)
        return len(self._ended) > 1 and (
            len(self._ended) > self._limits.max_results or held > self._limits.max_result_bytes
        )


def stand_back() -> None:
    """Let this thread, and those that it starts, run after others that want the processor.

    Only Linux tells threads apart here: elsewhere the whole service would stand back.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, NICENESS)


def failure_of(error: BaseException, without_places: Callable[[str], str] = str) -> Failure:
    """What a client is told; what nobody foresaw is logged with its traceback, and told without details.

    >>> from benzer.errors import InputError
    >>> failure_of(InputError("the line 7 is no JSON: mend it"))
    Failure(type='InputError', message='the line 7 is no JSON: mend it')
    """
    if isinstance(error, BenzerError):
        return Failure(type(error).__name__, without_places(str(error)))
    if isinstance(error, Refusal):
        return Failure(error.type or "InputError", error.message)
    if isinstance(error, MemoryError):
        return Failure(
            "MemoryError", "the job needs more memory than the service has: give it fewer documents"
        )
    logger.error("a job failed", exc_info=error)
    return Failure(
        "ServerError", "this is a bug in Benzer, not in the job; the server's log has the traceback"
    )


def unknown(id: str) -> Refusal:
    """What to raise for a job that is not there, or not for whoever asks."""
    return Refusal(
        404, f"there is no job {id!r}: GET /v1/duplicates lists those there are; a restart forgets them"
    )
