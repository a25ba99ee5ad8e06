"""Handles of jobs in a service: their state and their paged results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlsplit

from benzer.client.connection import ClientConnection
from benzer.client.failures import OF_LIBRARY
from benzer.client.methods import Awaiting, Blocking, call, paged
from benzer.client.requests import Request, given, segment
from benzer.client.wire import evidence_of
from benzer.errors import BenzerError, ServiceError
from benzer.evidence import Evidence
from benzer.results.rows import Pair, Removal
from benzer.storage import DocumentId

ENDED = ("done", "failed", "cancelled")
FIRST_LOOK, LAST_LOOK = 0.05, 1.0
"""Minimum and maximum seconds between two status requests; the interval grows."""
ROWS_A_PAGE = 5000


@dataclass(frozen=True)
class JobStatus:
    """The state of a job. Times are ISO 8601 in UTC.

    Attributes:
        source: {"index": name} or {"upload": documents}.
        progress: {"stage", "done", "total"} while the job runs.
        counts: The counts of `benzer.Duplicates.counts` when the job is done.
        recall: The measured recall when the job is done.
        error: {"type", "message"} of a failed job.
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
    def of(cls, values: Mapping[str, Any]) -> JobStatus:
        """Create the status from a response; unknown keys of later versions are ignored."""
        return cls(**{item.name: values.get(item.name) for item in fields(cls)})  # type: ignore[arg-type]

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state in ENDED


class ClusterRow(NamedTuple):
    """A cluster: its number, the kept document, its size, and the lowest and the mean similarity."""

    cluster: int
    kept_id: DocumentId
    size: int
    distinct: int
    least: float
    mean: float


Item = TypeVar("Item")
Watched = Callable[[JobStatus], object]


