"""Reads the first sheet of Excel workbooks, with openpyxl."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from benzer.errors import InputError
from benzer.registry import require
from benzer.sources.base import (
    DocumentSink,
    Keep,
    MalformedRows,
    ReadOptions,
    ReadReport,
    check_repeated,
    chosen,
)
from benzer.sources.delimited import cell_values
from benzer.sources.rows import NumberedRow, RowReader, add_rows, check_columns
from benzer.sources.streams import FileInput, create_plain


class ExcelSource:
    """The first sheet of a workbook (.xlsx), with a header. Rows without any content are left out.

    Numbers and dates in columns of texts are read as text. A copy has the values of the chosen rows in one sheet of the
    same name, without formats, formulas and other sheets. Cost: about 25,000 rows in a second.
    """

    def __init__(self, file: FileInput) -> None:
        self.name, self.suffix, self.path = file.name, file.suffix, file.given_path
        self._file = file
        self._report: ReadReport | None = None
        self._stamp: tuple[int, int] | None = None

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each row as a document (see `Source`)."""
        self._stamp = self._file.stamp()
        malformed = MalformedRows(self.name, options.on_error)
        with self._open() as (_, rows):
            header = header_of(next(rows, ()))
            if header:
                check_columns(self.name, options, [header])
            for column in {*options.columns, "id"}:
                check_repeated(self.name, column, header)
            folder = self.path.parent if self.path else None
            reader = RowReader.of(options, {"id": ""} if "id" in header else None, folder)
            self._report = add_rows(corpus, number, _read(header, rows, options), reader, malformed)
        return self._report

    def remember(self, report: ReadReport) -> None:
        """Take the report of a process that has read the same, so that rows can be chosen here."""
        self._report, self._stamp = report, self._file.stamp()

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Write the header and the chosen rows to a workbook (see `Source`)."""
        openpyxl = require("openpyxl", extra="excel", purpose="Excel workbooks")
        wanted = chosen(self._report, keep, self.name)
        self._file.check_unchanged(self._stamp)
        copy = openpyxl.Workbook(write_only=True)
        with self._open() as (title, rows), create_plain(destination) as stream:
            sheet = copy.create_sheet(title)
            for header in rows:
                sheet.append(header)
                break
            for row, kept in zip(rows, wanted, strict=True):
                if kept:
                    sheet.append(row)
            copy.save(stream)
        return int(keep.sum())

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each row with all its columns."""
        with self._open() as (_, rows):
            header = header_of(next(rows, ()))
            yield from (dict(zip(header, row, strict=False)) for row in rows)

    def column_names(self) -> list[str]:
        """The names of the columns."""
        with self._open() as (_, rows):
            return header_of(next(rows, ()))

    @contextmanager
    def _open(self) -> Iterator[tuple[str, Iterator[tuple[Any, ...]]]]:
        """The name of the first sheet, and its rows as they are computed."""
        openpyxl = require("openpyxl", extra="excel", purpose="Excel workbooks")
        try:
            book = openpyxl.load_workbook(self._file.path, read_only=True, data_only=True)
        except (BadZipFile, KeyError, ValueError, OSError) as error:
            reason = str(error).rstrip(".")
            raise InputError(
                f"{self.name} cannot be read as an Excel workbook ({reason}): save it again"
            ) from error
        try:
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # what a program wrote there may be wrong
            rows = sheet.iter_rows(values_only=True)
            yield sheet.title, (row for row in rows if any(cell is not None for cell in row))
        finally:
            book.close()


def header_of(row: tuple[Any, ...]) -> list[str]:
    """The names of the columns, as text.

    >>> header_of(("id", 2024, None))
    ['id', '2024', '']
    """
    return ["" if name is None else str(name) for name in row]


def _read(header: list[str], rows: Iterator[tuple[Any, ...]], options: ReadOptions) -> Iterator[NumberedRow]:
    texts = {column for name, column in options.fields.items() if options.kinds.get(name, "text") == "text"}
    values = {column for name, column in options.fields.items() if options.kinds.get(name) == "values"}
    for number, cells in enumerate(rows, start=1):
        row: dict[str, Any] = {**dict.fromkeys(header), **dict(zip(header, cells, strict=False))}
        for column in texts & row.keys():
            row[column] = "" if row[column] is None else as_text(row[column])
        for column in values & row.keys():
            row[column] = cell_values(column, row[column]) if isinstance(row[column], str) else row[column]
        yield number, row


def as_text(cell: Any) -> str:
    """The value of a cell as text.

    >>> as_text(1984), as_text(2.0), as_text("a")
    ('1984', '2', 'a')
    """
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)
