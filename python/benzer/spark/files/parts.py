"""Which parts of which files does a task read?"""

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
from benzer.sources.folder import FolderSource
from benzer.sources.jsonl import JsonlSource
from benzer.sources.opening import COMPRESSIONS
from benzer.sources.parquet import ParquetSource
from benzer.sources.rows import id_plan

PART_BYTES = 32 << 20
"""So much of the input is one task: some 60 tasks a gigabyte on a few cores, so that none is waited for at the end."""
PART_FILES = 2_000
"""A task reads no more files than this: to open one takes longer than to read a small one."""
SOURCE_BITS = 40
"""A number is that of the source, and in so many lower bits the row."""
MOST_SOURCES = 1 << (63 - SOURCE_BITS)

IdPlan = tuple[str | None, bool]


@dataclass(frozen=True)
class Piece:
    """A file, a range of one, or some of the files of a folder.

    number: that of the source in the input. source: what reads it; of a folder only the files of this piece. stamp: by
    which it is known to be unchanged. start, end: of a cut file, bytes of JSON lines, or row groups; end is None where
    the source is read whole. first_row: the number of its first row. plan: of a cut file, where the ids stand.
    place: that of the source in a rule of keeping that names sources.
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
        """Whether the number of its first row is known: of a range of bytes it is not, until lines are counted."""
        return self.end is None or not isinstance(self.source, JsonlSource)

    @property
    def first(self) -> int:
        """The least number that a document of it can have."""
        return (self.number << SOURCE_BITS) | self.first_row

    def check_unchanged(self) -> None:
        """A file that changed since the run began would be another one's answer."""
        if self.stamp != stamp_of(self.source):
            raise InputError(
                f"{self.source.name} has changed since the run began: run again on the file as it is now"
            )


@dataclass(frozen=True)
class Parts:
    """What each task reads, in the order of numbers.

    packed: the pieces of each part, pickled one by one, so that a task unpacks its own only. firsts: the least number
    of each part.
    """

    packed: tuple[bytes, ...]
    firsts: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.packed)

    def pieces(self, part: int) -> list[Piece]:
        """What one part reads."""
        unpacked: list[Piece] = pickle.loads(self.packed[part])  # noqa: S301 - packed by the driver of this run
        return unpacked

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> Parts:
        """Neighbouring pieces together, as far as they are one task's work."""
        grouped = list(together(pieces))
        return cls(
            tuple(pickle.dumps(group) for group in grouped),
            tuple(group[0].first for group in grouped),
        )


def together(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Group neighbours up to the size of a part."""
    group: list[Piece] = []
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


def pieces_of(number: int, source: Source, options: ReadOptions) -> list[Piece]:
    """The pieces of one source; of a cut file of JSON lines they have no row numbers yet (see `counting`)."""
    assert source.path is not None
    if isinstance(source, FolderSource) and source.path.is_dir():
        return list(folder_pieces(number, source))
    size = source.path.stat().st_size
    whole = Piece(number, source, stamp_of(source), size)
    if size <= PART_BYTES or source.suffix.endswith(COMPRESSIONS):
        return [whole]
    if isinstance(source, JsonlSource):
        return list(line_pieces(whole, options))
    if isinstance(source, ParquetSource):
        return list(group_pieces(whole, options))
    return [whole]


def located(source: Any) -> Source:
    """The source with its full path, by which a task finds it from any folder; its name stays as it was given."""
    if source.path is None:
        raise SettingsError(f"{source.name} can be read only once, here: write it to a file, and give that")
    source.path = source.path.absolute()
    source._file = replace(source._file, path=source.path)
    return source  # type: ignore[no-any-return]


def folder_pieces(number: int, source: FolderSource) -> Iterator[Piece]:
    """The files of a folder, some at a time."""
    sizes = [size for size, _ in source.stamps()]
    start = held = 0
    for end, size in enumerate(sizes, 1):
        held += size
        if held >= PART_BYTES or end - start >= PART_FILES or end == len(sizes):
            part = source.part(start, end)
            yield Piece(number, part, stamp_of(part), held, first_row=start + 1)
            start, held = end, 0


def line_pieces(whole: Piece, options: ReadOptions) -> Iterator[Piece]:
    """A file of JSON lines, cut where lines end."""
    path = whole.source.path
    plan = whole.source.plan(options)
    with path.open("rb") as stream:
        borders = [0]
        for at in range(PART_BYTES, whole.size, PART_BYTES):
            stream.seek(max(at, borders[-1]) - 1)
            stream.readline()
            borders.append(stream.tell())
    for start, end in pairwise(sorted({*borders, whole.size})):
        yield replace(whole, size=end - start, start=start, end=end, plan=plan)


def group_pieces(whole: Piece, options: ReadOptions) -> Iterator[Piece]:
    """A Parquet file, some row groups at a time."""
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
    """Where the ids stand, as the first row of the file decides."""
    if options.id_column is not None or "id" not in content.schema_arrow.names:
        return id_plan(options, None)
    batch = next((one for one in content.iter_batches(batch_size=1, columns=["id"]) if one.num_rows), None)
    return id_plan(options, None if batch is None else batch.to_pylist()[0])


def stamp_of(source: Source) -> Any:
    """By what a source is known again: size and time of change, of a folder a hash of those of all its files."""
    if isinstance(source, FolderSource) and source.path is not None and source.path.is_dir():
        return hashlib.sha256(repr(source.stamps()).encode()).hexdigest()
    path = Path(os.fspath(source.path or ""))
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise InputError(
            f"{source.name} is not there for a task: give a folder that all executors share, by its full path"
        ) from error
    return status.st_size, status.st_mtime_ns
