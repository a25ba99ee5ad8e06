"""Reads the required columns of Parquet files in batches, and copies row groups."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import local
from typing import Any

from benzer.errors import InputError
from benzer.registry import require
from benzer.sources.arrow import add_batches, check_schema
from benzer.sources.base import DocumentSink, Keep, ReadOptions, ReadReport, chosen
from benzer.sources.columns import takes_columns
from benzer.sources.frames import filtered
from benzer.sources.rows import BATCH_DOCUMENTS
from benzer.sources.streams import FileInput, create_plain

ROWS_OF_A_GROUP = 256
"""From how many rows on, in the mean, row groups are read side by side."""


class ParquetSource:
    """A Parquet file; copied a row group at a time, with the same schema, metadata and compression."""

    def __init__(self, file: FileInput) -> None:
        self.name, self.suffix, self.path = file.name, file.suffix, file.given_path
        self._file = file
        self._report: ReadReport | None = None
        self._stamp: tuple[int, int] | None = None

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each row as a document (see `Source`)."""
        self._stamp = self._file.stamp()
        with self._open() as content:
            columns = check_schema(self.name, content.schema_arrow, options)
            if takes_columns(corpus, options) and large_groups(content.metadata):
                batches = self._row_groups(content.num_row_groups, columns, options.threads)
            else:
                batches = self._batches(content, columns)
            folder = self.path.parent if self.path else None
            with closing(batches):
                self._report = add_batches(corpus, number, batches, self.name, options, folder)
        return self._report

    def remember(self, report: ReadReport) -> None:
        """Take the report of a process that has read the same, so that rows can be chosen here."""
        self._report, self._stamp = report, self._file.stamp()

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Copy the chosen rows with all columns (see `Source`)."""
        parquet = require("pyarrow.parquet", extra="parquet", purpose="Parquet files")
        rows, start = chosen(self._report, keep, self.name), 0
        self._file.check_unchanged(self._stamp)
        with self._open() as content, create_plain(destination) as copy:
            metadata = content.metadata
            settings = {"compression": compressions(metadata), "version": metadata.format_version}
            with parquet.ParquetWriter(copy, content.schema_arrow, **settings) as writer:
                for group in range(content.num_row_groups):
                    wanted = rows[start : start + metadata.row_group(group).num_rows]
                    start += len(wanted)
                    if wanted.any():
                        table = self._guarded(content.read_row_group, group)
                        writer.write_table(filtered(table, wanted))
        return int(keep.sum())

    def groups(self, start: int, end: int, options: ReadOptions) -> Iterator[Any]:
        """The rows of some row groups as record batches of the columns that `read_into` reads."""
        with self._open() as content:
            columns = check_schema(self.name, content.schema_arrow, options)
            for group in range(start, end):
                yield from self._guarded(partial(content.read_row_group, columns=columns), group).to_batches()

    def batches(self, rows: int) -> Iterator[Any]:
        """Record batches of so many rows with all columns."""
        with self._open() as content:
            batches = content.iter_batches(batch_size=rows)
            while (batch := self._guarded(next, batches, None)) is not None:
                yield batch

    def _open(self) -> Any:
        parquet = require("pyarrow.parquet", extra="parquet", purpose="Parquet files")
        return self._guarded(parquet.ParquetFile, self._file.path)

    def _row_groups(self, count: int, columns: list[str], threads: int) -> Generator[Any, None, None]:
        """The row groups in their order, a few of them read ahead: their texts stay in memory in any case."""
        opened = local()

        def group(number: int) -> Any:
            if not hasattr(opened, "content"):  # a reader is of one thread
                opened.content = self._open()
            read = partial(opened.content.read_row_group, columns=columns, use_threads=False)
            return self._guarded(read, number).to_batches()

        threads = min(threads or os.cpu_count() or 1, count) or 1
        with ThreadPoolExecutor(threads, thread_name_prefix="benzer-parquet") as pool:
            ahead = deque(pool.submit(group, number) for number in range(min(threads + 1, count)))
            try:
                for number in range(threads + 1, threads + 1 + count):
                    found = ahead.popleft().result()
                    if number < count:
                        ahead.append(pool.submit(group, number))
                    yield from found
            finally:
                pool.shutdown(cancel_futures=True)

    def _batches(self, content: Any, columns: list[str]) -> Generator[Any, None, None]:
        batches = content.iter_batches(batch_size=BATCH_DOCUMENTS, columns=columns)
        while (batch := self._guarded(next, batches, None)) is not None:
            yield batch

    def _guarded(self, read: Callable[..., Any], *arguments: Any) -> Any:
        """What `read` returns; a damaged file is an `InputError` that names it."""
        pyarrow = require("pyarrow", extra="parquet", purpose="Parquet files")
        try:
            return read(*arguments)
        except (pyarrow.ArrowInvalid, OSError) as error:
            reason = str(error).rstrip(".")
            raise InputError(f"{self.name} cannot be read as Parquet ({reason}): write it again") from error


def large_groups(metadata: Any) -> bool:
    """Whether the row groups are worth a task each: one for five rows takes longer than the rows."""
    return bool(metadata.num_rows >= ROWS_OF_A_GROUP * metadata.num_row_groups)


def compressions(metadata: Any) -> dict[str, str] | str:
    """The codec of each column, by its path in the schema; Snappy for a file without rows."""
    if not metadata.num_row_groups:
        return "snappy"
    group = metadata.row_group(0)
    columns = (group.column(i) for i in range(group.num_columns))
    return {
        column.path_in_schema: "none" if column.compression == "UNCOMPRESSED" else column.compression.lower()
        for column in columns
    }
