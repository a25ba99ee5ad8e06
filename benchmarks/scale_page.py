"""How do the figures of a scale run become docs/explanation/scale.md?"""

from __future__ import annotations

from typing import Any

from benchmarks import report
from benchmarks.machine import Machine
from benchmarks.scenarios import DOCS

PAGE = DOCS / "explanation" / "scale.md"
Row = dict[str, Any]


def line(row: Row) -> str:
    """A measurement in one line of a terminal."""
    stages = " ".join(f"{name} {value:.2f}" for name, value in row["stages"].items())
    return (
        f"{row['family']:<11} {row['documents']:>10,} {row['threshold']}/{row['recall']} memory={row['memory']}: "
        f"{row['seconds']:.2f} s, {row['documents'] / row['seconds']:,.0f}/s, {row['bytes'] / row['seconds'] / 1e6:.0f} MB/s, "
        f"{held(row) / 1e6:,.0f} MB = {held(row) / row['documents']:.0f} B a document; {row['candidates']:,} candidates, "
        f"{row['removed']:,} removed; {stages}"
    )


def held(row: Row) -> int:
    """The anonymous memory that the run itself took at its peak."""
    return int(row["peak"] - row["before"])
