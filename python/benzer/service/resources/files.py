"""Files of any format as JSON lines: `/v1/files`. The pages send here what is dropped on them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from benzer.service.access import READS, Shared
from benzer.service.errors import Answer, Refusal
from benzer.service.media import FILE, NDJSON, media_type
from benzer.service.uploads.files import File, described
from benzer.sources.formats import HEAD_BYTES

router = APIRouter(prefix="/v1/files", tags=["files"])
PIECE = 1 << 16
Name = Annotated[
    str,
    Query(min_length=1, max_length=1000, description="The name of the file; its ending counts.", examples=["a.csv"]),
]  # fmt: skip
EXAMPLE = "id,text\n1,one two three\n2,four five six\n"
BODY: dict[str, Any] = {
    **READS,
    "requestBody": {
        "required": True,
        "content": {FILE: {"schema": {"type": "string", "format": "binary"}, "example": EXAMPLE}},
    },
}


class Recognized(BaseModel):
    """What a file holds."""

    name: str = Field(examples=["a.csv"])
    format: str | None = Field(
        description="How its rows are read: jsonl, csv, tsv, parquet, text or images; null where Benzer does not "
        "read it.",
        examples=["csv"],
    )
    content: str = Field(description="The same in words.", examples=["a CSV file"])
    compression: str = Field(description="Empty, .gz or .zst.", examples=[""])
    columns: list[str] | None = Field(
        description="The keys of the first row, of JSON lines.", examples=[["id", "text"]]
    )
    refusal: str | None = Field(
        description="Why it is not read, and what to do; null where it is.",
        examples=["report.pdf is a PDF file, which Benzer does not read: convert it to text first"],
    )


@router.post("/format", response_model=Recognized, openapi_extra=BODY)
async def recognize(request: Request, name: Name) -> Answer:
    """Tell what a file holds, by its name and its first 64 KiB, and why where Benzer does not read it.

    More of the file may be sent, and is not looked at.
    """
    check_type(request)
    head = b""
    async for chunk in request.stream():
        head += chunk[: HEAD_BYTES - len(head)]
    return Answer(await asyncio.to_thread(described, name, head))


@router.post(
    "/rows", openapi_extra=BODY,
    responses={200: {"description": "The rows as JSON lines.", "content": {NDJSON: {"schema": {"type": "string"}}}}},
)  # fmt: skip
async def rows(
    request: Request,
    shared: Shared,
    name: Name,
    field: Annotated[
        list[str] | None,
        Query(description="A field to keep beside the id; all columns without any.", examples=[["text"]]),
    ] = None,
) -> Response:
    """Answer the rows of a file as JSON lines, to be sent to the documents of an index or to `/v1/duplicates`.

    JSON lines, CSV, TSV and Parquet have a document a row, a text is one document; gzip and Zstandard are unpacked.
    """
    check_type(request)
    file = File(name)
    try:
        async for chunk in request.stream():
            await asyncio.to_thread(file.write, chunk)
        lines = await asyncio.to_thread(file.rows, field or (), shared.limits.max_upload_bytes)
    except ClientDisconnect:
        raise Refusal(400, "the upload was cut off") from None
    finally:
        file.close()
    return StreamingResponse(pieces(lines), media_type=NDJSON, background=BackgroundTask(lines.close))


def check_type(request: Request) -> None:
    """Refuse a form or JSON, which would be taken for the content of the file."""
    if media_type(request.headers) != FILE:
        raise Refusal(415, f"send the bytes of the file with the header Content-Type: {FILE}")


def pieces(lines: BinaryIO) -> Iterator[bytes]:
    """The content of a file, piece by piece."""
    while piece := lines.read(PIECE):
        yield piece
