"""Documents with ids from any input in memory, for an index."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benzer.errors import InputError
from benzer.sources.frames import Frame, frame_of, is_array, is_frame, items_of
from benzer.sources.opening import Files, check_texts


class NumberedTexts:
    """Contents without ids, which are numbered from 0."""

    def __init__(self, contents: Iterable[Any]) -> None:
        self._contents = contents

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return iter(enumerate(self._contents))


def documents_in(data: Any, fields: Sequence[str]) -> Any:
    """Return an iterable of documents for an input in memory, `NumberedTexts` if it has no ids.

    Args:
        data: Tables, columns, texts, or documents in any form; documents are returned as they are.
        fields: The columns of a table to read, as far as it has them, beside "id".

    Raises:
        InputError: The data is a path, or a table without ids.

    >>> list(documents_in(["one text", "another"], ["text"]))
    [(0, 'one text'), (1, 'another')]
    """
    if isinstance(data, (str, bytes, os.PathLike, Files)):
        raise _path(data)
    if is_frame(data):
        return _of_frame(data, fields)
    if isinstance(data, Mapping):
        tables = list(data.values())
        return _of_tables(tables, fields) if tables and all(map(is_frame, tables)) else data.items()
    if is_array(data):
        data = items_of(data)
    if not isinstance(data, Iterable):
        return data
    items = iter(data)
    head: list[Any] = list(itertools.islice(items, 1))
    if head and isinstance(head[0], os.PathLike):
        raise _path(head[0])
    if head and is_frame(head[0]):
        return _of_tables([*head, *items], fields)
    if not head or not isinstance(head[0], str):
        return itertools.chain(head, items)
    return NumberedTexts(itertools.chain(check_texts(head[0], items), items))


def _path(given: Any) -> InputError:
    return InputError(f"documents must be in memory, got {given!r:.80}: use benzer index for files")


def _of_tables(tables: Iterable[Any], fields: Sequence[str]) -> Iterator[Any]:
    return itertools.chain.from_iterable(_of_frame(table, fields) for table in tables)


def _of_frame(table: Any, fields: Sequence[str]) -> Iterable[Any]:
    frame: Frame | None = frame_of(table)
    assert frame is not None
    if frame.alone:
        return NumberedTexts(value for batch in frame.batches(()) for value in batch.to_pylist())
    if "id" not in frame.names:
        raise InputError('a table for an index needs a column "id": add one')
    columns = ["id", *(name for name in fields if name in frame.names)]
    return (row for batch in frame.batches(columns) for row in batch.to_pylist())
