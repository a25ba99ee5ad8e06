"""Converts documents to rows of request bodies, limited to the size of one request."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benzer.checks import check_documents, is_number
from benzer.client.requests import as_json
from benzer.client.wire import document_as_json
from benzer.errors import InputError, SettingsError
from benzer.fields import Schema
from benzer.index.documents import as_document, check_id
from benzer.sources import MalformedRow
from benzer.sources.documents import NumberedTexts, documents_in

LARGEST_PART = 8_000_000
"""Maximum bytes of rows in one request, except for a single larger document."""
DRAWN = 64
SOURCE = "documents"
Draw = Callable[[Any, int], Awaitable[list[Any]]]
"""Reads the next items of an iterator, at most a number of them."""


def new_documents(documents: Any, fields: Sequence[str]) -> Any:
    """An iterator over documents to add: the pairs of a mapping of ids to texts, or the rows of tables."""
    if isinstance(documents, AsyncIterable):
        return aiter(documents)
    added = documents_in(documents, fields)
    if isinstance(added, NumberedTexts):
        raise InputError("texts need ids in a service: pass (id, text) pairs, e.g. enumerate(texts)")
    return source_of(added)


def source_of(documents: Any) -> Any:
    """An iterator over documents; for a mapping of id → text, over its pairs."""
    if isinstance(documents, AsyncIterable):
        return aiter(documents)
    check_documents(documents)
    if not isinstance(documents, Iterable):
        raise InputError(
            f"documents must be an iterable, got {type(documents).__name__}: pass a list or an iterator"
        )
    return iter(documents.items() if isinstance(documents, Mapping) else documents)


class Row(NamedTuple):
    """A document as a line of NDJSON, and its row number in the input, from 1."""

    number: int
    line: bytes


class Rows:
    """Documents as rows, read from their source while they are sent.

    skips: whether invalid documents are added to `malformed` and counted in `refused`; otherwise they are errors.
    taken: number of documents read so far.

    >>> [row.number for row in Rows(iter([]), Schema()).written([("a", "one"), (7, "two")])]
    [1, 2]
    """

    def __init__(self, source: Any, schema: Schema, skips: bool = False) -> None:
        self._source, self._schema, self.skips = source, schema, skips
        self._waiting: deque[Row] = deque()
        self._ended = False
        self.count = self.refused = 0
        self.malformed: list[MalformedRow] = []

    def written(self, given: Iterable[Any]) -> Iterator[Row]:
        """Each document as a row."""
        for item in given:
            self.count += 1
            try:
                yield Row(self.count, self._line(item))
            except (InputError, SettingsError) as error:
                if not self.skips:
                    raise InputError(f"row {self.count}: {error}") from error
                self.refused += 1
                self.malformed.append(MalformedRow(SOURCE, self.count, str(error)))

    def _line(self, given: Any) -> bytes:
        document = check_id(as_document(given, self._schema))
        try:
            return as_json(document_as_json(document, self._schema)) + b"\n"
        except (TypeError, ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"document {document.id!r} cannot be written as JSON: {error}") from error

    async def part(self, draw: Draw, most: int) -> list[Row]:
        """The next rows, at most `most`; empty at the end. `draw` reads the documents."""
        part: list[Row] = []
        size = 0
        while len(part) < most and await self._filled(draw, min(DRAWN, most - len(part))):
            size += len(self._waiting[0].line)
            if part and size > LARGEST_PART:
                break
            part.append(self._waiting.popleft())
        return part

    async def _filled(self, draw: Draw, count: int) -> bool:
        """Whether a row is buffered; reads some if none is."""
        while not self._waiting and not self._ended:
            given = await draw(self._source, count)
            self._ended = len(given) < count
            self._waiting.extend(self.written(given))
        return bool(self._waiting)


def check_batch_size(batch_size: Any) -> None:
    """Reject an invalid number of documents."""
    if not is_number(batch_size) or int(batch_size) != batch_size or batch_size < 1:
        raise SettingsError(f"batch_size must be 1 or more, got {batch_size}")
