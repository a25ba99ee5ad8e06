"""The parts of files that each task reads."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from benzer.errors import InputError, SettingsError
from benzer.registry import require
from benzer.sources import ReadOptions, Source
from benzer.sources.compression import COMPRESSIONS
from benzer.sources.folder import FolderSource
from benzer.sources.jsonl import JsonlSource
from benzer.sources.parquet import ParquetSource
from benzer.sources.rows import id_plan

PART_BYTES = 32 << 20
"""Bytes of the input per task: about 60 tasks per gigabyte on a few cores, so that all end at a similar time."""
PART_FILES = 2_000
"""Maximum number of files per task, because opening a small file takes longer than reading it."""
SOURCE_BITS = 40
"""Number of lower bits for the row in the number of a document; the upper bits are the source."""
MOST_SOURCES = 1 << (63 - SOURCE_BITS)

IdPlan = tuple[str | None, bool]


@dataclass(frozen=True)
class FilePiece:
    """A file, a range of a file, or some of the files of a folder.

    number: the number of the source in the input. source: reads the piece; for a folder only its files. stamp:
    identifies the version of the file. start, end: the range of a divided file, in bytes or row groups; end is
    None if the source is read completely. first_row: the number of its first row. plan: the location of the ids in a
    divided file. place: the place of the source in a keep rule that names sources.
    """

    number: int
    source: Any
    stamp: Any
    size: int = 0
    start: int = 0
    end: int | None = None
    first_row: int = 1
    plan: IdPlan | None = None
    place: int | None = None

    @property
    def counted(self) -> bool:
        """Whether the number of its first row is known; for a range of bytes only after lines are counted."""
        return self.end is None or not isinstance(self.source, JsonlSource)

    @property
    def first(self) -> int:
        """The lowest possible number of its documents."""
        return (self.number << SOURCE_BITS) | self.first_row

    def check_unchanged(self) -> None:
        """Reject a file that has changed since the start of the run."""
        if self.stamp != stamp_of(self.source):
            raise InputError(
                f"{self.source.name} has changed since the start of the run: run again on the current file"
            )


@dataclass(frozen=True)
class Parts:
    """The parts of all tasks in the order of numbers.

    packed: the pickled pieces of each part, so that a task unpickles only its own. firsts: the lowest number of each
    part.
    """

    packed: tuple[bytes, ...]
    firsts: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.packed)

    def pieces(self, part: int) -> list[FilePiece]:
        """The pieces of one part."""
        unpacked: list[FilePiece] = pickle.loads(self.packed[part])  # noqa: S301 - packed by the driver of this run
        return unpacked

    @classmethod
    def of(cls, pieces: Sequence[FilePiece]) -> Parts:
        """Combine neighbouring pieces up to the size of a task."""
        grouped = list(together(pieces))
        return cls(
            tuple(pickle.dumps(group) for group in grouped),
            tuple(group[0].first for group in grouped),
        )


def together(pieces: Sequence[FilePiece]) -> Iterator[list[FilePiece]]:
    """Group neighbours up to the size of a part."""
    group: list[FilePiece] = []
    size = files = 0
    for piece in pieces:
        count = len(piece.source) if isinstance(piece.source, FolderSource) else 1
        if group and (size + piece.size > PART_BYTES or files + count > PART_FILES):
            yield group
            group, size, files = [], 0, 0
        group.append(piece)
        size, files = size + piece.size, files + count
    if group:
        yield group


def pieces_of(number: int, source: Source, options: ReadOptions) -> list[FilePiece]:
    """The pieces of one source; those of a divided file of JSON lines have no row numbers yet (see `counting`)."""
    assert source.path is not None
    if isinstance(source, FolderSource) and source.path.is_dir():
        return list(folder_pieces(number, source))
    size = source.path.stat().st_size
    whole = FilePiece(number, source, stamp_of(source), size)
    if size <= PART_BYTES or source.suffix.endswith(COMPRESSIONS):
        return [whole]
    if isinstance(source, JsonlSource) and source.in_place:
        return list(line_pieces(whole, options))
    if isinstance(source, ParquetSource):
        return list(group_pieces(whole, options))
    return [whole]


def located(source: Any) -> Source:
    """The source with its absolute path, so that tasks find it from any folder; its name is not changed."""
    if source.path is None:
        raise SettingsError(f"{source.name} can be read only once: write it to a file and pass the file")
    source.path = source.path.absolute()
    source._file = replace(source._file, path=source.path)
    return source  # type: ignore[no-any-return]


def folder_pieces(number: int, source: FolderSource) -> Iterator[FilePiece]:
    """The files of a folder in groups."""
    sizes = [size for size, _ in source.stamps()]
    start = bytes_read = 0
    for end, size in enumerate(sizes, 1):
        bytes_read += size
        if bytes_read >= PART_BYTES or end - start >= PART_FILES or end == len(sizes):
            part = source.part(start, end)
            yield FilePiece(number, part, stamp_of(part), bytes_read, first_row=start + 1)
            start, bytes_read = end, 0


def line_pieces(whole: FilePiece, options: ReadOptions) -> Iterator[FilePiece]:
    """A file of JSON lines, divided at line ends."""
    path = whole.source.path
    plan = whole.source.plan(options)
    with path.open("rb") as stream:
        borders = [0]
        for number in range(PART_BYTES, whole.size, PART_BYTES):
            stream.seek(max(number, borders[-1]) - 1)
            stream.readline()
            borders.append(stream.tell())
    for start, end in pairwise(sorted({*borders, whole.size})):
        yield replace(whole, size=end - start, start=start, end=end, plan=plan)


def group_pieces(whole: FilePiece, options: ReadOptions) -> Iterator[FilePiece]:
    """A Parquet file, divided into groups of row groups."""
    parquet = require("pyarrow.parquet", extra="parquet", purpose="Parquet files")
    with parquet.ParquetFile(whole.source.path) as content:
        metadata, plan = content.metadata, groups_plan(content, options)
    groups = metadata.num_row_groups
    per_row = whole.size / max(metadata.num_rows, 1)
    start, first, rows = 0, 1, 0
    for group in range(groups):
        rows += metadata.row_group(group).num_rows
        if rows * per_row >= PART_BYTES or group == groups - 1:
            size = int(rows * per_row)
            yield replace(whole, size=size, start=start, end=group + 1, first_row=first, plan=plan)
            start, first, rows = group + 1, first + rows, 0


def groups_plan(content: Any, options: ReadOptions) -> IdPlan:
    """The location of the ids, determined by the first row of the file."""
    if options.id_column is not None or "id" not in content.schema_arrow.names:
        return id_plan(options, None)
    batch = next(
        (
            iter_batch
            for iter_batch in content.iter_batches(batch_size=1, columns=["id"])
            if iter_batch.num_rows
        ),
        None,
    )
    return id_plan(options, None if batch is None else batch.to_pylist()[0])


def stamp_of(source: Source) -> Any:
    """The identity of a version of a source: size and modification time; for a folder a hash of those of all files."""
    if isinstance(source, FolderSource) and source.path is not None and source.path.is_dir():
        return hashlib.sha256(repr(source.stamps()).encode()).hexdigest()
    path = Path(os.fspath(source.path or ""))
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise InputError(
            f"{source.name} does not exist for a task: use the absolute path of a folder that all executors share"
        ) from error
    return status.st_size, status.st_mtime_ns
