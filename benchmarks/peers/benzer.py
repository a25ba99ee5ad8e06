"""Benzer: from the file to the documents to remove and the verified pairs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.base import Answer, Clock, Task
from benzer import Duplicates, Schema, Text, find_duplicates

MOST_PAIRS = (
    5_000_000  # to be handed on for the score; those among identical documents are quadratic in their number
)


def run(task: Task) -> Answer:
    import_readers(task)
    clock = Clock()
    result = found(task)
    removed = list(result.removed)
    _ = result.pairs
    clock.lap("all")
    return answer(result, removed, clock, "removed and pairs")


def import_readers(task: Task) -> None:
    """Import the readers of the format before the measurement, because imports of other engines are not counted
    either.
    """
    if task.path.endswith(".parquet"):
        import_module("pyarrow.dataset")
        import_module("pyarrow.parquet")


def found(task: Task, **settings: Any) -> Duplicates:
    """Run the task: words as in plain Python, or characters in lower case."""
    words = {"tokenizer": "alnum"} if task.unit == "word" else {"whitespace": "keep"}
    text = Text(unit=task.unit, shingle_size=5, case="lower", normalize="none", **words)  # type: ignore[arg-type]
    asked: dict[str, Any] = {"threshold": task.threshold, "recall": task.recall, "threads": task.threads}
    return find_duplicates(task.path, schema=Schema(text=text), **asked | settings)


def answer(result: Duplicates, removed: list[Any], clock: Clock, rest: str) -> Answer:
    """The scored result. The stages are Benzer's own; `rest` is the time after them."""
    stages = {name: seconds for name, seconds in result.timings.items() if name != "total"}
    stages[rest] = clock.stages["all"] - sum(stages.values())
    copies = np.bincount(result.stands_for)
    # Spelling out the pairs among identical documents is for the score only; nobody else answers with pairs.
    pairs = result.expanded_pairs() if (copies * copies).sum() < MOST_PAIRS else None
    return Answer(
        documents=result.counts["documents"],
        stages=stages,
        flags="removed",
        flagged=[int(document) for document in removed],
        pairs=None if pairs is None else [(int(left), int(right), value) for left, right, value in pairs],
    )
