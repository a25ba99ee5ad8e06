"""Converts rows to documents: selects and checks columns, and adds batches to the corpus."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benzer.document import Description, FieldValue
from benzer.errors import InputError
from benzer.sources.base import (
    DocumentSink,
    MalformedRows,
    ReadOptions,
    ReadReport,
    missing_column,
    noun_of,
)
from benzer.sources.nested import MISSING, root_of, value_at
from benzer.sources.web import main_text

BATCH_DOCUMENTS = 2_000
BATCH_CHARACTERS = 1 << 24
INT64 = range(-(2**63), 2**63)
MOST_BITS = 10_000  # of a value; Python writes no integer of more than some 4,300 digits

Row = Mapping[str, Any]

IDENTITY = "\0identity"
"""Where the id of a document stands in its row, if it does not stand in a column."""


class BadRow(Exception):
    """Why a row is malformed; never leaves the room."""


NumberedRow = tuple[int, Row | BadRow]
Parts = tuple[str | int | None, list[FieldValue], bytes | None]


def read_text(column: str, value: Any) -> FieldValue:
    """A text (or what an index kept of one) as it is; null stays None, an empty document.

    The texts of a place in lists (`messages[].content`) become one text with a line for each.
    """
    if isinstance(value, list) and "[]" in column and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, str) for one in value):
        raise BadRow(f'column "{column}" is a list of texts: use "{column}[]" to join them')
    if value is None or isinstance(value, (str, Description)):
        return value
    if isinstance(value, bytes):
        return decode(value, where=f' of column "{column}"')
    raise BadRow(f'column "{column}" is not text')


def read_html(column: str, value: Any) -> FieldValue:
    """The main text of an HTML page."""
    text = read_text(column, value)
    return main_text(text) if isinstance(text, str) else text


def read_values(column: str, value: Any) -> FieldValue:
    """A collection of strings and integers as it is, a number as a set of one; null stays None."""
    if value is None or isinstance(value, Description):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, int) and not isinstance(value, bool):
        value = [value]
    if isinstance(value, (str, bytes, Mapping, np.ndarray)) or not isinstance(value, Collection):
        raise BadRow(f'column "{column}" is not a list of strings or integers')
    for element in value:
        if isinstance(element, bool) or not isinstance(element, (str, int)):
            raise BadRow(f'column "{column}" lists {noun_of(element)}, not only strings or integers')
        if isinstance(element, int) and element.bit_length() > MOST_BITS:
            raise BadRow(f'column "{column}" lists an integer of too many digits')
    return value


def read_image(column: str, value: Any, folder: Path | None = None) -> FieldValue:
    """A picture: a path as text, seen from `folder`, the content of a file, or an array; null stays None.

    Tables of pictures often hold both, as {"bytes": ..., "path": ...}: then the bytes count, if there are any.
    """
    if isinstance(value, Mapping) and {"bytes", "path"} & value.keys():
        content = value.get("bytes")
        value = value.get("path") if content is None else content
    if value is None or (isinstance(value, str) and not value):
        return None
    if isinstance(value, (str, os.PathLike)):
        return value if folder is None else folder / value
    if isinstance(value, (bytes, np.ndarray, Description)):
        return value
    raise BadRow(f'column "{column}" contains {noun_of(value)}, not the path or the content of an image')


def decode(data: bytes, encoding: str = "utf-8", where: str = "") -> str:
    """The text of some bytes; `BadRow` says where they are invalid.

    >>> decode(b"caf\\xc3\\xa9")
    'café'
    """
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise not_decoded(error, where) from error


def not_decoded(error: UnicodeDecodeError, where: str = "") -> BadRow:
    """What is wrong with bytes that could not be decoded."""
    byte = error.object[error.start] if error.start < len(error.object) else 0
    return BadRow(f"invalid {error.encoding} at byte {error.start}{where} (0x{byte:02x})")


def json_bytes(value: Any) -> bytes | None:
    """A value as JSON; dates as ISO text, decimals as numbers. Null and not-a-number are None.

    >>> json_bytes({"a": 1}), json_bytes(float("nan"))
    (b'{"a": 1}', None)
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return json.dumps(value, default=_plain).encode()


def _plain(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "as_tuple"):
        return float(value)
    return str(value)


@dataclass(frozen=True, slots=True)
class RowReader:
    """Turns rows into (id, field values, extra) for one source."""

    id_column: str | None
    id_required: bool
    fields: tuple[tuple[str, Callable[[str, Any], FieldValue]], ...]
    extra_column: str | None
    given_ids: bool = True

    @classmethod
    def of(cls, options: ReadOptions, first_row: Row | None, folder: Path | None = None) -> RowReader:
        """Reader for a source; the first row decides whether there is a column of ids (see `ReadOptions`).

        Paths of images are seen from `folder`.
        """
        read: Mapping[str, Callable[[str, Any], FieldValue]]
        read = {"values": read_values, "image": partial(read_image, folder=folder)}
        if options.html:
            read["text"] = read_html
        fields = tuple(
            (column, read.get(options.kinds.get(field_name, "text"), read_text))
            for field_name, column in options.fields.items()
        )
        id_column, id_required = id_plan(options, first_row)
        given_ids = options.id_plan != (None, False)
        return cls(id_column, id_required, fields, options.extra_column, given_ids)

    def document(self, row: Row) -> Parts:
        """One document; `BadRow` says why there is none."""
        values = []
        for column, read in self.fields:
            value = value_at(row, column)
            if value is MISSING:
                raise BadRow(f'no column "{column}"')
            values.append(read(column, value))
        extra = None if self.extra_column is None else json_bytes(optional_at(row, self.extra_column))
        return self._id(row), values, extra

    def _id(self, row: Row) -> str | int | None:
        column = None if self.id_column is None else optional_at(row, self.id_column)
        value = row.get(IDENTITY, column) if self.given_ids else None
        if value is None and self.id_required:
            raise BadRow(f'no id in column "{self.id_column}"')
        if isinstance(value, bool) or not isinstance(value, (str, int, float, type(None))):
            place = "of the document" if IDENTITY in row else f'in column "{self.id_column}"'
            raise BadRow(f"the id {place} is neither text nor an integer")
        if isinstance(value, float) or (isinstance(value, int) and value not in INT64):
            raise BadRow(f"the id {value} is neither text nor an integer of 64 bits")
        return value


