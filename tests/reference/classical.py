"""How did the literature do it? The hash families and views of the worked examples, written plainly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from math import inf

from .hashing import MASK32


def bag_similarity(a: Iterable[Hashable], b: Iterable[Hashable], union: str = "max") -> float:
    """Jaccard of bags: sum of minima over the sum of maxima, or (`union="sum"`) over the sum of the sizes."""
    left, right = Counter(a), Counter(b)
    together = (left | right) if union == "max" else (left + right)
    return (left & right).total() / together.total()


def signature_steps(
    sets: Sequence[Collection[int]], functions: Sequence[Sequence[int]]
) -> Iterator[list[list[float]]]:
    """The signature matrix after each row of the characteristic matrix; functions[i][row] hashes the row."""
    matrix = [[inf] * len(sets) for _ in functions]
    for row in range(len(functions[0])):
        for i, values in enumerate(functions):
            for j, members in enumerate(sets):
                if row in members:
                    matrix[i][j] = min(matrix[i][j], values[row])
        yield [list(line) for line in matrix]


def signed32(value: int) -> int:
    """The 32-bit two's complement reading of a number."""
    value &= MASK32
    return value - (1 << 32) if value >> 31 else value


def djb2a(text: str) -> int:
    """Bernstein's hash with xor, 32 bits, from 5381."""
    state = 5381
    for byte in text.encode():
        state = (state * 33 & MASK32) ^ byte
    return state


def java_ints(seed: int) -> Iterator[int]:
    """The numbers of java.util.Random(seed).nextInt(): a 48-bit linear congruence, its upper half, signed."""
    state = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)
    while True:
        state = (state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        yield signed32(state >> 16)


def hash_vec(values: Sequence[int]) -> int:
    """The band hash of Bergillos, Rambla and Cabeza (2018), 32 bits."""
    seed = len(values)
    for value in values:
        seed ^= (value + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & MASK32
    return seed


def murmur3(data: bytes, seed: int) -> int:
    """MurmurHash3, the 32-bit variant (A. Appleby)."""
    state = seed
    body = len(data) - len(data) % 4
    for start in range(0, body, 4):
        state ^= murmur_scramble(int.from_bytes(data[start : start + 4], "little"))
        state = rotated32(state, 13) * 5 + 0xE6546B64 & MASK32
    state ^= murmur_scramble(int.from_bytes(data[body:], "little")) ^ len(data)
    state = (state ^ state >> 16) * 0x85EBCA6B & MASK32
    state = (state ^ state >> 13) * 0xC2B2AE35 & MASK32
    return state ^ state >> 16


def murmur_scramble(block: int) -> int:
    """How MurmurHash3 mixes a block of four bytes before it enters the state."""
    return rotated32(block * 0xCC9E2D51 & MASK32, 15) * 0x1B873593 & MASK32


def rotated32(value: int, bits: int) -> int:
    """Rotate 32 bits to the left."""
    return (value << bits | value >> (32 - bits)) & MASK32


def pair_count(documents: int) -> int:
    """The unordered pairs of so many documents."""
    return documents * (documents - 1) // 2
