"""Streamed uploads of JSON lines, written in batches.

Receiving and writing overlap, and a separate process writes (see `loading`), so that searches and other writers wait
for at most one batch. A client that sends faster than the writer is slowed down.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from benzer.document import Document
from benzer.errors import BenzerError, InputError
from benzer.fields import Schema
from benzer.index import Index
from benzer.index.documents import check_id
from benzer.service.errors import Refusal, status_of
from benzer.service.indexes.served import ServedIndex
from benzer.service.indexes.written import Written
from benzer.service.pictures.thumbnails import Kept, Thumbnails
from benzer.service.settings import Limits
from benzer.service.uploads.files import check_lines
from benzer.service.uploads.taking import add_sound, prepared, without_copies
from benzer.service.wire.documents import reader_of
from benzer.sources.jsonl import BLANK, parsed
from benzer.sources.rows import BadRow
from benzer.sources.streams import BOM
from benzer.storage.base import checked_id
from benzer.wording import count

BATCH_LINES = 1000
BATCH_BYTES = 4 << 20
MALFORMED_SHOWN = 1000
DISCARDED_SECONDS, DISCARDED_BYTES = 5.0, 64 << 20


@dataclass
class Batch:
    """Parsed lines: documents and their rows, thumbnails, and malformed rows."""

    rows: dict[int, int] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)
    thumbnails: list[Kept] = field(default_factory=list)
    malformed: list[tuple[int, str]] = field(default_factory=list)
    too_long: int | None = None


@dataclass
class Totals:
    """The totals of an upload so far; everything counted is durable."""

    read: int = 0
    new: int = 0
    documents: int = 0
    malformed: list[tuple[int, str]] = field(default_factory=list)
    malformed_count: int = 0

    def as_json(self) -> dict[str, Any]:
        """The response to the upload."""
        listed = [{"row": row, "message": message} for row, message in self.malformed]
        return {
            "read": self.read, "new": self.new, "documents": self.documents,
            "malformed": listed, "malformed_count": self.malformed_count,
        }  # fmt: skip


class Upload:
    """One upload of JSON lines into an index; with `skip`, malformed rows are skipped and counted."""

    def __init__(
        self, served: ServedIndex, limits: Limits, skip: bool, without_places: Callable[[str], str] = str
    ) -> None:
        self._served, self._limits, self._skip = served, limits, skip
        self._without_places = without_places
        self._schema = served.settings.schema
        self._writing: asyncio.Future[None] | None = None
        self.totals = Totals()

    async def take(self, stream: AsyncIterable[bytes]) -> Totals:
        """Add all lines of a stream; a refusal reports how many documents are durable."""
        chunks = aiter(stream)
        try:
            async for first, block in blocks(chunks, self._limits.max_body_bytes):
                if first == 1:
                    check_lines(block)
                await self._settled()
                self._writing = asyncio.ensure_future(self._write(first, block))
            await self._settled()
            self.totals.documents = await self._served.read(len)
        except (Refusal, HTTPException, BenzerError) as error:
            with suppress(Refusal, BenzerError):
                await self._settled()
            refusal = self._refusal(error)
            await discarded(chunks)
            raise refusal from error
        except ClientDisconnect:
            await self._settled()
            raise
        return self.totals

    async def _settled(self) -> None:
        """Wait until the current batch is durable."""
        writing, self._writing = self._writing, None
        if writing is not None:
            await writing

    async def _write(self, first: int, block: bytes) -> None:
        """Write a block: the first one here, because it may be the only one; the others in the separate process."""
        served, limits, skip = self._served, self._limits, self._skip
        if first > 1:
            written = await served.load(block, first, skip, limits)
        else:
            batch = await asyncio.to_thread(read_block, block, first, self._schema, limits, skip)
            written = await served.write(lambda index: write_batch(index, served.thumbnails, batch, skip))
        self._count(written)

    def _count(self, written: Written) -> None:
        malformed = sorted(written.malformed)
        totals = self.totals
        totals.read, totals.new = totals.read + written.added, totals.new + written.new
        totals.malformed_count += len(malformed)
        totals.malformed += malformed[: MALFORMED_SHOWN - len(totals.malformed)]
        if malformed and not self._skip:
            row, message = malformed[0]
            raise Refusal(
                422, f"row {row}: {message}; fix it, or pass on_error=skip", field=f"body.{row}",
                type="MalformedRowError",
            )  # fmt: skip
        if written.too_long is not None:
            raise Refusal(
                413, f"row {written.too_long} is longer than {count(self._limits.max_body_bytes)} bytes: shorten it",
                field=f"body.{written.too_long}",
            )  # fmt: skip

    def _refusal(self, error: Refusal | HTTPException | BenzerError) -> Refusal:
        durable = f"; {count(self.totals.read)} documents of this upload are durable"
        if isinstance(error, Refusal):
            after = (error.headers or {}).get("Retry-After")
            return Refusal(
                error.status, error.message + durable, field=error.field, type=error.type,
                retry_after=None if after is None else float(after),
            )  # fmt: skip
        if isinstance(error, HTTPException):
            return Refusal(error.status_code, f"{error.detail}{durable}")
        status = status_of(error)
        message = self._without_places(str(error)) + durable
        return Refusal(status, message, type=type(error).__name__, retry_after=1 if status == 503 else None)


def write_batch(index: Index, thumbnails: Thumbnails, batch: Batch, skip: bool) -> Written:
    """Write the documents of a batch without committing."""
    malformed, rows = list(batch.malformed), batch.rows
    if not batch.documents:
        return Written(0, 0, malformed, batch.too_long)
    before = len(index)
    thumbnails.put(batch.thumbnails)
    added = add_sound(
        index, batch.documents, not skip,
        lambda document, error: malformed.append((rows[id(document)], str(error))),
    )  # fmt: skip
    thumbnails.remove(without_copies(index.settings.schema, batch.documents, batch.thumbnails))
    return Written(added, len(index) - before, malformed, batch.too_long)


async def blocks(stream: AsyncIterable[bytes], longest: int) -> AsyncIterator[tuple[int, bytes]]:
    """The bytes of a stream in blocks of complete lines, each with the number of its first line (from 1).

    A line with more than `longest` bytes ends the stream: the last block is then the beginning of that line.
    """
    pieces: list[bytes] = []
    size = lines = 0
    first = 1
    async for chunk in stream:
        pieces.append(chunk)
        size, lines = size + len(chunk), lines + chunk.count(b"\n")
        if lines >= BATCH_LINES or (lines and size >= BATCH_BYTES):
            whole = b"".join(pieces)
            end = whole.rfind(b"\n") + 1
            yield first, whole[:end]
            first, lines = first + lines, 0
            pieces, size = [whole[end:]], len(whole) - end
        if not lines and size > longest:
            break
    if size:
        yield first, b"".join(pieces)


def read_block(block: bytes, first: int, schema: Schema, limits: Limits, skip: bool) -> Batch:
    """The documents on some lines; without `skip`, those before the first malformed one."""
    batch, read = Batch(), reader_of(schema, limits)
    content = block.removeprefix(BOM) if first == 1 else block
    numbers: list[int] = []
    for row, line in enumerate(content.split(b"\n"), first):
        if len(line) > limits.max_body_bytes:
            batch.too_long = row
            break
        if not line.strip(BLANK):
            continue
        try:
            batch.documents.append(document_of(line, read))
            numbers.append(row)
        except (BadRow, InputError, Refusal) as error:
            batch.malformed.append((row, str(error)))
            if not skip:
                break
    if schema.foreign:
        _describe(batch, numbers, schema, skip)
    else:
        batch.rows = {id(document): row for document, row in zip(batch.documents, numbers, strict=True)}
    return batch


def _describe(batch: Batch, numbers: list[int], schema: Schema, skip: bool) -> None:
    """Replace images by descriptions; invalid images are malformed."""
    ready = prepared(schema, batch.documents)
    end = min(ready.faults, default=len(numbers)) if not skip else len(numbers)
    kept = [row for position, row in enumerate(numbers) if position not in ready.faults]
    batch.malformed += [(numbers[position], str(error)) for position, error in ready.faults.items()]
    batch.malformed.sort()
    pairs = [
        (document, row)
        for document, row in zip(ready.documents, kept, strict=True)
        if end == len(numbers) or row < numbers[end]
    ]
    batch.documents = [document for document, _ in pairs]
    batch.rows = {id(document): row for document, row in pairs}
    ids = {document.id for document in batch.documents}
    batch.thumbnails = [thumbnail for thumbnail in ready.thumbnails if thumbnail.id in ids]


def document_of(line: bytes, read: Any) -> Document:
    """The document on a line: {"id", "fields": {...}}, or {"id"} with the fields on the same level.

    >>> document_of(b'{"id": 7, "text": "one"}', lambda fields, place: fields)
    Document(id=7, fields={'text': 'one'})
    """
    row = parsed(line)
    if isinstance(row, BadRow):
        raise row
    if row.get("id") is None:
        raise BadRow('no "id"')
    document_id = checked_id(row.pop("id"))
    nested = row.get("fields")
    fields = nested if isinstance(nested, dict) and len(row) == 1 else row
    return check_id(Document(document_id, read(fields, "fields")))


async def discarded(chunks: AsyncIterable[bytes]) -> None:
    """Read on for a while: a client that is still sending would lose the response if the connection closed."""

    async def read_on() -> None:
        left = DISCARDED_BYTES
        async for chunk in chunks:
            left -= len(chunk)
            if left < 0:
                return

    with suppress(asyncio.TimeoutError, ClientDisconnect, HTTPException, RuntimeError):
        await asyncio.wait_for(read_on(), DISCARDED_SECONDS)
