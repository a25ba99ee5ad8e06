"""Reads JSONL: texts with the native scanner, value sets with the `json` module."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from benzer._native import Corpus, copy_documents
from benzer.errors import InputError
from benzer.sources.base import (
    DocumentSink,
    Keep,
    MalformedRows,
    ReadOptions,
    ReadReport,
    check_keep,
    noun_of,
)
from benzer.sources.rows import BadRow, NumberedRow, RowReader, add_rows, check_columns, decode, id_plan
from benzer.sources.streams import BOM, FileInput, create, create_plain, line_blocks

BLANK = b" \t\r\n"
HEAD_BYTES = 1 << 20
LONG_LINE = 1 << 20
LONG_STRING = 1_000
BACKSLASH = ord("\\")


class JsonlSource:
    """A file of JSON lines, plain or compressed. Blank lines are no rows; a row's number is that of its line.

    Lines are copied byte for byte. Cost: plain files are mapped and scanned in place, and copied from where they lie;
    of compressed files the corpus keeps the decompressed lines, and the file is read again for a copy.
    """

    unit: ClassVar[str] = "line"
    in_place: ClassVar[bool] = True
    """Whether a plain file is scanned where it lies."""

    def __init__(self, file: FileInput) -> None:
        self.name, self.suffix, self.path = file.name, file.suffix, file.given_path
        self._file = file
        self._report: ReadReport | None = None
        self._stamp: tuple[int, int] | None = None
        self._mapped: tuple[Corpus, int] | None = None  # where its lines lie, and under which number

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each line as a document (see `Source`)."""
        self._stamp = self._file.stamp()
        self._check(options)
        malformed = MalformedRows(self.name, options.on_error, unit=self.unit)
        self._mapped = None
        if options.as_written:
            self._report = self._scan(corpus, number, options, malformed)
            if self.in_place and isinstance(corpus, Corpus) and not self._file.compression:
                self._mapped = corpus, number
        else:
            reader = RowReader.of(options, self._first_row(), self.path.parent if self.path else None)
            self._report = add_rows(corpus, number, self._rows(), reader, malformed)
        return self._report

    def remember(self, report: ReadReport) -> None:
        """Take the report of a process that has read the same, so that rows can be chosen here."""
        self._report, self._stamp = report, self._file.stamp()

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Copy the chosen lines (see `Source`)."""
        report = check_keep(self._report, keep, self.name)
        self._file.check_unchanged(self._stamp)
        if self._copied(keep, destination):
            self._file.check_unchanged(self._stamp)  # what was copied is what was read
            return int(keep.sum())
        unread = np.array([malformed.row for malformed in report.malformed], dtype=np.int64)
        done, line = 0, 1
        with self._file.open() as stream, create(destination, self._file.compression) as copy:
            for block in line_blocks(stream):
                if line == 1 and block.startswith(BOM):
                    copy.write(BOM)
                    block = block[len(BOM) :]
                spans, documents = document_lines(block, unread - line)
                count = int(documents.sum())
                documents[documents] = keep[done : done + count]
                copy_lines(block, spans, documents, copy)
                done, line = done + count, line + len(spans)
        return int(keep.sum())

    def _copied(self, keep: Keep, destination: Path) -> bool:
        """Whether the core has copied the lines from the mapped file; else nothing is done."""
        if self._mapped is None or not len(keep):
            return False
        create_plain(destination).close()
        if copy_documents(*self._mapped, keep, destination):
            return True
        destination.unlink()
        return False

    def plan(self, options: ReadOptions) -> tuple[str | None, bool]:
        """Where the ids stand, as the first row decides (see `id_plan`); what `read_into` would refuse is refused."""
        self._check(options)
        return id_plan(options, self._first_row())

    def _check(self, options: ReadOptions) -> None:
        with self._file.open() as stream:
            head = stream.readline(HEAD_BYTES).removeprefix(BOM).lstrip(BLANK)
        refuse_array(self.name, head)
        rows = (row for row in self._shortened_rows() if not isinstance(row, BadRow))
        check_columns(self.name, options, rows, nested=True)

    def _first_row(self) -> dict[str, Any] | None:
        return next((row for row in self._shortened_rows() if isinstance(row, dict)), None)

    def _rows(self) -> Iterator[NumberedRow]:
        return ((number, parsed(line)) for number, line in self._lines())

    def _shortened_rows(self) -> Iterator[dict[str, Any] | BadRow]:
        """The rows with the content of long strings left out, for a look at their columns."""
        return (parsed(without_long_strings(line)) for _, line in self._lines())

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        with self._file.open() as stream:
            for number, line in enumerate(stream, start=1):
                content = line.removeprefix(BOM) if number == 1 else line
                if content.lstrip(BLANK):
                    yield number, content

    def _scan(
        self, corpus: DocumentSink, number: int, options: ReadOptions, malformed: MalformedRows
    ) -> ReadReport:
        rows_read = 0
        id_column, id_required = id_plan(options, self._first_row())
        for path, data, first_row in self._pieces():
            rows, faults = corpus.add_jsonl(
                source=number,
                name=self.name,
                path=path,
                data=data,
                columns=list(options.fields.values()),
                id_column=id_column,
                id_required=id_required,
                extra_column=options.extra_column,
                first_row=first_row,
                stop_on_error=options.on_error == "stop",
                threads=options.threads,
                progress=None if path is None else options.progress,
            )
            rows_read += rows
            for line, reason in faults:
                malformed.add(line, reason)
        return ReadReport(rows_read, rows_read - len(malformed.found), malformed.found)

    def _pieces(self) -> Iterator[tuple[str | None, bytes | None, int]]:
        """(path, data, number of the first line): the whole file by its path, or block after block."""
        if not self._file.compression:
            yield str(self._file.path), None, 1
            return
        line = 1
        with self._file.open() as stream:
            for block in line_blocks(stream):
                yield None, block, line
                line += block.count(b"\n")


def without_long_strings(line: bytes) -> bytes:
    r"""The line with every string of more than 1,000 bytes replaced by an empty one, if the line is long.

    Parsing a line of 200 MB takes up to 2 GB; its columns are known without the text.

    >>> line = b'{"id": 1, "text": "%s", "a": "\\""}' % (b'say \\"' * 200_000)
    >>> without_long_strings(line)
    b'{"id": 1, "text": "", "a": "\\""}'
    """
    if len(line) < LONG_LINE:
        return line
    parts, done, at = [], 0, 0
    while (start := line.find(b'"', at)) >= 0:
        end = _string_end(line, start)
        if end < 0:
            break
        if end - start > LONG_STRING:
            parts.append(line[done : start + 1])
            done = end
        at = end + 1
    return b"".join([*parts, line[done:]])


def _string_end(line: bytes, start: int) -> int:
    """The place of the quote that closes the string which begins at `start`; -1 if there is none."""
    end = line.find(b'"', start + 1)
    while end >= 0:
        first = end
        while line[first - 1] == BACKSLASH:
            first -= 1
        if (end - first) % 2 == 0:
            return end
        end = line.find(b'"', end + 1)
    return end


def parsed(line: bytes) -> dict[str, Any] | BadRow:
    """The object on a line, or what is wrong with it.

    >>> parsed(b'{"id": 1}'), str(parsed(b'{"id": 1')), str(parsed(b'[1]'))
    ({'id': 1}, "expecting ',' delimiter at column 9", 'not a JSON object, but a list')
    """
    try:
        row = json.loads(decode(line), parse_constant=_refuse)
    except BadRow as bad:
        return bad
    except json.JSONDecodeError as error:
        return BadRow(f"{error.msg[:1].lower()}{error.msg[1:]} at column {error.colno}")
    except (ValueError, RecursionError) as error:
        return BadRow(str(error))
    return row if isinstance(row, dict) else BadRow(f"not a JSON object, but {noun_of(row)}")


def _refuse(literal: str) -> None:
    raise ValueError(f"invalid literal: JSON has no {literal}")


def refuse_array(name: str, head: bytes) -> None:
    """Refuse a file whose first line is an array of objects, or its beginning."""
    if head.startswith(b"[") and opens_array(head):
        cure = "convert it, e.g. with jq -c '.[]' old.json > new.jsonl"
        raise InputError(f"{name} contains one JSON array, not one object per line: {cure}")


def opens_array(head: bytes) -> bool:
    """Whether a first line that starts with "[" is (the start of) an array of objects, no mere malformed row.

    >>> opens_array(b"["), opens_array(b'[{"text": "a"}]'), opens_array(b"[1]")
    (True, True, False)
    """
    try:
        return isinstance(json.loads(head)[:1][0], dict)
    except (ValueError, IndexError, RecursionError):
        return not head.rstrip(BLANK).endswith(b"[]")


def document_lines(
    block: bytes, unread: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Where the lines of a block are (int64, lines x 2) and which of them are documents (bool, lines).

    `unread` holds malformed lines, counted from the block's first line as 0; others are out of range.
    """
    content = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(content == ord("\n")) + 1
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(block))
    spans = np.column_stack((np.append(0, ends[:-1]), ends)).astype(np.int64)
    documents = np.ones(len(spans), dtype=np.bool_)
    documents[unread[(unread >= 0) & (unread < len(spans))]] = False
    for line in np.flatnonzero(np.isin(content[spans[:, 0]], list(BLANK))):
        start, end = spans[line]
        documents[line] &= bool(block[start:end].strip(BLANK))
    return spans, documents


def copy_lines(block: bytes, spans: npt.NDArray[np.int64], lines: npt.NDArray[np.bool_], copy: Any) -> None:
    """Write the chosen lines, neighbours in one piece."""
    edges = np.flatnonzero(np.diff(lines.astype(np.int8), prepend=0, append=0))
    view = memoryview(block)
    for first, after in edges.reshape(-1, 2):
        copy.write(view[spans[first, 0] : spans[after - 1, 1]])
