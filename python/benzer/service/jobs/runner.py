"""Runs jobs: a bounded queue, a few threads, and the latest finished jobs."""

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
from benzer.service.jobs.job import Cancelled, Job, JobFailure, Report
from benzer.service.jobs.results import Result
from benzer.service.settings import Limits

AT_ONCE = 2
"""Number of jobs that run at the same time; each uses all available cores."""
NICENESS = 10
"""The nice value of job threads relative to requests, on systems with priorities per thread."""
FORGOTTEN = 1000
"""Number of evicted jobs whose ids are remembered for the error message."""
RETRY_SECONDS = 5

logger = logging.getLogger("benzer.service")


class Task(Protocol):
    """The work of a job, run in its own thread."""

    def run(self, report: Report) -> Result:
        """Run the work; calls `report` regularly, which raises if the job was cancelled."""

    def close(self) -> None:
        """Release the input: the job has ended or was never started."""


@dataclass
class KeptJob:
    """A job with its task and result; the task and its upload are released when the job ends."""

    job: Job
    task: Task | None
    stop: threading.Event = field(default_factory=threading.Event)
    future: Future[None] | None = None
    result: Result | None = None


class Jobs:
    """The jobs of a service, in memory only.

    All methods may be called from any thread; only `wait` and `close` wait for a job.
    without_places: removes locations of indexes from messages of the library.
    """

    def __init__(self, limits: Limits, without_places: Callable[[str], str] = str) -> None:
        self._limits, self._without_places = limits, without_places
        self._lock = threading.RLock()
        self._kept: dict[str, KeptJob] = {}
        self._ended: list[str] = []  # in the order in which they ended
        self._forgotten: dict[str, None] = {}
        self._places = 0  # for jobs that are about to be started
        self._closed = False
        self._threads = ThreadPoolExecutor(AT_ONCE, "benzer-job", initializer=stand_back)

    @contextmanager
    def place(self) -> Iterator[Callable[[Task, Job], Job]]:
        """Reserve a place in the queue; the value starts a job in it. The place is released when the block ends.

        Raises a `Refusal` (503) if the queue is full, so that an upload is not read in vain.
        """
        with self._lock:
            busy = self._places + sum(not item.job.is_over for item in self._kept.values())
            if self._closed or busy >= self._limits.max_jobs:
                raise Refusal(
                    503, f"{busy} jobs are queued or running, the limit is {self._limits.max_jobs}: retry later",
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
            kept = self._kept[job.id] = KeptJob(job, task)
            kept.future = self._threads.submit(self._run, kept, task)
        return job

    def __iter__(self) -> Iterator[Job]:
        """All jobs, newest first."""
        with self._lock:
            return iter([kept.job for kept in reversed(self._kept.values())])

    def __getitem__(self, id: str) -> Job:
        return self._known(id).job

    def result(self, id: str) -> Result:
        """The result of a job; a `Refusal` (409) if it has none (yet)."""
        kept = self._known(id)
        if kept.result is None:
            job = kept.job
            why = "its result is available when it is done" if not job.is_over else "it has no result"
            raise Refusal(409, f"the job {id} is {job.state}: {why}")
        return kept.result

    def cancel(self, id: str) -> Job:
        """Cancel a job: a queued one ends at once, a running one within about a second."""
        with self._lock:
            kept = self._known(id)
            kept.stop.set()
            if kept.future is not None and kept.future.cancel():
                self._end(kept, kept.job.over("cancelled", time()))
            return kept.job

    def delete(self, id: str) -> None:
        """Cancel a job and delete it with its result."""
        with self._lock:
            self.cancel(id)
            del self._kept[id]
            with suppress(ValueError):
                self._ended.remove(id)

    def wait(self, id: str, seconds: float) -> Job:
        """The job when it has ended, or after a number of seconds."""
        kept = self._known(id)
        if kept.future is not None and not kept.job.is_over:
            wait_for([kept.future], seconds)
        return kept.job

    def close(self) -> None:
        """Cancel all jobs, wait until none runs, and delete them."""
        with self._lock:
            self._closed = True
            for id in list(self._kept):
                self.cancel(id)
        self._threads.shutdown(cancel_futures=True)
        with self._lock:
            self._kept.clear()
            self._ended.clear()

    def _known(self, id: str) -> KeptJob:
        with self._lock:
            if id in self._kept:
                return self._kept[id]
            if id in self._forgotten:
                raise Refusal(
                    404, f"the job {id} was deleted, because at most {self._limits.max_results} finished jobs are "
                    "kept, as far as memory allows: start it again",
                )  # fmt: skip
            raise unknown(id)

    def _run(self, kept: KeptJob, task: Task) -> None:
        """Run a job; every outcome is stored in its state."""

        def report(stage: str, done: int, total: int | None) -> None:
            if kept.stop.is_set():
                raise Cancelled
            kept.job = kept.job.seen(stage, done, total)

        kept.job = kept.job.begun(time())
        try:
            report("start", 0, None)
            result = task.run(report)
        except Cancelled:
            over = kept.job.over("cancelled", time())
        except BaseException as error:
            over = kept.job.over("failed", time(), error=failure_of(error, self._without_places))
        else:
            kept.result = result
            over = kept.job.over("done", time(), **result.details())
            if "upload" in over.source:
                over = replace(over, source={"upload": result.result.counts["read"]})
        self._end(kept, over)

    def _end(self, kept: KeptJob, over: Job) -> None:
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
        """Whether the oldest finished job must be deleted; the latest is always kept."""
        results = [self._kept[id].result for id in self._ended]
        used_bytes = sum(result.bytes for result in results if result is not None)
        return len(self._ended) > 1 and (
            len(self._ended) > self._limits.max_results or used_bytes > self._limits.max_result_bytes
        )


def stand_back() -> None:
    """Lower the priority of this thread and of the threads that it starts.

    Only Linux has priorities per thread; elsewhere this would affect the whole service.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, NICENESS)


def failure_of(error: BaseException, without_places: Callable[[str], str] = str) -> JobFailure:
    """The failure as reported to clients. Unexpected exceptions are logged and reported without details.

    >>> from benzer.errors import InputError
    >>> failure_of(InputError("the line 7 is no JSON: mend it"))
    JobFailure(type='InputError', message='the line 7 is no JSON: mend it')
    """
    if isinstance(error, BenzerError):
        return JobFailure(type(error).__name__, without_places(str(error)))
    if isinstance(error, Refusal):
        return JobFailure(error.type or "InputError", error.message)
    if isinstance(error, MemoryError):
        return JobFailure(
            "MemoryError", "the job needs more memory than the service has: use fewer documents"
        )
    logger.error("a job failed", exc_info=error)
    return JobFailure(
        "ServerError", "this is a bug in Benzer, not in the job; see the traceback in the server log"
    )


def unknown(id: str) -> Refusal:
    """The error for a job that does not exist or belongs to another key."""
    return Refusal(
        404, f"job {id!r} does not exist: see GET /v1/duplicates for all jobs; a restart deletes them"
    )
