"""The interface of hash families, and their argument checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from benzer._native import hash_values
from benzer.checks import check_whole
from benzer.errors import InputError
from benzer.minhash import as_elements

MERSENNE_61 = 2**61 - 1
"""A prime modulo which machines reduce by a shift and a sum."""

MOST_FUNCTIONS = 65_535
"""As many as a signature has values."""

Elements = NDArray[np.uint64] | Sequence[int]


class Parameters(NamedTuple):
    """The numbers of functions `a x + b`, one of each for a function (uint64, count)."""

    multipliers: NDArray[np.uint64]
    addends: NDArray[np.uint64]


class HashFamily(Protocol):
    """Functions on the numbers from 0 to 2^64 - 1, drawn from a seed; function 0, 1, 2, ... stay the same
    however many are asked for.

    name: the name in `INTEGER_FAMILIES`.
    seed: from 0 to 2^64 - 1.
    bits: how many bits a value takes at most.
    size: how many different values a function may give: 2^bits, or the prime.
    """

    name: ClassVar[str]

    @property
    def seed(self) -> int: ...

    @property
    def bits(self) -> int: ...

    @property
    def size(self) -> int: ...

    def values(self, elements: Elements, count: int, threads: int = 0) -> NDArray[np.uint64]:
        """The values of n elements by the first `count` functions (uint64, count × n).

        It takes 8 bytes of memory a value. `threads=0` takes all cores. Errors: InputError for elements that
        are not whole numbers from 0 to 2^64 - 1, SettingsError for a count that is not from 1 to 65,535.
        """
        ...


def evaluate(
    family: HashFamily,
    elements: Elements,
    count: int,
    threads: int = 0,
    reach: int | None = None,
    numbers: Parameters | None = None,
) -> NDArray[np.uint64]:
    """The values by functions drawn from the family's seed, or by those with the given numbers.

    `reach` is the prime of "modular", the number of bits of "multiplicative" and "universal".
    """
    array = as_elements(elements, "elements")
    check_count(count)
    name, seed = family.name, family.seed
    return hash_values(name, array, count, range=reach, seed=seed, numbers=numbers, threads=threads)


def check_count(count: int, most: int = MOST_FUNCTIONS) -> None:
    """Refuse a number of functions that there cannot be."""
    check_whole("count", count, 1, most, f"{min(most, 128)}")


def signed(values: NDArray[np.uint64], bits: int = 32) -> NDArray[np.int64]:
    """Numbers of so many bits as signed ones, in two's complement (int64, the shape of `values`).

    Java, Scala and C read a hash like that. Mind the remainder: theirs has the sign of the dividend, so that
    `hash % 13` falls into 25 buckets from -12 to 12, and 0 gets twice its share. `numpy.fmod` does the same,
    `%` of Python and numpy does not.

    >>> signed(np.array([5, 2**32 - 5], dtype=np.uint64)).tolist()
    [5, -5]
    >>> np.fmod(signed(np.array([2**32 - 15], dtype=np.uint64)), 13).tolist()
    [-2]
    """
    check_whole("bits", bits, 1, 64, "32")
    kind = getattr(values, "dtype", None)
    if kind is None or kind.kind != "u":
        got = type(values).__name__ if kind is None else f"an array of {kind}"
        raise InputError(f"values must be a uint64 array, got {got}: make one of numbers below 2^{bits}")
    unused = np.uint64(64 - bits)
    moved: NDArray[np.int64] = (values << unused).view(np.int64)
    return moved >> np.int64(unused)
