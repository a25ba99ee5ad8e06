"""Finds values inside nested rows: `meta.body`, `messages[].content`, `paragraphs[]`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

STEP = re.compile(r"([^.\[\]]+)((?:\[\])*)")
PATH = re.compile(rf"{STEP.pattern}(?:\.{STEP.pattern})*")
MISSING: Any = object()


def is_path(column: str) -> bool:
    """Whether the name of a column may stand for a place inside of another one.

    >>> is_path("meta.body"), is_path("paragraphs[]"), is_path("text"), is_path("e.g. this.")
    (True, True, False, False)
    """
    return ("." in column or "[]" in column) and PATH.fullmatch(column) is not None


def root_of(column: str) -> str:
    """The column that contains a place.

    >>> root_of("messages[].content"), root_of("text")
    ('messages', 'text')
    """
    found = STEP.match(column) if is_path(column) else None
    return found.group(1) if found else column


def columns_in(columns: Collection[str], present: Collection[str]) -> list[str]:
    """The columns of a table to read for some columns or places: a column of that name, or the one around it.

    >>> columns_in(["meta.body", "text"], ["meta", "text"]), columns_in(["meta.body"], ["meta.body", "meta"])
    (['meta', 'text'], ['meta.body'])
    """
    wanted = [column if column in present else root_of(column) for column in columns]
    return [column for column in dict.fromkeys(wanted) if column in present]


def value_at(row: Mapping[str, Any], column: str) -> Any:
    """The value of a column or place; MISSING where there is none. Each `[]` stands for all elements of a list.

    A place in elements of lists has the list of the values there, without nulls.

    >>> row = {"meta": {"body": "one"}, "messages": [{"content": "a"}, {"content": None}, {"content": "b"}]}
    >>> value_at(row, "meta.body"), value_at(row, "messages[].content"), value_at(row, "meta.title") is MISSING
    ('one', ['a', 'b'], True)
    """
    if column in row:
        return row[column]
    if not is_path(column):
        return MISSING
    steps = [(name, brackets.count("[]")) for name, brackets in STEP.findall(column)]
    found = list(_values(row, steps))
    if any(count for _, count in steps):
        whole = bool(found) or root_of(column) in row
        return [value for value in found if value is not None] if whole else MISSING
    return found[0] if found else MISSING


def _values(value: Any, steps: Sequence[tuple[str, int]]) -> Iterator[Any]:
    if not steps:
        yield value
        return
    (name, lists), *rest = steps
    if isinstance(value, Mapping) and name in value:
        yield from _elements(value[name], lists, rest)
    elif value is None and not rest:
        yield None


def _elements(value: Any, lists: int, rest: Sequence[tuple[str, int]]) -> Iterator[Any]:
    if not lists:
        yield from _values(value, rest)
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from _elements(element, lists - 1, rest)
