"""rensa with its full R-MinHash (not its sampling "rho" mode) and its one-shot LSH over all signatures."""

from __future__ import annotations

from rensa import RMinHash, RMinHashLSH

from benchmarks.peers.base import Answer, Clock, Task, shingles
from benchmarks.peers.orjson import read_texts


def run(task: Task) -> Answer:
    clock = Clock()
    texts = read_texts(task.path)
    clock.lap("read")
    sets = [shingles(text, task.unit) for text in texts]
    clock.lap("shingle")
    signatures = RMinHash.digest_matrix_from_token_sets(sets, task.num_hashes, 42)
    clock.lap("sketch")
    lsh = RMinHashLSH(threshold=task.threshold, num_perm=task.num_hashes, num_bands=task.bands)
    flags = lsh.query_duplicate_flags_matrix_one_shot(signatures)
    flagged = [position for position, flag in enumerate(flags) if flag]
    clock.lap("bands")
    return Answer(documents=len(texts), stages=clock.stages, flags="any", flagged=flagged)
