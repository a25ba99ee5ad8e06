"""A job: a search for duplicates in one of the states waiting, running, done, failed or cancelled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from secrets import token_hex
from time import time
from typing import Any, Literal

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
ENDED = ("done", "failed", "cancelled")


class Cancelled(BaseException):
    """Raised in a cancelled job; not an `Exception`, so that no handler catches it by mistake."""


Report = Callable[[str, int, "int | None"], None]
"""Called by a job with (stage, done, total); raises `Cancelled` if the job was cancelled."""


@dataclass(frozen=True)
class Progress:
    """The progress of a stage; `total` is None if it is not known."""

    stage: str
    done: int
    total: int | None


@dataclass(frozen=True)
class JobFailure:
    """The reason of a failed job: the type and message of the error."""

    type: str
    message: str


@dataclass(frozen=True)
class Job:
    """An immutable state of a job. Times are seconds since 1970.

    owner: the id of the key that started it; None if the service requires no keys.

    >>> job = Job({"index": "news"}, {"threshold": 0.8}, id="a1", created=0.0)
    >>> running = job.begun(moment=1.0).seen("read", 10, 20)
    >>> done = running.over("done", moment=3.0)
    >>> (job.state, running.state, done.state, done.progress, done.seconds(moment=9.0))
    ('waiting', 'running', 'done', None, 2.0)
    """

    source: Mapping[str, Any]
    settings: Mapping[str, Any]
    id: str = field(default_factory=lambda: token_hex(8))
    created: float = field(default_factory=time)
    state: JobState = "waiting"
    started: float | None = None
    ended: float | None = None
    progress: Progress | None = None
    counts: Mapping[str, int] | None = None
    recall: Mapping[str, Any] | None = None
    error: JobFailure | None = None
    owner: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state in ENDED

    def begun(self, moment: float) -> Job:
        """The same job, now running."""
        return replace(self, state="running", started=moment)

    def seen(self, stage: str, done: int, total: int | None) -> Job:
        """The same job with new progress."""
        return replace(self, progress=Progress(stage, done, total))

    def over(self, state: JobState, moment: float, **known: Any) -> Job:
        """The same job at its end; `known` are updated fields."""
        return replace(self, state=state, ended=moment, progress=None, **known)

    def seconds(self, moment: float) -> float:
        """The run time, until `moment` if it has not ended; 0 before the start."""
        return 0.0 if self.started is None else (moment if self.ended is None else self.ended) - self.started

    def to_dict(self) -> dict[str, Any]:
        """The job as part of a response."""
        return {
            "id": self.id,
            "state": self.state,
            "created": iso(self.created),
            "started": iso(self.started),
            "ended": iso(self.ended),
            "source": dict(self.source),
            "settings": dict(self.settings),
            "progress": None if self.progress is None else asdict(self.progress),
            "counts": None if self.counts is None else dict(self.counts),
            "recall": None if self.recall is None else dict(self.recall),
            "seconds": round(max(0.0, self.seconds(time())), 3),
            "error": None if self.error is None else asdict(self.error),
        }


def iso(seconds: float | None) -> str | None:
    """A time as ISO 8601, in UTC.

    >>> iso(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    if seconds is None:
        return None
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
