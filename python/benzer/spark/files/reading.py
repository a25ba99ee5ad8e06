"""Reads parts of files as Arrow batches with `benzer.sources`, so that documents are those of a local run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from queue import Full, Queue
from threading import Event, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer._native import Corpus
from benzer.document import FieldValue
from benzer.errors import InputError
from benzer.fields import Schema
from benzer.fields.base import described
from benzer.registry import require
from benzer.sources import ReadOptions
from benzer.sources.arrow import add_batches
from benzer.sources.base import MalformedRows
from benzer.sources.jsonl import JsonlSource, parsed
from benzer.sources.rows import BATCH_DOCUMENTS, NumberedRow, RowReader, add_rows
from benzer.sources.streams import BOM
from benzer.spark.files.parts import SOURCE_BITS, FilePiece

READ_AHEAD = 2
"""Maximum number of batches in the queue from the reading thread to the worker."""
BLANK = b" \t\r\n"
HALVES = re.compile("[\ud800-\udfff]")

Wanted = NDArray[np.int64] | None


class _Left(Exception):
    """The worker has stopped reading."""


def batches_of(
    piece: FilePiece, schema: Schema, options: ReadOptions, wanted: Wanted = None
) -> Iterator[Any]:
    """The documents of a piece as record batches with the columns of `columns_of`.

    wanted: the numbers (ascending) of the documents to return; malformed rows are then omitted.
    """

    def read(put: Callable[[Any], None]) -> None:
        piece.check_unchanged()
        rows = RowSink(piece, schema, put, wanted)
        malformed = read_piece(piece, rows, options)
        piece.check_unchanged()
        if wanted is None and malformed:
            put(rows.refused(malformed))

    return pulled(read)


def pulled(push: Callable[[Callable[[Any], None]], None]) -> Iterator[Any]:
    """The batches that a function emits, as an iterator that reads ahead; raises the errors of the function."""
    queue: Queue[tuple[bool, Any]] = Queue(READ_AHEAD)
    left = Event()

    def put(item: tuple[bool, Any]) -> None:
        while not left.is_set():
            with suppress(Full):
                return queue.put(item, timeout=0.1)
        raise _Left

    def run() -> None:
        with suppress(_Left):
            try:
                push(lambda batch: put((True, batch)))
                put((False, None))
            except Exception as error:
                put((False, error))

    thread = Thread(target=run, name="benzer-read", daemon=True)
    thread.start()
    try:
        while (item := queue.get())[0]:
            yield item[1]
        if item[1] is not None:
            raise item[1]
    finally:
        left.set()
        thread.join()


def read_piece(piece: FilePiece, rows: RowSink, options: ReadOptions) -> list[tuple[int, str]]:
    """Read a piece into `rows`; returns (row in the piece, reason) of malformed rows."""
    options = replace(options, id_plan=piece.plan, on_error="skip", threads=1)
    if piece.end is None:
        report = piece.source.read_into(rows, piece.number, options)
        return [(item.row, item.reason) for item in report.malformed]
    if isinstance(piece.source, JsonlSource):
        return read_lines(piece, rows, options)
    return read_groups(piece, rows, options)


def read_lines(piece: FilePiece, rows: RowSink, options: ReadOptions) -> list[tuple[int, str]]:
    """Read a range of a file of JSON lines, as `JsonlSource` reads the whole file."""
    assert piece.end is not None
    assert piece.plan is not None
    with piece.source.path.open("rb") as stream:
        stream.seek(piece.start)
        data = stream.read(piece.end - piece.start)
    if options.as_written:
        _, faults = rows.add_jsonl(
            source=piece.number, name=piece.source.name, path=None, data=data,
            columns=list(options.fields.values()), id_column=piece.plan[0], id_required=piece.plan[1],
            extra_column=options.extra_column, first_row=1, stop_on_error=False, threads=1, progress=None,
        )  # fmt: skip
        return faults
    reader = RowReader.of(options, None, piece.source.path.parent)
    malformed = MalformedRows(piece.source.name, "skip", unit="line")
    add_rows(rows, piece.number, numbered_lines(data, piece.start == 0), reader, malformed)
    return [(item.row, item.reason) for item in malformed.found]


def numbered_lines(data: bytes, begins: bool) -> Iterator[NumberedRow]:
    """The rows of some lines; the start of a file may have a byte order mark."""
    for number, line in enumerate(data.split(b"\n"), 1):
        content = line.removeprefix(BOM) if begins and number == 1 else line
        if content.strip(BLANK):
            yield number, parsed(content)


def read_groups(piece: FilePiece, rows: RowSink, options: ReadOptions) -> list[tuple[int, str]]:
    """Read some row groups of a Parquet file, as `ParquetSource` reads the whole file."""
    assert piece.end is not None
    batches = piece.source.groups(piece.start, piece.end, options)
    report = add_batches(rows, piece.number, batches, piece.source.name, options, piece.source.path.parent)
    return [(item.row, item.reason) for item in report.malformed]


@dataclass
class RowSink:
    """Receives the documents of a source instead of a corpus and emits record batches.

    The content of a text field remains text; other contents are encoded by their field, so that an image is processed
    once per pass, and values of mixed types have one column type.
    """

    piece: FilePiece
    schema: Schema
    put: Callable[[Any], None]
    wanted: Wanted = None
    count: int = 0
    name: str = ""
    kinds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.kinds = [item.kind for item in self.schema.fields.values()]
        self._pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")

    def __len__(self) -> int:
        return self.count

    def name_source(self, source: int, name: str) -> None:
        """Set the prefix of generated ids."""
        self.name = name

    def add(
        self,
        source: int,
        rows: Sequence[int],
        ids: Iterable[str | int | None],
        fields: Sequence[Sequence[FieldValue]],
        extras: Sequence[bytes | None] | None = None,
    ) -> list[tuple[int, str]]:
        """Emit documents; returns the rows with invalid contents and their reasons."""
        numbers, places = self._chosen(np.asarray(rows, dtype=np.int64))
        positions = places.tolist()
        columns: list[Any] = []
        faults: dict[int, str] = {}
        for item, kind, given in zip(self.schema.fields.values(), self.kinds, fields, strict=True):
            contents = [given[place] for place in positions]
            if kind == "text":
                columns.append(self.texts(contents))
                continue
            present = [place for place, content in enumerate(contents) if content is not None]
            encoded: list[bytes | None] = [None] * len(contents)
            for place, description in zip(
                present, described(item, [contents[p] for p in present], 1), strict=True
            ):
                if isinstance(description, InputError):
                    faults.setdefault(place, str(description))
                else:
                    encoded[place] = description
            columns.append(self.encoded(encoded))
        listed = list(ids)
        names = [listed[place] for place in positions]
        values = None if extras is None else [extras[place] for place in positions]
        good = np.array([place not in faults for place in range(len(positions))], dtype=bool)
        self._give(numbers, names, columns, values, good)
        return [(rows[positions[place]], faults[place]) for place in sorted(faults)]

    def add_columns(self, source: int, first_row: int, count: int, ids: Any, fields: Sequence[Any]) -> bool:
        """Emit columns without copying; returns False if the source must process single rows."""
        if any(kind != "text" for kind in self.kinds):
            return False
        numbers, positions = self._chosen(np.arange(first_row, first_row + count, dtype=np.int64))
        arrays = [self._text_array(count, *field) for field in fields]
        names = None if ids is None else self._id_array(count, ids)
        if len(positions) < count:
            chosen = self._pyarrow.array(positions)
            arrays = [array.take(chosen) for array in arrays]
            names = None if names is None else names.take(chosen)
        self._give(numbers, names, [array.cast(self._pyarrow.string()) for array in arrays], None, None)
        return True

    def _id_array(self, count: int, ids: Any) -> Any:
        """A column of ids (string or int64) from its arrays."""
        if len(ids) == 3:
            return self._text_array(count, *ids)
        values, there = ids
        return self._pyarrow.array(values, mask=None if there is None else ~there)

    def add_jsonl(self, **given: Any) -> tuple[int, list[tuple[int, str]]]:
        """Emit the documents of JSON lines scanned by the core."""
        corpus = Corpus(self.schema.readers())
        self.name = given["name"]
        before = self.piece.first_row - 1  # ids are generated from rows of the file, not of the piece
        count, faults = corpus.add_jsonl(**{**given, "first_row": given["first_row"] + before})
        numbers, positions = self._chosen(corpus.rows().astype(np.int64) - before)
        extras = corpus.extras() if given["extra_column"] is not None else None
        for start in range(0, len(positions), BATCH_DOCUMENTS):
            places = positions[start : start + BATCH_DOCUMENTS].astype(np.uint32)
            texts = [self._texts_of(corpus, places, number) for number in range(len(self.kinds))]
            names = None if given["id_column"] is None else corpus.ids(places)
            values = None if extras is None else [extras[p] for p in places.tolist()]
            self._give(numbers[start : start + BATCH_DOCUMENTS], names, texts, values, None)
        return count, [(line - before, reason) for line, reason in faults]

    def _texts_of(self, corpus: Any, places: NDArray[np.uint32], field: int) -> Any:
        """A column of texts from a corpus."""
        ends, texts = corpus.texts(places, field)
        there = ~corpus.missing(field)[places]
        return self._text_array(len(places), ends, texts, there).cast(self._pyarrow.string())

    def refused(self, malformed: Sequence[tuple[int, str]]) -> Any:
        """The batch of malformed rows: only positions and reasons."""
        rows = np.array([row for row, _ in malformed], dtype=np.int64)
        nothing = [None] * len(rows)
        columns = [self.texts(nothing) if kind == "text" else self.encoded(nothing) for kind in self.kinds]
        return self._batch(self._numbers(rows), None, columns, None, [reason for _, reason in malformed])

    def _chosen(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of the wanted rows, and their positions."""
        self.count += len(rows)
        numbers = self._numbers(rows)
        if self.wanted is None:
            return numbers, np.arange(len(rows))
        positions = np.minimum(np.searchsorted(self.wanted, numbers), len(self.wanted) - 1)
        is_wanted = self.wanted[positions] == numbers if len(self.wanted) else np.zeros(len(rows), dtype=bool)
        return numbers[is_wanted], np.flatnonzero(is_wanted)

    def _numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return (self.piece.number << SOURCE_BITS) | (rows + self.piece.first_row - 1)

    def _text_array(self, count: int, offsets: Any, data: Any, mask: Any) -> Any:
        pyarrow = self._pyarrow
        valid = None if mask is None else pyarrow.py_buffer(np.packbits(mask, bitorder="little").tobytes())
        buffers = [valid, pyarrow.py_buffer(np.ascontiguousarray(offsets)), pyarrow.py_buffer(data)]
        return pyarrow.Array.from_buffers(pyarrow.large_string(), count, buffers)

    def texts(self, contents: Sequence[Any]) -> Any:
        """A column of texts; lone surrogates are converted as in the core."""
        plain = [content.decode() if isinstance(content, bytes) else content for content in contents]
        try:
            return self._pyarrow.array(plain, self._pyarrow.string())
        except UnicodeEncodeError:
            whole = [item if item is None else HALVES.sub("\ufffd", item) for item in plain]
            return self._pyarrow.array(whole, self._pyarrow.string())

    def encoded(self, contents: Sequence[bytes | None]) -> Any:
        """A column of contents encoded by their field."""
        kind = self._pyarrow.struct([("encoded", self._pyarrow.binary())])
        return self._pyarrow.array(
            [None if content is None else {"encoded": content} for content in contents], kind
        )

    def _give(self, numbers: Any, names: Any, columns: list[Any], extras: Any, good: Any) -> None:
        batch = self._batch(numbers, self._ids(numbers, names), columns, extras, None)
        if good is not None and not good.all():
            batch = batch.filter(self._pyarrow.array(good))
        if batch.num_rows:
            self.put(batch)

    def _ids(self, numbers: NDArray[np.int64], names: Any) -> Any:
        """Ids as JSON, from an Arrow column or a list; None if they are generated from rows.

        Columns of integers and of plain texts are converted without a Python object per id.
        """
        pyarrow = self._pyarrow
        compute = require("pyarrow.compute", extra="spark", purpose="Runs on Spark")
        rows = numbers & ((1 << SOURCE_BITS) - 1)
        if names is None:
            # The part before the row is the same for all ids, so `json.dumps` writes it once.
            start = json.dumps(f"{self.name}:")[:-1]
            return compute.binary_join_element_wise(start, pyarrow.array(rows).cast("string"), '"', "")
        if isinstance(names, list):
            kinds = {type(name) for name in names}
            if kinds not in ({str}, {int}):
                return self._json(names, rows)
            names = pyarrow.array(names)
        if names.null_count or (not pyarrow.types.is_integer(names.type) and has_special(names)):
            return self._json(names.to_pylist(), rows)
        if pyarrow.types.is_integer(names.type):
            return names.cast(pyarrow.string())
        return compute.binary_join_element_wise('"', names.cast(pyarrow.string()), '"', "")

    def _json(self, names: Sequence[Any], rows: NDArray[np.int64]) -> Any:
        """Ids as JSON, one by one."""
        made = [
            f"{self.name}:{row}" if id is None else HALVES.sub("\ufffd", id) if isinstance(id, str) else id
            for id, row in zip(names, rows.tolist(), strict=True)
        ]
        return self._pyarrow.array([json.dumps(item) for item in made], self._pyarrow.string())

    def _batch(
        self, numbers: NDArray[np.int64], ids: Any, columns: list[Any], extras: Any, reasons: Any
    ) -> Any:
        pyarrow, count = self._pyarrow, len(numbers)
        if self.piece.place is not None:
            extras = [str(self.piece.place).encode()] * count
        nothing = pyarrow.nulls(count, pyarrow.string())
        known = {
            "number": pyarrow.array(numbers, pyarrow.int64()),
            "id": nothing if ids is None else ids,
            "place": pyarrow.array(numbers, pyarrow.int64()),
            "extra": nothing
            if extras is None
            else pyarrow.array(
                [extra if extra is None else extra.decode() for extra in extras], pyarrow.string()
            ),
            "source": pyarrow.array(np.full(count, self.piece.number, dtype=np.int32)),
            "reason": nothing if reasons is None else pyarrow.array(reasons, pyarrow.string()),
            **{f"field_{position}": column for position, column in enumerate(columns)},
        }
        return pyarrow.RecordBatch.from_pydict(known)


def has_special(names: Any) -> bool:
    """Whether any text of a column needs escapes in JSON."""
    compute = require("pyarrow.compute", extra="spark", purpose="Runs on Spark")
    return bool(compute.any(compute.match_substring_regex(names, r"[^ !#-\[\]-~]")).as_py())
