"""The tables of a result; only the requested rows of the columns are created."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benzer.results import Duplicates
from benzer.results.columns import packed_table, places
from benzer.service.errors import Refusal
from benzer.tables import IdColumn, NameColumn
from benzer.tables.native import plain

TABLES = ("pairs", "clusters", "removed", "kept", "malformed")
ORDERS = ("largest", "doubtful", "source")

Columns = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A table with `total` rows; `part(start, end)` returns the columns of some of them."""

    total: int
    part: Callable[[int, int], Columns]


def table_of(result: Duplicates, name: str, order: str) -> Table:
    """A table by name: pairs, removed and malformed as in `Duplicates.table`, clusters and kept as below."""
    if name == "clusters":
        return clusters(result, order)
    columns = kept(result) if name == "kept" else packed_table(result, name)
    total = len(next(iter(columns.values())))
    return Table(
        total, lambda start, end: {key: part_of(column, start, end) for key, column in columns.items()}
    )


def part_of(column: Any, start: int, end: int) -> Any:
    """Some rows of a column, as a column of the same kind.

    >>> part_of(["a", "b", "c"], 1, 3)
    ['b', 'c']
    """
    if isinstance(column, IdColumn):
        return IdColumn(column.corpus, column.positions[start:end])
    if isinstance(column, NameColumn):
        return NameColumn(column.names, column.places[start:end])
    return column[start:end]


def kept(result: Duplicates) -> Columns:
    """The kept documents and their positions."""
    stays = np.flatnonzero(result.stays).astype(np.uint32)
    return {"id": IdColumn(result.corpus, stays), **places(result, stays)}


def clusters(result: Duplicates, order: str) -> Table:
    """The clusters: one row each, with its number, which is its place in input order."""
    numbers = cluster_numbers(result, order)
    means = cluster_means(result)

    def part(start: int, end: int) -> Columns:
        chosen = numbers[start:end]
        reports = result.safety.reports(chosen)
        pairs = [report.least_pair for report in reports]
        return {
            "cluster": chosen.tolist(),
            "kept_id": [report.representative for report in reports],
            "size": [report.size for report in reports],
            "distinct": [report.distinct for report in reports],
            "least": [report.least_similarity for report in reports],
            "mean": means[chosen].tolist(),
            "least_left_id": [left for left, _ in pairs],
            "least_right_id": [right for _, right in pairs],
            "compared": [report.compared for report in reports],
            "bridge_count": [len(report.bridges) for report in reports],
            "component_size": [report.component_size for report in reports],
            "component_clusters": [report.component_clusters for report in reports],
        }

    return Table(len(numbers), part)


def cluster_numbers(result: Duplicates, order: str) -> Any:
    """The numbers of all clusters in an order."""
    if order not in ORDERS:
        raise Refusal(
            422, f"order must be one of {', '.join(ORDERS)}, got {order!r:.40}", field="query.order"
        )
    if order == "source":
        return np.arange(len(result.safety.inside.leader))
    return result.safety.order("largest" if order == "largest" else "doubtful")


def cluster_means(result: Duplicates) -> Any:
    """The mean similarity of the members of each cluster to the kept document (float64)."""
    leader = result.safety.inside.leader
    led = np.flatnonzero(result.led)
    number = np.searchsorted(leader, result.leader[led])
    sums = np.bincount(number, weights=result.leader_similarity[led], minlength=len(leader))
    return np.minimum(sums / np.maximum(np.bincount(number, minlength=len(leader)), 1), 1.0)


def rows_of(columns: Columns) -> list[dict[str, Any]]:
    """The rows of some columns as JSON objects.

    >>> rows_of({"id": ["a"], "similarity": np.array([0.5])})
    [{'id': 'a', 'similarity': 0.5}]
    """
    lists = [plain(column) for column in columns.values()]
    lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in lists]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]
