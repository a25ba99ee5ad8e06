"""Reads CSV and TSV with the standard library, and keeps the raw text of each record."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from benzer.errors import InputError
from benzer.sources.base import (
    DocumentSink,
    Keep,
    MalformedRows,
    ReadOptions,
    ReadReport,
    check_repeated,
    chosen,
)
from benzer.sources.rows import BadRow, NumberedRow, RowReader, add_rows, check_columns
from benzer.sources.streams import FileInput, create

LONGEST_FIELD = 2**31 - 1
BOM = "\ufeff"
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class DelimitedRecord:
    """One record: its text as it stands in the file (invalid bytes as lone surrogates), and its cells."""

    raw: str
    line: int
    cells: list[str] | BadRow


class DelimitedSource:
    """A table of comma- or tab-separated values with a header. A row's number counts records, not lines.

    Records are copied with their quotes and line ends. A cell of a value-set field is a JSON array of strings
    or integers, or empty; a cell that is handed on as extra is a number where it is written like one.
    """

    delimiter = ","

    def __init__(self, file: FileInput) -> None:
        self.name, self.suffix, self.path = file.name, file.suffix, file.given_path
        self._file = file
        self._report: ReadReport | None = None
        self._stamp: tuple[int, int] | None = None

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each record as a document (see `Source`)."""
        self._stamp = self._file.stamp()
        values = [column for name, column in options.fields.items() if options.kinds.get(name) == "values"]
        malformed = MalformedRows(self.name, options.on_error)
        with self._records() as records:
            header = self._header(next(records, None), options)
            id_column = options.id_column or ("id" if "id" in header else None)
            folder = self.path.parent if self.path else None
            reader = RowReader.of(options, {"id": ""} if "id" in header else None, folder)
            rows = numbered_rows(records, header, _Cells(values, id_column, options.extra_column))
            self._report = add_rows(corpus, number, rows, reader, malformed)
        return self._report

    def remember(self, report: ReadReport) -> None:
        """Take the report of a process that has read the same, so that rows can be chosen here."""
        self._report, self._stamp = report, self._file.stamp()

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Copy the header and the chosen records (see `Source`)."""
        rows = chosen(self._report, keep, self.name)
        self._file.check_unchanged(self._stamp)
        with self._records() as records, create(destination, self._file.compression) as copy:
            for header in records:
                copy.write(encoded(header.raw))
                break
            for record, wanted in zip(records, rows, strict=True):
                if wanted:
                    copy.write(encoded(record.raw))
        return int(keep.sum())

    @contextmanager
    def cells(self) -> Iterator[Iterator[list[str] | BadRow]]:
        """The cells of each record, the header first."""
        with self._records() as records:
            yield (record.cells for record in records)

    @contextmanager
    def _records(self) -> Iterator[Iterator[DelimitedRecord]]:
        with self._file.open() as stream, long_fields(), text_of(stream) as text:
            yield read_records(text, self.delimiter)

    def _header(self, record: DelimitedRecord | None, options: ReadOptions) -> list[str]:
        if record is None:
            return []
        header = checked_header(self.name, record.cells)
        check_columns(self.name, options, [header])
        for column in {*options.columns, "id"}:
            check_repeated(self.name, column, header)
        return header


def checked_header(name: str, header: list[str] | BadRow) -> list[str]:
    """The names of the columns; a malformed first line is refused."""
    if isinstance(header, BadRow):
        raise InputError(f"{name} has a malformed header ({header}): correct the first line")
    return header


class CsvSource(DelimitedSource):
    """Comma-separated values."""


class TsvSource(DelimitedSource):
    """Tab-separated values; cells may be quoted as in CSV."""

    delimiter = "\t"


@dataclass(frozen=True, slots=True)
class _Cells:
    """Which cells are more than text."""

    values: list[str]
    id_column: str | None
    extra_column: str | None

    def row(self, header: list[str], cells: list[str]) -> dict[str, object]:
        row: dict[str, object] = dict(zip(header, cells, strict=True))
        for column in self.values:
            row[column] = cell_values(column, str(row[column]))
        if self.id_column is not None:
            row[self.id_column] = row[self.id_column] or None
        if self.extra_column is not None:
            row[self.extra_column] = extra_value(str(row[self.extra_column]))
        return row


def numbered_rows(
    records: Iterator[DelimitedRecord], header: list[str], cells: _Cells
) -> Iterator[NumberedRow]:
    """Each record as a row of its header's columns, from 1."""
    for number, record in enumerate(records, start=1):
        try:
            if isinstance(record.cells, BadRow):
                raise record.cells
            if len(record.cells) != len(header):
                raise BadRow(f"{len(record.cells)} columns where the header has {len(header)}")
            yield number, cells.row(header, record.cells)
        except BadRow as bad:
            yield number, BadRow(f"{bad} (line {record.line})")


def extra_value(cell: str) -> object:
    """A cell as JSON data: a number where it is written as one, null where it is empty.

    >>> extra_value("1.50"), extra_value("007"), extra_value("")
    (1.5, '007', None)
    """
    return json.loads(cell) if NUMBER.fullmatch(cell) else cell or None


def cell_values(column: str, cell: str) -> object:
    """A set of values from its cell.

    >>> cell_values("tags", '["a", 7]'), cell_values("tags", "")
    (['a', 7], None)
    """
    if not cell.strip():
        return None
    try:
        return json.loads(cell)
    except ValueError as error:
        raise BadRow(f'column "{column}" is not a JSON array') from error


def read_records(text: Iterable[str], delimiter: str) -> Iterator[DelimitedRecord]:
    """All records with the lines they came from, header first; blank lines are no records.

    >>> [record.cells for record in read_records(["id,text\\n", '1,"a\\n', 'b"\\n'], ",")]
    [['id', 'text'], ['1', 'a\\nb']]
    """
    taken: list[str] = []
    reader = csv.reader(_without_bom(text, taken), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        taken.clear()
        try:
            cells: list[str] | BadRow = next(reader)
        except csv.Error as error:
            cells = BadRow(_plain(error, len(taken)))
        except StopIteration:
            return
        raw = "".join(taken)
        if cells:
            yield DelimitedRecord(raw, line, _valid(raw, cells))


def _without_bom(text: Iterable[str], taken: list[str]) -> Iterator[str]:
    for number, line in enumerate(text):
        taken.append(line)
        yield line.removeprefix(BOM) if number == 0 else line


def _valid(raw: str, cells: list[str] | BadRow) -> list[str] | BadRow:
    if raw.isascii():
        return cells
    try:
        raw.encode()
    except UnicodeEncodeError as error:
        position, byte = len(encoded(raw[: error.start])), ord(raw[error.start]) & 0xFF
        return BadRow(f"invalid utf-8 at byte {position} of the record (0x{byte:02x})")
    return cells


def _plain(error: csv.Error, lines: int) -> str:
    if "unexpected end of data" in str(error):
        return f"a quote is not closed within {lines} lines"
    return str(error)


def text_of(stream: BinaryIO) -> io.TextIOWrapper:
    """The text of a stream with its line ends; invalid bytes as lone surrogates (see `encoded`)."""
    return io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")


def encoded(raw: str) -> bytes:
    """The very bytes that `raw` was read from."""
    return raw.encode("utf-8", "surrogateescape")


@contextmanager
def long_fields() -> Iterator[None]:
    """Let fields be as long as documents are; the parser's own limit is 128 KiB."""
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)
