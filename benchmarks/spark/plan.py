"""Limits of a measurement, and its files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.spark.cells import Cell, Cells
from benchmarks.spark.documents import cut
from benchmarks.spark.processes import Ran
from benchmarks.spark.session import PARTITIONS

THRESHOLD, RECALL = 0.8, 0.95
THREADS = 2


@dataclass(frozen=True)
class Plan:
    """The folder of the corpus, the stored runs, and the limits of each run."""

    data: Path
    cells: Cells
    memory: str = "8g"
    time_limit: float = 900.0
    master: str = f"local[{THREADS}]"
    recall: float = RECALL

    @property
    def folder(self) -> Path:
        """The folder of documents and temporary files of these measurements."""
        return self.data / "spark"

    @property
    def corpus(self) -> Path:
        """The corpus of `python -m benchmarks.corpus`."""
        return self.data / "corpus.parquet"

    def cut(self, size: int) -> Path:
        """A number of documents of the corpus."""
        truth = self.data / "corpus.truth.parquet"
        return cut(self.corpus, truth, size, self.folder / f"cut-{size}.parquet")

    def task(self, engine: str, paths: Sequence[Path], **more: Any) -> dict[str, Any]:
        """A run of `benchmarks.spark.child`."""
        return {
            "engine": engine, "paths": [str(path) for path in paths], "threshold": THRESHOLD, "recall": self.recall,
            "master": self.master, "memory": self.memory, "settings": {}, "partitions": PARTITIONS,
            "threads": THREADS, "scratch": str(self.folder), **more,
        }  # fmt: skip


def failed(ran: Ran) -> Cell:
    """The stored data of a failed run."""
    return {"failure": ran.failure, "seconds": None, "after": ran.seconds, "peak": ran.peak(0, math.inf)}


def plain(ran: Ran) -> Cell:
    """The stored data of a run whose result is not scored."""
    if ran.failure:
        return failed(ran)
    return {**ran.answer, "peak": ran.peak(ran.answer["started"], ran.answer["ended"]), "failure": None}
