"""Documents in files, with the ids, rows and order of a local run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from benzer.clusters import Keep
from benzer.errors import DuplicateIdError, InputError, SettingsError
from benzer.fields import Schema
from benzer.pipeline.reading import columns, folder_format
from benzer.registry import require
from benzer.sources import Files, MalformedRow, ReadOptions, Source, open_sources
from benzer.sources.folder import FolderSource
from benzer.sources.jsonl import JsonlSource
from benzer.spark.documents import Documents
from benzer.spark.files.counting import numbered
from benzer.spark.files.parts import MOST_SOURCES, SOURCE_BITS, Parts, located, pieces_of
from benzer.spark.files.reading import batches_of
from benzer.spark.tasks import ArrowTask

COLUMNS = {"id": "string", "place": "bigint"}
KNOWN = "id string, place bigint, extra string, source int"
ROW = (1 << SOURCE_BITS) - 1

Worker = Callable[[Iterator[Any]], Iterator[Any]]


def read_files(
    spark: Any,
    inputs: Any,
    schema: Schema | None = None,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    keep: str | Keep = "first",
    on_error: Literal["stop", "skip"] = "stop",
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    html: bool = False,
) -> FileDocuments:
    """Open files for `benzer.spark.find_duplicates`.

    Files are opened on the driver only to see how they can be divided. Use the same `keep` and `schema` in the run.

        files = benzer.spark.read_files(spark, "/mnt/crawl/*.jsonl", keep="longest")
        found = benzer.spark.find_duplicates(files, keep="longest")

    Args:
        spark: The session.
        inputs: Paths, globs and folders that every executor can reach under the same name.
        schema, text, id, keep, on_error, format, encoding, delimiter, html: As in `benzer.find_duplicates`.

    Returns:
        The documents of the files. A file that changes before the end of the run is an `InputError`.

    Raises:
        SettingsError: An input is the address of an object store or the standard input.
        InputError: As in a local run.
    """
    schema = Schema() if schema is None else schema
    keep = Keep.parse(keep)
    options = ReadOptions(
        fields=columns(schema, text),
        kinds={name: field.kind for name, field in schema.fields.items()},
        id_column=id,
        extra_column=keep.column,
        on_error=on_error,
        encoding=encoding,
        delimiter=delimiter,
        html=html,
        threads=1,
    )
    sources = [located(item) for item in opened(inputs, schema, format)]
    if len(sources) >= MOST_SOURCES:
        raise SettingsError(
            f"at most {MOST_SOURCES - 1:,} files are supported, got {len(sources):,}: pass folders"
        )
    places = keep.source_places([source.name for source in sources])
    pieces = [
        replace(piece, place=place if keep.rule == "source" else None)
        for number, (item, place) in enumerate(zip(sources, places, strict=True))
        for piece in pieces_of(number, item, options)
    ]
    return FileDocuments(spark, schema, options, tuple(sources), Parts.of(numbered(spark, pieces)), keep)


def opened(inputs: Any, schema: Schema, format: str | None) -> list[Source]:
    """The files of a run, opened but not read; rejects object store addresses ("s3://bucket/docs.jsonl") and "-"."""
    names = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    for item in names:
        name = str(item)
        if "://" in name:
            raise SettingsError(
                f"{name} is an address of an object store, but files are read by path: mount it, or read it with Spark "
                "and pass the DataFrame to benzer.spark.find_duplicates"
            )
        if name == "-":
            raise SettingsError("the standard input cannot be read by executors: write it to a file first")
    files = Files(os.fspath(name) for name in names)
    return open_sources(files, format or folder_format(schema, files))


@dataclass(frozen=True)
class FileDocuments(Documents):
    """Documents in files; their numbers are their positions.

    sources: the files in input order. parts: the parts that each task reads.
    """

    spark: Any = field(repr=False)
    schema: Schema
    options: ReadOptions = field(repr=False)
    sources: tuple[Source, ...] = field(repr=False)
    parts: Parts = field(repr=False)
    keep: Keep
    columns: dict[str, str] = field(default_factory=lambda: dict(COLUMNS))

    id_form: ClassVar[Literal["plain", "json"]] = "json"
    unique: ClassVar[Literal["number", "id"]] = "id"

    @property
    def fields(self) -> Mapping[str, str]:  # type: ignore[override]
        """See `Documents`."""
        return self.options.fields

    @property
    def name(self) -> str:  # type: ignore[override]
        """See `Documents`."""
        first = self.sources[0].name
        return first if len(self.sources) == 1 else f"{first} and {len(self.sources) - 1} more"

    def facts(self) -> dict[str, Any]:
        """The files, their modification times, and how they are read."""
        pieces = [piece for number in range(len(self.parts)) for piece in self.parts.pieces(number)]
        stamps = repr([(piece.source.name, piece.stamp) for piece in pieces]).encode()
        return {
            "files": {"count": len(self.sources), "digest": hashlib.sha256(stamps).hexdigest()[:32]},
            "fields": dict(self.options.fields),
            "id": self.options.id_column,
            "extra": self.options.extra_column,
            "encoding": self.options.encoding,
            "delimiter": self.options.delimiter,
            "html": self.options.html,
        }

    def malformed(self, number: int | None, id: Any, source: int, reason: str) -> MalformedRow:
        """By its file and row, as in messages of its source."""
        of = self.sources[source]
        unit = "line" if isinstance(of, JsonlSource) else "file" if isinstance(of, FolderSource) else "row"
        return MalformedRow(of.name, (number or 0) & ROW, reason, unit)

    def duplicate(self, rows: Sequence[Mapping[str, Any]]) -> DuplicateIdError:
        """The error for a repeated id, with its first two positions."""
        numbers = sorted(row["number"] for row in rows)[:2]
        places = " and ".join(
            f"{self.sources[number >> SOURCE_BITS].name} row {number & ROW}" for number in numbers
        )
        return DuplicateIdError(
            f"the id {json.loads(rows[0]['id'])!r} occurs in {places}: make ids unique, use another id column, or "
            f"remove the id column"
        )

    def check_same(self, sketches: Any) -> None:
        """See `Documents.check_same`: `facts` already compares the stamps of the files."""
        self.check_unchanged()

    def check_unchanged(self) -> None:
        """Reject files that have changed since the start of the run."""
        for part in range(len(self.parts)):
            for piece in self.parts.pieces(part):
                piece.check_unchanged()

    def through(self, worker: Worker, schema: str) -> Any:
        """The output of `worker` for all documents; malformed rows have only a `reason`."""
        count = len(self.parts)
        read = ReadParts(self.parts, self.schema, self.options, worker)
        return self.spark.range(0, count, 1, count).mapInArrow(ArrowTask(read), schema)

    def wanted(self, members: Any, extra_columns: Sequence[str] = (), *, count: int | None = None) -> Any:
        """See `Documents.wanted`; parts without a wanted document are not read. There are no extra columns."""
        return self._chosen(members, handed_on, f"{columns_of(members)}, {KNOWN}, {self._fields}")

    def wanted_through(self, worker: Worker, schema: str, members: Any, *, count: int | None = None) -> Any:
        """See `Documents.wanted_through`: run by the task that reads, so that texts do not pass through the JVM."""
        return self._chosen(members, worker, schema)

    @property
    def _fields(self) -> str:
        kinds = (
            "string" if item.kind == "text" else "struct<encoded: binary>"
            for item in self.schema.fields.values()
        )
        return ", ".join(f"field_{position} {kind}" for position, kind in enumerate(kinds))

    def _chosen(self, members: Any, worker: Worker, schema: str) -> Any:
        parts = len(self.parts)
        placed = members.mapInArrow(
            ArrowTask(AddPart(self.parts.firsts)), f"part bigint, {columns_of(members)}"
        )
        spread = placed.repartition(parts, "part").sortWithinPartitions("part", "number")
        choose = Choose(self.parts, self.schema, self.options, worker)
        return spread.mapInArrow(ArrowTask(choose), schema)


def columns_of(table: Any) -> str:
    """The Spark schema of a table."""
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in table.schema.fields)


def handed_on(batches: Iterator[Any]) -> Iterator[Any]:
    """The batches unchanged."""
    return batches


@dataclass(frozen=True)
class ReadParts:
    """Reads the parts of a task and passes them to a worker."""

    parts: Parts
    schema: Schema
    options: ReadOptions
    worker: Worker

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        return self.worker(self._documents(batches))

    def _documents(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for part in batch.column("id").to_pylist():
                for piece in self.parts.pieces(part):
                    yield from batches_of(piece, self.schema, self.options)


@dataclass(frozen=True)
class AddPart:
    """Adds the part that contains its number to each row."""

    firsts: tuple[int, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
        firsts = np.array(self.firsts, dtype=np.int64)
        for batch in batches:
            numbers = batch.column("number").to_numpy(zero_copy_only=False)
            part = pyarrow.array(np.searchsorted(firsts, numbers, side="right") - 1, pyarrow.int64())
            yield pyarrow.RecordBatch.from_arrays([part, *batch.columns], ["part", *batch.schema.names])


@dataclass(frozen=True)
class Choose:
    """Reads the parts of the input rows and passes the requested documents to a worker.

    Rows are sorted by part and number.
    """

    parts: Parts
    schema: Schema
    options: ReadOptions
    worker: Worker

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        return self.worker(self._documents(batches))

    def _documents(self, batches: Iterator[Any]) -> Iterator[Any]:
        pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
        pending: list[Any] = []
        for batch in batches:
            for run in runs_of(batch):
                if pending and pending[0].column("part")[0] != run.column("part")[0]:
                    yield from self._part(
                        pyarrow.Table.from_batches(pending).drop_columns(["part"]), pending[0]
                    )
                    pending = []
                pending.append(run)
        if pending:
            yield from self._part(pyarrow.Table.from_batches(pending).drop_columns(["part"]), pending[0])

    def _part(self, members: Any, first: Any) -> Iterator[Any]:
        numbers = members.column("number").to_numpy()
        left = np.unique(numbers)
        count = 0
        for piece in self.parts.pieces(first.column("part")[0].as_py()):
            for batch in batches_of(piece, self.schema, self.options, left):
                count += batch.num_rows
                yield from matched(members, numbers, batch)
        if count != len(left):
            raise InputError(
                f"{len(left) - count} documents could not be read again: run again on the current files"
            )


def runs_of(batch: Any) -> Iterator[Any]:
    """Slices of a batch, one per part."""
    part = batch.column("part").to_numpy(zero_copy_only=False)
    borders = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(part)]
    for start, end in pairwise(borders):
        if end > start:
            yield batch.slice(start, end - start)


def matched(members: Any, numbers: NDArray[np.int64], batch: Any) -> Iterator[Any]:
    """Each row of `members` (ascending `numbers`) whose document is in the batch, with the columns of the document."""
    pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
    here = batch.column("number").to_numpy()
    starts, ends = (np.searchsorted(numbers, here, side=side) for side in ("left", "right"))
    counts = ends - starts
    of_document = np.repeat(np.arange(len(here)), counts)
    rows = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(starts, counts)
    theirs = members.take(pyarrow.array(rows)).combine_chunks()
    own = batch.take(pyarrow.array(of_document)).drop_columns(["number", "reason"])
    table = pyarrow.Table.from_arrays(
        [*theirs.columns, *own.columns], [*theirs.schema.names, *own.schema.names]
    )
    yield from table.to_batches()
