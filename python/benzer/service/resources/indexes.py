"""Creating, listing, describing and deleting indexes: `/v1/indexes`."""

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
    """An index: its size and settings. The storage location is not disclosed."""

    name: str = Field(examples=["news"])
    home: str = Field(description="The kind of storage.", examples=["file"])
    documents: int = Field(examples=[1764])
    removed: int = Field(description="Removed documents that still use space.", examples=[0])
    bytes: int = Field(description="Bytes used on disk or in the memory of the server.", examples=[3_120_000])
    settings: dict[str, Any] = Field(
        description="The settings of comparisons.", examples=[{"threshold": 0.8, "recall": 0.95}]
    )
    fingerprint: str = Field(
        description="64 hexadecimal digits, equal only for equal settings.", examples=["9f86d081884c7d65…"]
    )
    deletable: bool = Field(
        description="Whether it can be deleted by request, because it is stored in the home of the service."
    )
    buckets: Buckets | None = Field(None, description="With `?buckets=true` only.")


class Indexes(BaseModel):
    """All indexes, sorted by name."""

    indexes: list[Information]


async def described(name: str, shared: State, buckets: bool = False) -> dict[str, Any]:
    """The description of an index."""
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
    """List the served indexes."""
    listed = []
    for name in list(shared.catalog):
        with suppress(Refusal):  # it was deleted meanwhile
            listed.append(await described(name, shared))
    return Answer({"indexes": listed}, about={"grows": shared.catalog.grows})


@router.post("", response_model=Information, status_code=201)
async def create(body: NewIndex, shared: Shared) -> Answer:
    """Create an index in the home of the service; it is durable when the response is sent."""
    settings = await asyncio.to_thread(settings_of, body)
    await shared.catalog.create(body.name, settings)
    return Answer(await described(body.name, shared), 201, {"Location": f"/v1/indexes/{body.name}"})


@router.get("/{index}", response_model=Information)
async def show(
    index: IndexName,
    served: Served,
    shared: Shared,
    buckets: Annotated[
        bool, Query(description="Include the number of buckets by size, which reads all postings.")
    ] = False,
) -> Answer:
    """Return the number of documents and the settings of an index."""
    return Answer(await described(index, shared, buckets))


@router.delete("/{index}", status_code=204)
async def delete(index: IndexName, shared: Shared) -> Response:
    """Delete an index with all its documents, after running work on it has ended."""
    await shared.catalog.delete(index)
    return Response(status_code=204)
