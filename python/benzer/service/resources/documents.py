"""How are documents put, looked up and removed? `…/documents`; each answer means that the change is durable."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request

from benzer.document import Document
from benzer.index import Index
from benzer.index.given import ids_of
from benzer.service.access import Served, Shared
from benzer.service.errors import Answer, Refusal
from benzer.service.indexes.served import ServedIndex
from benzer.service.media import FORM, NDJSON, media_type
from benzer.service.pictures.thumbnails import urls_of
from benzer.service.settings import Limits
from benzer.service.uploads.taking import all_prepared, in_thread, without_copies
from benzer.service.uploads.upload import Upload
from benzer.service.wire.bodies import check_listed, contents_of_form, described_body, model_of
from benzer.service.wire.documents import (
    Body,
    Content,
    Contents,
    Id,
    IdentifiedDocument,
    Many,
    as_json,
    contents_of,
    reader_of,
)


class AnyText(Convertor[str]):
    """A part of a path that may hold anything, also slashes and line breaks."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        """The text itself."""
        return value

    def to_string(self, value: str) -> str:
        """The text itself."""
        return value


register_url_convertor("any", AnyText())
router = APIRouter(prefix="/v1/indexes/{index}/documents", tags=["documents"])
PathId = Annotated[
    str, Path(min_length=1, description="The document's id, percent-encoded.", examples=["debian/nbd-client"])
]
MOST = 1000
PAGE_CHARACTERS = 8_000_000


class Batch(Body):
    """Documents to add together."""

    documents: Many[IdentifiedDocument] = Field(
        examples=[
            [{"id": "a", "fields": {"text": "one two three"}}, {"id": 7, "fields": {"text": "four five"}}]
        ]
    )


class Malformed(BaseModel):
    """A line that was passed over, and why."""

    row: int = Field(description="Its number, from 1; blank lines count.", examples=[17])
    message: str = Field(examples=["not a JSON object, but a list"])


class Added(BaseModel):
    """How many documents were read, how many of their ids are new, and how many are held now."""

    read: int = Field(examples=[2])
    new: int = Field(examples=[1])
    documents: int = Field(examples=[1766])


class Uploaded(Added):
    """The same of an upload; and which of its lines are malformed, the first 1,000 of them."""

    malformed: list[Malformed] = []
    malformed_count: int = Field(0, examples=[0])


class Put(BaseModel):
    """Under which id a document is held, and whether it replaced another."""

    id: Id = Field(examples=["a"])
    replaced: bool


class StoredDocument(BaseModel):
    """A document that is held; of a picture its description, and where a small copy is, if there is one."""

    id: Id = Field(examples=["a"])
    fields: dict[str, Content] = Field(examples=[{"text": "one two three"}])
    thumbnails: dict[str, str] | None = Field(
        None,
        description="For indexes with pictures: the address of a small copy, by field.",
        examples=[{"photo": "/v1/indexes/demo/thumbnail?id=coast&field=photo"}],
    )


class Page(BaseModel):
    """Documents in order of arrival, and what to pass as `after` for those behind them."""

    documents: list[StoredDocument]
    next: str | None = Field(examples=["MTc2NQ"])


@router.post("", response_model=Uploaded, openapi_extra=described_body(Batch, lines=True))
async def add(
    request: Request,
    served: Served,
    shared: Shared,
    on_error: Annotated[
        Literal["stop", "skip"], Query(description="What to do with a malformed line of NDJSON.")
    ] = "stop",
) -> Answer:
    """Add documents; one whose id is held already replaces the old one.

    As JSON they are added all or none. As NDJSON (one document a line, of any number) they are added batch by batch
    as they come, and an error says how many are durable.
    """
    if media_type(request.headers) == NDJSON:
        upload = Upload(served, shared.limits, on_error == "skip", shared.catalog.without_places)
        return Answer((await upload.take(request.stream())).as_json())
    batch = await model_of(request, Batch, partial(check_listed, shared.limits, "documents"))
    return Answer(await add_all(served, batch.documents, shared.limits))


async def add_all(
    served: ServedIndex, documents: Sequence[IdentifiedDocument], limits: Limits
) -> dict[str, int]:
    """Add documents, all or none."""
    schema, read = served.settings.schema, reader_of(served.settings.schema, limits)

    def given() -> list[Document]:
        return [
            Document(one.id, read(one.fields, f"body.documents.{at}.fields"))
            for at, one in enumerate(documents)
        ]

    ready = await in_thread(schema, lambda: all_prepared(schema, given()), len(documents))

    def work(index: Index) -> dict[str, int]:
        before = len(index)
        served.thumbnails.put(ready.thumbnails)
        count = index.add(ready.documents)
        served.thumbnails.remove(without_copies(schema, ready.documents, ready.thumbnails))
        return {"read": count, "new": len(index) - before, "documents": len(index)}

    return await served.write(work)


@router.get("", response_model=Page)
async def show_all(
    served: Served,
    limit: Annotated[int, Query(ge=1, le=MOST, description="How many at most; long texts make fewer.")] = 100,
    after: Annotated[str | None, Query(description='The "next" of the page before.', examples=[None])] = None,
) -> Answer:
    """List documents in the order in which they were added."""
    start = number_of(after)

    def work(index: Index) -> dict[str, Any]:
        documents, next_number = index.page(start, limit, PAGE_CHARACTERS)
        shown = [stored_as_json(served, document) for document in documents]
        return {"documents": shown, "next": None if next_number is None else cursor_of(next_number)}

    return Answer(await served.read(work))


@router.put(
    "/{id:any}", response_model=Put, responses={201: {"model": Put}},
    openapi_extra=described_body(Contents, form=True),
)  # fmt: skip
async def put(id: PathId, request: Request, served: Served, shared: Shared) -> Answer:
    """Add or replace the document of this id: 201 when it is new, 200 when it replaced another.

    The fields come as JSON, or as the parts of a form; so files need no base64.
    """
    schema = served.settings.schema
    if media_type(request.headers) == FORM:
        fields = await contents_of_form(request, schema, shared.limits)
    else:
        body = await model_of(request, Contents)
        fields = await in_thread(schema, lambda: contents_of(body.fields, schema, shared.limits))
    ready = await in_thread(schema, lambda: all_prepared(schema, [Document(id, fields)], alone=True))
    (document,) = ready.documents

    def work(index: Index) -> Id | None:
        held = held_id(index, id)
        known = document.id if held is None else held
        served.thumbnails.put(one._replace(id=known) for one in ready.thumbnails)
        index.add([Document(known, document.fields)])
        if not ready.thumbnails and schema.foreign:
            served.thumbnails.remove([known])
        return held

    held = await served.write(work)
    new = held is None
    return Answer({"id": id if new else held, "replaced": not new}, 201 if new else 200)


@router.get("/{id:any}", response_model=StoredDocument)
async def get(id: PathId, served: Served) -> Answer:
    """Look up one document."""

    def work(index: Index) -> dict[str, Any] | None:
        document = next(filter(None, map(index.get, ids_of(id))), None)
        return None if document is None else stored_as_json(served, document)

    document = await served.read(work)
    if document is None:
        raise unknown(id)
    return Answer(document)


@router.delete("/{id:any}", status_code=204)
async def remove(id: PathId, served: Served) -> Response:
    """Remove one document."""

    def work(index: Index) -> Id | None:
        held = held_id(index, id)
        if held is not None:
            index.remove([held])
            if served.settings.schema.foreign:  # here, in turn: the copy of a later document of this id stays
                served.thumbnails.remove([held])
        return held

    held = await served.write(work)
    if held is None:
        raise unknown(id)
    return Response(status_code=204)


def stored_as_json(served: ServedIndex, document: Document) -> dict[str, Any]:
    """A document as it is answered; called in a thread, for it may look for small copies of pictures."""
    shown = as_json(document)
    if served.settings.schema.foreign:
        shown["thumbnails"] = urls_of(served.thumbnails, served.name, document)
    return shown


def held_id(index: Index, text: str) -> Id | None:
    """The id under which the document of a path is held; None where it is not."""
    return next((id for id in ids_of(text) if id in index), None)


def unknown(id: Id) -> HTTPException:
    return HTTPException(404, f"no document has the id {id!r}")


def cursor_of(number: int) -> str:
    """Where a page ends, as a client keeps it.

    >>> cursor_of(1765), number_of("MTc2NQ")
    ('MTc2NQ', 1765)
    """
    return urlsafe_b64encode(b"%d" % number).decode().rstrip("=")


def number_of(cursor: str | None) -> int:
    """The number of the document behind which a page begins; -1 for the first."""
    if cursor is None:
        return -1
    try:
        digits = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        if digits.isdecimal() and len(digits) < 12:
            return int(digits)
    except ValueError:
        pass
    raise Refusal(422, 'query.after must be the "next" of an earlier page', field="query.after")
