"""How does a route come by what it needs? It asks for an argument of the type `Served`, or `Shared`."""

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
    """What the application was made with."""
    return cast(State, request.app.state.shared)


Shared = Annotated[State, Depends(shared_by)]


async def served_by(index: IndexName, request: Request) -> ServedIndex:
    """The index that the path names; 404 where there is none."""
    state: State = (
        request.app.state.shared
    )  # not by `Shared`: a dependency of a dependency costs as much again
    return state.catalog[index]


Served = Annotated[ServedIndex, Depends(served_by)]


@dataclass(frozen=True)
class Asker:
    """Who asks: the id of a key, None without one, and whether that may write."""

    key: str | None = None
    writes: bool = True

    def sees(self, job: Job) -> bool:
        """Whether a job is theirs, or they keep the service: an upload is not everybody's to read."""
        return self.writes or job.owner == self.key


async def asker_of(request: Request) -> Asker:
    """Who the guard of keys found to ask."""
    access = request.scope.get("benzer.access")
    return Asker() if access is None else Asker(access["id"], "write" in access["scopes"])


Asking = Annotated[Asker, Depends(asker_of)]


async def seen_job(
    job: Annotated[str, Path(description="The id of the job.", examples=["5d41402abc4b2a76"])],
    shared: Shared,
    asker: Asking,
) -> str:
    """The id of a job that the asker may see; for one of another key the answer is that there is none."""
    if not asker.sees(shared.jobs[job]):
        raise unknown(job)
    return job


JobId = Annotated[str, Depends(seen_job)]

READS = {"x-benzer-scope": "read"}
"""`openapi_extra` of a route that asks by POST, and changes nothing: a key that may only read may call it."""
