"""FastSketchLSH: its Fast Similarity Sketch in bulk, then its LSH over all sketches at once."""

from __future__ import annotations

import numpy as np
from FastSketchLSH import LSH, FastSimilaritySketch

from benchmarks.peers.base import Answer, Clock, Task, shingles
from benchmarks.peers.orjson import read_texts


def run(task: Task) -> Answer:
    clock = Clock()
    texts = read_texts(task.path)
    clock.lap("read")
    sets = [shingles(text, task.unit) for text in texts]
    clock.lap("shingle")
    sketches = FastSimilaritySketch(size=task.num_hashes, seed=42).batch(sets, num_threads=task.threads)
    clock.lap("sketch")
    lsh = LSH(num_perm=task.num_hashes, num_bands=task.bands, num_threads=task.threads)
    flags = np.asarray(lsh.insert_and_query_duplicates(sketches), dtype=bool)
    flagged = np.flatnonzero(flags).tolist()
    clock.lap("bands")
    return Answer(documents=len(texts), stages=clock.stages, flags="any", flagged=flagged)
