"""Visual words of a local feature: the signs of fixed random projections, 28 per word."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

TABLES = 6
WORD_BITS = 28
BITS = TABLES * WORD_BITS
BYTES = BITS // 8
DIMENSIONS = 128
NO_WORD = 0xFFFFFFFF
SCALE = 512.0

# The mean of all features of 400 photographs (images_transformed, originals and distractors; Caltech-101,
# CC BY 4.0), as `rooted` gives them. With it, each projection splits features into halves of about equal size.
MEAN = np.frombuffer(
    bytes.fromhex(
        "251f1b1d21171419402b1b1a1d171726412617171c191b2c261a14161e1b1b20"
        "2d211b21281d161d53301c1f241c192e542e181b231e1d312f1d161b251f1b22"
        "2d1d161d28211b21532e191c241f1d3054311d1e231b182e2f221b1f251b161d"
        "25191417211d1b1f402617171d1a1c2b402c1b191c17172626201a1b1e16141a"
    ),
    dtype=np.uint8,
).astype(np.int64)


def rooted(descriptors: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return RootSIFT in bytes: the square root of each part of the total, times 512 (uint8, n x 128).

    R. Arandjelovic and A. Zisserman, "Three things everyone should know to improve object retrieval" (2012).
    """
    whole = np.maximum(descriptors.sum(axis=1, keepdims=True), 1)
    roots = np.rint(np.sqrt(descriptors / whole) * SCALE)
    return np.asarray(np.clip(roots, 0, 255), dtype=np.uint8)


def bits_of(features: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the 168 bits of each feature, packed (uint8, n x 21): its side of each projection's mean.

    The products are integers below 2^24, so that float32 represents them exactly in any order of summing.
    """
    values = features.astype(np.float32) @ projections().T.astype(np.float32)
    limits = (projections() @ MEAN).astype(np.float32)
    return np.packbits(values > limits, axis=1)


@cache
def projections() -> NDArray[np.int64]:
    """Return 168 x 128 integers, nearly normal: the set bits of the n-th number of SplitMix64(0), minus 32.

    >>> projections()[0, :4].tolist()
    [1, 3, -9, -2]
    """
    count = np.arange(1, BITS * DIMENSIONS + 1, dtype=np.uint64)
    state = count * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    bits: NDArray[Any] = np.bitwise_count(state)
    return bits.astype(np.int64).reshape(BITS, DIMENSIONS) - 32


def words_of(bits: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return the distinct words of features (uint32, ascending): table x 2^28 + 28 bits.

    >>> [hex(word) for word in words_of(np.arange(21, dtype=np.uint8)[None])[:3].tolist()]
    ['0x1020', '0x13040506', '0x20708090']
    """
    halves = bits.reshape(len(bits), TABLES // 2, 2 * WORD_BITS // 8).astype(np.uint64)
    wide = np.zeros(halves.shape[:2], dtype=np.uint64)
    for byte in range(halves.shape[2]):
        wide = wide << np.uint64(8) | halves[:, :, byte]
    words = np.stack([wide >> np.uint64(WORD_BITS), wide & np.uint64(2**WORD_BITS - 1)], axis=2)
    tables = np.arange(TABLES, dtype=np.uint64) << np.uint64(WORD_BITS)
    ordered = np.sort((words.reshape(len(bits), TABLES) + tables).astype(np.uint32).ravel())
    return ordered[np.flatnonzero(np.diff(ordered, prepend=np.uint32(NO_WORD)))]


def differing_bits(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return in how many of 168 bits the features of two images differ (uint8, n x m).

    >>> differing_bits(np.zeros((1, 21), dtype=np.uint8), np.full((2, 21), 3, dtype=np.uint8)).tolist()
    [[42, 42]]
    """
    wide = [np.pad(bits, ((0, 0), (0, 24 - BYTES))).view(np.uint64) for bits in (a, b)]
    distance = np.zeros((len(a), len(b)), dtype=np.uint8)
    for part in range(3):
        distance += np.bitwise_count(wide[0][:, part, None] ^ wide[1][None, :, part])
    return distance
