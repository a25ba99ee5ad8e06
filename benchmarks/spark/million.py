"""Does a run stay within its executors? A million documents, one executor of 2 GB in a JVM of its own."""

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


def run(plan: Plan, count: int = DOCUMENTS, tell: Callable[[str], None] = print) -> dict[str, Any]:
    """A run here and one on Spark, and whether they found the same."""
    paths = short_documents(count, plan.folder / "short")
    settings = {"spark.executor.memory": f"{MEMORY_MB}m", "spark.executor.cores": "2"}
    found: dict[str, Cell] = {}
    for engine in ("benzer", "benzer on Spark"):
        more = {"warm": [str(plan.cut(WARM))], "settings": settings, "master": MASTER, "memory": "2g"}
        task = plan.task(engine, paths, **more)
        name = f"million-{engine.replace(' ', '_')}-{count}"
        cell = plan.cells.keep(name, task, lambda: plain(run_child(task, plan.time_limit)))  # noqa: B023 (called at once)
        found[engine] = {name: value for name, value in cell.items() if name != "task"}
        tell(line(engine, cell))
    failures = [cell["failure"] for cell in found.values()]
    same = not any(failures) and all(len({cell[name] for cell in found.values()}) == 1 for name in SAME)
    return {
        "documents": count,
        "file_bytes": sum(path.stat().st_size for path in paths),
        "same": same,
        "runs": found,
    }
