"""Recognizes the format of a file by its content, so that only text is read as text.

This is the only place that knows the beginnings of file formats. Command line, Python, service and pages ask it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benzer.errors import InputError
from benzer.sources.dialects import table_delimiter
from benzer.sources.encodings import marked

HEAD_BYTES = 1 << 16
"""Bytes from the beginning of a file that are looked at."""
BOM = b"\xef\xbb\xbf"
BLANK = b" \t\r\n"
LINES_LOOKED_AT = 20
OPENS_ARRAY = re.compile(rb"\s*\[\s*(\{|\]\s*\Z)")
OPENS_PAGE = re.compile(rb"\s*(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Content:
    """What a file holds.

    format: the input format that reads it (a name in `FORMATS`); None where nothing reads it.
    compression: "", ".gz", ".zst", ".bz2" or ".xz": what it must be unpacked with before anything else can be said.
    noun: what it is, with an article. remedy: what a user can do where Benzer does not read it.
    """

    format: str | None
    noun: str
    remedy: str = ""
    compression: str = ""

    @property
    def readable(self) -> bool:
        """Whether an input format reads it."""
        return self.format is not None

    @property
    def fault(self) -> str:
        """Why it cannot be read, with the remedy, as it follows "this is" or the name of the file and "is"."""
        return f"{self.noun}, which Benzer does not read: {self.remedy}"

    def refusal(self, name: str) -> InputError:
        """The error for a file of this content.

        >>> print(recognize(b"%PDF-1.7").refusal("report.pdf"))
        report.pdf is a PDF file, which Benzer does not read: convert it to text first, e.g. with pdftotext
        """
        return InputError(f"{name} is {self.fault}")


UNPACK = "unpack it and use the files inside"
DOCUMENT = "save its text as .txt, or its table as .csv"
TEXT = Content("text", "plain text")
JSONL = Content("jsonl", "JSON lines")
JSON_ARRAY = Content("json", "a JSON array")
CSV = Content("csv", "a CSV file")
TSV = Content("tsv", "a TSV file")
PARQUET = Content("parquet", "a Parquet file")
EMPTY = Content("text", "an empty file")
BINARY = Content(None, "a binary file", "convert it to text, JSONL, CSV or Parquet first")
HTML = Content("html", "an HTML page")
WARC = Content("warc", "a web archive")
JSON_DOCUMENT = Content(
    None, "one JSON document that spans several lines",
    "write one object per line, e.g. with jq -c '.[]? // .' old.json, or an array of objects",
)  # fmt: skip
UTF16 = Content(None, "UTF-16 text", "convert it to UTF-8 first, e.g. with iconv -f UTF-16 -t UTF-8")
UTF32 = Content(None, "UTF-32 text", "convert it to UTF-8 first, e.g. with iconv -f UTF-32 -t UTF-8")
LINED = ("jsonl", "json", "csv", "tsv")
ENCODED = (UTF16, UTF32, BINARY)
"""What may still be text in another encoding than UTF-8, where the user names that."""

GZIP = Content(None, "gzip data", "decompress it first", ".gz")
ZSTD = Content(None, "Zstandard data", "decompress it first", ".zst")
BZIP2 = Content(None, "bzip2 data", "decompress it first", ".bz2")
XZ = Content(None, "xz data", "decompress it first", ".xz")
ZIP = Content(None, "a zip archive", UNPACK)
OFFICE = {
    b"xl/": Content("excel", "an Excel workbook"),
    b"word/": Content(None, "a Word document", DOCUMENT),
    b"ppt/": Content(None, "a PowerPoint presentation", DOCUMENT),
    b"mimetypeapplication/vnd.oasis.opendocument": Content(None, "an OpenDocument file", DOCUMENT),
    b"mimetypeapplication/epub": Content(None, "an EPUB book", "convert it to text first"),
}
"""Zip archives by a name that they hold near their beginning."""
IMAGES = {
    b"\x89PNG\r\n\x1a\n": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF87a": "a GIF image",
    b"GIF89a": "a GIF image",
    b"II*\x00": "a TIFF image",
    b"MM\x00*": "a TIFF image",
}
MAGIC: dict[bytes, Content] = {
    b"PAR1": PARQUET,
    b"WARC/1.": WARC,
    b"\x1f\x8b": GZIP,
    b"\x28\xb5\x2f\xfd": ZSTD,
    **{start: Content("images", noun) for start, noun in IMAGES.items()},
    b"%PDF-": Content(None, "a PDF file", "convert it to text first, e.g. with pdftotext"),
    b"PK\x03\x04": ZIP,
    b"PK\x05\x06": ZIP,
    b"\xfd7zXZ\x00": XZ,
    b"7z\xbc\xaf\x27\x1c": Content(None, "a 7z archive", UNPACK),
    b"Rar!\x1a\x07": Content(None, "a RAR archive", UNPACK),
    b"ARROW1\x00\x00": Content("ipc", "an Arrow IPC file"),
    b"\xff\xff\xff\xff": Content("ipc", "an Arrow IPC stream"),
    b"FEA1": Content(None, "an old Feather file", "write it again as Feather version 2, or as Parquet"),
    b"SQLite format 3\x00": Content(
        None, "an SQLite database", "export a table as CSV first (of a Benzer index: benzer export)"
    ),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": Content(None, "an old Office document", DOCUMENT),
    b"{\\rtf": Content(None, "an RTF document", DOCUMENT),
    b"\x93NUMPY": Content(None, "a NumPy array", "convert it to JSONL or Parquet first"),
    b"Obj\x01": Content(None, "an Avro file", "write it as Parquet or JSONL first"),
    b"\x7fELF": Content(None, "a program", "give a text instead"),
    b"\x00\x00\xfe\xff": UTF32,
    b"\xff\xfe\x00\x00": UTF32,
    b"\xff\xfe": UTF16,
    b"\xfe\xff": UTF16,
}
"""Contents by the bytes that they begin with; the first that fits."""


def binary(head: bytes) -> Content | None:
    """What a file is that is no text in UTF-8, by its first bytes; None for text.

    >>> binary(b"PAR1....").noun, binary(b"one\\x00two").noun, binary(b"one two")
    ('a Parquet file', 'a binary file', None)
    """
    for start, content in MAGIC.items():
        if head.startswith(start):
            return _archive(head) if content is ZIP else content
    if re.match(rb"BZh[1-9](1AY&SY|\x17\x72\x45\x38\x50\x90)", head):
        return BZIP2
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Content("images", "a WebP image")
    if head[:2] == b"BM" and head[6:10] == bytes(4) and len(head) > 14:
        return Content("images", "a BMP image")
    if head[257:262] == b"ustar":
        return Content(None, "a tar archive", UNPACK)
    if head[4:8] == b"ftyp":
        return Content(None, "a video, HEIC or AVIF file", "convert images to JPEG or PNG first")
    return BINARY if b"\x00" in head else None


def _archive(head: bytes) -> Content:
    return next((content for name, content in OFFICE.items() if name in head), ZIP)


def compression_of(head: bytes) -> str:
    """The compression of a file by its first bytes; "" where there is none."""
    content = binary(head)
    return "" if content is None else content.compression


def recognize(head: bytes, format: str | None = None) -> Content:
    """Tell what a file holds.

    Args:
        head: The first `HEAD_BYTES` of the file, or all of it. Where the result has a `compression`, call again with
            those of the unpacked file.
        format: The format that the ending of its name stands for, where it does for one. For text it decides
            wherever the content does not contradict it.

    >>> recognize(b'{"id": 1, "text": "one"}\\n').format, recognize(b"id,text\\n1,one\\n").format
    ('jsonl', 'csv')
    >>> recognize(b"Dear Sir, thank you\\nfor this, and that\\n").format
    'text'
    """
    encoding = marked(head)
    if encoding is not None:
        return _wide(head, encoding, format)
    content = binary(head)
    if content is BINARY and format in LINED:
        # One damaged row is for the reader to set aside, and a cell may hold a NUL.
        content = binary(head.partition(b"\n")[0])
    if content is not None:
        return content
    body = head.removeprefix(BOM)
    if not body.strip(BLANK):
        return EMPTY if format is None else replace(EMPTY, format="jsonl" if format == "json" else format)
    lines = _lines(body, whole=len(head) < HEAD_BYTES)
    if _json_lines(lines, least=2 if format == "text" else 1):
        return JSONL
    if format in ("text", "html"):
        return TEXT if format == "text" else HTML
    if format in ("csv", "tsv"):
        return _table(lines) or (CSV if format == "csv" else TSV)
    return _unnamed(body, lines, JSONL if format in ("jsonl", "json") else TEXT)


def _wide(head: bytes, encoding: str, format: str | None) -> Content:
    """What a file in UTF-16 or UTF-32 holds: tables and texts are read in these encodings, other formats are not."""
    refused = UTF16 if "16" in encoding else UTF32
    if format not in (None, "text", "html", "csv", "tsv"):
        return refused
    if format in ("text", "html"):
        return TEXT if format == "text" else HTML
    lines = _lines(
        head.decode(encoding, "ignore").removeprefix("\ufeff").encode(), whole=len(head) < HEAD_BYTES
    )
    table = None if _json_lines(lines, least=1) else _table(lines)
    if table is None and format in ("csv", "tsv"):
        return CSV if format == "csv" else TSV
    return table or refused


def _unnamed(body: bytes, lines: Sequence[bytes], otherwise: Content) -> Content:
    """What a text holds whose name says nothing, or JSON lines, which it does not hold."""
    first = lines[0].lstrip()
    if OPENS_PAGE.match(body):
        return HTML
    if OPENS_ARRAY.match(body):
        return JSON_ARRAY
    if first.startswith(b"["):
        return JSONL if _is_list(first) else otherwise  # its reader says what is wrong with it
    if first.startswith(b"{"):
        return JSON_DOCUMENT if _is_document(body) else otherwise
    return _table(lines) or otherwise


def _lines(body: bytes, whole: bool) -> list[bytes]:
    """The first lines that are not blank; without the last one, where it may be cut off."""
    lines = body.split(b"\n")
    if not whole and len(lines) > 1:
        lines.pop()
    return [line for line in lines if line.strip(BLANK)][:LINES_LOOKED_AT]


def _json_lines(lines: Sequence[bytes], least: int) -> bool:
    """Whether the first line is an object, as are those after it up to `least`; a long one may be cut off."""
    if len(lines) < least:
        return False
    return all(_is_object(line) for line in lines[:least])


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return len(line) >= HEAD_BYTES // 2 and re.match(rb'\s*\{\s*"', line) is not None


def _is_list(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), list)
    except (ValueError, RecursionError):
        return False


def _is_document(body: bytes) -> bool:
    """Whether a text that begins with a brace is one JSON value written over several lines."""
    if re.match(rb"\s*\{\s*\n\s*\"", body):
        return True
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


def _table(lines: Sequence[bytes]) -> Content | None:
    """Which table some lines are, by the delimiter that parts all of them into as many cells as the header has."""
    rows = [_plainly(line).removesuffix("\r") for line in lines]
    delimiter = table_delimiter(rows)
    return None if delimiter is None else TSV if delimiter == "\t" else CSV


def _plainly(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def lines_fault(head: bytes) -> str | None:
    """What a body is that should be JSON lines and is not; None where it is, or is text with malformed lines.

    >>> lines_fault(b"id,text\\n1,one\\n"), lines_fault(b'{"id": 1}\\n'), lines_fault(b"oops")
    ('a CSV file', None, None)
    """
    content = recognize(head, "jsonl")
    return None if content.format == "jsonl" else content.noun


def text_fault(data: bytes, encoding: str | None = None) -> str | None:
    """Why the content of a file cannot be taken as text; None where it can.

    An encoding of 16 or 32 bits has NUL bytes and byte order marks of its own.

    >>> text_fault(b"%PDF-1.7")
    'a PDF file, which Benzer does not read: convert it to text first, e.g. with pdftotext'
    >>> text_fault("one".encode("utf-16"), "utf-16"), text_fault(b"one")
    (None, None)
    """
    content = binary(data)
    wide = re.search(r"16|32", encoding or marked(data) or "") is not None
    if content is None or (wide and content in ENCODED):
        return None
    if content.format is not None:
        return f"{content.noun}, not text: use the file extension of its format"
    return content.fault
