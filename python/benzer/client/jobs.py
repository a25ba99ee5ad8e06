"""How is a search for duplicates followed that runs in a service? By a handle: its state, and its result, paged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlsplit

from benzer.client.failures import OF_LIBRARY
from benzer.client.methods import Awaiting, Blocking, call, paged
from benzer.client.steps import Answer, Pages, Request, Steps, ask, given, segment, sleep
from benzer.client.wire import evidence_of
from benzer.errors import BenzerError, ServiceError
from benzer.evidence import Evidence
from benzer.results.rows import Pair, Removal
from benzer.storage import DocumentId

ENDED = ("done", "failed", "cancelled")
FIRST_LOOK, LAST_LOOK = 0.05, 1.0
"""Seconds between two looks at a job, which grow."""
ROWS_A_PAGE = 5000


@dataclass(frozen=True)
class JobStatus:
    """How far a job is. Times are ISO 8601 in UTC.

    source: {"index": name}, or {"upload": documents}. progress: {"stage", "done", "total"} while it runs.
    counts: those of `benzer.Duplicates.counts`, and recall the measured one, when it is done.
    error: {"type", "message"} of a job that failed.
    """

    id: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    created: str
    started: str | None
    ended: str | None
    source: Mapping[str, Any]
    settings: Mapping[str, Any]
    progress: Mapping[str, Any] | None
    counts: Mapping[str, int] | None
    recall: Mapping[str, Any] | None
    seconds: float
    error: Mapping[str, str] | None

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> JobStatus:
        """What a service tells of a job; what a later one tells beyond it is passed over."""
        return cls(**{one.name: told.get(one.name) for one in fields(cls)})  # type: ignore[arg-type]

    @property
    def is_over(self) -> bool:
        """Whether nothing about it will change any more."""
        return self.state in ENDED


class ClusterRow(NamedTuple):
    """One cluster, by its number: who stays, how many there are, how alike the least alike, and all in the mean."""

    cluster: int
    kept_id: DocumentId
    size: int
    distinct: int
    least: float
    mean: float


Item = TypeVar("Item")
Watched = Callable[[JobStatus], object]


class JobCalls:
    """What can be asked of a job. Its result reads as `benzer.Duplicates` does, as iterators over pages."""

    _connection: Any

    def __init__(self, connection: Any, id: str) -> None:
        self._connection, self.id = connection, id
        self._path = f"/v1/duplicates/{segment(id)}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r} at {self._connection.address.url})"

    def _status(self) -> Steps[JobStatus]:
        return JobStatus.of((yield from ask("GET", self._path)).json())

    @call
    def status(self) -> Steps[JobStatus]:
        """The state of the job, and how far it is."""
        return (yield from self._status())

    @call
    def wait(self, progress: Watched | None = None) -> Steps[JobStatus]:
        """Wait until the job is done; `progress` is called with its status at each look.

        Raises:
            ServiceError, or the error of the library that the job ended by, where it failed or was cancelled.
        """
        pause = FIRST_LOOK
        while True:
            status = yield from self._status()
            if progress is not None:
                progress(status)
            if status.is_over:
                return done(status)
            yield from sleep(pause)
            pause = min(LAST_LOOK, 1.5 * pause)

    @call
    def cancel(self) -> Steps[JobStatus]:
        """Ask the job to end; one that is over stays as it is."""
        return JobStatus.of((yield from ask("POST", f"{self._path}/cancel")).json())

    @call
    def delete(self) -> Steps[None]:
        """Cancel the job, and forget it with its result."""
        yield from ask("DELETE", self._path)

    def _rows(self, table: str, read: Callable[[Any], Item], **parameters: Any) -> Pages[Item]:
        page: str | None = f"{self._path}/{table}"
        options: dict[str, Any] = {"limit": ROWS_A_PAGE, **parameters}
        while page is not None:
            told = (yield Request("GET", page, options)).json()
            yield [read(row) for row in told["rows"]]
            where = urlsplit(told["next"] or "")
            page, options = where.path or None, dict(parse_qsl(where.query))

    @paged
    def rows(
        self,
        table: Literal["pairs", "clusters", "removed", "kept", "malformed"],
        *,
        threshold: float | None = None,
    ) -> Pages[dict[str, Any]]:
        """The rows of a table, with all columns; also as they are at a higher `threshold` than that of the job."""
        return self._rows(table, dict, **given({"threshold": threshold}))

    @paged
    def pairs(self) -> Pages[Pair]:
        """The verified pairs; see `benzer.Duplicates.pairs`."""
        return self._rows("pairs", lambda row: Pair(row["left_id"], row["right_id"], row["similarity"]))

    @paged
    def removed(self) -> Pages[tuple[DocumentId, Removal]]:
        """For each document that goes its id, and who stays for it; a `dict` of them is as `Duplicates.removed`."""

        def removal(row: Mapping[str, Any]) -> tuple[DocumentId, Removal]:
            return row["id"], Removal(row["kept_id"], row["similarity"], row.get("kept_in"))

        return self._rows("removed", removal)

    @paged
    def kept(self) -> Pages[DocumentId]:
        """The ids of the documents that stay, in the order of the input."""
        return self._rows("kept", identified)

    @paged
    def clusters(self, order: Literal["largest", "doubtful", "source"] = "largest") -> Pages[ClusterRow]:
        """The clusters, in an order; `cluster` opens one."""

        def of(row: Mapping[str, Any]) -> ClusterRow:
            return ClusterRow(*(row[name] for name in ClusterRow._fields))

        return self._rows("clusters", of, order=order)

    @call
    def cluster(self, number: int, limit: int = 100) -> Steps[dict[str, Any]]:
        """One cluster: its members, who stays first, with their texts and their similarity to it."""
        answer = yield from ask("GET", f"{self._path}/clusters/{segment(number)}", limit=limit)
        told: dict[str, Any] = answer.json()
        return told

    @call
    def evidence(
        self, left_id: DocumentId, right_id: DocumentId, index: str | None = None
    ) -> Steps[dict[str, Evidence | None]]:
        """Where two documents of the job agree, by field; None for images.

        `index`: where the second is kept, of a document that goes for an older one: `kept_in` of its removal.
        """
        answer = yield from ask("GET", f"{self._path}/evidence", left=left_id, right=right_id, index=index)
        return {name: evidence_of(one["evidence"]) for name, one in answer.json()["fields"].items()}

    @call
    def summary(self) -> Steps[dict[str, Any]]:
        """Counts, settings, sources, seconds by stage, and alarms."""
        told: dict[str, Any] = (yield from ask("GET", f"{self._path}/summary")).json()
        return told

    @call
    def report(self) -> Steps[str]:
        """The report of the run: one HTML page that stands alone."""
        answer: Answer = yield from ask("GET", f"{self._path}/report")
        return answer.body.decode()

    @call
    def download(
        self,
        table: Literal["pairs", "clusters", "removed", "kept", "malformed"],
        format: Literal["ndjson", "csv", "parquet"] = "ndjson",
    ) -> Steps[bytes]:
        """A whole table as the content of a file."""
        answer: Answer = yield from ask("GET", f"{self._path}/{table}", format=format)
        return answer.body


def identified(row: Mapping[str, Any]) -> DocumentId:
    """The id of a row."""
    found: DocumentId = row["id"]
    return found


def done(status: JobStatus) -> JobStatus:
    """The status of a job that is done; raises what another one ended by."""
    if status.state == "done":
        return status
    if status.error is None:
        raise ServiceError(409, "CancelledError", f"the job {status.id} was {status.state}: start it again")
    kind, message = status.error["type"], f"the job {status.id} failed: {status.error['message']}"
    error: BenzerError = OF_LIBRARY[kind](message) if kind in OF_LIBRARY else ServiceError(409, kind, message)
    raise error


class DuplicatesJob(Blocking, JobCalls):
    """A search for duplicates that runs in a service; `find_duplicates` of a client or an index starts it."""


class AsyncDuplicatesJob(Awaiting, JobCalls):
    """The same, whose methods are awaited; its tables are asynchronous iterators."""
