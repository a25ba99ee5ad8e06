"""How does a table become a file? As JSON lines, CSV or Parquet, in a temporary file that has no name any more."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from benzer.errors import MissingExtraError
from benzer.service.errors import Refusal
from benzer.service.jobs.tables import Columns, Table
from benzer.tables import write_table
from benzer.tables.native import plain

FileFormat = Literal["ndjson", "csv", "parquet"]
MEDIA_TYPES = {
    "ndjson": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
CSV_ROWS = 20_000
CHUNK_BYTES = 1 << 18
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")
"""What a spreadsheet may take for the beginning of a formula, and the apostrophe that says it is none."""


def written(table: Table, start: int, end: int, format: FileFormat) -> BinaryIO:
    """Some rows of a table as a file, to be read from its beginning; its room is free when it is closed."""
    with tempfile.TemporaryDirectory(prefix="benzer-table-") as folder:
        path = Path(folder, "table")
        try:
            WRITERS[format](path, table, start, end)
        except MissingExtraError as error:
            raise Refusal(501, str(error), field="query.format", type="MissingExtraError") from error
        return path.open("rb")


def write_lines(path: Path, table: Table, start: int, end: int) -> None:
    """JSON lines, as `Duplicates.write` writes them."""
    write_table(path, table.part(start, end), "jsonl")


def write_parquet(path: Path, table: Table, start: int, end: int) -> None:
    """Parquet; a column of ids of both kinds becomes text."""
    write_table(path, table.part(start, end), "parquet")


def write_csv(path: Path, table: Table, start: int, end: int) -> None:
    """CSV (RFC 4180) with a head, in UTF-8; see `cell` for what could be a formula."""
    with path.open("w", encoding="utf-8", errors="replace", newline="") as stream:
        lines = csv.writer(stream)
        lines.writerow(table.part(0, 0))
        for at in range(start, end, CSV_ROWS):
            lines.writerows(cells(table.part(at, min(at + CSV_ROWS, end))))


def cells(columns: Columns) -> Iterator[list[Any]]:
    """The rows of some columns as CSV has them."""
    lists = [plain(column) for column in columns.values()]
    lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in lists]
    for row in zip(*lists, strict=True):
        yield [cell(value) for value in row]


def cell(value: Any) -> Any:
    """A value as it stands in CSV: a text that a spreadsheet could take for a formula behind an apostrophe.

    A text that begins with an apostrophe gets another one, so that taking one away gives every text back. Numbers
    are no texts: the id -7 stays as it is. True and false as JSON has them.

    >>> [cell(value) for value in ("=1+1", "'tis", "-7", -7, "a=b", True, None)]
    ["'=1+1", "''tis", "'-7", -7, 'a=b', 'true', None]
    """
    if isinstance(value, str) and value.startswith(FORMULA):
        return "'" + value
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def chunks(file: BinaryIO) -> Iterator[bytes]:
    """The content of a file, which is closed at its end, or when nobody asks for more."""
    with file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def size_of(file: BinaryIO) -> int:
    """The bytes of an open file."""
    return os.fstat(file.fileno()).st_size


WRITERS: dict[str, Callable[[Path, Table, int, int], None]] = {
    "ndjson": write_lines,
    "csv": write_csv,
    "parquet": write_parquet,
}
