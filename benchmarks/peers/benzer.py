"""Benzer: from the file to verified pairs, clusters and the documents to remove."""

from __future__ import annotations

import benzer

from benchmarks.peers.base import Answer, Clock, Task


def run(task: Task) -> Answer:
    text = benzer.Text(shingle_size=5, tokenizer="alnum", case="lower", normalize="none")
    clock = Clock()
    result = benzer.find_duplicates(
        task.path,
        threshold=task.threshold,
        recall=task.recall,
        schema=benzer.Schema(text=text),
        threads=task.threads,
    )
    removed = list(result.removed)
    pairs = list(result.expanded_pairs())
    clock.lap("find_duplicates")
    return Answer(
        documents=result.counts.read,
        stages=clock.stages,
        flags="removed",
        flagged=[document.id for document in removed],
        pairs=[(pair.left_id, pair.right_id, pair.similarity) for pair in pairs],
    )
