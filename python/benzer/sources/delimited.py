"""Reads CSV and TSV: texts by array operations, other cells with Python's `csv`."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

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
from benzer.sources.columns import takes_columns
from benzer.sources.cutting import Mask, RecordBlock, long_fields, record_blocks, text_of
from benzer.sources.dialects import found_delimiter
from benzer.sources.encodings import Utf8Blocks, decoded, original, other_encodings
from benzer.sources.rows import BadRow, NumberedRow, RowReader, add_rows, check_columns
from benzer.sources.streams import FileInput, create

NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
LINES_LOOKED_AT = 20


@dataclass(frozen=True)
class OpenTable:
    """An open table: its delimiter, the names of its columns, and its records below the header, in blocks."""

    delimiter: str
    header: list[str]
    blocks: Iterator[RecordBlock]
    stream: Utf8Blocks
    first: bytes


class DelimitedSource:
    """A table of separated values with a header. A row's number counts records, not lines.

    Delimiter and encoding are those of the options, or detected. Records are copied with their quotes and line ends, in
    the encoding of the file. A cell of a value-set field is a JSON array of strings or integers, or a number, or empty;
    a cell that is handed on as extra is a number where it is written like one.
    """

    delimiter = ","

    def __init__(self, file: FileInput) -> None:
        self.name, self.suffix, self.path = file.name, file.suffix, file.given_path
        self._file = file
        self._report: ReadReport | None = None
        self._stamp: tuple[int, int] | None = None
        self._given: tuple[str | None, str | None] = (None, None)

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each record as a document (see `Source`)."""
        self._stamp = self._file.stamp()
        malformed = MalformedRows(self.name, options.on_error)
        corpus.name_source(number, self.name)
        rows_read = 0
        with self._open(options.delimiter, options.encoding) as table:
            header = table.header
            if header:
                check_columns(self.name, options, [header])
            for column in {*options.columns, "id"}:
                check_repeated(self.name, column, header)
            folder = self.path.parent if self.path else None
            reader = RowReader.of(options, {"id": ""} if "id" in header else None, folder)
            cells = CellReader.of(options, table)
            by_columns = takes_columns(corpus, options)
            for block in table.blocks:
                if not (by_columns and cells.add(corpus, number, rows_read + 1, block, reader)):
                    add_rows(corpus, number, cells.rows(block, rows_read + 1), reader, malformed)
                rows_read += len(block)
            encoding = table.stream.encoding
        self._given = table.delimiter, encoding
        documents = rows_read - len(malformed.found)
        self._report = ReadReport(rows_read, documents, malformed.found, other_encodings([encoding]))
        return self._report

    def remember(self, report: ReadReport) -> None:
        """Take the report of a process that has read the same, so that rows can be chosen here."""
        self._report, self._stamp = report, self._file.stamp()
        self._given = self._given[0], next(iter(report.encodings), "utf-8")

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Copy the header and the chosen records (see `Source`)."""
        rows, done = chosen(self._report, keep, self.name), 0
        self._file.check_unchanged(self._stamp)
        with self._open(*self._given) as table, create(destination, self._file.compression) as copy:
            encoding = table.stream.encoding
            copy.write(original(table.stream.mark + table.first, encoding))
            for block in table.blocks:
                copy.write(original(block.joined(rows[done : done + len(block)]), encoding))
                done += len(block)
        return int(keep.sum())

    @contextmanager
    def cells(self) -> Iterator[Iterator[list[str] | BadRow]]:
        """The cells of each record, the header first."""
        with self._open(*self._given) as table:
            cells = CellReader(table.delimiter, table.header, list(range(len(table.header))), [], None, None)
            yield chain(
                [table.header] if table.first else [], chain.from_iterable(map(cells.cells, table.blocks))
            )

    @contextmanager
    def _open(self, delimiter: str | None, encoding: str | None) -> Iterator[OpenTable]:
        if delimiter is None:
            delimiter = self._found_delimiter(encoding)
        with self._file.open() as stream:
            content = Utf8Blocks(stream, self.name, encoding)
            blocks = record_blocks(content, delimiter)
            block = next(blocks, None)
            if block is None:
                yield OpenTable(delimiter, [], iter(()), content, b"")
                return
            header = self._header(block.part(0, 1), delimiter)
            first = bytes(block.data[block.spans[0, 0] : block.spans[0, 1]])
            yield OpenTable(delimiter, header, chain([block.part(1, len(block))], blocks), content, first)

    def _found_delimiter(self, encoding: str | None) -> str:
        try:
            text, _ = decoded(self._file.head(), encoding)
        except UnicodeDecodeError:
            text = self._file.head().decode("latin-1")
        lines = [line for line in text.removeprefix("\ufeff").splitlines() if line.strip()]
        return found_delimiter(lines[:LINES_LOOKED_AT], self.delimiter)

    def _header(self, block: RecordBlock, delimiter: str) -> list[str]:
        (cells,) = CellReader(delimiter, [], None, [], None, None).cells(block)
        return checked_header(self.name, cells)


def checked_header(name: str, header: list[str] | BadRow) -> list[str]:
    """The names of the columns; a malformed first line is refused."""
    if isinstance(header, BadRow):
        raise InputError(f"{name} has a malformed header ({header}): correct the first line")
    return header


class CsvSource(DelimitedSource):
    """Separated values, by a comma where nothing else is given or detected."""


class TsvSource(DelimitedSource):
    """Tab-separated values; cells may be quoted as in CSV."""

    delimiter = "\t"


@dataclass(frozen=True)
class CellReader:
    """Reads the cells of some columns. `columns`: their places in the header; None for all cells of a record."""

    delimiter: str
    header: list[str]
    columns: list[int] | None
    values: Sequence[str]
    id_column: str | None
    extra_column: str | None

    @classmethod
    def of(cls, options: ReadOptions, table: OpenTable) -> CellReader:
        """Reader for the columns that the options ask for."""
        header = table.header
        values = [column for name, column in options.fields.items() if options.kinds.get(name) == "values"]
        id_column = options.id_column or ("id" if "id" in header else None)
        wanted = {*options.columns, id_column}
        columns = [place for place, name in enumerate(header) if name in wanted]
        return cls(table.delimiter, header, columns, values, id_column, options.extra_column)

    def add(self, corpus: Any, number: int, first: int, block: RecordBlock, reader: RowReader) -> bool:
        """Add the records of a block by columns; False, and nothing added, where they must be looked at one by one."""
        if block.cells is not None or (block.widths != len(self.header)).any() or not len(block):
            return False
        ids = None
        if reader.id_column is not None:
            ids = block.column(self.header.index(reader.id_column))
            if not np.diff(ids[0]).all():  # an empty id is a missing one
                return False
        texts = [block.column(self.header.index(column)) for column, _ in reader.fields]
        return bool(corpus.add_columns(number, first, len(block), ids, texts))

    def rows(self, block: RecordBlock, first: int) -> Iterator[NumberedRow]:
        """Each record as a row of the wanted columns, numbered from `first`."""
        names = [self.header[place] for place in self.columns or []]
        for place, cells in enumerate(self.cells(block)):
            try:
                if isinstance(cells, BadRow):
                    raise cells
                yield first + place, self._row(dict(zip(names, cells, strict=True)))
            except BadRow as bad:
                (line,) = block.lines(np.array([place]))
                yield first + place, BadRow(f"{bad} (line {line})")

    def cells(self, block: RecordBlock) -> Iterator[list[str] | BadRow]:
        """The wanted cells of each record; a record that is longer or shorter than the header is a `BadRow`."""
        width = len(self.header)
        if block.cells is not None:
            for cells in block.cells:
                if isinstance(cells, BadRow) or self.columns is None:
                    yield cells
                elif len(cells) != width:
                    yield ragged(len(cells), width)
                else:
                    yield [cells[place] for place in self.columns]
            return
        whole: Mask = np.ones(len(block), np.bool_) if self.columns is None else block.widths == width
        found = self._found(block, whole)
        for fits, count in zip(whole.tolist(), block.widths.tolist(), strict=True):
            yield next(found) if fits else ragged(count, width)

    def _found(self, block: RecordBlock, whole: Mask) -> Iterator[list[str]]:
        """The cells of records that have as many as the header."""
        with long_fields():
            for cells in csv.reader(
                io.StringIO(text_of(block.joined(whole)), newline=""), delimiter=self.delimiter, strict=True
            ):
                if cells:
                    yield cells if self.columns is None else [cells[place] for place in self.columns]

    def _row(self, row: dict[str, Any]) -> dict[str, object]:
        for column in self.values:
            row[column] = cell_values(column, str(row[column]))
        if self.id_column is not None:
            row[self.id_column] = row[self.id_column] or None
        if self.extra_column is not None:
            row[self.extra_column] = extra_value(str(row[self.extra_column]))
        return row


def ragged(count: int, width: int) -> BadRow:
    """What is wrong with a record of another length than the header."""
    return BadRow(f"{count} columns where the header has {width}")


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
