"""Lookup and removal by exact id, for programs: `POST …/lookup` and `…/remove`.

In a path an id is text, so 7 may match "7"; in JSON the two differ, as in the index.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.requests import Request

from benzer.index import Index
from benzer.service.access import READS, Served, Shared
from benzer.service.errors import Answer
from benzer.service.resources.documents import about, stored_as_json
from benzer.service.resources.seen import iso_time
from benzer.service.wire.bodies import check_listed, described_body, model_of
from benzer.service.wire.documents import Body, Content, Id, Many

router = APIRouter(prefix="/v1/indexes/{index}", tags=["documents"])
MOST_LOOKED_UP = 100
Ids = Annotated[Many[Id], Field(description='1 and "1" are different ids.', examples=[["fox", 4711]])]


class Lookup(Body):
    """Documents to look up."""

    ids: Annotated[Ids, Field(max_length=MOST_LOOKED_UP)]
    contents: bool = Field(True, description="Include the fields.")


class LookedUp(BaseModel):
    """A stored document and when it was last seen."""

    id: Id = Field(examples=["fox"])
    fields: dict[str, Content] | None = Field(
        None, description="The fields, if requested.", examples=[{"text": "one two three"}]
    )
    thumbnails: dict[str, str] | None = Field(
        None,
        description="The address of a thumbnail, by field.",
        examples=[{"photo": "/v1/indexes/demo/thumbnail?id=coast&field=photo"}],
    )
    last_seen: str | None = Field(
        description="To the second, in UTC; null if an early version of Benzer added the document.",
        examples=["2026-01-31T12:00:00Z"],
    )


class AllLookedUp(BaseModel):
    """The document of each id in the order of the request; null for unknown ids."""

    documents: list[LookedUp | None] = Field(
        examples=[
            [{"id": "fox", "fields": {"text": "one two three"}, "last_seen": "2026-01-31T12:00:00Z"}, None]
        ]
    )


class Remove(Body):
    """Documents to remove."""

    ids: Ids


class Removed(BaseModel):
    """The number of removed documents and of documents now stored."""

    removed: int = Field(examples=[2])
    documents: int = Field(examples=[1762])


@router.post("/lookup", response_model=AllLookedUp, openapi_extra=READS)
async def look_up(body: Lookup, served: Served) -> Answer:
    """Look up documents by exact id, and when they were last seen."""

    def entry(index: Index, id: str | int) -> dict[str, Any] | None:
        if id not in index:
            return None
        moment = index.last_seen(id)
        seen = None if moment is None else iso_time(moment)
        document = index.get(id) if body.contents else None
        return {**({"id": id} if document is None else stored_as_json(served, document)), "last_seen": seen}

    def work(index: Index) -> list[dict[str, Any] | None]:
        with index.snapshot():
            return [entry(index, id) for id in body.ids]

    return Answer({"documents": await served.read(work)}, about=about(served))


@router.post("/remove", response_model=Removed, openapi_extra=described_body(Remove))
async def remove(request: Request, served: Served, shared: Shared) -> Answer:
    """Remove documents by exact id; unknown ids are ignored."""
    body = await model_of(request, Remove, partial(check_listed, shared.limits, "ids"))

    def work(index: Index) -> dict[str, int]:
        removed = index.remove(body.ids)
        if (
            served.settings.schema.foreign
        ):  # here, in order: the thumbnail of a later document with such an id is kept
            served.thumbnails.remove(body.ids)
        return {"removed": removed, "documents": len(index)}

    return Answer(await served.write(work))
