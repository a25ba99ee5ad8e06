"""Adding, looking up and removing documents: `…/documents`. A response means that the change is durable."""

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
from benzer.index.documents import ids_of
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
    """A part of a path that may contain any characters, including slashes and line breaks."""

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
    str,
    Path(
        min_length=1, description="The id of the document, percent-encoded.", examples=["debian/nbd-client"]
    ),
]
MOST = 1000
PAGE_CHARACTERS = 8_000_000


class Batch(Body):
    """Documents to add at once."""

    documents: Many[IdentifiedDocument] = Field(
        examples=[
            [{"id": "a", "fields": {"text": "one two three"}}, {"id": 7, "fields": {"text": "four five"}}]
        ]
    )


class Malformed(BaseModel):
    """A skipped line and the reason."""

    row: int = Field(description="The line number from 1; blank lines count.", examples=[17])
    message: str = Field(examples=["not a JSON object, but a list"])


class Added(BaseModel):
    """The number of documents read, of new ids, and of documents now stored."""

    read: int = Field(examples=[2])
    new: int = Field(examples=[1])
    documents: int = Field(examples=[1766])


class Uploaded(Added):
    """The same for an upload, with its first 1,000 malformed lines."""

    malformed: list[Malformed] = []
    malformed_count: int = Field(0, examples=[0])


class Put(BaseModel):
    """The id of a stored document, and whether it replaced another."""

    id: Id = Field(examples=["a"])
    replaced: bool


class StoredDocument(BaseModel):
    """A stored document. Images are returned as descriptions, with the address of a thumbnail if there is one."""

    id: Id = Field(examples=["a"])
    fields: dict[str, Content] = Field(examples=[{"text": "one two three"}])
    thumbnails: dict[str, str] | None = Field(
        None,
        description="For indexes with images: the address of a thumbnail, by field.",
        examples=[{"photo": "/v1/indexes/demo/thumbnail?id=coast&field=photo"}],
    )


class Page(BaseModel):
    """Documents in insertion order, and the value of `after` for the next page."""

    documents: list[StoredDocument]
    next: str | None = Field(examples=["MTc2NQ"])


@router.post("", response_model=Uploaded, openapi_extra=described_body(Batch, lines=True))
async def add(
    request: Request,
    served: Served,
    shared: Shared,
    on_error: Annotated[
        Literal["stop", "skip"], Query(description="How to handle malformed NDJSON lines.")
    ] = "stop",
) -> Answer:
    """Add documents; a document with an existing id replaces the stored one.

    JSON adds all documents or none. NDJSON (one document per line, any number of lines) is added batch by batch as it
    arrives, and an error reports how many documents are durable.
    """
    if media_type(request.headers) == NDJSON:
        upload = Upload(served, shared.limits, on_error == "skip", shared.catalog.without_places)
        return Answer((await upload.take(request.stream())).as_json())
    batch = await model_of(request, Batch, partial(check_listed, shared.limits, "documents"))
    return Answer(await add_all(served, batch.documents, shared.limits))


async def add_all(
    served: ServedIndex, documents: Sequence[IdentifiedDocument], limits: Limits
) -> dict[str, int]:
    """Add all documents or none."""
    schema, read = served.settings.schema, reader_of(served.settings.schema, limits)

    def given() -> list[Document]:
        return [
            Document(document.id, read(document.fields, f"body.documents.{position}.fields"))
            for position, document in enumerate(documents)
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
    limit: Annotated[
        int, Query(ge=1, le=MOST, description="Maximum number of documents; long texts reduce it.")
    ] = 100,
    after: Annotated[
        str | None, Query(description='The "next" of the previous page.', examples=[None])
    ] = None,
) -> Answer:
    """List documents in insertion order."""
    start = number_of(after)

    def work(index: Index) -> dict[str, Any]:
        documents, next_number = index.page(start, limit, PAGE_CHARACTERS)
        listed = [stored_as_json(served, document) for document in documents]
        return {"documents": listed, "next": None if next_number is None else cursor_of(next_number)}

    return Answer(await served.read(work), about=about(served))


@router.put(
    "/{id:any}", response_model=Put, responses={201: {"model": Put}},
    openapi_extra=described_body(Contents, form=True),
)  # fmt: skip
async def put(id: PathId, request: Request, served: Served, shared: Shared) -> Answer:
    """Add or replace the document with this id: 201 if it is new, 200 if it replaced another.

    The fields are sent as JSON, or as the parts of a form, where files need no base64.
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
        old_id = held_id(index, id)
        known = document.id if old_id is None else old_id
        served.thumbnails.put(thumbnail._replace(id=known) for thumbnail in ready.thumbnails)
        index.add([Document(known, document.fields)])
        if not ready.thumbnails and schema.foreign:
            served.thumbnails.remove([known])
        return old_id

    known_id = await served.write(work)
    new = known_id is None
    return Answer({"id": id if new else known_id, "replaced": not new}, 201 if new else 200)


@router.get("/{id:any}", response_model=StoredDocument)
async def get(id: PathId, served: Served) -> Answer:
    """Look up one document."""

    def work(index: Index) -> dict[str, Any] | None:
        document = next(filter(None, map(index.get, ids_of(id))), None)
        return None if document is None else stored_as_json(served, document)

    document = await served.read(work)
    if document is None:
        raise unknown(id)
    return Answer(document, about=about(served))


@router.delete("/{id:any}", status_code=204)
async def remove(id: PathId, served: Served) -> Response:
    """Remove one document."""

    def work(index: Index) -> Id | None:
        known = held_id(index, id)
        if known is not None:
            index.remove([known])
            if (
                served.settings.schema.foreign
            ):  # here, in order: the thumbnail of a later document with this id is kept
                served.thumbnails.remove([known])
        return known

    known_id = await served.write(work)
    if known_id is None:
        raise unknown(id)
    return Response(status_code=204)


def about(served: ServedIndex) -> dict[str, Any]:
    """Return the data that the fragment of documents needs about their index."""
    return {"index": served.name, "schema": served.settings.schema.to_dict()}


def stored_as_json(served: ServedIndex, document: Document) -> dict[str, Any]:
    """A document as a response; called in a thread, because it may look for thumbnails."""
    values = as_json(document)
    if served.settings.schema.foreign:
        values["thumbnails"] = urls_of(served.thumbnails, served.name, document)
    return values


def held_id(index: Index, text: str) -> Id | None:
    """The id of the stored document that a path names; None if it does not exist."""
    return next((id for id in ids_of(text) if id in index), None)


def unknown(id: Id) -> HTTPException:
    return HTTPException(404, f"no document has the id {id!r}")


def cursor_of(number: int) -> str:
    """The end of a page as an opaque cursor.

    >>> cursor_of(1765), number_of("MTc2NQ")
    ('MTc2NQ', 1765)
    """
    return urlsafe_b64encode(b"%d" % number).decode().rstrip("=")


def number_of(cursor: str | None) -> int:
    """The number of the document before the first one of a page; -1 for the first page."""
    if cursor is None:
        return -1
    try:
        digits = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        if digits.isdecimal() and len(digits) < 12:
            return int(digits)
    except ValueError:
        pass
    raise Refusal(422, 'query.after is invalid: use the "next" of an earlier page', field="query.after")
