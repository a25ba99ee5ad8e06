"""The baseline: only parse the lines of the file and keep the texts."""

from __future__ import annotations

from pathlib import Path

import orjson

from benchmarks.peers.base import Answer, Clock, Task


def read_texts(path: str) -> list[str]:
    """The texts of a JSONL file, as every Python-level engine has to read them."""
    with Path(path).open("rb") as lines:
        return [orjson.loads(line)["text"] for line in lines]


def run(task: Task) -> Answer:
    clock = Clock()
    texts = read_texts(task.path)
    clock.lap("parse")
    return Answer(documents=len(texts), stages=clock.stages)
