"""How is the native core asked what the reference is asked?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benzer import _native
from tests.arrays import csr
from tests.reference.text import Recipe


@lru_cache(maxsize=4096)
def reader(recipe: Recipe) -> _native.TextReader:
    """The native reader of a recipe."""
    return _native.TextReader(**asdict(recipe))


def signatures(
    algorithm: str,
    sets: Sequence[Sequence[int] | set[int]],
    k: int,
    seed: int,
    threads: int = 1,
    family: str = "mixed",
    hashed: bool = True,
) -> NDArray[np.uint32]:
    """The signatures of some sets (uint32, n x k)."""
    offsets, hashes = csr(sets)
    return _native.signatures(algorithm, family, offsets, hashes, k, seed, threads, hashed)
