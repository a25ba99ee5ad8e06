"""Reads documents in memory: documents, mappings and (id, text) pairs from any iterable."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benzer.sources.base import DocumentSink, Keep, MalformedRows, ReadOptions, ReadReport, chosen, noun_of
from benzer.sources.rows import IDENTITY, BadRow, NumberedRow, RowReader, add_rows, check_columns
from benzer.sources.streams import create_plain


class IterableSource:
    """Documents from an iterable, read once and kept, so that `select` can give the chosen ones back.

    A mapping is a row with columns; of a `Document`, or an (id, text or fields) pair, the fields stand for
    themselves whatever the columns are called. The copy on disk is JSONL.
    """

    suffix = ".jsonl"
    path = None

    def __init__(self, documents: Iterable[Any], name: str = "documents") -> None:
        self.name = name
        self._items = documents if isinstance(documents, list) else list(documents)
        self._report: ReadReport | None = None

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each item as a document (see `Source`)."""
        mappings = (list(row) for _, row in self._rows(options) if isinstance(row, dict))
        check_columns(self.name, options, mappings)
        first = next((row for _, row in self._rows(options) if isinstance(row, dict)), None)
        reader = RowReader.of(options, first)
        malformed = MalformedRows(self.name, options.on_error, unit="item")
        self._report = add_rows(corpus, number, self._rows(options), reader, malformed)
        return self._report

    def select(self, keep: Keep) -> list[Any]:
        """The chosen items themselves; `keep` as in `write_rows`."""
        return list(itertools.compress(self._items, chosen(self._report, keep, self.name)))

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Write the chosen items as JSON lines (see `Source`); sets become lists, in sorted order."""
        items = self.select(keep)
        with create_plain(destination) as copy:
            for item in items:
                copy.write(json.dumps(written(item), default=_listed, ensure_ascii=True).encode() + b"\n")
        return len(items)

    def _rows(self, options: ReadOptions) -> Iterator[NumberedRow]:
        for number, item in enumerate(self._items, start=1):
            yield number, as_row(item, options)


def as_row(item: Any, options: ReadOptions) -> dict[str, Any] | BadRow:
    """An item as a row with the columns that `options` asks for."""
    if isinstance(item, Mapping):
        return dict(item)
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


def written(item: Any) -> Mapping[str, Any]:
    """What is written of an item."""
    if isinstance(item, Mapping):
        return item
    identity, fields = id_and_fields(item) or (None, {})
    return {"id": identity, **fields}


def wrong_fields(given: Collection[str], known: Collection[str], extra: str | None) -> BadRow | None:
    """Return what is wrong with the names of a document's fields; None if nothing is."""
    unknown = [name for name in given if name not in known and name != extra]
    if unknown:
        return BadRow(f"a document has a field {unknown[0]!r}; the schema has {', '.join(known)}")
    if not any(name in given for name in known):
        return BadRow(f"a document has none of the schema's fields: {', '.join(known)}")
    return None


def _listed(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
