"""How do plain Python sets become the arrays that the native core takes?"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Csr = tuple[NDArray[np.int64], NDArray[np.uint64]]


def csr(sets: Sequence[Iterable[int]]) -> Csr:
    """Sets one after another: offsets (int64, n + 1) and their distinct members ascending (uint64)."""
    rows = [sorted(set(members)) for members in sets]
    return csr_of_rows(rows)


def csr_of_rows(rows: Sequence[Sequence[int] | NDArray[np.uint64]]) -> Csr:
    """Rows one after another, as they are."""
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    if any(isinstance(row, np.ndarray) for row in rows):
        return offsets, np.concatenate(rows, dtype=np.uint64)
    return offsets, np.array([member for row in rows for member in row], dtype=np.uint64)


def split(offsets: NDArray[np.int64], hashes: NDArray[np.uint64]) -> list[list[int]]:
    """The rows of a CSR as lists."""
    return [hashes[start:end].tolist() for start, end in pairwise(offsets)]


def random_set(size: int, seed: int) -> set[int]:
    """So many random 64-bit numbers of a seed."""
    numbers = random.Random(seed)
    return {numbers.getrandbits(64) for _ in range(size)}


def paired_sets(pairs: int, common: int, each: int, seed: int) -> tuple[Csr, Csr]:
    """Two CSRs of random sets: the sets of a row share `common` members and have `each` of their own.

    Their Jaccard similarity is common / (common + 2 each), in every row.
    """
    generator = np.random.default_rng(seed)
    members = generator.integers(0, 2**64, size=(pairs, common + 2 * each), dtype=np.uint64)
    left = np.sort(members[:, : common + each], axis=1)
    right = np.sort(np.concatenate([members[:, :common], members[:, common + each :]], axis=1), axis=1)
    return uniform_csr(left), uniform_csr(right)


def uniform_csr(rows: NDArray[np.uint64]) -> Csr:
    """A matrix of sorted rows as a CSR."""
    return np.arange(rows.shape[0] + 1, dtype=np.int64) * rows.shape[1], rows.reshape(-1)
