"""Reads Arrow tables: any object with `__arrow_c_stream__` (pyarrow, polars, pandas, DuckDB)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from benzer.columns import is_text
from benzer.errors import InputError
from benzer.registry import require
from benzer.sources.base import (
    DocumentSink,
    Keep,
    Kind,
    MalformedRows,
    ReadOptions,
    ReadReport,
    check_repeated,
    chosen,
)
from benzer.sources.columns import add_columns, takes_columns
from benzer.sources.rows import BATCH_DOCUMENTS, RowReader, add_rows, check_columns
from benzer.sources.streams import create_plain

WANTED = {"text": "text", "values": "lists of strings or integers", "image": "paths or contents of images"}


class ArrowSource:
    """A table in memory. Its copy on disk is a Parquet file; `select` gives the chosen rows in memory."""

    suffix = ".parquet"
    path = None

    def __init__(self, table: Any, name: str = "table") -> None:
        self.name = name
        pyarrow = require("pyarrow", extra="parquet", purpose="Arrow tables")
        # A table of views that is handed over to itself crashes before pyarrow 25.
        self._table = table if isinstance(table, pyarrow.Table) else pyarrow.table(table)
        self._report: ReadReport | None = None

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each row as a document (see `Source`)."""
        columns = check_schema(self.name, self._table.schema, options)
        batches = self._table.select(columns).to_batches(max_chunksize=BATCH_DOCUMENTS)
        self._report = add_batches(corpus, number, batches, self.name, options)
        return self._report

    def select(self, keep: Keep) -> Any:
        """The chosen rows as a `pyarrow.Table` with all columns; `keep` as in `write_rows`."""
        return filtered(self._table, chosen(self._report, keep, self.name))

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Write the chosen rows as Parquet (see `Source`)."""
        parquet = require("pyarrow.parquet", extra="parquet", purpose="Parquet files")
        table = self.select(keep)
        with create_plain(destination) as copy:
            parquet.write_table(table, copy)
        return int(table.num_rows)


def filtered(table: Any, rows: Keep) -> Any:
    """The chosen rows of a table, of whatever types its columns are."""
    pyarrow = require("pyarrow", extra="parquet", purpose="Arrow tables")
    try:
        return table.filter(pyarrow.array(rows))
    except pyarrow.ArrowNotImplementedError:  # string views, which polars has, cannot be filtered yet
        edges = np.flatnonzero(np.diff(rows.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
        runs = [table.slice(first, after - first) for first, after in edges.tolist()]
        return pyarrow.concat_tables([table.slice(0, 0), *runs])


def check_schema(name: str, schema: Any, options: ReadOptions) -> list[str]:
    """The columns to read; `InputError` for one that is missing, there twice, or of an unreadable type."""
    if schema.names:
        check_columns(name, options, [schema.names])
    columns = [*options.columns, *(["id"] if options.id_column is None else [])]
    columns = [column for column in dict.fromkeys(columns) if column in schema.names]
    for column in columns:
        check_repeated(name, column, schema.names)
    for field, column in options.fields.items():
        kind = options.kinds.get(field, "text")
        if column in columns and not _reads_as(schema.field(column).type, kind):
            wanted = WANTED[kind]
            holds = f'column "{column}" of {name} contains {schema.field(column).type}'
            raise InputError(f"{holds}, not {wanted}: choose another column")
    return columns


def _reads_as(kind_found: Any, kind: Kind) -> bool:
    types = require("pyarrow", extra="parquet", purpose="Arrow tables").types
    if types.is_null(kind_found):
        return True
    if types.is_dictionary(kind_found):
        return _reads_as(kind_found.value_type, kind)
    if kind == "image" and types.is_struct(kind_found):
        return bool({"bytes", "path"} & {part.name for part in kind_found})
    if kind in ("text", "image"):
        return is_text(types, kind_found)
    if not any(check(kind_found) for check in (types.is_list, types.is_large_list, types.is_fixed_size_list)):
        return False
    element = kind_found.value_type
    return bool(is_text(types, element) or types.is_integer(element) or types.is_null(element))


def add_batches(
    corpus: DocumentSink,
    number: int,
    batches: Iterable[Any],
    name: str,
    options: ReadOptions,
    folder: Path | None = None,
) -> ReadReport:
    """Add record batches that hold the wanted columns, rows numbered from 1; `folder` as in `RowReader.of`."""
    remaining = iter(batches)
    first = next((batch for batch in remaining if batch.num_rows), None)
    reader = RowReader.of(options, None if first is None else _rows(first.slice(0, 1))[0], folder)
    malformed = MalformedRows(name, options.on_error)
    corpus.name_source(number, name)
    by_columns, rows_read = takes_columns(corpus, options), 0
    for batch in [] if first is None else chain((first,), remaining):
        if not (by_columns and add_columns(corpus, number, rows_read + 1, batch, reader)):
            add_rows(corpus, number, enumerate(_each_row(batch), rows_read + 1), reader, malformed)
        rows_read += batch.num_rows
    return ReadReport(rows_read, rows_read - len(malformed.found), malformed.found)


def _each_row(batch: Any) -> Iterator[dict[str, Any]]:
    for start in range(0, batch.num_rows, BATCH_DOCUMENTS):
        yield from _rows(batch.slice(start, BATCH_DOCUMENTS))


def _rows(batch: Any) -> list[dict[str, Any]]:
    """Rows as dicts; texts that are not UTF-8 come as bytes, so that only their own rows are malformed."""
    columns = [_values(column) for column in batch.columns]
    return [dict(zip(batch.schema.names, values, strict=True)) for values in zip(*columns, strict=True)]


def _values(column: Any) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        pyarrow = require("pyarrow", extra="parquet", purpose="Arrow tables")
        return list(column.cast(pyarrow.large_binary()).to_pylist())
