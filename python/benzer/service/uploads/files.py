"""Recognize a file that was dropped on a page, and write its rows as JSON lines."""

from __future__ import annotations

import codecs
import json
import math
import tempfile
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from benzer.errors import InputError
from benzer.service.errors import Refusal
from benzer.sources.compression import unpacked
from benzer.sources.encodings import decoded
from benzer.sources.formats import HEAD_BYTES, Content, lines_fault, recognize
from benzer.sources.jsonl import parsed
from benzer.sources.opening import PACKED, ending_format, recognized
from benzer.sources.records import TABLES, records
from benzer.sources.rows import BadRow
from benzer.sources.streams import BOM, FileInput
from benzer.wording import count


class File:
    """A file sent by a client, in a temporary file until it is closed."""

    def __init__(self, name: str) -> None:
        self._file = tempfile.NamedTemporaryFile(prefix="benzer-file-")
        self.input = FileInput(name, Path(self._file.name), spool=self._file)

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._file.write(data)

    def rows(self, fields: Sequence[str], most: int) -> BinaryIO:
        """Return the rows as JSON lines, in a temporary file that is removed when it is closed.

        Args:
            fields: The fields to keep besides the id, which is generated if a row has none; all columns if empty.
            most: Upper bound for the bytes of all lines.

        Raises:
            InputError: Benzer does not read the format of the file, or no row has one of the fields.
            Refusal: The lines are larger than `most`.
        """
        self._file.flush()
        format, file = recognized(self.input, ending_format(self.input.name))
        if format == "images":
            raise InputError(
                f"{file.name} is an image, which has no rows: add it to an index with an image field"
            )
        lines = tempfile.TemporaryFile(prefix="benzer-rows-")
        size = 0
        try:
            for number, record in records(file, format):
                line = line_of(record, f"{file.name}:{number}", text_as(fields, format))
                size += len(line)
                if size > most:
                    raise Refusal(
                        413, f"the rows of {file.name} are larger than {count(most)} bytes: split the file"
                    )
                lines.write(line)
        except BaseException:
            lines.close()
            raise
        lines.seek(0)
        return lines

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


def text_as(fields: Sequence[str], format: str) -> Sequence[str]:
    """The fields of a row to keep; empty for a text, which has the two columns id and text."""
    return fields if format in TABLES else ()


def line_of(record: Mapping[str, Any] | BadRow, made_id: str, fields: Sequence[str]) -> bytes:
    """One row as a line. An invalid row becomes a string, which readers of the lines count as malformed.

    >>> line_of({"id": 7, "text": "one", "year": 3}, "a.csv:1", ["text"])
    b'{"id": 7, "text": "one"}\\n'
    >>> line_of({"text": "one"}, "a.csv:1", ["text"])
    b'{"id": "a.csv:1", "text": "one"}\\n'
    """
    if isinstance(record, BadRow):
        return json.dumps(f"{made_id}: {record}").encode() + b"\n"
    row = dict(record) if not fields else kept(record, made_id, fields)
    row = {
        name: None if isinstance(item, float) and not math.isfinite(item) else item
        for name, item in row.items()
    }
    try:
        return json.dumps(row, default=plain, allow_nan=False).encode() + b"\n"
    except (ValueError, RecursionError) as error:
        return json.dumps(f"{made_id}: {error}").encode() + b"\n"


def kept(record: Mapping[str, Any], made_id: str, fields: Sequence[str]) -> dict[str, Any]:
    """The id and the fields of a row, which may be nested under "fields"."""
    id = made_id if record.get("id") in (None, "") else record["id"]
    nested = record.get("fields") if "fields" not in fields else None
    named = nested if isinstance(nested, Mapping) else record
    columns = {name: named[name] for name in fields if name in named}
    if not columns:
        raise InputError(
            f"{made_id} has none of the fields of the index ({', '.join(fields)}); its columns are "
            f"{', '.join(named)}: rename one of them"
        )
    return {"id": id, **columns}


def plain(value: Any) -> Any:
    """A Parquet value as JSON: bytes as files in requests, dates as ISO text, decimals as numbers."""
    if isinstance(value, bytes):
        return {"base64": b64encode(value).decode()}
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return float(value) if hasattr(value, "as_tuple") else str(value)


def described(name: str, head: bytes) -> dict[str, Any]:
    """The format of a file by its name and its beginning, or the reason why Benzer does not read it.

    >>> described("a.csv", b"id,text\\n1,one\\n")["format"]
    'csv'
    """
    content, compression = content_of(name, head)
    columns = columns_of(unpacked(head, compression)) if content.format == "jsonl" else None
    return {
        "name": name,
        "format": content.format,
        "content": content.noun,
        "compression": compression,
        "encoding": encoding_of(unpacked(head, compression)),
        "columns": columns,
        "refusal": None if content.readable else str(content.refusal(name)),
    }


def content_of(name: str, head: bytes) -> tuple[Content, str]:
    """The format and the compression of a file."""
    named = ending_format(name)
    content = recognize(head[:HEAD_BYTES], named)
    if not content.compression:
        return content, ""
    begin = unpacked(head, content.compression)[:HEAD_BYTES]
    if not begin and len(head) >= HEAD_BYTES and named is not None:  # a block of bzip2 may be longer
        return Content(named, content.noun), content.compression
    inside = recognize(begin, named)
    if inside.format in PACKED:
        noun = f"a compressed {PACKED[inside.format]}"
        return Content(None, noun, "decompress it first", content.compression), content.compression
    return inside, content.compression


def encoding_of(head: bytes) -> str:
    """The encoding of the beginning of a text; a character that is cut off at its end does not matter.

    >>> encoding_of("Größe".encode()[:3]), encoding_of("Größe und Maß".encode("cp1252"))
    ('utf-8', 'cp1252')
    """
    with suppress(UnicodeDecodeError):
        codecs.getincrementaldecoder("utf-8")().decode(head)
        return "utf-8"
    with suppress(UnicodeDecodeError):
        return decoded(head, None)[1]
    return "utf-8"


def columns_of(head: bytes) -> list[str] | None:
    """The keys of the first JSON line; None if it is malformed or longer than the given bytes."""
    line = next((line for line in head.removeprefix(BOM).split(b"\n") if line.strip()), b"")
    row = parsed(line)
    return None if isinstance(row, BadRow) else list(row)


def check_lines(head: bytes) -> None:
    """Reject an upload of JSON lines that starts as another format."""
    fault = lines_fault(head[:HEAD_BYTES])
    if fault is not None:
        raise Refusal(
            415, f"the body is {fault}, not JSON lines: POST it to /v1/files/rows first, which returns its rows as "
            "JSON lines or reports why it cannot be read",
        )  # fmt: skip
