"""Which documents have exactly these ids? `POST …/lookup` and `…/remove`, for programs.

In a path an id is text, and 7 may be found as "7"; in JSON the two differ, as they do in the index.
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
from benzer.service.resources.documents import stored_as_json
from benzer.service.resources.seen import shown
from benzer.service.wire.bodies import check_listed, described_body, model_of
from benzer.service.wire.documents import Body, Content, Id, Many

router = APIRouter(prefix="/v1/indexes/{index}", tags=["documents"])
MOST_LOOKED_UP = 100
Ids = Annotated[Many[Id], Field(description='1 and "1" are two ids.', examples=[["fox", 4711]])]


class Lookup(Body):
    """Documents to look up."""

    ids: Annotated[Ids, Field(max_length=MOST_LOOKED_UP)]
    contents: bool = Field(True, description="Give their fields, too.")


class LookedUp(BaseModel):
    """A document that is held, and when it was last seen."""

    id: Id = Field(examples=["fox"])
    fields: dict[str, Content] | None = Field(
        None, description="Where they were asked for.", examples=[{"text": "one two three"}]
    )
    thumbnails: dict[str, str] | None = Field(
        None,
        description="The address of a small picture, by field.",
        examples=[{"photo": "/v1/indexes/demo/thumbnail?id=coast&field=photo"}],
    )
    last_seen: str | None = Field(
        description="To the second, in UTC; null where an early version of Benzer added it.",
        examples=["2026-01-31T12:00:00Z"],
    )


class AllLookedUp(BaseModel):
    """For each id its document, in the order asked; null for those that are not held."""

    documents: list[LookedUp | None] = Field(
        examples=[
            [{"id": "fox", "fields": {"text": "one two three"}, "last_seen": "2026-01-31T12:00:00Z"}, None]
        ]
    )


class Remove(Body):
    """Documents to remove."""

    ids: Ids


class Removed(BaseModel):
    """How many documents were removed, and how many are held now."""

    removed: int = Field(examples=[2])
    documents: int = Field(examples=[1762])


@router.post("/lookup", response_model=AllLookedUp, openapi_extra=READS)
async def look_up(asked: Lookup, served: Served) -> Answer:
    """Look up documents by their exact ids, and when they were last seen."""

    def one(index: Index, id: str | int) -> dict[str, Any] | None:
        if id not in index:
            return None
        moment = index.last_seen(id)
        seen = None if moment is None else shown(moment)
        document = index.get(id) if asked.contents else None
        return {**({"id": id} if document is None else stored_as_json(served, document)), "last_seen": seen}

    def work(index: Index) -> list[dict[str, Any] | None]:
        with index.snapshot():
            return [one(index, id) for id in asked.ids]

    return Answer({"documents": await served.read(work)})


@router.post("/remove", response_model=Removed, openapi_extra=described_body(Remove))
async def remove(request: Request, served: Served, shared: Shared) -> Answer:
    """Remove documents by their exact ids; those that are not held are passed over."""
    asked = await model_of(request, Remove, partial(check_listed, shared.limits, "ids"))

    def work(index: Index) -> dict[str, int]:
        removed = index.remove(asked.ids)
        if served.settings.schema.foreign:  # here, in turn: the copy of a later document of such an id stays
            served.thumbnails.remove(asked.ids)
        return {"removed": removed, "documents": len(index)}

    return Answer(await served.write(work))
