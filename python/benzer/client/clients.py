"""Clients of a service: its indexes, comparisons and searches for duplicates."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import fields
from types import TracebackType
from typing import Any, Generic, Literal, TypeVar

from benzer.client import wire
from benzer.client.adding import NDJSON, Progress
from benzer.client.connection import AsyncConnection, BlockingConnection, ClientConnection
from benzer.client.given import Rows, new_documents
from benzer.client.index import AsyncRemoteIndex, RemoteIndex
from benzer.client.jobs import AsyncDuplicatesJob, DuplicatesJob
from benzer.client.methods import Awaiting, Blocking, call
from benzer.client.questions import QueryFields
from benzer.client.requests import Request, given, segment
from benzer.client.retrying import Patience
from benzer.comparison import Comparison
from benzer.fields import Schema
from benzer.index import IndexSettings
from benzer.pipeline.options import Options, chosen

KEPT_IN_MEMORY = 8_000_000
SUPPORTED = ("on_error", "on_duplicate_id")
ROWS_AT_ONCE = 500
OneIndex = TypeVar("OneIndex", RemoteIndex, AsyncRemoteIndex)
Job = TypeVar("Job", DuplicatesJob, AsyncDuplicatesJob)


class ServiceCalls(Generic[OneIndex, Job]):
    """The calls of a service other than those of an index."""

    _connection: ClientConnection
    _index: type[OneIndex]
    _job: type[Job]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._connection.address.url!r})"

    def index(self, name: str) -> OneIndex:
        """Return a handle of an index without sending a request; a missing index is reported at first use.

        Args:
            name: The name of the index in the service.
        """
        return self._index(self._connection, name)

    def job(self, id: str) -> Job:
        """Return a handle of the job with this id without sending a request."""
        return self._job(self._connection, id)

    @call
    async def health(self) -> dict[str, Any]:
        """Return the status and the version of the service."""
        health: dict[str, Any] = (await self._connection.ask("GET", "/health")).json()
        return health

    @call
    async def indexes(self) -> list[dict[str, Any]]:
        """Return the size and the settings of each served index, with its name under "name"."""
        listed: list[dict[str, Any]] = (await self._connection.ask("GET", "/v1/indexes")).json()["indexes"]
        return listed

    @call
    async def create_index(self, name: str, settings: IndexSettings | None = None) -> OneIndex:
        """Create an index, which is durable when this returns.

        Args:
            name: 1 to 64 letters, digits and . _ -
            settings: The settings of the index; default: `IndexSettings()`.

        Returns:
            A handle of the index.
        """
        body = {"name": name, **({} if settings is None else settings_as_json(settings))}
        await self._connection.ask("POST", "/v1/indexes", body, again=False)
        return self._index(self._connection, name)

    @call
    async def delete_index(self, name: str) -> None:
        """Delete an index with all its documents."""
        await self._connection.ask("DELETE", f"/v1/indexes/{segment(name)}", again=False)

    @call
    async def compare(
        self, a: Any, b: Any, schema: Schema | None = None, *, evidence: bool = False
    ) -> Comparison:
        """Compare two documents or texts exactly and by signatures; see `benzer.compare`.

        To compare with the settings of an index, use `client.index("news").compare(a, b)`.

        Args:
            a: A document, a mapping of fields, or a text.
            b: Another one.
            schema: The fields; default: one text field.
            evidence: Whether to include the evidence.
        """
        known = schema or Schema()
        sides = {
            side: {"fields": QueryFields.of(item, known).fields} for side, item in {"a": a, "b": b}.items()
        }
        fields = None if schema is None else schema.to_dict()
        answer = await self._connection.ask(
            "POST", "/v1/compare", {**sides, **given({"fields": fields}), "evidence": evidence}
        )
        return wire.comparison_of(answer.json())

    @call
    async def find_duplicates(
        self,
        documents: Any,
        *,
        threshold: float | None = None,
        recall: float | None = None,
        schema: Schema | None = None,
        keep: str = "first",
        method: Literal["lsh", "exact", "auto"] | None = None,
        against: Iterable[str] = (),
        measure: bool = False,
        progress: Progress | None = None,
        options: Options | None = None,
    ) -> Job:
        """Start a job that searches documents for duplicates; see `benzer.find_duplicates`.

        Args:
            documents: Any iterable accepted by `RemoteIndex.add`. It is written to a local temporary file before it
                is sent.
            threshold: Minimum similarity of duplicates.
            recall: Minimum share of pairs at the threshold that is found.
            schema: The fields; default: one text field.
            keep: The document of a cluster to keep.
            method: The method that finds candidates.
            against: Names of indexes; documents that match one of theirs are removed.
            measure: Whether to measure the recall.
            progress: Called with the number of documents written to the temporary file.
            options: Rarely changed settings; a service supports only `on_error` and `on_duplicate_id`.

        Returns:
            A handle of the job.
        """
        rare = chosen(options)
        rare.refuse([field.name for field in fields(rare) if field.name not in SUPPORTED], "for a service")
        names = ",".join(against)
        query = given({
            "threshold": threshold, "recall": recall, "method": method, "keep": str(keep),
            "on_error": rare.on_error, "on_duplicate_id": rare.on_duplicate_id,
            "against": names or None, "measure": "true" if measure else None,
            "fields": None if schema is None else json.dumps(schema.to_dict()),
        })  # fmt: skip
        fields_read = list((schema or Schema()).fields)
        rows = Rows(new_documents(documents, fields_read), schema or Schema())
        with tempfile.SpooledTemporaryFile(KEPT_IN_MEMORY) as body:
            while part := await rows.part(self._connection.draw, ROWS_AT_ONCE):
                body.writelines(row.line for row in part)
                if progress is not None:
                    progress(rows.count)
            request = Request("POST", "/v1/duplicates", query, body, NDJSON, again=False)
            answer = await self._connection.send(request)
        return self._job(self._connection, answer.json()["id"])

    @call
    async def jobs(self) -> list[Job]:
        """Return the jobs of the service, newest first."""
        listed = (await self._connection.ask("GET", "/v1/duplicates")).json()["jobs"]
        return [self._job(self._connection, item["id"]) for item in listed]

    @call
    async def tune(
        self,
        threshold: float = 0.8,
        recall: float = 0.95,
        *,
        num_hashes: int | None = None,
        bands: int | None = None,
        rows: int | None = None,
    ) -> dict[str, Any]:
        """Return the bands for a threshold and a recall, their S-curve and their cost; see `GET /v1/tune`."""
        answer = await self._connection.ask(
            "GET",
            "/v1/tune",
            threshold=threshold,
            recall=recall,
            num_hashes=num_hashes,
            bands=bands,
            rows=rows,
        )
        values: dict[str, Any] = answer.json()
        return values


def settings_as_json(settings: IndexSettings) -> dict[str, Any]:
    """Settings in the format of the service."""
    values: dict[str, Any] = {**settings.to_dict()}
    del values["hashing"]
    return {"fields": values.pop("schema"), **values}


class Client(Blocking, ServiceCalls[RemoteIndex, DuplicatesJob]):
    """A client of a service. Its indexes have the methods of `benzer.Index` with the same results.

    Args:
        url: The address of the service, such as "http://127.0.0.1:8000".
        key: The API key, if the service requires one.
        retries: Number of retries of a request that the service rejected temporarily, or whose response was lost and
            that is safe to repeat. The wait grows with each retry and respects Retry-After.
        timeout: Maximum seconds for one response.
        patience: Maximum seconds for all attempts of a request.
        sleep: Called to wait between attempts.

    >>> with Client("http://127.0.0.1:9", retries=0) as client:  # no service there
    ...     client.index("news").find_similar("the quick brown fox")
    Traceback (most recent call last):
    benzer.errors.UnreachableError: no service responds at http://127.0.0.1:9 (...): start benzer serve ...
    """

    _connection: BlockingConnection
    _index, _job = RemoteIndex, DuplicatesJob

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        retries: int = 5,
        timeout: float = 60.0,
        patience: float = 120.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._connection = BlockingConnection(url, key, Patience(retries, timeout, patience), sleep)

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    def __enter__(self) -> Client:  # noqa: PYI034 (Self needs Python 3.11)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(Awaiting, ServiceCalls[AsyncRemoteIndex, AsyncDuplicatesJob]):
    """The asynchronous `Client`: the same methods as coroutines.

    >>> import asyncio
    >>> async def ask() -> None:
    ...     async with AsyncClient("http://127.0.0.1:9", retries=0) as client:  # no service there
    ...         await client.index("news").find_similar("the quick brown fox")
    >>> asyncio.run(ask())
    Traceback (most recent call last):
    benzer.errors.UnreachableError: no service responds at http://127.0.0.1:9 (...): start benzer serve ...
    """

    _connection: AsyncConnection
    _index, _job = AsyncRemoteIndex, AsyncDuplicatesJob

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        retries: int = 5,
        timeout: float = 60.0,
        patience: float = 120.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._connection = AsyncConnection(url, key, Patience(retries, timeout, patience), sleep)

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def __aenter__(self) -> AsyncClient:  # noqa: PYI034 (Self needs Python 3.11)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
