"""Reads the files of a folder, each as a document with its path as id."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, ClassVar

from benzer.errors import InputError
from benzer.sources.base import (
    DocumentSink,
    Keep,
    MalformedRows,
    ReadOptions,
    ReadReport,
    chosen,
    missing_column,
)
from benzer.sources.encodings import decoded, other_encodings
from benzer.sources.formats import text_fault
from benzer.sources.rows import BadRow, NumberedRow, RowReader, add_rows, not_decoded
from benzer.sources.streams import FileInput, create_plain, printable
from benzer.sources.web import decoded_page, main_text

TEXTS = ("*.txt", "*.md")
PAGES = ("*.html", "*.htm", "*.xhtml")
IMAGES = ("*.jpg", "*.jpeg", "*.png", "*.webp", "*.gif", "*.bmp", "*.tif", "*.tiff")


class FolderSource(ABC):
    """The files of a folder and its subfolders, in the order of their paths; or one file.

    Columns: `id` (the path: folder as given, then the path inside), the content, `bytes` (size) and
    `modified` (seconds since 1970). Copies keep their relative paths and times. One file is read like a
    folder of one.
    """

    column: ClassVar[str]
    patterns: ClassVar[tuple[str, ...]]

    def __init__(self, file: FileInput) -> None:
        self.name, self.suffix, self.path = file.name.rstrip("/") or "/", file.suffix, file.given_path
        self._file = file
        self._paths = list(self._walk())
        if not self._paths:
            raise InputError(f"{self.name} contains no files that match {self._patterns()}: {self._others()}")
        self._stamps: list[tuple[int, int]] = []
        self._report: ReadReport | None = None

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each file as a document (see `Source`)."""
        for column in options.columns:
            if column not in (columns := ("id", self.column, "bytes", "modified")):
                raise missing_column(self.name, column, columns)
        self._check_kinds(options)
        self._stamps = []
        malformed = MalformedRows(self.name, options.on_error, unit="file")
        reader = RowReader.of(options, {"id": self.name})
        encodings: list[str] = []
        report = add_rows(corpus, number, self._rows(options.encoding, encodings), reader, malformed)
        self._report = replace(report, encodings=other_encodings(encodings))
        return self._report

    def remember(self, report: ReadReport) -> None:
        """Take the report of a process that has read the same, so that rows can be chosen here."""
        self._report, self._stamps = report, self.stamps()

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Copy the chosen files into the folder `destination`, or one file to the file `destination`."""
        rows = chosen(self._report, keep, self.name)
        if self._file.path.is_dir():
            destination.mkdir(parents=True, exist_ok=True)
        for index in rows.nonzero()[0].tolist():
            file = self._member(self._paths[index])
            file.check_unchanged(self._stamps[index])
            self._copy(file.path, destination / self._paths[index])
        return int(keep.sum())

    def _copy(self, path: Path, destination: Path) -> None:
        with path.open("rb") as original, create_plain(destination) as copy:
            shutil.copyfileobj(original, copy)
        shutil.copystat(path, destination)

    def __len__(self) -> int:
        return len(self._paths)

    def part(self, start: int, end: int) -> FolderSource:
        """The same folder with some of its files only, whose rows count from 1 again; it is not walked again."""
        part = copy(self)
        part._paths = self._paths[start:end]
        return part

    def stamps(self) -> list[tuple[int, int]]:
        """Size and time of change of each file; zeros for what is none."""
        members = map(self._member, self._paths)
        return [member.stamp() if member.path.is_file() else (0, 0) for member in members]

    def reads(self, path: Path) -> bool:
        """Whether a file inside this folder is one of its documents."""
        patterns = (self._file.pattern,) if self._file.pattern else self.patterns
        lowered = PurePath(path.name.lower()) if self._file.pattern is None else path
        return any(lowered.match(pattern) for pattern in patterns)

    def _walk(self) -> Iterator[str]:
        """Paths relative to the folder, sorted part by part; "" for a single file."""
        if not self._file.path.is_dir():
            yield ""
            return
        for folder, subfolders, files in os.walk(self._file.path):
            subfolders.sort()
            for name in sorted(files):
                path = Path(folder, name).relative_to(self._file.path)
                if self.reads(path):
                    yield path.as_posix()

    def _member(self, relative: str) -> FileInput:
        if not relative:
            return self._file
        return FileInput(printable(f"{self.name}/{relative}"), self._file.path / relative)

    def _rows(self, encoding: str | None, encodings: list[str]) -> Iterator[NumberedRow]:
        for number, relative in enumerate(self._paths, start=1):
            file = self._member(relative)
            if not file.path.is_file():  # a named pipe would be waited for without end
                self._stamps.append((0, 0))
                there = file.path.exists()
                yield (
                    number,
                    BadRow("not a regular file" if there else "the file does not exist (a broken link?)"),
                )
                continue
            self._stamps.append(file.stamp())
            row = self._row(file, encoding)
            if isinstance(row, dict):
                encodings.append(row.get("encoding", "utf-8"))
            yield number, row

    @abstractmethod
    def _row(self, file: FileInput, encoding: str | None) -> dict[str, Any] | BadRow:
        """One file as a row."""

    @abstractmethod
    def _check_kinds(self, options: ReadOptions) -> None:
        """Refuse fields of a kind that these files do not hold."""

    def _patterns(self) -> str:
        return self._file.pattern or " or ".join(self.patterns)

    def _others(self) -> str:
        endings = {Path(name).suffix for _, _, files in os.walk(self._file.path) for name in files}
        if not endings:
            return "it is empty"
        listed = ", ".join(sorted(ending or "files without ending" for ending in endings))
        if self.patterns == TEXTS and any(f"*{ending.lower()}" in IMAGES for ending in endings):
            return f"it contains {listed}; for images, use an image field (benzer --images) or format images"
        return f"it contains {listed}; use a glob ({self.name}/*) for such files, or a pattern for texts"


class TextSource(FolderSource):
    """Text files; the column of the content is `text`."""

    column = "text"
    patterns: ClassVar[tuple[str, ...]] = TEXTS

    def _row(self, file: FileInput, encoding: str | None) -> dict[str, Any] | BadRow:
        return read_file(file, encoding)

    def _check_kinds(self, options: ReadOptions) -> None:
        if not options.all_text:
            raise InputError(
                f"{self.name} contains texts, not sets of values or images: use JSONL, CSV or Parquet for those"
            )


class HtmlSource(TextSource):
    """HTML pages, each with its main text, and text files; the column of the content is `text`."""

    patterns: ClassVar[tuple[str, ...]] = (*TEXTS, *PAGES)

    def _row(self, file: FileInput, encoding: str | None) -> dict[str, Any] | BadRow:
        if any(PurePath(file.name.lower()).match(pattern) for pattern in TEXTS):
            return read_file(file, encoding)
        return read_page(file, encoding)


class ImageSource(FolderSource):
    """Image files; the column of the content is `image`, and the field that is compared opens the file."""

    column = "image"
    patterns = IMAGES

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each file as a document (see `Source`); a single field may have any name."""
        if len(options.fields) == 1:
            options = replace(options, fields=dict.fromkeys(options.fields, self.column))
        return super().read_into(corpus, number, options)

    def _row(self, file: FileInput, encoding: str | None) -> dict[str, Any]:
        size, modified = file.stamp()
        return {"id": file.name, "image": file.path, "bytes": size, "modified": modified / 1e9}

    def _check_kinds(self, options: ReadOptions) -> None:
        if any(options.kinds.get(name, "text") != "image" for name in options.fields):
            raise InputError(
                f"{self.name} contains images: compare them with a field Image() (benzer --images grid)"
            )


def read_page(file: FileInput, encoding: str | None) -> dict[str, Any] | BadRow:
    """The main text of a page as a row."""
    row = read_file(file, encoding, decoded_page)
    return row if isinstance(row, BadRow) else {**row, "text": main_text(row["text"])}


def read_file(
    file: FileInput, encoding: str | None, decode: Callable[[bytes, str | None], tuple[str, str]] = decoded
) -> dict[str, Any] | BadRow:
    """One file as a row; a leading byte order mark is not part of the text."""
    try:
        data = file.content()
        fault = text_fault(data, encoding)
        if fault is not None:
            return BadRow(f"{file.name} is {fault}")
        text, encoding = decode(data, encoding)
    except UnicodeDecodeError as error:
        return not_decoded(error, where=f" of {file.name}")
    size, modified = file.stamp()
    row = {"id": file.name, "text": text.removeprefix("\ufeff"), "bytes": size, "modified": modified / 1e9}
    return {**row, "encoding": encoding}