class JobCalls:
    """The methods of a job. Results are those of `benzer.Duplicates`, as iterators over pages."""

    def __init__(self, connection: ClientConnection, id: str) -> None:
        self._connection, self.id = connection, id
        self._path = f"/v1/duplicates/{segment(id)}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r} at {self._connection.address.url})"

    async def _status(self) -> JobStatus:
        return JobStatus.of((await self._connection.ask("GET", self._path)).json())

    @call
    async def status(self) -> JobStatus:
        """Return the state and the progress of the job."""
        return await self._status()

    @call
    async def wait(self, progress: Watched | None = None) -> JobStatus:
        """Wait until the job is done.

        Args:
            progress: Called with each status.

        Returns:
            The final status.

        Raises:
            BenzerError: The job failed, with the error of the library if it was one.
            ServiceError: The job was cancelled or failed with another error.
        """
        pause = FIRST_LOOK
        while True:
            status = await self._status()
            if progress is not None:
                progress(status)
            if status.is_over:
                return done(status)
            await self._connection.sleep(pause)
            pause = min(LAST_LOOK, 1.5 * pause)

    @call
    async def cancel(self) -> JobStatus:
        """Cancel the job and return its status; a finished job is not changed."""
        return JobStatus.of((await self._connection.ask("POST", f"{self._path}/cancel")).json())

    @call
    async def delete(self) -> None:
        """Cancel the job and delete it with its result."""
        await self._connection.ask("DELETE", self._path)

    async def _rows(self, table: str, read: Callable[[Any], Item], **parameters: Any) -> AsyncIterator[Item]:
        page: str | None = f"{self._path}/{table}"
        options: dict[str, Any] = {"limit": ROWS_A_PAGE, **parameters}
        while page is not None:
            values = (await self._connection.send(Request("GET", page, options))).json()
            for row in values["rows"]:
                yield read(row)
            where = urlsplit(values["next"] or "")
            page, options = where.path or None, dict(parse_qsl(where.query))

    @paged
    def rows(
        self,
        table: Literal["pairs", "clusters", "removed", "kept", "malformed"],
        *,
        threshold: float | None = None,
    ) -> AsyncIterator[dict[str, Any]]:
        """Iterate over the rows of a table with all columns.

        Args:
            table: The name of the table.
            threshold: A threshold above that of the job, for the rows at this threshold.
        """
        return self._rows(table, dict, **given({"threshold": threshold}))

    @paged
    def pairs(self) -> AsyncIterator[Pair]:
        """Iterate over the verified pairs; see `benzer.Duplicates.pairs`."""
        return self._rows("pairs", lambda row: Pair(row["left_id"], row["right_id"], row["similarity"]))

    @paged
    def removed(self) -> AsyncIterator[tuple[DocumentId, Removal]]:
        """Iterate over the removed documents: id and `Removal`; `dict(job.removed())` equals `Duplicates.removed`."""

        def removal(row: Mapping[str, Any]) -> tuple[DocumentId, Removal]:
            return row["id"], Removal(row["kept_id"], row["similarity"], row.get("kept_in"))

        return self._rows("removed", removal)

    @paged
    def kept(self) -> AsyncIterator[DocumentId]:
        """Iterate over the ids of the kept documents in input order."""
        return self._rows("kept", identified)

    @paged
    def clusters(
        self, order: Literal["largest", "doubtful", "source"] = "largest"
    ) -> AsyncIterator[ClusterRow]:
        """Iterate over the clusters in the given order; `cluster` returns the members of one."""

        def of(row: Mapping[str, Any]) -> ClusterRow:
            return ClusterRow(*(row[name] for name in ClusterRow._fields))

        return self._rows("clusters", of, order=order)

    @call
    async def cluster(self, number: int, limit: int = 100) -> dict[str, Any]:
        """Return a cluster: its members, the kept one first, with their texts and their similarity to it."""
        answer = await self._connection.ask("GET", f"{self._path}/clusters/{segment(number)}", limit=limit)
        values: dict[str, Any] = answer.json()
        return values

    @call
    async def evidence(
        self, left_id: DocumentId, right_id: DocumentId, index: str | None = None
    ) -> dict[str, Evidence | None]:
        """Return the evidence of two documents of the job by field; None for images.

        Args:
            left_id: The id of a document of the job.
            right_id: The id of another document.
            index: The index of the other document, if it is in an older index: `kept_in` of the removal.
        """
        answer = await self._connection.ask(
            "GET", f"{self._path}/evidence", left=left_id, right=right_id, index=index
        )
        return {name: evidence_of(item["evidence"]) for name, item in answer.json()["fields"].items()}

    @call
    async def summary(self) -> dict[str, Any]:
        """Return counts, settings, sources, seconds by stage, and alarms."""
        values: dict[str, Any] = (await self._connection.ask("GET", f"{self._path}/summary")).json()
        return values

    @call
    async def report(self) -> str:
        """Return the report of the run as one self-contained HTML page."""
        answer = await self._connection.ask("GET", f"{self._path}/report")
        return answer.body.decode()

    @call
    async def download(
        self,
        table: Literal["pairs", "clusters", "removed", "kept", "malformed"],
        format: Literal["ndjson", "csv", "parquet"] = "ndjson",
    ) -> bytes:
        """Return a complete table as the content of a file.

        Args:
            table: The name of the table.
            format: The format of the file.
        """
        answer = await self._connection.ask("GET", f"{self._path}/{table}", format=format)
        return answer.body


def identified(row: Mapping[str, Any]) -> DocumentId:
    """The id of a row."""
    document_id: DocumentId = row["id"]
    return document_id


def done(status: JobStatus) -> JobStatus:
    """Return the status of a finished job, or raise the error that it ended with."""
    if status.state == "done":
        return status
    if status.error is None:
        raise ServiceError(409, "CancelledError", f"the job {status.id} was {status.state}: start it again")
    kind, message = status.error["type"], f"the job {status.id} failed: {status.error['message']}"
    error: BenzerError = OF_LIBRARY[kind](message) if kind in OF_LIBRARY else ServiceError(409, kind, message)
    raise error


class DuplicatesJob(Blocking, JobCalls):
    """A search for duplicates in a service, started by `find_duplicates` of a client or an index."""


class AsyncDuplicatesJob(Awaiting, JobCalls):
    """The asynchronous `DuplicatesJob`: its methods are coroutines and its tables asynchronous iterators."""
