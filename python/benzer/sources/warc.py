"""Reads web archives (WARC) and their extracted texts (WET), with FastWARC."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from benzer.errors import InputError
from benzer.registry import require
from benzer.sources.base import DocumentSink, Keep, MalformedRows, ReadOptions, ReadReport, chosen
from benzer.sources.encodings import other_encodings
from benzer.sources.rows import BadRow, RowReader, add_rows, check_columns, not_decoded
from benzer.sources.streams import FileInput, create, create_plain
from benzer.sources.web import decoded_page, main_text

COLUMNS = ("id", "text", "url", "date")
PAGES = ("text/html", "application/xhtml+xml")


class WarcSource:
    """The pages and texts of a web archive, plain or compressed.

    Rows are responses and resources that are HTML or plain text, and conversions (WET); other records are not rows.
    Columns: `id` (of the record), `text` (the main text of HTML), `url`, `date`. A copy has the chosen records byte for
    byte, and all records that are not rows.
    """

    def __init__(self, file: FileInput) -> None:
        self.name, self.suffix, self.path = file.name, file.suffix, file.given_path
        self._file = file
        self._report: ReadReport | None = None
        self._stamp: tuple[int, int] | None = None

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each page as a document (see `Source`)."""
        self._stamp = self._file.stamp()
        check_columns(self.name, options, [COLUMNS])
        malformed = MalformedRows(self.name, options.on_error, unit="page")
        encodings: list[str] = []
        reader = RowReader.of(options, {"id": ""})
        report = add_rows(corpus, number, self._rows(options.encoding, encodings), reader, malformed)
        other = other_encodings(encodings)
        self._report = ReadReport(report.rows_read, report.documents, report.malformed, other)
        return self._report

    def remember(self, report: ReadReport) -> None:
        """Take the report of a process that has read the same, so that rows can be chosen here."""
        self._report, self._stamp = report, self._file.stamp()

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Copy the chosen records (see `Source`); each is compressed on its own by gzip, as archives are."""
        rows = iter(chosen(self._report, keep, self.name).tolist())
        self._file.check_unchanged(self._stamp)
        single = self._file.compression == ".gz"
        with ExitStack() as stack:
            opened = create_plain(destination) if single else create(destination, self._file.compression)
            copy = stack.enter_context(opened)
            stream = stack.enter_context(self._file.open())
            places = [(int(record.stream_pos), is_row(record)) for record in self._records()]
            for (start, row), (end, _) in pairwise([*places, (-1, False)]):
                data = stream.read(end - start if end > start else -1)
                if not row or next(rows):
                    copy.write(gzip.compress(data, mtime=0) if single else data)
        return int(keep.sum())

    def rows(self) -> Iterator[tuple[int, dict[str, Any] | BadRow]]:
        """Each page with all its columns."""
        return self._rows(None, [])

    def _rows(
        self, encoding: str | None, encodings: list[str]
    ) -> Iterator[tuple[int, dict[str, Any] | BadRow]]:
        for number, record in enumerate(filter(is_row, self._records()), start=1):
            try:
                text, found = text_of(record, encoding)
            except UnicodeDecodeError as error:
                yield number, not_decoded(error)
                continue
            except (ValueError, OSError) as error:
                yield number, BadRow(str(error))
                continue
            encodings.append(found)
            url, date = record.headers.get("WARC-Target-URI"), record.headers.get("WARC-Date")
            yield number, {"id": record.record_id.strip("<>"), "text": text, "url": url, "date": date}

    def _records(self) -> Iterator[Any]:
        warc = require("fastwarc.warc", extra="web", purpose="Web archives")
        with self._file.open() as stream, damage_named(self.name):
            content = _Watched(stream)
            yield from warc.ArchiveIterator(content, parse_http=True, auto_decode="all", stream_detect=False)
            if content.end not in (
                b"\r\n\r\n",
                b"",
            ):  # the parser takes a record that is cut off for a whole one
                raise EOFError("it is cut off in a record")


class _Watched:
    """A stream whose last bytes are known."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.end, self._done = stream, b"", 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.end = (self.end + data)[-4:]
        self._done += len(data)
        return data

    def tell(self) -> int:
        return self._done


@contextmanager
def damage_named(name: str) -> Iterator[None]:
    """Turn what the parser raises into an `InputError` that names the file."""
    try:
        yield
    except (OSError, EOFError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InputError(
            f"{name} cannot be read as WARC ({str(error).rstrip('.')}): fetch it again"
        ) from error


def is_row(record: Any) -> bool:
    """Whether a record is a page or a text."""
    kind = record.headers.get("WARC-Type")
    if kind == "conversion":
        return True
    if kind not in ("response", "resource"):
        return False
    return content_type(record) in (*PAGES, "text/plain")


def content_type(record: Any) -> str:
    """The type of the content of a record, without parameters."""
    given = record.http_content_type if record.is_http else record.headers.get("Content-Type")
    return (given or "").partition(";")[0].strip().lower()


def text_of(record: Any, encoding: str | None) -> tuple[str, str]:
    """The text of a record, and its encoding."""
    data = record.reader.read()
    if record.headers.get("WARC-Type") == "conversion" or content_type(record) == "text/plain":
        return decoded_page(data, encoding)
    page, found = decoded_page(data, encoding or record.http_charset)
    return main_text(page), found
