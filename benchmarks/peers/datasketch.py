"""datasketch with its default hash function: MinHash in bulk, then MinHashLSH with the scenario's bands."""

from __future__ import annotations

from collections.abc import Iterator

from datasketch import MinHash, MinHashLSH

from benchmarks.peers.base import Answer, Clock, Task, shingles
from benchmarks.peers.orjson import read_texts


def run(task: Task) -> Answer:
    clock = Clock()
    texts = read_texts(task.path)
    clock.lap("read")
    sketches = list(MinHash.generator(_encoded(texts, task.unit), num_perm=task.num_hashes, seed=1))
    clock.lap("shingle and sketch")
    lsh = MinHashLSH(num_perm=task.num_hashes, params=(task.bands, task.rows))
    for position, sketch in enumerate(sketches):
        lsh.insert(position, sketch, check_duplication=False)
    clock.lap("insert")
    flagged = [position for position, sketch in enumerate(sketches) if min(lsh.query(sketch)) < position]
    clock.lap("query")
    return Answer(documents=len(texts), stages=clock.stages, flags="removed", flagged=flagged)


def _encoded(texts: list[str], unit: str) -> Iterator[list[bytes]]:
    for text in texts:
        yield [shingle.encode() for shingle in shingles(text, unit)]
