"""The 64-bit hashes of the elements of an image's set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benzer._native import jaccard
from benzer.fields.base import Sets

K1 = np.uint64(0x9E3779B97F4A7C15)
K2 = np.uint64(0x6A09E667F3BCC909)
EIGHT_K3 = np.uint64(8 * 0xBB67AE8584CAA73B % 2**64)


def hashes(codes: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return the hashes (uint64, ascending) of elements given as distinct numbers.

    An element is hashed like a character shingle of 8 bytes (docs/reference/hashing.md): its number, little-endian.
    Different numbers have different hashes.

    >>> [hex(value) for value in hashes(np.array([0, 1], dtype=np.uint32)).tolist()]
    ['0x6b89184cf54793e9', '0xb577142061fcc166']
    """
    state = codes.astype(np.uint64) * K1 + EIGHT_K3
    state ^= state >> np.uint64(32)
    state *= K2
    state ^= state >> np.uint64(29)
    return np.sort(state)


def concatenated(sets: Sequence[NDArray[np.uint64]]) -> Sets:
    """Concatenate sets: offsets (int64, n + 1) and hashes (uint64)."""
    offsets = np.zeros(len(sets) + 1, dtype=np.int64)
    np.cumsum([len(item) for item in sets], out=offsets[1:])
    return offsets, np.concatenate([np.zeros(0, dtype=np.uint64), *sets])


def jaccard_to_first(sets: Sets) -> NDArray[np.float64]:
    """Return the Jaccard similarity (float64) of the first set and each other; 1.0 for two empty ones."""
    offsets, together = sets
    right = np.arange(1, len(offsets) - 1, dtype=np.uint32)
    return jaccard(offsets, together, np.zeros(len(right), dtype=np.uint32), right, 1)
