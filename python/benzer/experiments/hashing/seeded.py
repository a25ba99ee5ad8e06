"""Families made by seeding a strong hash, or from random tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy import uint64
from numpy.typing import NDArray

from benzer.checks import MOST_SEED, keep_whole
from benzer.experiments.hashing.base import Elements, evaluate


@dataclass(frozen=True, slots=True)
class _Seeded:
    """The base of families whose functions depend only on the seed."""

    seed: int = 0
    name: ClassVar[str]
    bits: ClassVar[int] = 64

    def __post_init__(self) -> None:
        keep_whole(self, "seed", 0, MOST_SEED, "0")

    @property
    def size(self) -> int:
        """The number of possible values."""
        return 1 << self.bits

    def values(self, elements: Elements, count: int, threads: int = 0) -> NDArray[uint64]:
        """Return the values of n elements by the first `count` functions (uint64, count × n)."""
        return evaluate(self, elements, count, threads)


@dataclass(frozen=True, slots=True)
class SeededMurmur3x32(_Seeded):
    """MurmurHash3, 32 bits, of the 8 bytes of an element in little-endian order; each function has a seed of 32 bits.

    Source: A. Appleby 2011; used with seeds by Bergillos, Rambla and Cabeza (2018). Range: 0 to 2^32 - 1. Cost: 0.4
    ns per element and function. Weakness: the seed enters before the mixing, so some pairs of elements collide under
    every seed (J.-P. Aumasson and D. J. Bernstein 2012). They do not occur by chance, but an attacker can generate
    them.

    >>> SeededMurmur3x32(seed=1).values([0, 1, 2], count=4).shape
    (4, 3)
    """

    name: ClassVar[str] = "murmur3_32"
    bits: ClassVar[int] = 32


@dataclass(frozen=True, slots=True)
class SeededMurmur3x128(_Seeded):
    """MurmurHash3, 128 bits, of the 8 bytes of an element: its low 64 bits; each function has a seed of 32 bits.

    Source: A. Appleby 2011 (the variant for 64-bit machines). Range: 0 to 2^64 - 1. Cost: 0.6 ns per element and
    function. Weakness: there are only 2^32 different functions.

    >>> SeededMurmur3x128(seed=1).values([0, 1, 2], count=4).shape
    (4, 3)
    """

    name: ClassVar[str] = "murmur3_128"


@dataclass(frozen=True, slots=True)
class SeededXxh3(_Seeded):
    """XXH3, 64 bits, of the 8 bytes of an element in little-endian order; each function has a seed of 64 bits.

    Source: Y. Collet, xxHash 0.8 (2020). Range: 0 to 2^64 - 1; each function is a permutation of it. Cost: 0.4 ns per
    element and function. Weakness: all functions are one fixed permutation of the element combined with a key by
    exclusive or; no input is known for which this matters.

    >>> SeededXxh3(seed=1).values([0, 1, 2], count=4).shape
    (4, 3)
    """

    name: ClassVar[str] = "xxh3"


@dataclass(frozen=True, slots=True)
class Tabulation(_Seeded):
    """Simple tabulation: a random word of 64 bits for each value of each of the 8 bytes, combined by exclusive or.

    Source: A. Zobrist 1970; M. Pătraşcu and M. Thorup, "The power of simple tabulation hashing", J. ACM 59 (2012),
    who prove that it is 3-independent, and min-wise except for a bias that vanishes for large sets. Range: 0 to 2^64
    - 1. Cost: 5 ns per element and function; and tables of 16 KiB per function, which each call draws again in 10 µs,
    so sketch many sets at once. Weakness: it is not 4-independent; the values of four elements that form a rectangle
    always cancel out:

    >>> a, b, c, d = Tabulation().values([0x0000, 0x0001, 0x0100, 0x0101], count=1)[0].tolist()
    >>> a ^ b ^ c ^ d
    0
    """

    name: ClassVar[str] = "tabulation"
