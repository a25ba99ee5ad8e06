"""Hash functions for the values of a band.

`Bands.keys` has Benzer's own function: 64 bits that include the number of the band. These are the literature's, to
repeat its buckets; they use only the values, so the buckets of each band must be kept separately.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from benzer._native import string_hashes
from benzer.errors import InputError

Values = NDArray[np.uint32] | Sequence[int] | Sequence[Sequence[int]]


class VectorHash(Protocol):
    """A function from values of 32 bits, in their order, to a number below 2^bits."""

    name: ClassVar[str]
    bits: ClassVar[int]

    def hashes(self, values: Values) -> NDArray[np.uint64]:
        """Return the number of each vector: (uint32, any shape × rows) to (uint64, that shape)."""
        ...


@dataclass(frozen=True, slots=True)
class HashVec:
    """For each value `v`: `h ^= v + 0x9e3779b9 + (h << 6) + (h >> 2)` in 32 bits, from the number of values.

    Source: Bergillos, Rambla and Cabeza (2018), after `hash_combine` of the Boost libraries. Range: 0 to 2^32 - 1.
    Cost: 10 ns per value of many vectors. Weakness: with 32 bits, about 116 pairs of a million documents share a
    bucket by chance in every band. They are compared in vain, but no pair is lost.

    >>> HashVec().hashes([[1, 2, 3], [3, 2, 1]]).tolist()
    [4213921812, 4213813750]
    >>> from benzer import Bands, MinHash
    >>> bands, signature = Bands(20, 5), MinHash(num_hashes=100).signature([1, 2, 3])
    >>> HashVec().hashes(signature.reshape(bands.bands, bands.rows)).shape
    (20,)
    """

    name: ClassVar[str] = "hash_vec"
    bits: ClassVar[int] = 32

    def hashes(self, values: Values) -> NDArray[np.uint64]:
        """Return the number of each vector: (uint32, any shape × rows) to (uint64, that shape)."""
        vectors, shape = as_vectors(values)
        hashes = np.full(len(vectors), vectors.shape[1], dtype=np.uint32)
        for row in vectors.T:
            hashes ^= row + np.uint32(0x9E3779B9) + (hashes << np.uint32(6)) + (hashes >> np.uint32(2))
        return hashes.astype(np.uint64).reshape(shape)


@dataclass(frozen=True, slots=True)
class JoinedDjb2a:
    """djb2a of the values in decimal, joined by a separator.

    Source: Hanna and Hunt (2015). Range: 0 to 2^32 - 1. Cost: 2 µs for a vector of five. Weakness: that of djb2a; and
    with an empty separator [1, 23] and [12, 3] are the same string. Their values are signed, ours are not: use
    `benzer.experiments.hashing.signed` to print theirs.

    >>> from benzer.experiments.hashing import Djb2a
    >>> JoinedDjb2a().hashes([[1, 23], [12, 3]]).tolist() == Djb2a().hashes(["1,23", "12,3"]).tolist()
    True
    """

    separator: str = ","
    name: ClassVar[str] = "joined_djb2a"
    bits: ClassVar[int] = 32

    def hashes(self, values: Values) -> NDArray[np.uint64]:
        """Return the number of each vector: (uint32, any shape × rows) to (uint64, that shape)."""
        vectors, shape = as_vectors(values)
        joined = [self.separator.join(map(str, row)) for row in vectors.tolist()]
        return string_hashes("djb2a", joined, 0).reshape(shape)


def as_vectors(values: Values) -> tuple[NDArray[np.uint32], tuple[int, ...]]:
    """Return values of 32 bits as vectors × rows, and the shape of their numbers; raises an error for other values.

    >>> as_vectors([2**32])
    Traceback (most recent call last):
    benzer.errors.InputError: values must be whole numbers from 0 to 2^32 - 1, got 4294967296
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"values must be lists of equal length: {error}") from error
    if not array.ndim or (array.size and array.dtype.kind not in "iu"):
        raise InputError(
            f"values must be lists of whole numbers, got {array.dtype} in {array.ndim} dimensions"
        )
    wrong = array[(array < 0) | (array >= 2**32)]
    if wrong.size:
        raise InputError(f"values must be whole numbers from 0 to 2^32 - 1, got {wrong[0]}")
    shape = array.shape[:-1]
    return array.astype(np.uint32).reshape(math.prod(shape), array.shape[-1]), shape
