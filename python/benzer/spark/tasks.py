"""The start of a task: reduces the garbage collection cost of reused Python workers."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Worker = Callable[[Iterator[Any]], Iterator[Any]]


@dataclass(frozen=True)
class ArrowTask:
    """The function for `DataFrame.mapInArrow`: a worker that converts record batches.

    PySpark runs the cycle collector after each task of a Python worker, which takes 60 ms if pandas, PyArrow and Benzer
    are imported: 10 of the 15 s of CPU time of the workers of a run over 1 GB. Imported objects live until the process
    ends, so they are frozen and excluded from the collection.
    """

    worker: Worker

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        set_aside()
        return self.worker(batches)


class Imported:
    """The number of modules when the objects of this process were last frozen."""

    count = 0


def set_aside() -> None:
    """Freeze the existing objects if modules have been imported since the last time.

    The previous task was followed by a collection, so almost no garbage is frozen.
    """
    if len(sys.modules) > Imported.count:
        gc.freeze()
        Imported.count = len(sys.modules)
