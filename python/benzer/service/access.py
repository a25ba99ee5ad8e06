"""How does a route come by what it needs? It asks for an argument of the type `Served`, or `Shared`."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Path
from starlette.requests import Request

from benzer.service.served import ServedIndex
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

READS = {"x-benzer-scope": "read"}
"""`openapi_extra` of a route that asks by POST, and changes nothing: a key that may only read may call it."""
