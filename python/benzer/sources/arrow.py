"""Reads tables and columns in memory as Arrow batches (see `benzer.sources.frames` for their kinds)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
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
from benzer.sources.frames import Unconvertible, first_and_all, frame_of
from benzer.sources.nested import STEP, columns_in, is_path, root_of
from benzer.sources.rows import BATCH_DOCUMENTS, IDENTITY, RowReader, add_rows, check_alone, check_columns
from benzer.sources.streams import create_plain

WANTED = {"text": "text", "values": "lists of strings or integers", "image": "paths or contents of images"}


class ArrowSource:
    """A table or column in memory. Its copy on disk is a Parquet file; `select` gives the chosen rows in its kind.

    The rows of a column without a name have the ids 0, 1, 2, ...
    """

    suffix = ".parquet"
    path = None

    def __init__(self, table: Any, name: str = "table") -> None:
        self.name = name
        frame = frame_of(table)
        if frame is None:
            raise InputError(f"a {type(table).__name__} is not a table: use e.g. a pyarrow.Table")
        self._frame = frame
        self._report: ReadReport | None = None

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each row as a document (see `Source`)."""
        if self._frame.alone:
            batches, options = numbered(self._frame.batches(()), self.name, options)
            self._report = add_batches(corpus, number, batches, self.name, options)
            return self._report
        columns = wanted_columns(self.name, self._frame.names, options)
        try:
            first, batches = first_and_all(self._frame.batches(columns))
        except Unconvertible as found:
            self._report = _add_one_by_one(corpus, number, found.rows, self.name, options)
            return self._report
        if first is not None:
            check_types(self.name, first.schema, columns, options)
        self._report = add_batches(corpus, number, batches, self.name, options)
        return self._report

    def select(self, keep: Keep) -> Any:
        """The chosen rows in the kind that was given; `keep` as in `write_rows`."""
        return self._frame.select(chosen(self._report, keep, self.name))

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Write the chosen rows as Parquet (see `Source`)."""
        parquet = require("pyarrow.parquet", extra="parquet", purpose="Parquet files")
        table = self._frame.table(chosen(self._report, keep, self.name))
        with create_plain(destination) as copy:
            parquet.write_table(table, copy)
        return int(table.num_rows)


def numbered(arrays: Iterable[Any], name: str, options: ReadOptions) -> tuple[Iterator[Any], ReadOptions]:
    """The parts of a column without a name as batches whose ids count from 0, and how they are read."""
    check_alone(name, options)
    ((field, column),) = options.fields.items()
    pyarrow = require("pyarrow", extra="parquet", purpose="Arrow tables")

    def batches() -> Iterator[Any]:
        start = 0
        for array in arrays:
            check_type(name, column, array.type, options.kinds.get(field, "text"))
            ids = pyarrow.array(np.arange(start, start + len(array)))
            yield pyarrow.RecordBatch.from_arrays([ids, array], [IDENTITY, column])
            start += len(array)

    return batches(), replace(options, id_plan=(IDENTITY, True), extra_column=None)


def _add_one_by_one(
    corpus: DocumentSink, number: int, rows: Iterable[dict[str, Any]], name: str, options: ReadOptions
) -> ReadReport:
    first, every = first_and_all(iter(rows))
    malformed = MalformedRows(name, options.on_error)
    return add_rows(corpus, number, enumerate(every, 1), RowReader.of(options, first), malformed)


def check_schema(name: str, schema: Any, options: ReadOptions) -> list[str]:
    """The columns to read; `InputError` for one that is missing, there twice, or of an unreadable type."""
    columns = wanted_columns(name, schema.names, options)
    check_types(name, schema, columns, options)
    return columns


def wanted_columns(name: str, names: Sequence[str], options: ReadOptions) -> list[str]:
    """The columns to read; `InputError` for one that is missing or there twice."""
    if names:
        check_columns(name, options, [names], nested=True)
    columns = [*options.columns, *(["id"] if options.id_column is None else [])]
    columns = columns_in(columns, names)
    for column in columns:
        check_repeated(name, column, names)
    return columns


def check_types(name: str, schema: Any, columns: Sequence[str], options: ReadOptions) -> None:
    """Refuse columns of types that cannot be read as their fields."""
    for field, column in options.fields.items():
        kind = options.kinds.get(field, "text")
        if column in columns:
            check_type(name, column, schema.field(column).type, kind)
        elif is_path(column) and root_of(column) in columns:
            check_type(name, column, type_at(name, schema.field(root_of(column)).type, column, kind), kind)


def type_at(name: str, root: Any, column: str, kind: Kind) -> Any:
    """The type of a place inside a column of type `root`, as a field of a kind reads it: texts of lists are joined."""
    pyarrow = require("pyarrow", extra="parquet", purpose="Arrow tables")
    missing = InputError(f'column "{root_of(column)}" of {name} contains {root}, which has no "{column}"')
    inner, lists = root, 0
    for depth, (step, brackets) in enumerate(STEP.findall(column)):
        names = [part.name for part in inner] if pyarrow.types.is_struct(inner) else []
        if depth and step not in names:
            raise missing
        inner = inner.field(step).type if depth else inner
        for _ in range(brackets.count("[]")):
            if not is_list(pyarrow.types, inner):
                raise missing
            inner, lists = inner.value_type, lists + 1
    return pyarrow.list_(inner) if lists and kind != "text" else inner


def is_list(types: Any, kind: Any) -> bool:
    """Whether an Arrow type is one of lists; `types` is `pyarrow.types`."""
    return any(check(kind) for check in (types.is_list, types.is_large_list, types.is_fixed_size_list))


def check_type(name: str, column: str, type_found: Any, kind: Kind) -> None:
    """Refuse a column of a type that cannot be read as a field of this kind."""
    if not _reads_as(type_found, kind):
        holds = f'column "{column}" of {name} contains {type_found}'
        raise InputError(f"{holds}, not {WANTED[kind]}: choose another column")


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
    if types.is_integer(kind_found):
        return True
    if not is_list(types, kind_found):
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
