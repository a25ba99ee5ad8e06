"""The format of an export: JSONL with a header line, a line per document and an end line."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from benzer.document import Document, FieldValue
from benzer.errors import InputError, StoreFormatError
from benzer.fields import Schema
from benzer.fields.base import Field
from benzer.index.documents import SeenDocuments, check_id
from benzer.index.settings import IndexSettings
from benzer.sketcher import check_fields
from benzer.sources.compression import compression_ending
from benzer.sources.formats import HEAD_BYTES, compression_of
from benzer.sources.streams import FileInput, create
from benzer.tables import atomic_write

EXPORT = 1
"""The version of the format; a later Benzer reads every earlier one."""

_READ_AT_ONCE = 2000
_TIME = "%Y-%m-%dT%H:%M:%SZ"


def write_export(path: Path, settings: IndexSettings, batches: Iterable[SeenDocuments], replace: bool) -> int:
    """Write a collection to a file, completely or not at all; returns the number of documents."""
    compression = compression_ending(path.name)
    count = 0
    with atomic_write(path, replace) as partial, create(partial, compression) as stream:
        head = {
            "benzer_export": EXPORT,
            "settings": settings.to_dict(),
            "fingerprint": settings.fingerprint(),
        }
        stream.write(_line(head))
        for documents, seen in batches:
            pairs = zip(documents, seen, strict=True)
            stream.write(b"".join(_line(_as_row(pair, second, settings.schema)) for pair, second in pairs))
            count += len(documents)
        stream.write(_line({"documents": count}))
    return count


def exported_settings(path: str | Path) -> IndexSettings:
    """Return the settings of the index that a file was exported from.

    Args:
        path: A file written by `Index.export`.

    Raises:
        InputError: The file is not an export.
        StoreFormatError: The file was written by a later version.
    """
    with _opened(Path(path)) as stream:
        return _head(str(path), stream.readline())


def read_export(path: Path, schema: Schema) -> Iterator[SeenDocuments]:
    """Yield the documents of an export in batches; raises an InputError if the file is truncated."""
    name, count = str(path), 0
    with _opened(path) as stream:
        _head(name, stream.readline())
        lines = enumerate(stream, 2)
        while batch := list(islice(lines, _READ_AT_ONCE)):
            rows = [_parsed(name, number, line) for number, line in batch]
            ended = "documents" in rows[-1] and "id" not in rows[-1]
            present = [
                _from_row(name, number, row, schema)
                for (number, _), row in zip(batch, rows[:-1] if ended else rows, strict=False)
            ]
            count += len(present)
            if present:
                yield SeenDocuments([document for document, _ in present], [second for _, second in present])
            if ended:
                if rows[-1]["documents"] != count or next(lines, None) is not None:
                    raise InputError(
                        f"{name} does not contain the documents that its last line states: export it again"
                    )
                return
    raise InputError(f"{name} is cut off after {count} documents: export it again")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if path.exists() and not path.is_file():
        raise InputError(
            f"{path} is not a regular file and cannot be read twice: write piped input to a file first"
        )
    with path.open("rb") as file:
        compression = compression_of(file.read(HEAD_BYTES))
    with FileInput(str(path), path, compression).open() as stream:
        yield stream


def _head(name: str, line: bytes) -> IndexSettings:
    try:
        head = json.loads(line)
        version, settings = head["benzer_export"], json.dumps(head["settings"], separators=(",", ":"))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(f"{name} is not an exported index: create one with `benzer export`") from None
    if version != EXPORT:
        raise StoreFormatError(
            f"{name} has export format {version}, this version of benzer reads up to {EXPORT}: upgrade benzer"
        )
    if head.get("fingerprint", "") != hashlib.sha256(settings.encode()).hexdigest():
        raise InputError(f"{name}: the settings in line 1 do not fit their fingerprint: export it again")
    return IndexSettings.from_json(settings)


def _line(values: dict[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _parsed(name: str, number: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        cut = "" if line.endswith(b"\n") else ", because the file is cut off there"
        raise InputError(f"{name}: line {number} is not JSON ({error}){cut}: export it again") from None
    if not isinstance(row, dict):
        raise InputError(f"{name}: line {number} is not a JSON object: export it again")
    return row


def _as_row(document: Document, second: int, schema: Schema) -> dict[str, Any]:
    time = datetime.fromtimestamp(second, timezone.utc).strftime(_TIME) if second else None
    fields = {name: _written(schema.fields[name], content) for name, content in document.fields.items()}
    return {"id": document.id, "last_seen": time, "fields": fields}


def _written(field: Field, content: FieldValue) -> Any:
    """Return texts and values unchanged, other contents as encoded bytes."""
    if content is None or field.kind in ("text", "values"):
        return content
    return {"base64": base64.b64encode(field.encode(content)).decode()}


def _from_row(name: str, number: int, row: dict[str, Any], schema: Schema) -> tuple[Document, int]:
    try:
        fields = {key: _read(schema.fields[key], value) for key, value in row["fields"].items()}
        document = check_id(Document(row["id"], fields))
        check_fields(document, schema)
        time = row["last_seen"]
        moment = datetime.strptime(time, _TIME).replace(tzinfo=timezone.utc) if time else None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{name}: line {number} is not a valid document ({error}): correct it") from error
    return document, int(moment.timestamp()) if moment else 0


def _read(field: Field, value: Any) -> FieldValue:
    if isinstance(value, dict):
        return field.decode(base64.b64decode(value["base64"], validate=True))
    content: FieldValue = value
    return content
