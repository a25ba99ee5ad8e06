"""How is JSONL read? One JSON object a line: text by the native scanner, value sets by the `json` module."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


class JsonlSource:
    """A file of JSON lines, plain or compressed. Blank lines are no rows; a row's number is that of its line.

    Lines are copied byte for byte. Cost: plain files are mapped and scanned in place, and copied from where they lie;
    of compressed files the corpus keeps the decompressed lines, and the file is read again for a copy.
    """

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
        malformed = MalformedRows(self.name, options.on_error, unit="line")
        self._mapped = None
        if options.all_text:
            self._report = self._scan(corpus, number, options, malformed)
            if isinstance(corpus, Corpus) and not self._file.compression:
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
        check_columns(self.name, options, (row for _, row in self._rows() if not isinstance(row, BadRow)))

    def _first_row(self) -> dict[str, Any] | None:
        return next((row for _, row in self._rows() if isinstance(row, dict)), None)

    def _rows(self) -> Iterator[NumberedRow]:
        with self._file.open() as stream:
            for number, line in enumerate(stream, start=1):
                content = line.removeprefix(BOM) if number == 1 else line
                if content.strip(BLANK):
                    yield number, parsed(content)

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
        cure = "convert it, as with jq -c '.[]' old.json > new.jsonl"
        raise InputError(f"{name} holds one JSON array, not one object a line: {cure}")


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
