"""Tables as files: JSON lines, CSV or Parquet, in an unnamed temporary file."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from benzer.errors import MissingExtraError
from benzer.registry import require
from benzer.service.errors import Refusal
from benzer.service.jobs.tables import Columns, Table
from benzer.tables import to_arrow, write_table
from benzer.tables.native import plain

FileFormat = Literal["ndjson", "csv", "parquet"]
MEDIA_TYPES = {
    "ndjson": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
PART_ROWS = 20_000
CHUNK_BYTES = 1 << 18
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")
"""Characters that a spreadsheet may read as the start of a formula, and the apostrophe that prevents it."""


def written(table: Table, start: int, end: int, format: FileFormat) -> BinaryIO:
    """Rows of a table as a file, positioned at its start; closing it deletes it."""
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
    """Parquet, some rows at a time, so that requests can run in between; a column with mixed ids becomes text."""
    parquet = require("pyarrow.parquet", extra="parquet", purpose="Parquet files")
    columns = common_types(arrow_parts(table, start, end))
    with parquet.ParquetWriter(path, columns, compression="zstd") as stream:
        for part in arrow_parts(table, start, end):
            stream.write_table(part.cast(columns))


def arrow_parts(table: Table, start: int, end: int) -> Iterator[Any]:
    """Rows of a table as a sequence of Arrow tables; one empty table if there are no rows."""
    for number in range(start, max(end, start + 1), PART_ROWS):
        part = table.part(number, min(number + PART_ROWS, end))
        yield to_arrow({name: plain(column) for name, column in part.items()})


def common_types(parts: Iterable[Any]) -> Any:
    """The common Arrow schema of all parts; a column is text if one part has text.

    A part without values in a column does not determine its type.
    """
    pyarrow = require("pyarrow", extra="parquet", purpose="Parquet files")
    chosen: dict[str, Any] = {}
    types = set()
    for part in parts:
        for name, column in zip(part.column_names, part.columns, strict=True):
            says = column.null_count < len(column)
            if name not in chosen or (says and (name not in types or column.type == pyarrow.large_string())):
                chosen[name] = column.type
            types |= {name} if says else set()
    return pyarrow.schema(chosen)


def write_csv(path: Path, table: Table, start: int, end: int) -> None:
    """CSV (RFC 4180) with a header, in UTF-8; see `cell` for the protection against formulas."""
    with path.open("w", encoding="utf-8", errors="replace", newline="") as stream:
        lines = csv.writer(stream)
        lines.writerow(table.part(0, 0))
        for number in range(start, end, PART_ROWS):
            lines.writerows(cells(table.part(number, min(number + PART_ROWS, end))))


def cells(columns: Columns) -> Iterator[list[Any]]:
    """The rows of some columns as CSV values."""
    lists = [plain(column) for column in columns.values()]
    lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in lists]
    for row in zip(*lists, strict=True):
        yield [cell(value) for value in row]


def cell(value: Any) -> Any:
    """A value for CSV: a text that a spreadsheet could read as a formula gets an apostrophe as a prefix.

    A text that starts with an apostrophe gets another one, so that removing one restores every text. Numbers are not
    texts: the id -7 is unchanged. Booleans are written as in JSON.

    >>> [cell(value) for value in ("=1+1", "'tis", "-7", -7, "a=b", True, None)]
    ["'=1+1", "''tis", "'-7", -7, 'a=b', 'true', None]
    """
    if isinstance(value, str) and value.startswith(FORMULA):
        return "'" + value
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


class Chunks:
    """The content of a file, which is closed at its end or when the client disconnects."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __iter__(self) -> Chunks:
        return self

    def __next__(self) -> bytes:
        chunk = self._file.read(CHUNK_BYTES)
        if not chunk:
            self._file.close()
            raise StopIteration
        return chunk

    def __del__(self) -> None:
        self._file.close()


def size_of(file: BinaryIO) -> int:
    """The bytes of an open file."""
    return os.fstat(file.fileno()).st_size


WRITERS: dict[str, Callable[[Path, Table, int, int], None]] = {
    "ndjson": write_lines,
    "csv": write_csv,
    "parquet": write_parquet,
}
