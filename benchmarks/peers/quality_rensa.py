"""rensa: RMinHash and RMinHashLSH with a number of bands from a grid, its estimates.

rensa does not compute shingles, so it gets the sets of Benzer. Its LSH does not apply its threshold to the results
of a query, so the pairs are filtered by every estimate of its `RMinHash.jaccard`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from rensa import RMinHash, RMinHashLSH

from benchmarks.peers.quality_base import Answer, Collection, Settings, distinct_pairs, equal_share


def find(collection: Collection, settings: Settings, seed: int) -> Answer:
    sketches, held = _sketches(collection, settings["reading"], settings["num_hashes"], seed)
    lsh = RMinHashLSH(threshold=0.5, num_perm=settings["num_hashes"], num_bands=settings["bands"])
    for position in held:
        lsh.insert(position, sketches[position])
    left, right = distinct_pairs(
        ((position, lsh.query(sketches[position])) for position in held), len(sketches)
    )
    signatures = np.array([sketch.digest() for sketch in sketches], dtype=np.uint32)
    return Answer(left, right, equal_share(signatures, left, right))


@lru_cache(maxsize=1)
def _sketches(
    collection: Collection, reading: str, num_hashes: int, seed: int
) -> tuple[list[Any], list[int]]:
    """The sketches of all documents, and the positions of those that are not empty."""
    sketches: list[Any] = []
    held = []
    for position, hashes in enumerate(collection.sets(reading)):
        sketch = RMinHash(num_perm=num_hashes, seed=seed + 42)
        if len(hashes):
            sketch.update(list(map(str, hashes.tolist())))
            held.append(position)
        sketches.append(sketch)
    return sketches, held
