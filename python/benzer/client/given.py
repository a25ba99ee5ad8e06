"""How do given documents become parts of a body? Row by row, and no more at a time than one request carries."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from benzer.checks import is_number
from benzer.client.steps import Steps, as_json, draw
from benzer.client.wire import document_as_json
from benzer.errors import InputError, SettingsError
from benzer.fields import Schema
from benzer.index.given import as_document, check_id
from benzer.sources import MalformedRow

LARGEST_PART = 8_000_000
"""Bytes of rows that are sent together, unless one document alone has more."""
DRAWN = 64
SOURCE = "documents"


def source_of(documents: Any) -> Any:
    """An iterator over documents; over a mapping of id → text, its pairs."""
    if isinstance(documents, AsyncIterable):
        return aiter(documents)
    if isinstance(documents, str | bytes):
        raise InputError(f"documents must be a list, got the text {documents!r:.80}: put it into a list")
    if not isinstance(documents, Iterable):
        raise InputError(f"documents must be a list or an iterator, got {type(documents).__name__}: give one")
    return iter(documents.items() if isinstance(documents, Mapping) else documents)


class Row(NamedTuple):
    """A document as a line of NDJSON, and which row of the input it is, from 1."""

    number: int
    line: bytes


class Rows:
    """Documents as rows, taken from their source as they are sent.

    skips: whether what cannot be a row goes to `malformed`, and is counted in `refused`; else it is an error.
    taken: how many were taken so far.

    >>> [row.number for row in Rows(iter([]), Schema()).written([("a", "one"), (7, "two")])]
    [1, 2]
    """

    def __init__(self, source: Any, schema: Schema, skips: bool = False) -> None:
        self._source, self._schema, self.skips = source, schema, skips
        self._waiting: deque[Row] = deque()
        self._ended = False
        self.taken = self.refused = 0
        self.malformed: list[MalformedRow] = []

    def written(self, given: Iterable[Any]) -> Iterator[Row]:
        """Each thing as a row."""
        for one in given:
            self.taken += 1
            try:
                yield Row(self.taken, self._line(one))
            except (InputError, SettingsError) as error:
                if not self.skips:
                    raise InputError(f"row {self.taken}: {error}") from error
                self.refused += 1
                self.malformed.append(MalformedRow(SOURCE, self.taken, str(error)))

    def _line(self, given: Any) -> bytes:
        document = check_id(as_document(given, self._schema))
        try:
            return as_json(document_as_json(document, self._schema)) + b"\n"
        except (TypeError, ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"document {document.id!r} cannot be written as JSON: {error}") from error

    def part(self, most: int) -> Steps[list[Row]]:
        """The next rows, `most` at most; none at the end."""
        part: list[Row] = []
        size = 0
        while len(part) < most and (yield from self._filled(min(DRAWN, most - len(part)))):
            size += len(self._waiting[0].line)
            if part and size > LARGEST_PART:
                break
            part.append(self._waiting.popleft())
        return part

    def _filled(self, count: int) -> Steps[bool]:
        """Whether a row waits, for which some are taken where none does."""
        while not self._waiting and not self._ended:
            given = yield from draw(self._source, count)
            self._ended = len(given) < count
            self._waiting.extend(self.written(given))
        return bool(self._waiting)


def check_batch_size(batch_size: Any) -> None:
    """Refuse a number of documents that is none."""
    if not is_number(batch_size) or int(batch_size) != batch_size or batch_size < 1:
        raise SettingsError(f"batch_size must be 1 or more, got {batch_size}")
