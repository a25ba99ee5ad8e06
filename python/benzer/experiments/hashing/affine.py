"""Families of functions `a x + b` modulo a prime or a power of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from benzer._native import hash_parameters
from benzer.checks import MOST_SEED, check_whole, is_whole, keep_whole
from benzer.errors import SettingsError
from benzer.experiments.hashing.base import (
    MERSENNE_61,
    Elements,
    HashFamily,
    Parameters,
    check_count,
    evaluate,
)

KNUTH = 2654435769
"""2^32 divided by the golden ratio, the multiplier of D. Knuth, The Art of Computer Programming 3, § 6.4."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """A strong mixing of the element, then the upper half of `a x + b` modulo 2^64: the default.

    The mixing is a permutation selected by the seed, one for all functions; `a` is odd. Source: the mixer is Benzer's
    own (see the page on hashing), the rest is multiply-shift of Dietzfelbinger and others 1997. Range: 0 to 2^32 - 1.
    Cost: 0.12 ns per element and function. Weakness: none that affects minima; consecutive numbers, for which the
    families without a mixer fail, are as good as random ones.

    >>> Mixed(seed=7).values([0, 1, 2], count=4).shape
    (4, 3)
    """

    seed: int = 0
    name: ClassVar[str] = "mixed"
    bits: ClassVar[int] = 32
    size: ClassVar[int] = 2**32

    def __post_init__(self) -> None:
        keep_whole(self, "seed", 0, MOST_SEED, "0")

    def parameters(self, count: int) -> Parameters:
        """Return the multipliers and addends (uint64, count each) of the first functions, after the mixing."""
        return _drawn(self, count, None, None)

    def values(self, elements: Elements, count: int, threads: int = 0) -> NDArray[np.uint64]:
        """Return the values of n elements by the first `count` functions (uint64, count × n)."""
        return evaluate(self, elements, count, threads)


@dataclass(frozen=True, slots=True)
class Modular:
    """`(a x + b) mod p` for a prime p, computed exactly with products of 128 bits.

    `a` is drawn from 1 to p - 1, `b` from 0 to p - 1; given numbers are reduced modulo p. Source: L. Carter and M.
    Wegman 1979, the textbook's universal family; "linear" in Karamatlı (2012), "modular" in Bergillos and others
    (2018), where p is the first prime not below the number of rows. Range: 0 to p - 1. Cost: 1.6 ns per element and
    function for p = 2^61 - 1, 3.4 ns for other primes. Weakness: only pairwise independent for elements below p: a
    Jaccard similarity of 0.50 of two overlapping ranges of consecutive numbers is estimated as 0.43, and that of sets
    that share consecutive numbers and differ in random ones as 0.52. Elements that are equal modulo p collide in
    every function, so choose p above all of them.

    >>> Modular(p=5, multipliers=[1, 3], addends=[1, 1]).values(range(5), count=2).tolist()
    [[1, 2, 3, 4, 0], [1, 4, 2, 0, 3]]
    """

    seed: int = 0
    p: int = MERSENNE_61
    multipliers: Sequence[int] | None = None
    addends: Sequence[int] | None = None
    name: ClassVar[str] = "modular"

    def __post_init__(self) -> None:
        keep_whole(self, "seed", 0, MOST_SEED, "0")
        keep_whole(self, "p", 2, 2**64 - 1, "2^61 - 1")
        if not is_prime(self.p):
            raise SettingsError(f"p must be a prime, got {self.p}: the next prime is {next_prime(self.p)}")
        _keep_given(self, self.p, self.multipliers, self.addends)
        if 0 in (self.multipliers or ()):
            raise SettingsError(f"a multiplier is 0 modulo {self.p}: all elements would get the same value")

    @property
    def bits(self) -> int:
        """The number of bits of the largest value, p - 1."""
        return (self.p - 1).bit_length()

    @property
    def size(self) -> int:
        """The number of different values: p."""
        return self.p

    def parameters(self, count: int) -> Parameters:
        """Return the multipliers and addends (uint64, count each) of the first functions."""
        return _drawn(self, count, self.multipliers, self.addends, self.p)

    def values(self, elements: Elements, count: int, threads: int = 0) -> NDArray[np.uint64]:
        """Return the values of n elements by the first `count` functions (uint64, count × n)."""
        return evaluate(self, elements, count, threads, self.p, self.parameters(count))


@dataclass(frozen=True, slots=True)
class Multiplicative:
    """The highest `bits` of `x s mod 2^32`, for the low 32 bits of an element; `s` is odd.

    Source: D. Knuth (see `KNUTH`, his multiplier); Bergillos and others (2018). Range: 0 to 2^bits - 1. Cost: 0.2 ns
    per element and function. Weakness: every function maps 0 to 0, so two sets with 0 are estimated as equal,
    whatever else they contain. The order of consecutive numbers is far from random: a Jaccard similarity of 0.50 is
    estimated as 0.36 if the shared numbers are the lowest, and as 0.64 if they are the highest. Elements that differ
    only above their low 32 bits collide.

    >>> Multiplicative(bits=14, multipliers=[KNUTH]).values([123456], count=1).tolist()
    [[67]]
    """

    seed: int = 0
    bits: int = 32
    multipliers: Sequence[int] | None = None
    name: ClassVar[str] = "multiplicative"

    def __post_init__(self) -> None:
        keep_whole(self, "seed", 0, MOST_SEED, "0")
        keep_whole(self, "bits", 1, 32, "32")
        _keep_given(self, 2**32, self.multipliers, None)
        _check_odd(self.multipliers)

    @property
    def size(self) -> int:
        """The number of different values."""
        return 1 << self.bits

    def parameters(self, count: int) -> Parameters:
        """Return the multipliers (uint64, count) of the first functions; the addends are 0."""
        return _drawn(self, count, self.multipliers, None)

    def values(self, elements: Elements, count: int, threads: int = 0) -> NDArray[np.uint64]:
        """Return the values of n elements by the first `count` functions (uint64, count × n)."""
        return evaluate(self, elements, count, threads, self.bits, self.parameters(count))


@dataclass(frozen=True, slots=True)
class MultiplyShift:
    """The upper half of `a x + b mod 2^64`; `a` is odd.

    Source: M. Dietzfelbinger, T. Hagerup, J. Katajainen and M. Penttonen, "A reliable randomized algorithm for the
    closest-pair problem", J. Algorithms 25 (1997). Range: 0 to 2^32 - 1. Cost: 0.13 ns per element and function.
    Weakness: only pairwise independent (see `Modular`), and not even that for elements that differ by a multiple of
    2^32, such as small numbers in the upper half of a word: these never collide, and two that differ by 2^63 always
    have values that differ by 2^31.

    >>> MultiplyShift(multipliers=[3 << 32 | 1], addends=[0]).values([5], count=1).tolist()
    [[15]]
    """

    seed: int = 0
    multipliers: Sequence[int] | None = None
    addends: Sequence[int] | None = None
    name: ClassVar[str] = "multiply_shift"
    bits: ClassVar[int] = 32
    size: ClassVar[int] = 2**32

    def __post_init__(self) -> None:
        keep_whole(self, "seed", 0, MOST_SEED, "0")
        _keep_given(self, 2**64, self.multipliers, self.addends)
        _check_odd(self.multipliers)

    def parameters(self, count: int) -> Parameters:
        """Return the multipliers and addends (uint64, count each) of the first functions."""
        return _drawn(self, count, self.multipliers, self.addends)

    def values(self, elements: Elements, count: int, threads: int = 0) -> NDArray[np.uint64]:
        """Return the values of n elements by the first `count` functions (uint64, count × n)."""
        return evaluate(self, elements, count, threads, None, self.parameters(count))


@dataclass(frozen=True, slots=True)
class Linear:
    """`a x + b mod 2^32` of the low 32 bits of an element; `a` and `b` as drawn by `java.util.Random(seed)`.

    Source: S. Hanna and A. Hunt (2015), "a seeded collection of N functions"; `signed(...)` returns the signed
    numbers that they print. They take the result `mod p` with p near 10^12, which does not change a number of 32
    bits: this is their function. Range: 0 to 2^32 - 1. Cost: 0.2 ns per element and function. Weakness: half of the
    multipliers are even, so the lowest bits are lost, and elements that differ by 2^31 collide. Elements that differ
    only above their low 32 bits collide in every function. For consecutive numbers its errors are those of `Modular`.
    Only the low 48 bits of the seed are used.

    >>> from benzer.experiments.hashing import signed
    >>> [signed(numbers).tolist() for numbers in Linear(seed=1337).parameters(2)]
    [[-1460590454, -1334692577], [747279288, -539670452]]
    """

    seed: int = 0
    multipliers: Sequence[int] | None = None
    addends: Sequence[int] | None = None
    name: ClassVar[str] = "linear"
    bits: ClassVar[int] = 32
    size: ClassVar[int] = 2**32

    def __post_init__(self) -> None:
        keep_whole(self, "seed", 0, MOST_SEED, "0")
        _keep_given(self, 2**32, self.multipliers, self.addends)

    def parameters(self, count: int) -> Parameters:
        """Return the multipliers and addends (uint64, count each) of the first functions."""
        return _drawn(self, count, self.multipliers, self.addends)

    def values(self, elements: Elements, count: int, threads: int = 0) -> NDArray[np.uint64]:
        """Return the values of n elements by the first `count` functions (uint64, count × n)."""
        return evaluate(self, elements, count, threads, None, self.parameters(count))


@dataclass(frozen=True, slots=True)
class Universal:
    """The highest `bits` of `a x + b mod 2^32`, for the low 32 bits of an element; `a` is odd.

    Source: N. Grattan (2014), after Dietzfelbinger and others 1997; there `bits` is that of the vocabulary
    (`Vocabulary.bits`), so that ids are mapped to ids. Range: 0 to 2^bits - 1. Cost: 0.2 ns per element and function.
    Weakness: in a small range minima are equal by chance: with 10 bits, a Jaccard similarity of 0.10 of sets of 500
    is estimated as 0.32, so use all 32. For consecutive numbers its errors are those of `Modular`. Elements that
    differ by 2^31 have values that differ by half the range, and those that differ only above their low 32 bits
    collide.

    In the source `a` should be odd, but the test for it never succeeds; and `b` is drawn below 2^bits, so that every
    function maps 0 to 0 if `bits` is at most 16: two documents that share only word 0 are estimated as equal.
    `as_published` returns that family; the one drawn here has an odd `a` and a `b` of 32 bits.

    >>> int(Universal(bits=5).values(range(1000), count=4).max())
    31
    >>> Universal.as_published(bits=5, count=4).values([0], count=4).tolist()
    [[0], [0], [0], [0]]
    """

    seed: int = 0
    bits: int = 32
    multipliers: Sequence[int] | None = None
    addends: Sequence[int] | None = None
    name: ClassVar[str] = "universal"

    def __post_init__(self) -> None:
        keep_whole(self, "seed", 0, MOST_SEED, "0")
        keep_whole(self, "bits", 1, 32, "32")
        _keep_given(self, 2**32, self.multipliers, self.addends)

    @classmethod
    def as_published(cls, bits: int, count: int, seed: int = 0) -> Universal:
        """Return functions with any multiplier, odd or even, and an addend below 2^bits.

        Args:
            bits: Number of bits of a value.
            count: Number of functions.
            seed: Seed of the functions.
        """
        check_whole("bits", bits, 1, 32, "32")
        bits = int(bits)
        multipliers, addends = MultiplyShift(seed).parameters(count)
        low = addends >> np.uint64(64 - bits)
        return cls(seed, bits, (multipliers >> np.uint64(32)).tolist(), low.tolist())

    @property
    def size(self) -> int:
        """The number of different values."""
        return 1 << self.bits

    def parameters(self, count: int) -> Parameters:
        """Return the multipliers and addends (uint64, count each) of the first functions."""
        return _drawn(self, count, self.multipliers, self.addends)

    def values(self, elements: Elements, count: int, threads: int = 0) -> NDArray[np.uint64]:
        """Return the values of n elements by the first `count` functions (uint64, count × n)."""
        return evaluate(self, elements, count, threads, self.bits, self.parameters(count))


def _keep_given(
    family: HashFamily, modulus: int, multipliers: Sequence[int] | None, addends: Sequence[int] | None
) -> None:
    """Store given numbers as tuples of numbers below the modulus; negative numbers are reduced modulo it."""
    if multipliers is None and addends is None:
        return
    if multipliers is None or not len(multipliers):
        raise SettingsError(f"addends {addends} require multipliers: give a multiplier for each addend")
    addends = [0] * len(multipliers) if addends is None else addends
    if len(multipliers) != len(addends):
        raise SettingsError(
            f"multipliers and addends must be equal in number, got {len(multipliers)} and {len(addends)}"
        )
    for name, numbers in (("multipliers", multipliers), ("addends", addends)):
        if not all(map(is_whole, numbers)):
            raise SettingsError(f"{name} must be whole numbers, got {list(numbers)}")
        if name in family.__slots__:  # type: ignore[attr-defined]
            object.__setattr__(family, name, tuple(int(number) % modulus for number in numbers))


def _check_odd(multipliers: Sequence[int] | None) -> None:
    for number in multipliers or ():
        if number % 2 == 0:
            raise SettingsError(f"a multiplier must be odd, got {number}: an even one makes elements collide")


def _drawn(
    family: HashFamily,
    count: int,
    multipliers: Sequence[int] | None,
    addends: Sequence[int] | None,
    modulus: int | None = None,
) -> Parameters:
    """Return the given numbers, or those drawn from the seed."""
    if multipliers is None:
        check_count(count)
        return Parameters(*hash_parameters(family.name, modulus, count, family.seed))
    check_count(count, len(multipliers))
    chosen = (multipliers, addends or [0] * len(multipliers))
    return Parameters(*(np.array(numbers[:count], dtype=np.uint64) for numbers in chosen))


def is_prime(number: int) -> bool:
    """Whether a number is prime, by the test of G. Miller and M. Rabin, which is certain up to 3 × 10^24 here.

    >>> [number for number in range(30) if is_prime(number)]
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    """
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if number < 2 or any(number % base == 0 for base in bases):
        return number in bases
    twos = ((number - 1) & -(number - 1)).bit_length() - 1
    return all(_passes(number, base, twos) for base in bases)


def _passes(number: int, base: int, twos: int) -> bool:
    power = pow(base, (number - 1) >> twos, number)
    if power in (1, number - 1):
        return True
    return any((power := power * power % number) == number - 1 for _ in range(twos - 1))


def next_prime(number: int) -> int:
    """Return the smallest prime above a number: the `p` for this many rows.

    >>> next_prime(531_441)
    531457
    """
    least = max(int(number), 1) + 1
    return next(candidate for candidate in range(least, 2 * least) if is_prime(candidate))
