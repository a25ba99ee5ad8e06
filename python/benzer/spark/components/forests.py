"""Components if the numbers fit in one task, but not all edges: a tree of spanning forests.

Each task reduces its edges to a spanning forest: an edge from each number to the lowest one of its tree. A forest of
n numbers has fewer than n edges, however many there were. Trees with the same root meet in one task of the next
level. Each level has `factor` times fewer tasks, until one task has all numbers. Only edges of forests are ever
shuffled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benzer.spark.components.base import Numbers, tasks, tied
from benzer.spark.frames import DataFrame
from benzer.spark.tasks import ArrowTask

ROWS = 1 << 16
"""Rows of a batch that a task returns."""


def by_forests(run: Any, edges: DataFrame, factor: int = 8) -> DataFrame:
    """The component of each number that has an edge; the last task holds all numbers."""
    forest = edges.select("left", "right").mapInArrow(ArrowTask(Forest()), "left bigint, right bigint")
    for count in levels(tasks(run), factor):
        # by the root: trees of a cluster, which mostly have its first document as root, meet at the next level
        forest = forest.repartition(count, "left").mapInArrow(
            ArrowTask(Forest()), "left bigint, right bigint"
        )
    return forest.repartition(1).mapInArrow(ArrowTask(Forest(labels=True)), "number bigint, component bigint")


def levels(count: int, factor: int) -> list[int]:
    """The number of tasks of each level before the last one.

    >>> levels(200, 8)
    [200, 25, 4]
    >>> levels(1, 8)
    []
    """
    counts = []
    while count > 1:
        counts.append(count)
        count = -(-count // factor)
    return counts


@dataclass(frozen=True)
class Forest:
    """Reduces the edges of a task to a spanning forest, in memory that grows with the numbers, not the edges.

    Attributes:
        labels: Whether to return (number, component) of each number instead of the edges (root, number).
        capacity: Minimum number of edges in memory, in addition to the forest.
    """

    labels: bool = False
    capacity: int = 1 << 20

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        none = np.empty(0, dtype=np.int64)
        pending, waiting, rows = (none, none), [(none, none)], 0
        for batch in batches:
            waiting.append((batch.column(0).to_numpy(), batch.column(1).to_numpy()))
            rows += batch.num_rows
            # as many new edges as the forest has: each is then sorted a bounded number of times
            if rows >= max(self.capacity, len(pending[0])):
                pending, waiting, rows = _reduced([pending, *waiting]), [], 0
        yield from self._handed_on(*_joined([pending, *waiting]))

    def _handed_on(self, left: Numbers, right: Numbers) -> Iterator[Any]:
        import pyarrow as pa

        numbers, label = tied(left, right)
        roots = numbers[label]
        if self.labels:
            columns = {"number": numbers, "component": roots}
        else:
            inner = numbers != roots
            columns = {"left": roots[inner], "right": numbers[inner]}
        yield from pa.table(columns).to_batches(max_chunksize=ROWS)


def _reduced(edges: list[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    numbers, label = tied(*_joined(edges))
    roots = numbers[label]
    inner = numbers != roots
    return roots[inner], numbers[inner]


def _joined(edges: list[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    return np.concatenate([left for left, _ in edges]), np.concatenate([right for _, right in edges])
