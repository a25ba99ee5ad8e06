"""Counts the lines before each part of a divided file, in workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benzer.registry import require
from benzer.spark.files.parts import FilePiece
from benzer.spark.session import to_arrow
from benzer.spark.tasks import ArrowTask

BLOCK_BYTES = 4 << 20
COUNTED = "piece bigint, lines bigint"


@dataclass(frozen=True)
class Count:
    """Counts the lines of the pieces of a task, given by their positions."""

    pieces: tuple[FilePiece, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
        for batch in batches:
            places = batch.column("id").to_pylist()
            lines = [lines_of(self.pieces[place]) for place in places]
            columns = [pyarrow.array(places, pyarrow.int64()), pyarrow.array(lines, pyarrow.int64())]
            yield pyarrow.RecordBatch.from_arrays(columns, ["piece", "lines"])


def lines_of(piece: FilePiece) -> int:
    """The line ends in the bytes of a piece."""
    piece.check_unchanged()
    assert piece.end is not None
    left, lines = piece.end - piece.start, 0
    with piece.source.path.open("rb") as stream:
        stream.seek(piece.start)
        while left and (block := stream.read(min(left, BLOCK_BYTES))):
            lines += int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")))
            left -= len(block)
    return lines


def numbered(spark: Any, pieces: Sequence[FilePiece]) -> list[FilePiece]:
    """The pieces with the numbers of their first rows; runs one job if there are divided files of lines."""
    cut = [place for place, piece in enumerate(pieces) if not piece.counted]
    if not cut:
        return list(pieces)
    count = Count(tuple(pieces[place] for place in cut))
    counts = to_arrow(spark.range(0, len(cut), 1, len(cut)).mapInArrow(ArrowTask(count), COUNTED)).to_pydict()
    lines = dict(zip((cut[position] for position in counts["piece"]), counts["lines"], strict=True))
    return list(_numbered(pieces, lines))


def _numbered(pieces: Sequence[FilePiece], lines: dict[int, int]) -> Iterator[FilePiece]:
    row = 1
    for place, piece in enumerate(pieces):
        if place not in lines:
            yield piece
            continue
        row = 1 if piece.start == 0 else row
        yield replace(piece, first_row=row)
        row += lines[place]
