"""Reads a file of any format as rows with all columns; used by the service."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benzer.errors import InputError
from benzer.sources.delimited import CsvSource, DelimitedSource, TsvSource, checked_header
from benzer.sources.excel import ExcelSource
from benzer.sources.folder import read_file, read_page
from benzer.sources.ipc import IpcSource
from benzer.sources.json_array import elements
from benzer.sources.jsonl import BLANK, HEAD_BYTES, parsed, refuse_array
from benzer.sources.parquet import ParquetSource
from benzer.sources.rows import BadRow
from benzer.sources.streams import BOM, FileInput
from benzer.sources.warc import WarcSource

TABLES = ("jsonl", "json", "csv", "tsv", "parquet", "ipc", "excel", "warc")
"""The formats that hold a document a row."""
BATCH_ROWS = 1_000
Record = dict[str, Any] | BadRow


def records(file: FileInput, format: str) -> Iterator[tuple[int, Record]]:
    """Yield each row of a file with its number from 1, or why it cannot be read.

    Args:
        file: The file, with its compression.
        format: One of `TABLES`, "html" or "text"; a text or page is one row with the columns id and text.

    Raises:
        InputError: The file as a whole cannot be read.
    """
    if format == "jsonl":
        return _json_rows(file)
    if format == "json":
        return _array_rows(file)
    if format in ("parquet", "ipc"):
        return _arrow_rows(ParquetSource(file) if format == "parquet" else IpcSource(file))
    if format == "excel":
        return enumerate(ExcelSource(file).rows(), start=1)
    if format in ("csv", "tsv"):
        return _delimited_rows(CsvSource(file) if format == "csv" else TsvSource(file))
    if format == "warc":
        return WarcSource(file).rows()
    return iter([(1, _text_row(file, read_page if format == "html" else read_file))])


def _json_rows(file: FileInput) -> Iterator[tuple[int, Record]]:
    with file.open() as stream:
        refuse_array(file.name, stream.readline(HEAD_BYTES).removeprefix(BOM).lstrip(BLANK))
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            content = line.removeprefix(BOM) if number == 1 else line
            if content.strip(BLANK):
                yield number, parsed(content)


def _array_rows(file: FileInput) -> Iterator[tuple[int, Record]]:
    with file.open() as stream:
        for number, element in enumerate(elements(stream, file.name), start=1):
            yield number, parsed(element)


def _arrow_rows(source: ParquetSource | IpcSource) -> Iterator[tuple[int, Record]]:
    number = 0
    for batch in source.batches(BATCH_ROWS):
        for row in batch.to_pylist():
            number += 1
            yield number, row


def _delimited_rows(source: DelimitedSource) -> Iterator[tuple[int, Record]]:
    with source.cells() as rows:
        first = next(rows, None)
        if first is None:
            return
        header = checked_header(source.name, first)
        for number, cells in enumerate(rows, start=1):
            if isinstance(cells, BadRow):
                yield number, cells
            elif len(cells) != len(header):
                yield number, BadRow(f"{len(cells)} columns where the header has {len(header)}")
            else:
                yield number, dict(zip(header, cells, strict=True))


def _text_row(file: FileInput, read: Callable[[FileInput, None], Record]) -> dict[str, Any]:
    row = read(file, None)
    if isinstance(row, BadRow):
        raise InputError(str(row))
    return {"id": row["id"], "text": row["text"]}
