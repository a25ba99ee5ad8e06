"""How are documents put, looked up and removed? `/documents`; each answer means that the change is durable."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from benzer.document import Document
from benzer.index import Index
from benzer.index.given import ids_of
from benzer.service.access import Served
from benzer.service.errors import Answer
from benzer.service.wire import Body, Contents, Id, IdentifiedDocument, as_json, contents_of

router = APIRouter(prefix="/v1/indexes/{index}/documents", tags=["documents"])
PathId = Annotated[str, Path(min_length=1, description="The document's id, percent-encoded.")]


class Batch(Body):
    """Documents to add together."""

    documents: list[IdentifiedDocument]


class Added(BaseModel):
    """How many documents were read, how many of their ids are new, and how many are held now."""

    read: int
    new: int
    documents: int


class Put(BaseModel):
    """Under which id a document is held, and whether it replaced another."""

    id: Id
    replaced: bool


@router.post("", response_model=Added)
async def add(batch: Batch, served: Served) -> Answer:
    """Add documents, all or none; one whose id is held already replaces the old one."""

    def work(index: Index) -> dict[str, int]:
        before, schema = len(index), index.settings.schema
        read = index.add(Document(one.id, contents_of(one.fields, schema)) for one in batch.documents)
        return {"read": read, "new": len(index) - before, "documents": len(index)}

    return Answer(await served.write(work))


@router.put("/{id:path}", response_model=Put, responses={201: {"model": Put}})
async def put(id: PathId, contents: Contents, served: Served) -> Answer:
    """Add or replace the document of this id: 201 when it is new, 200 when it replaced another."""

    def work(index: Index) -> Id | None:
        held = held_id(index, id)
        fields = contents_of(contents.fields, index.settings.schema)
        index.add([Document(id if held is None else held, fields)])
        return held

    held = await served.write(work)
    new = held is None
    return Answer({"id": id if new else held, "replaced": not new}, 201 if new else 200)


@router.get("/{id:path}", response_model=IdentifiedDocument)
async def get(id: PathId, served: Served) -> Answer:
    """Look up one document."""

    def work(index: Index) -> Document | None:
        return next(filter(None, map(index.get, ids_of(id))), None)

    document = await served.read(work)
    if document is None:
        raise unknown(id)
    return Answer(as_json(document))


@router.delete("/{id:path}", status_code=204)
async def remove(id: PathId, served: Served) -> Response:
    """Remove one document."""

    def work(index: Index) -> int:
        held = held_id(index, id)
        return 0 if held is None else index.remove([held])

    if not await served.write(work):
        raise unknown(id)
    return Response(status_code=204)


def held_id(index: Index, text: str) -> Id | None:
    """The id under which the document of a path is held; None where it is not."""
    return next((id for id in ids_of(text) if id in index), None)


def unknown(id: Id) -> HTTPException:
    return HTTPException(404, f"no document has the id {id!r}")
