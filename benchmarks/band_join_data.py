"""Sets of hashes for the join; a fifth of them are similar to an earlier one.

Needs only numpy, so that every engine can make them in its own environment.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SET = 64
"""Hashes of a set."""

HASHES, BANDS = 128, 16
COPIES = 0.2
"""The share of the sets that are made from another one."""

SIMILARITIES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)
"""The Jaccard similarities that they aim at, in equal parts."""


def planted_sets(count: int, seed: int = 3) -> NDArray[np.uint64]:
    """Token hashes (uint64, count x `SET`), in random order.

    >>> planted_sets(10).shape
    (10, 64)
    """
    generator = np.random.default_rng(seed)
    originals = count - int(count * COPIES)
    sets = generator.integers(0, 2**64 - 1, size=(count, SET), dtype=np.uint64)
    source = generator.integers(0, originals, size=count - originals)
    similarity = generator.choice(SIMILARITIES, size=count - originals)
    kept = generator.random((count - originals, SET)) < (2 * similarity / (1 + similarity))[:, None]
    sets[originals:] = np.where(kept, sets[source], sets[originals:])
    return np.ascontiguousarray(sets[generator.permutation(count)])
