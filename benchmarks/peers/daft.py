"""Daft with its expressions `normalize` and `minhash`. It has no LSH, so numpy groups the bands here.

`normalize` drops punctuation instead of splitting at it, so its words differ slightly. It ignores the given number
of threads and uses all cores of the process, so the process is limited to that number of cores.
"""

from __future__ import annotations

import os

import daft
import numpy as np
from daft import col

from benchmarks.peers.base import Answer, Clock, Task


def run(task: Task) -> Answer:
    _bind(task.threads)
    clock = Clock()
    frame = daft.read_parquet(task.path) if task.path.endswith(".parquet") else daft.read_json(task.path)
    words = col("text").normalize(remove_punct=True, lowercase=True, nfd_unicode=False, white_space=True)
    sketch = words.minhash(num_hashes=task.num_hashes, ngram_size=5, hash_function="xxhash3_64")
    table = frame.select(col("id"), sketch.alias("sketch")).to_arrow().combine_chunks()
    clock.lap("read, shingle and sketch")
    values = table["sketch"].combine_chunks().flatten().to_numpy().astype(np.uint32)
    ids = table["id"].to_numpy()
    order = np.argsort(ids, kind="stable")
    sketches, ids = values.reshape(len(ids), task.num_hashes)[order], ids[order]
    clock.lap("export")
    flags = np.zeros(len(ids), dtype=bool)
    for band in range(task.bands):
        values = np.ascontiguousarray(sketches[:, band * task.rows : (band + 1) * task.rows])
        keys = values.view(f"V{4 * task.rows}").ravel()
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        flags |= first[group] != np.arange(len(ids))
    flagged = ids[flags].tolist()
    clock.lap("bands")
    return Answer(documents=len(ids), stages=clock.stages, flags="removed", flagged=flagged)


def _bind(threads: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
