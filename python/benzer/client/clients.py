"""How does a program reach a service? By a client: its indexes, comparisons, searches for duplicates."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from types import TracebackType
from typing import Any, Generic, Literal, TypeVar

from benzer.client import wire
from benzer.client.adding import NDJSON, Progress
from benzer.client.connection import AsyncConnection, Connection
from benzer.client.given import Rows, source_of
from benzer.client.index import AsyncRemoteIndex, RemoteIndex
from benzer.client.jobs import AsyncDuplicatesJob, DuplicatesJob
from benzer.client.methods import Awaiting, Blocking, call
from benzer.client.questions import Asked
from benzer.client.retrying import Patience
from benzer.client.steps import Request, Steps, ask, given, segment
from benzer.comparison import Comparison
from benzer.fields import Schema
from benzer.index import IndexSettings

KEPT_IN_MEMORY = 8_000_000
ROWS_AT_ONCE = 500
OneIndex = TypeVar("OneIndex", RemoteIndex, AsyncRemoteIndex)
Job = TypeVar("Job", DuplicatesJob, AsyncDuplicatesJob)


class ServiceCalls(Generic[OneIndex, Job]):
    """What a service can be asked beside its indexes."""

    _connection: Any
    _index: type[OneIndex]
    _job: type[Job]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._connection.address.url!r})"

    def index(self, name: str) -> OneIndex:
        """The index of this name; nothing is asked yet, so one that is not there is told of at its first use."""
        return self._index(self._connection, name)

    def job(self, id: str) -> Job:
        """The search for duplicates of this id."""
        return self._job(self._connection, id)

    @call
    def health(self) -> Steps[dict[str, Any]]:
        """Whether the service is well, and its version."""
        told: dict[str, Any] = (yield from ask("GET", "/health")).json()
        return told

    @call
    def indexes(self) -> Steps[list[dict[str, Any]]]:
        """Facts and figures of each index that is served; `name` is what `index` takes."""
        told: list[dict[str, Any]] = (yield from ask("GET", "/v1/indexes")).json()["indexes"]
        return told

    @call
    def create_index(self, name: str, settings: IndexSettings | None = None) -> Steps[OneIndex]:
        """Make an index, which is durable when this returns."""
        body = {"name": name, **({} if settings is None else settings_as_json(settings))}
        yield from ask("POST", "/v1/indexes", body, again=False)
        return self._index(self._connection, name)

    @call
    def delete_index(self, name: str) -> Steps[None]:
        """Delete an index with all its documents."""
        yield from ask("DELETE", f"/v1/indexes/{segment(name)}", again=False)

    @call
    def compare(
        self, a: Any, b: Any, schema: Schema | None = None, *, evidence: bool = False
    ) -> Steps[Comparison]:
        """Compare two documents, or texts, exactly and by signatures; see `benzer.compare`.

        By the settings of an index: `client.index("news").compare(a, b)`.
        """
        known = schema or Schema()
        sides = {side: {"fields": Asked.of(one, known).fields} for side, one in {"a": a, "b": b}.items()}
        fields = None if schema is None else schema.to_dict()
        answer = yield from ask(
            "POST", "/v1/compare", {**sides, **given({"fields": fields}), "evidence": evidence}
        )
        return wire.comparison_of(answer.json())

    @call
    def find_duplicates(
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
        on_error: Literal["stop", "skip"] = "stop",
        progress: Progress | None = None,
    ) -> Steps[Job]:
        """Start a search for duplicates among documents, and in older ones: a job; see `benzer.find_duplicates`.

        `documents`: what `RemoteIndex.add` takes, of any number; they are written to a temporary file here before
        they are sent, which `progress` follows. `against`: names of indexes; documents like one of theirs go.
        """
        names = ",".join(against)
        options = given({
            "threshold": threshold, "recall": recall, "method": method, "keep": str(keep), "on_error": on_error,
            "against": names or None, "measure": "true" if measure else None,
            "fields": None if schema is None else json.dumps(schema.to_dict()),
        })  # fmt: skip
        rows = Rows(source_of(documents), schema or Schema())
        with tempfile.SpooledTemporaryFile(KEPT_IN_MEMORY) as body:
            while part := (yield from rows.part(ROWS_AT_ONCE)):
                body.writelines(row.line for row in part)
                if progress is not None:
                    progress(rows.taken)
            answer = yield Request("POST", "/v1/duplicates", options, body, NDJSON, again=False)
        return self._job(self._connection, answer.json()["id"])

    @call
    def jobs(self) -> Steps[list[Job]]:
        """The searches for duplicates that the service knows, the newest first."""
        told = (yield from ask("GET", "/v1/duplicates")).json()["jobs"]
        return [self._job(self._connection, one["id"]) for one in told]

    @call
    def tune(
        self,
        threshold: float = 0.8,
        recall: float = 0.95,
        *,
        num_hashes: int | None = None,
        bands: int | None = None,
        rows: int | None = None,
    ) -> Steps[dict[str, Any]]:
        """The bands for a threshold and a recall, their S-curve, and what they cost."""
        answer = yield from ask(
            "GET",
            "/v1/tune",
            threshold=threshold,
            recall=recall,
            num_hashes=num_hashes,
            bands=bands,
            rows=rows,
        )
        told: dict[str, Any] = answer.json()
        return told


def settings_as_json(settings: IndexSettings) -> dict[str, Any]:
    """Settings as a service takes them."""
    told: dict[str, Any] = {**settings.to_dict()}
    del told["hashing"]
    return {"fields": told.pop("schema"), **told}


class Client(Blocking, ServiceCalls[RemoteIndex, DuplicatesJob]):
    """A service, to be asked: its indexes have the methods of `benzer.Index`, and give the same answers.

    Args:
        key: the API key, where the service asks for one.
        retries: how often a request is sent again that the service could not take for now, or whose answer was
            lost and that may be repeated; after waits that grow, and as long as the service asks for.
        timeout: seconds that one answer may take. patience: seconds for all attempts of a request.

    >>> with Client("http://127.0.0.1:9", retries=0) as client:  # where nobody is
    ...     client.index("news").find_similar("the quick brown fox")
    Traceback (most recent call last):
    benzer.errors.UnreachableError: nobody answers at http://127.0.0.1:9 (...): start benzer serve ...
    """

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
        self._connection = Connection(url, key, Patience(retries, timeout, patience), sleep)

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
    """`Client` for programs that await: the same methods, each to be awaited.

    >>> import asyncio
    >>> async def ask() -> None:
    ...     async with AsyncClient("http://127.0.0.1:9", retries=0) as client:  # where nobody is
    ...         await client.index("news").find_similar("the quick brown fox")
    >>> asyncio.run(ask())
    Traceback (most recent call last):
    benzer.errors.UnreachableError: nobody answers at http://127.0.0.1:9 (...): start benzer serve ...
    """

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
