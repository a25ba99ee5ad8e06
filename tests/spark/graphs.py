"""Graphs for the tests of what hangs together, and a run that has only what grouping asks for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from benzer.spark.session import from_arrow, to_arrow
from benzer.spark.settings import Work

LOWEST, HIGHEST = -(2**63), 2**63 - 1
Edge = tuple[int, int]


def chain(first: int, length: int, seed: int | None = None) -> list[Edge]:
    """Numbers in a row, in the order of their size or shuffled."""
    numbers = np.arange(first, first + length)
    if seed is not None:
        np.random.default_rng(seed).shuffle(numbers)
    return list(zip(numbers[:-1].tolist(), numbers[1:].tolist(), strict=True))


def star(centre: int, leaves: range) -> list[Edge]:
    """One number tied to many."""
    return [(centre, leaf) for leaf in leaves]


def random_edges(seed: int, numbers: int, count: int) -> list[Edge]:
    """Edges between 64-bit numbers of both signs; many small components, some larger, some edges twice."""
    rng = np.random.default_rng(seed)
    names = np.concatenate((rng.integers(LOWEST, HIGHEST, numbers - 2), [LOWEST, HIGHEST]))
    ends = rng.integers(0, numbers, (count, 2))
    edges = names[ends[ends[:, 0] != ends[:, 1]]]
    return [tuple(edge) for edge in np.concatenate((edges, edges[::7])).tolist()]


def upwards(edges: list[Edge]) -> list[Edge]:
    """The same edges, the lower end first."""
    return [(min(edge), max(edge)) for edge in edges]


def table(spark: Any, edges: list[Edge], partitions: int = 2, seed: int = 0) -> Any:
    """Edges as a DataFrame, shuffled."""
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    np.random.default_rng(seed).shuffle(ends)
    columns = {"left": np.ascontiguousarray(ends[:, 0]), "right": np.ascontiguousarray(ends[:, 1])}
    return from_arrow(spark, pa.table(columns)).repartition(partitions)


def run_of(spark: Any, **work: int) -> Any:
    """As much of a run as grouping needs."""
    return SimpleNamespace(spark=spark, work=Work(**work))


def rows(df: Any) -> list[tuple[Any, ...]]:
    """All rows, in order."""
    found = to_arrow(df)
    return sorted(zip(*(found.column(name).to_pylist() for name in found.column_names), strict=True))
