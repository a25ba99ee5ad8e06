"""The input of a job: the current documents of an index, or an upload in a temporary file."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benzer.errors import InputError
from benzer.fields import Schema
from benzer.index import Index
from benzer.service.errors import Refusal
from benzer.service.jobs.job import Report
from benzer.service.settings import Limits
from benzer.service.wire.documents import FieldReader, reader_of
from benzer.sources.base import DocumentSink, Keep, MalformedRows, ReadOptions, ReadReport, Source, noun_of
from benzer.sources.formats import HEAD_BYTES
from benzer.sources.iterable import as_row, wrong_fields
from benzer.sources.jsonl import BLANK, JsonlSource, parsed
from benzer.sources.rows import IDENTITY, BadRow, NumberedRow, RowReader, add_rows
from benzer.sources.streams import BOM, FileInput
from benzer.wording import count

MOST_LINE = 64 << 20
"""Maximum bytes of a line read here; the core accepts longer ones."""
TOLD_ROWS = 500
"""Number of rows after which a job reports its progress and checks for cancellation."""
NESTED = b'"fields"'

Rows = Callable[[ReadOptions], Iterator[NumberedRow]]


class RowsSource:
    """Rows that are created when they are read, once, and kept only by the corpus (see `benzer.sources.Source`)."""

    suffix = ".jsonl"
    path: Path | None = None

    def __init__(self, name: str, unit: str, rows: Rows) -> None:
        self.name, self._unit = name, unit
        self._rows: Rows | None = rows

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each row as a document (see `Source`)."""
        rows, self._rows = (
            self._rows,
            None,
        )  # a result refers to its sources, but the rows must not live as long
        if rows is None:
            raise InputError(f"{self.name} was already read: a job reads its input once")
        first = next((row for _, row in rows(options) if isinstance(row, dict)), None)
        reader = RowReader.of(options, first)
        malformed = MalformedRows(self.name, options.on_error, unit=self._unit)
        return add_rows(corpus, number, rows(options), reader, malformed)

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Always fails, because the rows are not kept."""
        raise InputError(f"{self.name} cannot be written again: a job keeps only the ids of its documents")


class IndexSource(RowsSource):
    """A snapshot of the documents of an index, in insertion order."""

    def __init__(self, index: Index, report: Report) -> None:
        super().__init__("documents", "item", self._documents)
        self._index, self._report = index, report

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each document from one snapshot (see `Source`)."""
        with self._index.snapshot():
            return super().read_into(corpus, number, options)

    def _documents(self, options: ReadOptions) -> Iterator[NumberedRow]:
        total = len(self._index)
        for number, document in enumerate(self._index.documents(), 1):
            if number % TOLD_ROWS == 1:
                self._report("read", number - 1, total)
            yield number, as_row(document, options)


@contextmanager
def room_told() -> Iterator[None]:
    """Convert a full disk to the refusal of an upload."""
    try:
        yield
    except OSError as error:
        raise Refusal(
            503, f"the server has no space for the upload ({error.strerror}): retry later", retry_after=60
        ) from error


class Spool:
    """The lines of an upload in a temporary file that is deleted when it is closed."""

    def __init__(self) -> None:
        self._file = tempfile.NamedTemporaryFile(prefix="benzer-job-")
        self.bytes = 0

    def write(self, data: bytes) -> None:
        """Append bytes of the upload."""
        with room_told():
            self._file.write(data)
        self.bytes += len(data)

    def complete(self) -> None:
        """End the upload."""
        with room_told():
            self._file.flush()

    def head(self) -> bytes:
        """The first bytes of the upload."""
        with open(self._file.name, "rb") as stream:
            return stream.read(HEAD_BYTES)

    def close(self) -> None:
        """Delete the file; mapped parts remain until they are released."""
        self._file.close()

    def source(self, schema: Schema, limits: Limits, report: Report) -> Source:
        """The documents in the file, parsed by the core if each line is a flat object of texts."""
        path = Path(self._file.name)
        texts = all(field.kind == "text" for field in schema.fields.values())
        if texts and ("fields" in schema.fields or not self._mentions(NESTED)):
            return JsonlSource(FileInput("upload", path, suffix=".jsonl", spool=self._file))
        return RowsSource(
            "upload", "line", lambda options: documents(self._lines(report), schema, limits, options)
        )

    def _mentions(self, word: bytes) -> bool:
        if not self.bytes:
            return False
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(word) >= 0

    def _lines(self, report: Report) -> Iterator[tuple[int, Any]]:
        with open(self._file.name, "rb") as stream:
            for number, line in enumerate(iter(partial(stream.readline, MOST_LINE), b""), 1):
                if number % TOLD_ROWS == 1:
                    report("read", stream.tell(), self.bytes)
                if len(line) == MOST_LINE:
                    raise InputError(
                        f"upload line {number} is longer than {count(MOST_LINE)} bytes: shorten it"
                    )
                content = line.removeprefix(BOM) if number == 1 else line
                if content.strip(BLANK):
                    yield number, parsed(content)


def listed(given: Sequence[Any], schema: Schema, limits: Limits, report: Report) -> Source:
    """The documents of a JSON body."""

    def rows(options: ReadOptions) -> Iterator[NumberedRow]:
        report("read", 0, len(given))
        return documents(enumerate(given, 1), schema, limits, options)

    return RowsSource("upload", "item", rows)


def documents(
    rows: Iterable[tuple[int, Any]], schema: Schema, limits: Limits, options: ReadOptions
) -> Iterator[NumberedRow]:
    """Objects as rows: `{"id", "fields": {...}}` or flat, `{"id", "text": ...}`; or the reason why one is malformed.

    Contents are read as by the service: a text in an image field is rejected and never read as a path on the server.

    >>> [(_, row)] = documents([(1, {"id": 7, "fields": {"text": "one"}})], Schema(), Limits(), ReadOptions())
    >>> row == {"id": 7, "text": "one", IDENTITY: 7}
    True
    """
    read = reader_of(schema, limits)
    for number, row in rows:
        try:
            yield number, row if isinstance(row, BadRow) else row_of(row, schema, read, options)
        except (InputError, Refusal) as error:
            yield number, BadRow(str(error))


def row_of(row: Any, schema: Schema, read: FieldReader, options: ReadOptions) -> dict[str, Any] | BadRow:
    """One object as a row with the columns of the schema."""
    if not isinstance(row, Mapping):
        return BadRow(f"not a JSON object, but {noun_of(row)}")
    fields = row.get("fields") if "fields" not in schema.fields else None
    if not isinstance(fields, Mapping):
        named = {name: row[name] for name in schema.fields if name in row}
        return {**row, **read(named, "document")}
    if (bad := wrong_fields(fields, schema.fields, options.extra_column)) is not None:
        return bad
    contents = read({name: fields.get(name) for name in schema.fields}, "document")
    extra = {} if options.extra_column is None else {options.extra_column: fields.get(options.extra_column)}
    # Also as a column: the first row decides whether there is an id column, which flat rows after it may use.
    return {"id": row.get("id"), **extra, **contents, IDENTITY: row.get("id")}
