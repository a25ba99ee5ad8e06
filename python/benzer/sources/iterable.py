"""Reads documents in memory: documents, mappings, (id, text) pairs, and contents alone, from any iterable."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benzer.errors import InputError
from benzer.sources.base import (
    DocumentSink,
    Keep,
    MalformedRows,
    ReadOptions,
    ReadReport,
    chosen,
    noun_of,
)
from benzer.sources.rows import (
    IDENTITY,
    BadRow,
    NumberedRow,
    RowReader,
    add_rows,
    check_alone,
    check_columns,
)
from benzer.sources.spool import ItemSpool
from benzer.sources.streams import create_plain

LOOKED_AT = 1_000
"""Items of an iterator that are read before the others, to see its columns."""


class IterableSource:
    """Documents from an iterable. `select` gives the chosen items back.

    A mapping is a row with columns; of a `Document`, or an (id, text or fields) pair, the fields stand for
    themselves whatever the columns are called. If the first item is a string, or an array, each item is the content
    of a document, whose id is its position from 0. An iterator is read as a stream, and its items are stored in a
    temporary file. The copy on disk is JSONL.
    """

    suffix = ".jsonl"
    path = None

    def __init__(self, documents: Iterable[Any], name: str = "documents") -> None:
        self.name = name
        self._given = documents
        self._items: Iterable[Any] = ItemSpool() if isinstance(documents, Iterator) else documents
        self._report: ReadReport | None = None

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each item as a document (see `Source`)."""
        items = iter(self._given)
        if isinstance(self._items, ItemSpool):
            self._given, items = (), self._items.through(items)
        head = list(itertools.islice(items, LOOKED_AT))
        alone = bool(head) and is_content(head[0])
        if alone:
            check_alone(self.name, options)
            check_readable(self.name, head[0], options)
        given = itertools.chain(head, items)
        rows = self._contents(given, options) if alone else self._rows(given, head, options)
        reader = RowReader.of(options, None if alone else next(_readable(head, options), None))
        malformed = MalformedRows(self.name, options.on_error, unit="item")
        self._report = add_rows(corpus, number, rows, reader, malformed)
        return self._report

    def select(self, keep: Keep) -> list[Any]:
        """The chosen items themselves; `keep` as in `write_rows`."""
        return list(itertools.compress(self._items, chosen(self._report, keep, self.name)))

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Write the chosen items as JSON lines (see `Source`); sets become lists, in sorted order."""
        rows = chosen(self._report, keep, self.name)
        with create_plain(destination) as copy:
            for place, item in itertools.compress(enumerate(self._items), rows):
                line = json.dumps(written(item, place), default=_listed, ensure_ascii=True)
                copy.write(line.encode() + b"\n")
        return int(rows.sum())

    def _rows(self, items: Iterable[Any], head: list[Any], options: ReadOptions) -> Iterator[NumberedRow]:
        """Number the rows; each column must occur in one of them, of an iterator one of the first."""
        looked_at = head if isinstance(self._items, ItemSpool) else self._items
        check_columns(self.name, options, map(list, _readable(looked_at, options)), nested=True)
        for number, item in enumerate(items, start=1):
            yield number, as_row(item, options)

    def _contents(self, items: Iterable[Any], options: ReadOptions) -> Iterator[NumberedRow]:
        (column,) = options.fields.values()
        for place, item in enumerate(items):
            if item is None or is_content(item):
                yield place + 1, {column: item, IDENTITY: place}
            else:
                yield (
                    place + 1,
                    BadRow(f"{noun_of(item)} in a list of texts: use only strings, or only mappings"),
                )


def is_content(item: Any) -> bool:
    """Whether an item is the content of a document: a text, or the array of an image.

    >>> is_content("some text"), is_content(("a", "some text"))
    (True, False)
    """
    return isinstance(item, (str, bytes, np.ndarray))


def check_readable(name: str, first: Any, options: ReadOptions) -> None:
    """Refuse texts where images are read: they could only be file names."""
    kind = options.kinds.get(next(iter(options.fields)), "text")
    if isinstance(first, str) and kind == "image":
        raise InputError(
            f"{name} are strings, which are texts, but the schema reads images: use pathlib.Path objects for files"
        )


def _readable(items: Iterable[Any], options: ReadOptions) -> Iterator[Mapping[str, Any]]:
    """The rows that can be read."""
    rows = (as_row(item, options) for item in items)
    return (row for row in rows if not isinstance(row, BadRow))


def as_row(item: Any, options: ReadOptions) -> Mapping[str, Any] | BadRow:
    """An item as a row with the columns that `options` asks for."""
    if isinstance(item, Mapping):
        return item
    parts = id_and_fields(item)
    if parts is None:
        return BadRow(f"{noun_of(item)} is not a document: use a Document, a mapping, or a pair (id, text)")
    identity, fields = parts
    if (bad := wrong_fields(fields, options.fields, options.extra_column)) is not None:
        return bad
    named = {column: fields.get(name) for name, column in options.fields.items()}
    if options.extra_column is not None:
        named.setdefault(options.extra_column, fields.get(options.extra_column))
    return {**named, IDENTITY: identity}


def id_and_fields(item: Any) -> tuple[Any, Mapping[str, Any]] | None:
    """The two parts of a `Document` or of a pair; a text alone is the field "text".

    >>> id_and_fields(("a", "some text")), id_and_fields("some text")
    (('a', {'text': 'some text'}), None)
    """
    if isinstance(item, tuple) and len(item) == 2:
        identity, fields = item
    elif hasattr(item, "id") and hasattr(item, "fields"):
        identity, fields = item.id, item.fields
    else:
        return None
    return identity, fields if isinstance(fields, Mapping) else {"text": fields}


def written(item: Any, place: int) -> Mapping[str, Any]:
    """What is written of an item; a content alone has its position as its id."""
    if isinstance(item, Mapping):
        return item
    identity, fields = id_and_fields(item) or (place, {"text": item})
    return {"id": identity, **fields}


def wrong_fields(given: Collection[str], known: Collection[str], extra: str | None) -> BadRow | None:
    """Return what is wrong with the names of a document's fields; None if nothing is."""
    unknown = [name for name in given if name not in known and name != extra]
    if unknown:
        return BadRow(f"a document has an unknown field {unknown[0]!r}: use {', '.join(known)}")
    if not any(name in given for name in known):
        return BadRow(f"a document has no field of the schema: use {', '.join(known)}")
    return None


def _listed(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
