"""Which indexes are there? `/v1/indexes`: made, listed, described, deleted."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel

from benzer.fields import Schema
from benzer.index import IndexSettings
from benzer.service.access import IndexName, Served, Shared
from benzer.service.errors import Answer
from benzer.service.served import ServedIndex
from benzer.service.wire import Body

router = APIRouter(prefix="/v1/indexes", tags=["indexes"])


class NewIndex(Body):
    """A name, and settings as `benzer.IndexSettings` takes them; those that are left out have their defaults."""

    name: str
    fields: dict[str, dict[str, Any]] | None = None
    threshold: float = 0.8
    recall: float = 0.95


class Information(BaseModel):
    """Facts and figures of an index; where it lies is the server's own business."""

    name: str
    home: str
    documents: int
    settings: dict[str, Any]
    fingerprint: str


class Indexes(BaseModel):
    """All indexes, by name."""

    indexes: list[Information]


async def described(name: str, served: ServedIndex) -> dict[str, Any]:
    known = await served.read(lambda index: index.info())
    return {"name": name, **{key: known[key] for key in Information.model_fields if key != "name"}}


@router.get("", response_model=Indexes)
async def show_all(shared: Shared) -> Answer:
    """List the indexes that are served."""
    return Answer({"indexes": [await described(name, served) for name, served in shared.catalog.items()]})


@router.post("", response_model=Information, status_code=201)
async def create(asked: NewIndex, shared: Shared) -> Answer:
    """Make an index."""
    schema = None if asked.fields is None else Schema.from_dict(asked.fields)
    settings = IndexSettings(schema, threshold=asked.threshold, recall=asked.recall)
    served = await shared.catalog.create(asked.name, settings)
    return Answer(await described(asked.name, served), 201, {"Location": f"/v1/indexes/{asked.name}"})


@router.get("/{index}", response_model=Information)
async def show(index: IndexName, served: Served) -> Answer:
    """Describe an index: how many documents it holds, and by which settings they are compared."""
    return Answer(await described(index, served))


@router.delete("/{index}", status_code=204)
async def delete(index: IndexName, shared: Shared) -> Response:
    """Delete an index with all its documents."""
    await shared.catalog.delete(index)
    return Response(status_code=204)
