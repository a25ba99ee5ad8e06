"""What is a job? A search for duplicates with a state: waiting, running, and then done, failed or cancelled."""

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
    """Raised within a job that is no longer wanted; as no `Exception`, so that nobody on its way takes it for one."""


Told = Callable[[str, int, "int | None"], None]
"""What a job calls with (stage, done, total); it raises `Cancelled` where the job is no longer wanted."""


@dataclass(frozen=True)
class Progress:
    """How far a stage is; `total` is None where that is not known."""

    stage: str
    done: int
    total: int | None


@dataclass(frozen=True)
class Failure:
    """Why a job failed: as errors are told everywhere, by type and message."""

    type: str
    message: str


@dataclass(frozen=True)
class Job:
    """One state of a job; each change makes another one. Times are seconds since 1970.

    owner: the id of the key that started it; None where the service asks for no keys.

    >>> job = Job({"index": "news"}, {"threshold": 0.8}, id="a1", created=0.0)
    >>> running = job.begun(at=1.0).seen("read", 10, 20)
    >>> done = running.over("done", at=3.0)
    >>> (job.state, running.state, done.state, done.progress, done.seconds(at=9.0))
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
    error: Failure | None = None
    owner: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing about it will change any more."""
        return self.state in ENDED

    def begun(self, at: float) -> Job:
        """The same job, which runs now."""
        return replace(self, state="running", started=at)

    def seen(self, stage: str, done: int, total: int | None) -> Job:
        """The same job, so far."""
        return replace(self, progress=Progress(stage, done, total))

    def over(self, state: JobState, at: float, **known: Any) -> Job:
        """The same job at its end; `known` are fields of which more is known now."""
        return replace(self, state=state, ended=at, progress=None, **known)

    def seconds(self, at: float) -> float:
        """How long it ran, or has run until `at`; 0 before it begins."""
        return 0.0 if self.started is None else (at if self.ended is None else self.ended) - self.started

    def to_dict(self) -> dict[str, Any]:
        """The job as it is answered."""
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
