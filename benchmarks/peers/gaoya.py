"""gaoya with its own words (or characters) and n-grams in Rust; a query sketches the text again and verifies by
sketch.
"""

from __future__ import annotations

from gaoya.minhash import MinHashStringIndex

from benchmarks.peers.base import Answer, Clock, Task
from benchmarks.peers.orjson import read_texts

_ASKED_AT_ONCE = 20_000  # the answers are Python lists


def run(task: Task) -> Answer:
    clock = Clock()
    texts = read_texts(task.path)
    clock.lap("read")
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=task.threshold,
        num_bands=task.bands,
        band_size=task.rows,
        analyzer=task.unit,
        lowercase=True,
        ngram_range=(5, 5),
        id_container="vec",
    )
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    clock.lap("shingle, sketch and insert")
    flagged = []
    for start in range(0, len(texts), _ASKED_AT_ONCE):
        answers = index.par_bulk_query(texts[start : start + _ASKED_AT_ONCE])
        flagged += [
            position
            for position, found in enumerate(answers, start)
            if min(found, default=position) < position
        ]
    clock.lap("query")
    return Answer(documents=len(texts), stages=clock.stages, flags="removed", flagged=flagged)
