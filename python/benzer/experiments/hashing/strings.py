"""Hash functions for strings.

Every hash reads bytes. A `str` is hashed as its UTF-8, so a character outside ASCII counts as two to four bytes;
programs that cut a character to one byte, as Java and Scala texts often do, hash "ł" as "B" and get other numbers.
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
        """The number of a string. Lone surrogates of a `str` count as U+FFFD; InputError for other types."""
        ...

    def hashes(self, texts: Sequence[str | bytes]) -> NDArray[np.uint64]:
        """The numbers of many strings (uint64, n): some 20 ns for each, and what `hash` costs."""
        ...


@dataclass(frozen=True, slots=True)
class _Unseeded:
    """What those without a seed have in common."""

    name: ClassVar[str]
    bits: ClassVar[int]

    def hash(self, text: str | bytes) -> int:
        """The number of a string."""
        return string_hash(self.name, text, 0)

    def hashes(self, texts: Sequence[str | bytes]) -> NDArray[np.uint64]:
        """The numbers of many strings (uint64, n)."""
        return string_hashes(self.name, _many(texts), 0)


@dataclass(frozen=True, slots=True)
class _Seeded:
    """What those with a seed have in common."""

    seed: int = 0
    name: ClassVar[str]
    bits: ClassVar[int]
    most_seed: ClassVar[int] = 2**32 - 1

    def __post_init__(self) -> None:
        keep_whole(self, "seed", 0, self.most_seed, "0")

    def hash(self, text: str | bytes) -> int:
        """The number of a string."""
        return string_hash(self.name, text, self.seed)

    def hashes(self, texts: Sequence[str | bytes]) -> NDArray[np.uint64]:
        """The numbers of many strings (uint64, n)."""
        return string_hashes(self.name, _many(texts), self.seed)


@dataclass(frozen=True, slots=True)
class TokenHash(_Unseeded):
    """The hash of the tokens that Benzer's own shingle hashes are made of.

    Source: the page on hashing in the reference; built on the 128-bit product of two words, as wyhash is. Range:
    0 to 2^64 - 1. Cost: 0.2 ns a byte. Weakness: it is no defence against texts made to collide; it has no seed.

    >>> TokenHash().hash("a") == TokenHash().hash(b"a")
    True
    """

    name: ClassVar[str] = "benzer"
    bits: ClassVar[int] = 64


@dataclass(frozen=True, slots=True)
class Djb2a(_Unseeded):
    """Bernstein's hash with exclusive or: `h = 33 h xor byte` in 32 bits, from 5381.

    Source: D. J. Bernstein in comp.lang.c; Hanna and Hunt (2015). Range: 0 to 2^32 - 1. Cost: 1.2 ns a byte.
    Weakness: short strings collide often, because 33 is small: the 19,683 strings of 3 letters out of 27 have
    910 numbers fewer than that, where a random function would lose none. On real text 26 % of the shingles of
    3 characters collide, 2.9 % of 5, 0.17 % of 9; yet a Jaccard similarity moves by 0.005 at most.

    >>> Djb2a().hash("he")
    5861128
    """

    name: ClassVar[str] = "djb2a"
    bits: ClassVar[int] = 32


@dataclass(frozen=True, slots=True)
class Murmur3x32(_Seeded):
    """MurmurHash3, 32 bits.

    Source: A. Appleby 2011; Bergillos, Rambla and Cabeza (2018). Range: 0 to 2^32 - 1. Cost: 0.6 ns a byte.
    Weakness: 32 bits make some of a million strings collide, about 116 pairs; and pairs of strings that collide
    under every seed can be made on purpose (J.-P. Aumasson and D. J. Bernstein 2012).

    >>> hex(Murmur3x32(seed=0x9747B28C).hash("test"))
    '0x704b81dc'
    """

    name: ClassVar[str] = "murmur3_32"
    bits: ClassVar[int] = 32


@dataclass(frozen=True, slots=True)
class Murmur3x128(_Seeded):
    """MurmurHash3, 128 bits, the variant for 64-bit machines; its low 64 bits are the number.

    Source: A. Appleby 2011. Range: 0 to 2^64 - 1. Cost: 0.2 ns a byte. Weakness: strings that collide under
    every seed can be made on purpose.

    >>> Murmur3x128().digest("").hex()
    '00000000000000000000000000000000'
    """

    name: ClassVar[str] = "murmur3_128"
    bits: ClassVar[int] = 64

    def digest(self, text: str | bytes) -> bytes:
        """All 16 bytes, in the order in which the author's program writes them.

        >>> Murmur3x128().hash("x") == int.from_bytes(Murmur3x128().digest("x")[:8], "little")
        True
        """
        return murmur3_digest(text, self.seed)


@dataclass(frozen=True, slots=True)
class Xxh3(_Seeded):
    """XXH3, 64 bits.

    Source: Y. Collet, xxHash 0.8 (2020). Range: 0 to 2^64 - 1. Cost: 0.03 ns a byte, the least of all on long
    strings. Weakness: it is no defence against strings made to collide by somebody who knows the seed.

    >>> hex(Xxh3().hash(""))
    '0x2d06800538d394c2'
    """

    name: ClassVar[str] = "xxh3"
    bits: ClassVar[int] = 64
    most_seed: ClassVar[int] = 2**64 - 1


def _many(texts: Sequence[str | bytes]) -> Sequence[str | bytes]:
    if isinstance(texts, str | bytes):
        raise InputError(
            f"hashes takes a list of strings, got the one string {texts!r:.40}: put it in a list"
        )
    return texts
