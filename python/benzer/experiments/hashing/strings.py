"""Hash functions for strings.

Every hash reads bytes. A `str` is hashed as its UTF-8, so a character outside ASCII has two to four bytes. Programs
that truncate a character to one byte, as texts in Java and Scala often do, hash "ł" as "B" and get other numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from benzer._native import murmur3_digest, string_hash, string_hashes
from benzer.checks import keep_whole
from benzer.errors import InputError


class StringHash(Protocol):
    """A function from bytes to the numbers from 0 to 2^bits - 1."""

    name: ClassVar[str]
    bits: ClassVar[int]

    def hash(self, text: str | bytes) -> int:
        """Return the number of a string.

        Lone surrogates of a `str` count as U+FFFD; other types raise an InputError.
        """
        ...

    def hashes(self, texts: Sequence[str | bytes]) -> NDArray[np.uint64]:
        """Return the numbers of many strings (uint64, n); takes about 20 ns for each in addition to `hash`."""
        ...


@dataclass(frozen=True, slots=True)
class _Unseeded:
    """The base of hashes without a seed."""

    name: ClassVar[str]
    bits: ClassVar[int]

    def hash(self, text: str | bytes) -> int:
        """Return the number of a string."""
        return string_hash(self.name, text, 0)

    def hashes(self, texts: Sequence[str | bytes]) -> NDArray[np.uint64]:
        """Return the numbers of many strings (uint64, n)."""
        return string_hashes(self.name, _many(texts), 0)


@dataclass(frozen=True, slots=True)
class _Seeded:
    """The base of hashes with a seed."""

    seed: int = 0
    name: ClassVar[str]
    bits: ClassVar[int]
    most_seed: ClassVar[int] = 2**32 - 1

    def __post_init__(self) -> None:
        keep_whole(self, "seed", 0, self.most_seed, "0")

    def hash(self, text: str | bytes) -> int:
        """Return the number of a string."""
        return string_hash(self.name, text, self.seed)

    def hashes(self, texts: Sequence[str | bytes]) -> NDArray[np.uint64]:
        """Return the numbers of many strings (uint64, n)."""
        return string_hashes(self.name, _many(texts), self.seed)


@dataclass(frozen=True, slots=True)
class TokenHash(_Unseeded):
    """The hash of the tokens from which Benzer's own shingle hashes are made.

    Source: the page on hashing in the reference; based on the 128-bit product of two words, like wyhash. Range: 0 to
    2^64 - 1. Cost: 0.2 ns per byte. Weakness: it has no seed, so an attacker can generate texts that collide.

    >>> TokenHash().hash("a") == TokenHash().hash(b"a")
    True
    """

    name: ClassVar[str] = "benzer"
    bits: ClassVar[int] = 64


@dataclass(frozen=True, slots=True)
class Djb2a(_Unseeded):
    """Bernstein's hash with exclusive or: `h = 33 h xor byte` in 32 bits, from 5381.

    Source: D. J. Bernstein in comp.lang.c; Hanna and Hunt (2015). Range: 0 to 2^32 - 1. Cost: 1.2 ns per byte.
    Weakness: short strings collide often, because 33 is small: the 19,683 strings of 3 letters out of 27 have 910
    fewer different numbers than that; with a random function none would be lost. On real text 26 % of the shingles of
    3 characters collide, 2.9 % of 5, 0.17 % of 9; but a Jaccard similarity changes by 0.005 at most.

    >>> Djb2a().hash("he")
    5861128
    """

    name: ClassVar[str] = "djb2a"
    bits: ClassVar[int] = 32


@dataclass(frozen=True, slots=True)
class Murmur3x32(_Seeded):
    """MurmurHash3, 32 bits.

    Source: A. Appleby 2011; Bergillos, Rambla and Cabeza (2018). Range: 0 to 2^32 - 1. Cost: 0.6 ns per byte.
    Weakness: with 32 bits, about 116 pairs of a million strings collide; and an attacker can generate pairs of
    strings that collide under every seed (J.-P. Aumasson and D. J. Bernstein 2012).

    >>> hex(Murmur3x32(seed=0x9747B28C).hash("test"))
    '0x704b81dc'
    """

    name: ClassVar[str] = "murmur3_32"
    bits: ClassVar[int] = 32


@dataclass(frozen=True, slots=True)
class Murmur3x128(_Seeded):
    """MurmurHash3, 128 bits, the variant for 64-bit machines; its low 64 bits are the number.

    Source: A. Appleby 2011. Range: 0 to 2^64 - 1. Cost: 0.2 ns per byte. Weakness: an attacker can generate strings
    that collide under every seed.

    >>> Murmur3x128().digest("").hex()
    '00000000000000000000000000000000'
    """

    name: ClassVar[str] = "murmur3_128"
    bits: ClassVar[int] = 64

    def digest(self, text: str | bytes) -> bytes:
        """Return all 16 bytes, in the order in which the author's program writes them.

        Args:
            text: The string; a `str` is hashed as UTF-8.

        >>> Murmur3x128().hash("x") == int.from_bytes(Murmur3x128().digest("x")[:8], "little")
        True
        """
        return murmur3_digest(text, self.seed)


@dataclass(frozen=True, slots=True)
class Xxh3(_Seeded):
    """XXH3, 64 bits.

    Source: Y. Collet, xxHash 0.8 (2020). Range: 0 to 2^64 - 1. Cost: 0.03 ns per byte, the lowest of all on long
    strings. Weakness: an attacker who knows the seed can generate strings that collide.

    >>> hex(Xxh3().hash(""))
    '0x2d06800538d394c2'
    """

    name: ClassVar[str] = "xxh3"
    bits: ClassVar[int] = 64
    most_seed: ClassVar[int] = 2**64 - 1


def _many(texts: Sequence[str | bytes]) -> Sequence[str | bytes]:
    if isinstance(texts, str | bytes):
        raise InputError(f"texts must be a list of strings, got the text {texts!r:.40}: put it in a list")
    return texts
