"""Benzer with all outputs: kept, removed, pairs, clusters and summary, in the format of the input."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.peers.base import Answer, Clock, Task
from benchmarks.peers.benzer import answer, found, import_readers


def run(task: Task) -> Answer:
    tables = "parquet" if task.path.endswith(".parquet") else "jsonl"
    import_readers(task)
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock()
        result = found(task)
        result.write(Path(folder) / "output", tables=tables)
        clock.lap("all")
    return answer(result, list(result.removed), clock, "write")
