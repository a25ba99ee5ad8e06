"""Chosen rows of an input in memory, in the kind that was given."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benzer.errors import InputError
from benzer.sources.base import Keep
from benzer.sources.frames import frame_of, is_array, is_frame
from benzer.sources.opening import Files


def check_in_memory(given: Any) -> None:
    """Refuse paths, whose rows are written to a folder instead.

    >>> check_in_memory("documents.jsonl")
    Traceback (most recent call last):
    benzer.errors.InputError: files are not read into memory: use find_duplicates(...).write(folder)
    """
    first = given[0] if isinstance(given, (list, tuple)) and given else given
    paths = isinstance(given, (str, Files)) or isinstance(first, os.PathLike)
    if paths or hasattr(first, "read_into"):
        raise InputError("files are not read into memory: use find_duplicates(...).write(folder)")


def selected(given: Any, chosen: Sequence[Keep]) -> Any:
    """The chosen rows of an input, e.g. a list of a list, a `DataFrame` of a `DataFrame`.

    Args:
        given: The input of a run, or an equal one.
        chosen: The rows of each table of the input to return (bool); of other inputs there is one array.

    Raises:
        InputError: The input is a path, or has another number of rows.

    >>> import numpy as np
    >>> selected(("a", "b"), [np.array([True, False])])
    ('a',)
    """
    check_in_memory(given)
    if isinstance(given, Iterator) and not is_frame(given):
        return _of_iterator(given, chosen)
    tables = _tables(given)
    if tables is not None:
        _check_count(len(tables), len(chosen), "tables")
        parts = [_of_table(table, rows) for table, rows in zip(tables, chosen, strict=True)]
        if is_frame(given):
            return parts[0]
        if isinstance(given, Mapping):
            kind: Any = type(given)
            return kind(zip(given, parts, strict=True))
        return _like(given, parts)
    _check_count(1, len(chosen), "inputs")
    (rows,) = chosen
    _check_count(len(given), len(rows), "rows")
    if is_array(given):
        return given[rows]
    items = given.items() if isinstance(given, Mapping) else given
    return _like(given, itertools.compress(items, rows))


def _tables(given: Any) -> list[Any] | None:
    """The tables of an input; None if it has none."""
    if is_frame(given):
        return [given]
    if is_array(given) or not isinstance(given, (Mapping, Sequence)) or not len(given):
        return None
    tables = list(given.values()) if isinstance(given, Mapping) else list(given)
    return tables if is_frame(tables[0]) else None


def _of_table(table: Any, rows: Keep) -> Any:
    count = getattr(table, "num_rows", None)
    if not isinstance(count, int):
        count = len(table) if hasattr(table, "__len__") else len(rows)
    _check_count(count, len(rows), "rows")
    frame = frame_of(table)
    assert frame is not None
    return frame.select(rows)


def _of_iterator(items: Iterator[Any], chosen: Sequence[Keep]) -> Iterator[Any]:
    """The chosen items, while they are read; the chosen rows of tables."""
    head = list(itertools.islice(items, 1))
    if head and is_frame(head[0]):
        yield from selected([*head, *items], chosen)
        return
    _check_count(1, len(chosen), "inputs")
    (rows,) = chosen
    count = 0
    for item in itertools.chain(head, items):
        if count < len(rows) and rows[count]:
            yield item
        count += 1
    _check_count(count, len(rows), "rows")


def _like(given: Any, items: Iterable[Any]) -> Any:
    kinds = (list, tuple, dict, set, frozenset)
    kind = next((kind for kind in kinds if isinstance(given, kind)), list)
    return dict(items) if isinstance(given, Mapping) else kind(items)


def _check_count(count: int, wanted: int, noun: str) -> None:
    if count != wanted:
        raise InputError(f"the result is of {wanted} {noun}, got {count}: use the input of the run")
