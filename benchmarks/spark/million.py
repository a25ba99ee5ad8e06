"""A run that must fit into its executor: a million documents, one executor of 2 GB in a separate JVM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.spark.cells import Cell
from benchmarks.spark.documents import short_documents
from benchmarks.spark.overhead import SAME, line
from benchmarks.spark.plan import Plan, plain
from benchmarks.spark.processes import run_child

DOCUMENTS = 1_000_000
MEMORY_MB = 2048
MASTER = f"local-cluster[1,2,{MEMORY_MB}]"
"""One worker of two cores: executors in JVMs of their own, without a cluster to install."""
WARM = 500
SQUEEZED = {"spark.memory.fraction": "0.05"}
"""Leaves some 90 MB of an executor of 2 GB to shuffles, sorts and what is cached, so that they must spill."""


def run(plan: Plan, count: int = DOCUMENTS, tell: Callable[[str], None] = print) -> dict[str, Any]:
    """A run here and two on Spark, and whether their results are equal."""
    paths = short_documents(count, plan.folder / "short")
    found: dict[str, Cell] = {}
    for name, engine, squeezed in (
        ("benzer", "benzer", {}),
        ("benzer on Spark", "benzer on Spark", {}),
        ("squeezed", "benzer on Spark", SQUEEZED),
    ):
        settings = {"spark.executor.memory": f"{MEMORY_MB}m", "spark.executor.cores": "2", **squeezed}
        more = {"warm": [str(plan.cut(WARM))], "settings": settings, "master": MASTER, "memory": "2g"}
        task = plan.task(engine, paths, **more)
        kept = f"million-{name.replace(' ', '_')}-{count}"
        cell = plan.cells.keep(kept, task, lambda: plain(run_child(task, plan.time_limit)))  # noqa: B023 (called at once)
        found[name] = {one: value for one, value in cell.items() if one != "task"}
        tell(line(name, cell))
    failures = [cell["failure"] for cell in found.values()]
    same = not any(failures) and all(len({cell[name] for cell in found.values()}) == 1 for name in SAME)
    return {
        "documents": count,
        "file_bytes": sum(path.stat().st_size for path in paths),
        "same": same,
        "runs": found,
    }
