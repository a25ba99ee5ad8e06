"""Conversion of files to JSON lines: `/v1/files`, used by the pages for dropped files."""

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
from benzer.service.errors import UPLOAD_CUT_SHORT, Answer, Refusal
from benzer.service.media import FILE, NDJSON, media_type
from benzer.service.uploads.files import File, described
from benzer.sources.formats import HEAD_BYTES

router = APIRouter(prefix="/v1/files", tags=["files"])
PIECE = 1 << 16
Name = Annotated[
    str,
    Query(min_length=1, max_length=1000, description="The file name; its extension matters.", examples=["a.csv"]),
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
    """The detected format of a file."""

    name: str = Field(examples=["a.csv"])
    format: str | None = Field(
        description="jsonl, json, csv, tsv, parquet, ipc, excel, warc, html, text or images; "
        "null if Benzer does not read the format.",
        examples=["csv"],
    )
    content: str = Field(description="A description of the content.", examples=["a CSV file"])
    compression: str = Field(description="Empty, .gz, .zst, .bz2 or .xz.", examples=[""])
    encoding: str = Field(description="The encoding of the first 64 KiB of a text.", examples=["utf-8"])
    columns: list[str] | None = Field(
        description="The keys of the first row of JSON lines.", examples=[["id", "text"]]
    )
    refusal: str | None = Field(
        description="Why the file cannot be read and how to fix it; null if it can be read.",
        examples=["report.pdf is a PDF file, which Benzer does not read: convert it to text first"],
    )


@router.post("/format", response_model=Recognized, openapi_extra=BODY)
async def recognize(request: Request, name: Name) -> Answer:
    """Detect the format of a file from its name and its first 64 KiB, with the reason if Benzer cannot read it.

    Bytes after the first 64 KiB are ignored.
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
        Query(
            description="A field to keep in addition to the id; without any, all columns are kept.",
            examples=[["text"]],
        ),
    ] = None,
) -> Response:
    """Convert a file to JSON lines that can be sent to the documents of an index or to `/v1/duplicates`.

    JSON lines, CSV, TSV and Parquet have one document per row; a text file is one document. gzip and Zstandard files
    are decompressed.
    """
    check_type(request)
    file = File(name)
    try:
        async for chunk in request.stream():
            await asyncio.to_thread(file.write, chunk)
        lines = await asyncio.to_thread(file.rows, field or (), shared.limits.max_upload_bytes)
    except ClientDisconnect:
        raise Refusal(400, UPLOAD_CUT_SHORT) from None
    finally:
        file.close()
    return StreamingResponse(pieces(lines), media_type=NDJSON, background=BackgroundTask(lines.close))


def check_type(request: Request) -> None:
    """Reject a form or JSON, which would be read as the content of the file."""
    if media_type(request.headers) != FILE:
        raise Refusal(
            415, f"the body must be the bytes of the file: send it with the header Content-Type: {FILE}"
        )


def pieces(lines: BinaryIO) -> Iterator[bytes]:
    """The content of a file in chunks."""
    while piece := lines.read(PIECE):
        yield piece
