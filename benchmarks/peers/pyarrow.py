"""The baseline for Parquet: only read the column of texts."""

from __future__ import annotations

import pyarrow.dataset  # noqa: F401 (reading would import it)
import pyarrow.parquet as pq

from benchmarks.peers.base import Answer, Clock, Task


def run(task: Task) -> Answer:
    clock = Clock()
    table = pq.read_table(task.path, columns=["text"], use_threads=task.threads > 1)
    clock.lap("read")
    return Answer(documents=table.num_rows, stages=clock.stages)
