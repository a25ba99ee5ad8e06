"""datasketch: MinHash with its default scheme, MinHashLSH with its own bands for a threshold, its estimates.

datasketch does not compute shingles, so it gets the sets of Benzer. Its "threshold" only chooses bands, so the
returned pairs are also filtered by every higher estimate of its `MinHash.jaccard`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from datasketch import MinHash, MinHashLSH

from benchmarks.peers.quality_base import Answer, Collection, Settings, distinct_pairs, equal_share


def find(collection: Collection, settings: Settings, seed: int) -> Answer:
    sketches = _sketches(collection, settings["reading"], settings["num_hashes"], seed)
    lsh = MinHashLSH(threshold=settings["bands_for"], num_perm=settings["num_hashes"])
    held = [position for position, sketch in enumerate(sketches) if not sketch.is_empty()]
    for position in held:
        lsh.insert(position, sketches[position], check_duplication=False)
    left, right = distinct_pairs(
        ((position, lsh.query(sketches[position])) for position in held), len(sketches)
    )
    signatures = np.stack([sketch.hashvalues for sketch in sketches])
    return Answer(left, right, equal_share(signatures, left, right))


@lru_cache(maxsize=1)
def _sketches(collection: Collection, reading: str, num_hashes: int, seed: int) -> list[Any]:
    sets = ((hashes & np.uint64(0xFFFFFFFF)).tolist() for hashes in collection.sets(reading))
    return list(MinHash.generator(sets, num_perm=num_hashes, seed=seed + 1, hashfunc=int))
