"""What happens where a task begins? A Python worker that Spark keeps is made cheap to keep."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Worker = Callable[[Iterator[Any]], Iterator[Any]]


@dataclass(frozen=True)
class Task:
    """What `DataFrame.mapInArrow` is given: a worker that turns record batches into others.

    PySpark looks for cycles among all objects of a Python worker after each of its tasks, which takes 60 ms where
    pandas, PyArrow and Benzer are imported: of the 15 s of CPU that the workers of a run over 1 GB took, that was 10.
    What was imported stays until the process ends, so it is set aside from that search.
    """

    worker: Worker

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        set_aside()
        return self.worker(batches)


class Imported:
    """How many modules there were when the objects of this process were last set aside."""

    count = 0


def set_aside() -> None:
    """Set aside the objects that are there, where modules have been imported since the last time.

    The worker's last task was followed by a search, so that hardly a cycle of garbage is kept by it.
    """
    if len(sys.modules) > Imported.count:
        gc.freeze()
        Imported.count = len(sys.modules)
