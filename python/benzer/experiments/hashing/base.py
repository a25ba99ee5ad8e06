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
    """The multipliers and addends of functions `a x + b` (uint64, count)."""

    multipliers: NDArray[np.uint64]
    addends: NDArray[np.uint64]


class HashFamily(Protocol):
    """Functions on the numbers from 0 to 2^64 - 1, drawn from a seed.

    Function i does not depend on the number of requested functions.

    Attributes:
        name: The name in `INTEGER_FAMILIES`.
        seed: From 0 to 2^64 - 1.
        bits: Maximum number of bits of a value.
        size: Number of different values of a function: 2^bits, or the prime.
    """

    name: ClassVar[str]

    @property
    def seed(self) -> int: ...

    @property
    def bits(self) -> int: ...

    @property
    def size(self) -> int: ...

    def values(self, elements: Elements, count: int, threads: int = 0) -> NDArray[np.uint64]:
        """Return the values of n elements by the first `count` functions.

        Takes 8 bytes of memory per value.

        Args:
            elements: Integers from 0 to 2^64 - 1.
            count: Number of functions, from 1 to 65,535.
            threads: Number of threads; 0 uses all cores.

        Returns:
            The values (uint64, count × n).

        Raises:
            InputError: An element is out of range.
            SettingsError: `count` is out of range.
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
    """Return the values by functions drawn from the family's seed, or by those with the given numbers.

    `reach` is the prime of "modular", the number of bits of "multiplicative" and "universal".
    """
    array = as_elements(elements, "elements")
    check_count(count)
    name, seed = family.name, family.seed
    return hash_values(name, array, count, range=reach, seed=seed, numbers=numbers, threads=threads)


def check_count(count: int, most: int = MOST_FUNCTIONS) -> None:
    """Raise an error for an invalid number of functions."""
    check_whole("count", count, 1, most, f"{min(most, 128)}")


def signed(values: NDArray[np.uint64], bits: int = 32) -> NDArray[np.int64]:
    """Return numbers of `bits` bits as signed ones, in two's complement (int64, the shape of `values`).

    Java, Scala and C use signed hashes. Their remainder has the sign of the dividend, so `hash % 13` has 25 buckets
    from -12 to 12, and 0 gets twice its share. `numpy.fmod` does the same; `%` of Python and numpy does not.

    Args:
        values: Unsigned numbers (uint64).
        bits: Number of bits, 1 to 64.

    >>> signed(np.array([5, 2**32 - 5], dtype=np.uint64)).tolist()
    [5, -5]
    >>> np.fmod(signed(np.array([2**32 - 15], dtype=np.uint64)), 13).tolist()
    [-2]
    """
    check_whole("bits", bits, 1, 64, "32")
    kind = getattr(values, "dtype", None)
    if kind is None or kind.kind != "u":
        got = type(values).__name__ if kind is None else f"an array of {kind}"
        raise InputError(f"values must be a uint64 array, got {got}: use numbers below 2^{bits}")
    unused = np.uint64(64 - bits)
    moved: NDArray[np.int64] = (values << unused).view(np.int64)
    return moved >> np.int64(unused)
