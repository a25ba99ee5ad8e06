"""Benzer's exact method: all pairs. These are the true pairs of an unlabelled file."""

from __future__ import annotations

from benchmarks.peers.base import Answer, Clock, Task
from benchmarks.peers.benzer import answer, found


def run(task: Task) -> Answer:
    clock = Clock()
    result = found(task, method="exact", recall=1)
    removed = list(result.removed)
    clock.lap("all")
    return answer(result, removed, clock, "removed")
