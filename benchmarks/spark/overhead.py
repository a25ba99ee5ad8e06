"""Overhead of Spark on one machine: a gigabyte of text, `local[2]` compared with two threads."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.spark.cells import Cell
from benchmarks.spark.documents import gigabyte
from benchmarks.spark.plan import Plan, plain
from benchmarks.spark.processes import run_child

ENGINES = ("benzer", "benzer on Spark", "benzer on Spark, files")
WARM = 100_000
TIMES = 3
IN_ONE_JVM = 4
"""Runs one after the other in the same session: the JVM compiles what it runs often, and is done after some."""
SAME = ("pairs_digest", "removed_digest")


def run(plan: Plan, tell: Callable[[str], None] = print) -> dict[str, Any]:
    """Three runs of each, alternating; all must have the same result."""
    paths = gigabyte(plan.corpus, plan.folder / "gigabyte")
    found: dict[str, list[Cell]] = {engine: [] for engine in ENGINES}
    for number in range(TIMES):
        for engine, cells in found.items():
            task = plan.task(engine, paths, warm=[str(plan.cut(WARM))], times=IN_ONE_JVM)
            name = f"overhead-{engine.replace(',', '').replace(' ', '_')}-{number}"
            cells.append(plan.cells.keep(name, task, lambda: plain(run_child(task, plan.time_limit))))  # noqa: B023 (called at once)
            tell(line(engine, cells[-1]))
    every = [cell for cells in found.values() for cell in cells]
    if failures := [cell["failure"] for cell in every if cell["failure"]]:
        raise SystemExit(f"a run failed: {failures[0]}")
    return {
        "documents": every[0]["counts"]["documents"],
        "text_bytes": sum(pc.sum(pc.binary_length(pq.read_table(path)["text"])).as_py() for path in paths),
        "file_bytes": sum(path.stat().st_size for path in paths),
        "same": all(len({cell[name] for cell in every}) == 1 for name in SAME),
        "seconds": {engine: median(cell["seconds"] for cell in cells) for engine, cells in found.items()},
        "again": {
            engine: median(cell["seconds_of_runs"][-1] for cell in cells)
            for engine, cells in found.items()
            if "seconds_of_runs" in cells[0]
        },
        "middle": {engine: middle(cells) for engine, cells in found.items()},
    }


def middle(cells: list[Cell]) -> Cell:
    """The run with the median time, without its task."""
    chosen = sorted(cells, key=lambda cell: cell["seconds"])[len(cells) // 2]
    return {name: value for name, value in chosen.items() if name != "task"}


def line(engine: str, cell: Cell) -> str:
    """A run as progress output."""
    if cell["failure"]:
        return f"{engine}: {cell['failure']}"
    stages = ", ".join(f"{name} {seconds:.2f}" for name, seconds in cell["stages"].items())
    return f"{engine}: {cell['seconds']:.2f} s ({stages}), peak {cell['peak'] / 1e6:,.0f} MB"
