"""Reads files in the Arrow IPC formats: files (Feather) and streams."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benzer.errors import InputError
from benzer.registry import require
from benzer.sources.arrow import add_batches, check_schema
from benzer.sources.base import DocumentSink, Keep, ReadOptions, ReadReport, chosen
from benzer.sources.formats import HEAD_BYTES
from benzer.sources.frames import filtered
from benzer.sources.streams import FileInput, create_plain

CODECS = {b"\x04\x22\x4d\x18": "lz4", b"\x28\xb5\x2f\xfd": "zstd"}
"""Compressions of buffers by the bytes that their frames begin with."""


class IpcSource:
    """A file of Arrow record batches; copied a batch at a time, with the same schema and compression."""

    def __init__(self, file: FileInput) -> None:
        self.name, self.suffix, self.path = file.name, file.suffix, file.given_path
        self._file = file
        self._report: ReadReport | None = None
        self._stamp: tuple[int, int] | None = None

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each row as a document (see `Source`)."""
        self._stamp = self._file.stamp()
        with self._open() as (schema, batches):
            columns = check_schema(self.name, schema, options)
            folder = self.path.parent if self.path else None
            wanted = (batch.select(columns) for batch in batches)
            self._report = add_batches(corpus, number, wanted, self.name, options, folder)
        return self._report

    def remember(self, report: ReadReport) -> None:
        """Take the report of a process that has read the same, so that rows can be chosen here."""
        self._report, self._stamp = report, self._file.stamp()

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Copy the chosen rows with all columns (see `Source`)."""
        pyarrow = require("pyarrow", extra="parquet", purpose="Arrow files")
        rows, start = chosen(self._report, keep, self.name), 0
        self._file.check_unchanged(self._stamp)
        with self._file.path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
        codec = next((name for frame, name in CODECS.items() if frame in head), None)
        settings = pyarrow.ipc.IpcWriteOptions(compression=codec)
        new = pyarrow.ipc.new_file if head.startswith(b"ARROW1") else pyarrow.ipc.new_stream
        with (
            self._open() as (schema, batches),
            create_plain(destination) as copy,
            new(copy, schema, options=settings) as writer,
        ):
            for batch in batches:
                wanted = rows[start : start + batch.num_rows]
                start += batch.num_rows
                if wanted.any():
                    writer.write_table(filtered(pyarrow.Table.from_batches([batch]), wanted))
        return int(keep.sum())

    def batches(self, rows: int) -> Iterator[Any]:
        """Record batches of at most so many rows with all columns."""
        with self._open() as (_, batches):
            for batch in batches:
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows)

    def column_names(self) -> list[str]:
        """The names of the columns."""
        with self._open() as (schema, _):
            return list(schema.names)

    @contextmanager
    def _open(self) -> Iterator[tuple[Any, Iterator[Any]]]:
        """The schema and the record batches; a damaged file is an `InputError` that names it."""
        pyarrow = require("pyarrow", extra="parquet", purpose="Arrow files")
        try:
            with pyarrow.memory_map(str(self._file.path)) as stream:
                if stream.read(6) == b"ARROW1":
                    reader = pyarrow.ipc.open_file(stream)
                    yield reader.schema, map(reader.get_batch, range(reader.num_record_batches))
                else:
                    stream.seek(0)
                    reader = pyarrow.ipc.open_stream(stream)
                    yield reader.schema, iter(reader)
        except (pyarrow.ArrowInvalid, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            reason = str(error).rstrip(".")
            raise InputError(f"{self.name} cannot be read as Arrow IPC ({reason}): write it again") from error
