"""Which indexes are there? `/v1/indexes`: made, listed, described, deleted."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from benzer.service.access import IndexName, Served, Shared
from benzer.service.errors import Answer, Refusal
from benzer.service.indexes.buckets import Buckets, buckets_of
from benzer.service.indexes.making import NewIndex, settings_of
from benzer.service.state import State

router = APIRouter(prefix="/v1/indexes", tags=["indexes"])
FROM_STORAGE = ("home", "documents", "removed", "bytes", "settings", "fingerprint")


class Information(BaseModel):
    """Facts and figures of an index; where it lies is the server's own business."""

    name: str = Field(examples=["news"])
    home: str = Field(description="The kind of its home.", examples=["file"])
    documents: int = Field(examples=[1764])
    removed: int = Field(description="Removed documents that still take room.", examples=[0])
    bytes: int = Field(
        description="Room that it takes, on the disk or in the server's memory.", examples=[3_120_000]
    )
    settings: dict[str, Any] = Field(
        description="By which its documents are compared.", examples=[{"threshold": 0.8, "recall": 0.95}]
    )
    fingerprint: str = Field(
        description="64 hexadecimal digits, equal for equal settings only.", examples=["9f86d081884c7d65…"]
    )
    deletable: bool = Field(
        description="Whether it can be deleted by request: it lies in the home of the service."
    )
    buckets: Buckets | None = Field(None, description="With `?buckets=true` only.")


class Indexes(BaseModel):
    """All indexes, by name."""

    indexes: list[Information]


async def described(name: str, shared: State, buckets: bool = False) -> dict[str, Any]:
    """What is told of an index."""
    served = shared.catalog[name]
    known = await served.read(lambda index: index.info())
    return {
        "name": name,
        **{key: known[key] for key in FROM_STORAGE},
        "deletable": shared.catalog.deletable(name),
        "buckets": await buckets_of(served) if buckets else None,
    }


@router.get("", response_model=Indexes)
async def show_all(shared: Shared) -> Answer:
    """List the indexes that are served."""
    told = []
    for name in list(shared.catalog):
        with suppress(Refusal):  # it was deleted meanwhile
            told.append(await described(name, shared))
    return Answer({"indexes": told})


@router.post("", response_model=Information, status_code=201)
async def create(asked: NewIndex, shared: Shared) -> Answer:
    """Make an index in the home of the service; it is complete, and durable, when this is answered."""
    settings = await asyncio.to_thread(settings_of, asked)
    await shared.catalog.create(asked.name, settings)
    return Answer(await described(asked.name, shared), 201, {"Location": f"/v1/indexes/{asked.name}"})


@router.get("/{index}", response_model=Information)
async def show(
    index: IndexName,
    served: Served,
    shared: Shared,
    buckets: Annotated[
        bool, Query(description="Count the buckets by size, too: reads all postings.")
    ] = False,
) -> Answer:
    """Describe an index: how many documents it holds, and by which settings they are compared."""
    return Answer(await described(index, shared, buckets))


@router.delete("/{index}", status_code=204)
async def delete(index: IndexName, shared: Shared) -> Response:
    """Delete an index with all its documents, when the work on it that has begun is done."""
    await shared.catalog.delete(index)
    return Response(status_code=204)
