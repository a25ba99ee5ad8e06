"""Tables of texts, which a terminal lays out in columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple


class ColumnView(NamedTuple):
    """How a column is shown: its style, and whether it holds numbers, which are right-aligned."""

    style: Literal["", "bold", "dim"] = ""
    number: bool = False
    wraps: bool = True


@dataclass(frozen=True)
class TableView:
    """Rows of texts in columns; without headings if there are none."""

    rows: tuple[tuple[str, ...], ...]
    columns: tuple[ColumnView, ...]
    headings: tuple[str, ...] = ()


def counts_table(rows: Iterable[tuple[str, str, str]]) -> TableView:
    """Rows of a name, a number and a remark."""
    columns = ColumnView(wraps=False), ColumnView("bold", number=True, wraps=False), ColumnView("dim")
    return TableView(tuple(rows), columns)


def facts_table(facts: Iterable[tuple[str, str]]) -> TableView:
    """Rows of a name and a value."""
    return TableView(tuple(facts), (ColumnView("bold", wraps=False), ColumnView()))


def headed_table(headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> TableView:
    """Rows with headings; the first `numbers` columns contain numbers."""
    columns = (ColumnView(number=place < numbers, wraps=place >= numbers) for place in range(len(headings)))
    return TableView(tuple(tuple(row) for row in rows), tuple(columns), tuple(headings))
