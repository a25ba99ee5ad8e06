"""Dependencies of routes: arguments of the types `Served`, `Shared`, `Asking` and `JobId`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Path
from starlette.requests import Request

from benzer.service.indexes.served import ServedIndex
from benzer.service.jobs import Job, unknown
from benzer.service.state import State

IndexName = Annotated[str, Path(description="The name of the index.", examples=["demo"])]


async def shared_by(request: Request) -> State:
    """The state of the application."""
    return cast(State, request.app.state.shared)


Shared = Annotated[State, Depends(shared_by)]


async def served_by(index: IndexName, request: Request) -> ServedIndex:
    """The index in the path; 404 if it does not exist."""
    state: State = request.app.state.shared  # not by `Shared`: a nested dependency doubles the cost
    return state.catalog[index]


Served = Annotated[ServedIndex, Depends(served_by)]


@dataclass(frozen=True)
class Asker:
    """The client of a request: the id of its key (None without one) and whether it may write."""

    key: str | None = None
    writes: bool = True

    def sees(self, job: Job) -> bool:
        """Whether the client may see a job: its own jobs, or all jobs with write access."""
        return self.writes or job.owner == self.key


async def asker_of(request: Request) -> Asker:
    """The client as identified by the guard `Access`."""
    access = request.scope.get("benzer.access")
    return Asker() if access is None else Asker(access["id"], "write" in access["scopes"])


Asking = Annotated[Asker, Depends(asker_of)]


async def seen_job(
    job: Annotated[str, Path(description="The id of the job.", examples=["5d41402abc4b2a76"])],
    shared: Shared,
    asker: Asking,
) -> str:
    """The id of a job that the client may see; a job of another key is reported as not existing."""
    if not asker.sees(shared.jobs[job]):
        raise unknown(job)
    return job


JobId = Annotated[str, Depends(seen_job)]

READS = {"x-benzer-scope": "read"}
"""`openapi_extra` of a POST route that changes nothing, so that a read-only key may call it."""