def id_plan(options: ReadOptions, first_row: Row | None) -> tuple[str | None, bool]:
    """(column of ids or None, whether each row must have one).

    An unusable id in the first row makes that row malformed, unless the column is read as a field.

    >>> id_plan(ReadOptions(), {"id": 7, "text": ""}), id_plan(ReadOptions(), {"text": ""})
    (('id', False), (None, False))
    >>> id_plan(ReadOptions(), {"id": 1.5}), id_plan(ReadOptions({"tags": "id"}), {"id": ["a"]})
    (('id', False), (None, False))
    >>> id_plan(ReadOptions(id_column="doi"), None)
    ('doi', True)
    """
    if options.id_plan is not None:
        return options.id_plan
    if options.id_column is not None:
        return options.id_column, True
    if first_row is None or "id" not in first_row:
        return None, False
    content = first_row["id"]
    usable = content is None or (isinstance(content, (str, int)) and not isinstance(content, bool))
    is_field = "id" in options.fields.values()
    return ("id", False) if usable or not is_field else (None, False)


def optional_at(row: Row, column: str) -> Any:
    """The value of a column or place (see `nested`); None where there is none."""
    value = value_at(row, column)
    return None if value is MISSING else value


def check_columns(
    name: str, options: ReadOptions, rows: Iterable[Iterable[str]], nested: bool = False
) -> None:
    """Raise `InputError` if a column that was asked for is in no row; looks no further than it must.

    nested: of a place inside a column, only that column is looked for.

    >>> check_columns("a.jsonl", ReadOptions(), [["id", "body"], ["id", "text"], ["never looked at"]])
    """
    seen: dict[str, None] = {}
    missing = set(options.columns)
    for columns in rows:
        seen.update(dict.fromkeys(columns))
        missing -= {column for column in missing if column in seen or (nested and root_of(column) in seen)}
        if not missing:
            return
    if seen:
        raise missing_column(name, min(missing), seen)


def check_alone(name: str, options: ReadOptions) -> None:
    """Refuse contents without columns where columns are needed: several fields, ids, or an extra column."""
    if len(options.fields) > 1:
        fields = ", ".join(options.fields)
        raise InputError(
            f"{name} has no columns, but the schema has the fields {fields}: use a table or mappings"
        )
    for column in (options.id_column, options.extra_column):
        if column is not None:
            raise InputError(f'{name} has no columns, but "{column}" is needed: use a table or mappings')


@dataclass(slots=True)
class DocumentBatch:
    """Documents on their way into the corpus: about 2,000, or 16 million characters, at a time."""

    corpus: DocumentSink
    number: int
    width: int
    with_extras: bool
    malformed: MalformedRows
    rows: list[int] = field(default_factory=list)
    ids: list[str | int | None] = field(default_factory=list)
    fields: list[list[FieldValue]] = field(default_factory=list)
    extras: list[bytes | None] = field(default_factory=list)
    characters: int = 0

    def append(self, row: int, parts: Parts) -> None:
        """Take one document, and hand the batch on when it is full."""
        identity, values, extra = parts
        self.rows.append(row)
        self.ids.append(identity)
        self.fields.append(values)
        self.extras.append(extra)
        self.characters += sum(map(size_of, values))
        if len(self.rows) >= BATCH_DOCUMENTS or self.characters >= BATCH_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Hand on what is there; fields go over as columns."""
        if not self.rows:
            return
        columns = [[values[i] for values in self.fields] for i in range(self.width)]
        extras = self.extras if self.with_extras else None
        for row, reason in self.corpus.add(self.number, self.rows, self.ids, columns, extras) or ():
            self.malformed.add(row, reason)
        self.rows, self.ids, self.fields, self.extras, self.characters = [], [], [], [], 0


def add_rows(
    corpus: DocumentSink,
    number: int,
    rows: Iterable[NumberedRow],
    reader: RowReader,
    malformed: MalformedRows,
) -> ReadReport:
    """Add numbered rows to the corpus; a row may be the `BadRow` that says why it could not be parsed."""
    corpus.name_source(number, malformed.source)
    batch = DocumentBatch(corpus, number, len(reader.fields), reader.extra_column is not None, malformed)
    rows_read = 0
    for row, content in rows:
        rows_read += 1
        try:
            if isinstance(content, BadRow):
                raise content
            batch.append(row, reader.document(content))
        except BadRow as bad:
            malformed.add(row, str(bad))
    batch.flush()
    malformed.found.sort(
        key=lambda one: one.row
    )  # the corpus refuses rows of a batch after those that follow
    return ReadReport(rows_read, rows_read - len(malformed.found), malformed.found)


def size_of(value: FieldValue) -> int:
    """About the bytes that a content takes on its way."""
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, np.ndarray):
        return value.nbytes
    return len(value) if isinstance(value, Collection) else 0
