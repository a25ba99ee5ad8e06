"""What a run on Spark and a local one must say alike, in a form that can be compared, and written as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benzer.spark.session import to_arrow

Answer = dict[str, Any]
TABLES = {
    "pairs": ("left_id", "right_id", "similarity"),
    "removed": ("id", "kept_id", "similarity"),
    "clusters": ("cluster_id", "id", "similarity", "component_id"),
}


def local_answer(found: Any) -> Answer:
    """Of a local run over documents in the order of their places on Spark."""
    said: Answer = {"counts": found.counts, "kept": sorted(found.kept)}
    for name, columns in TABLES.items():
        table = found.to_arrow(name)
        said[name] = rows(table.column(column).to_pylist() for column in columns)
    return said


def spark_answer(found: Any, df: Any) -> Answer:
    """The same of a run on Spark over the rows of `df`."""
    said: Answer = {
        "counts": found.counts,
        "kept": sorted(to_arrow(found.kept(df).select(found.documents.id)).column(0).to_pylist()),
    }
    for name, columns in TABLES.items():
        table = to_arrow(found.table(name).select(*columns))
        said[name] = rows(table.columns[at].to_pylist() for at in range(len(columns)))
    return said


def rows(columns: Iterable[list[Any]]) -> list[list[Any]]:
    """Columns as sorted rows."""
    return sorted(map(list, zip(*columns, strict=True)))
