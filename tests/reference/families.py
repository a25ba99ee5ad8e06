"""What do the families of hash functions say of a number, and what are the minima of a set by them?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from .classical import java_ints, murmur3
from .hashing import MASK32, MASK64, rotated, split_mix
from .minhash import EMPTY, LARGEST, scrambled

MERSENNE_61 = 2**61 - 1
Function = Callable[[int], int]


def mixed(seed: int) -> Iterator[Function]:
    """The mixer of the seed, then multiply-shift."""
    numbers = split_mix(seed)
    salt = next(numbers)
    while True:
        a, b = next(numbers) | 1, next(numbers)
        yield lambda x, a=a, b=b: (a * scrambled(x ^ salt) + b & MASK64) >> 32


def modular(seed: int, p: int = MERSENNE_61) -> Iterator[Function]:
    """Lines modulo a prime, never level ones."""
    numbers = split_mix(seed)
    while True:
        a, b = below(numbers, 1, p), below(numbers, 0, p)
        yield lambda x, a=a, b=b: (a * x + b) % p


def below(numbers: Iterator[int], least: int, end: int) -> int:
    """The first of the numbers whose top bits, as many as the range has, fall into the range."""
    unused = 64 - (end - 1).bit_length()
    return next(number >> unused for number in numbers if least <= number >> unused < end)


def multiplicative(seed: int) -> Iterator[Function]:
    """Odd multiples in 32 bits."""
    for number in split_mix(seed):
        yield lambda x, a=number >> 32 | 1: a * x & MASK32


def multiply_shift(seed: int) -> Iterator[Function]:
    """The upper half of a line in 64 bits."""
    numbers = split_mix(seed)
    while True:
        a, b = next(numbers) | 1, next(numbers)
        yield lambda x, a=a, b=b: (a * x + b & MASK64) >> 32


def murmur3_32(seed: int) -> Iterator[Function]:
    """MurmurHash3 of the eight bytes."""
    for number in split_mix(seed):
        yield lambda x, s=number >> 32: murmur3(x.to_bytes(8, "little"), s)


def murmur3_128(seed: int) -> Iterator[Function]:
    """The first word of the long MurmurHash3 of the eight bytes."""
    for number in split_mix(seed):
        yield lambda x, s=number >> 32: murmur3_long(x.to_bytes(8, "little"), s) & MASK64


def murmur3_long(data: bytes, seed: int) -> int:
    """MurmurHash3 of 128 bits, x64 variant (A. Appleby); the first word is the low one."""
    h1 = h2 = seed
    body = len(data) - len(data) % 16
    for start in range(0, body, 16):
        h1 ^= scramble_first(int.from_bytes(data[start : start + 8], "little"))
        h1 = (rotated(h1, 27) + h2) * 5 + 0x52DCE729 & MASK64
        h2 ^= scramble_second(int.from_bytes(data[start + 8 : start + 16], "little"))
        h2 = (rotated(h2, 31) + h1) * 5 + 0x38495AB5 & MASK64
    h1 ^= scramble_first(int.from_bytes(data[body : body + 8], "little")) ^ len(data)
    h2 ^= scramble_second(int.from_bytes(data[body + 8 :], "little")) ^ len(data)
    h1 = h1 + h2 & MASK64
    h2 = h2 + h1 & MASK64
    h1, h2 = avalanche(h1), avalanche(h2)
    h1 = h1 + h2 & MASK64
    return (h2 + h1 & MASK64) << 64 | h1


def scramble_first(block: int) -> int:
    """How the first word of a block enters."""
    return rotated(block * 0x87C37B91114253D5 & MASK64, 31) * 0x4CF5AD432745937F & MASK64


def scramble_second(block: int) -> int:
    """How the second word of a block enters."""
    return rotated(block * 0x4CF5AD432745937F & MASK64, 33) * 0x87C37B91114253D5 & MASK64


def avalanche(h: int) -> int:
    """The last mixing of the long MurmurHash3."""
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & MASK64
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & MASK64
    return h ^ h >> 33


def xxh3(seed: int) -> Iterator[Function]:
    """XXH3 of the eight bytes."""
    for number in split_mix(seed):
        yield lambda x, s=number: xxh3_of_eight(x, s)


def xxh3_of_eight(x: int, seed: int) -> int:
    """XXH3 (Y. Collet) of a number's eight bytes: the branch for inputs of four to eight bytes."""
    swapped = int.from_bytes((seed & MASK32).to_bytes(4, "little"), "big")
    secret = 0x1CAD21F72C81017C ^ 0xDB979083E96DD4DE
    h = rotated(x, 32) ^ (secret - (seed ^ swapped << 32) & MASK64)
    h ^= rotated(h, 49) ^ rotated(h, 24)
    h = h * 0x9FB21C651E98DF25 & MASK64
    h ^= (h >> 35) + 8
    h = h * 0x9FB21C651E98DF25 & MASK64
    return h ^ h >> 28


def tabulation(seed: int) -> Iterator[Function]:
    """A table of random words for each of the eight bytes."""
    numbers = split_mix(seed)
    while True:
        tables = [[next(numbers) for _ in range(256)] for _ in range(8)]
        yield lambda x, tables=tables: looked_up(x, tables)


def looked_up(x: int, tables: list[list[int]]) -> int:
    """The words of the bytes, the least byte first, combined by exclusive or."""
    value = 0
    for table, byte in zip(tables, x.to_bytes(8, "little"), strict=True):
        value ^= table[byte]
    return value


def linear(seed: int) -> Iterator[Function]:
    """Lines in 32 bits, from Java's generator."""
    numbers = java_ints(seed)
    while True:
        a, b = next(numbers), next(numbers)
        yield lambda x, a=a, b=b: a * x + b & MASK32


def universal(seed: int, bits: int = 32) -> Iterator[Function]:
    """The top bits of a line in 32 bits with an odd multiplier."""
    numbers = split_mix(seed)
    while True:
        a, b = next(numbers) >> 32 | 1, next(numbers) >> 32
        yield lambda x, a=a, b=b: (a * x + b & MASK32) >> (32 - bits)


FAMILIES: dict[str, tuple[Callable[[int], Iterator[Function]], int]] = {
    "mixed": (mixed, 32),
    "modular": (modular, 61),
    "multiplicative": (multiplicative, 32),
    "multiply_shift": (multiply_shift, 32),
    "murmur3_32": (murmur3_32, 32),
    "murmur3_128": (murmur3_128, 64),
    "xxh3": (xxh3, 64),
    "tabulation": (tabulation, 64),
    "linear": (linear, 32),
    "universal": (universal, 32),
}
"""The functions of a seed, and how many bits they give."""


def functions(family: str, seed: int, count: int) -> list[Function]:
    """The first functions of a seed."""
    numbers = FAMILIES[family][0](seed)
    return [next(numbers) for _ in range(count)]


def kmins(family: str, hashes: Iterable[int], k: int, seed: int) -> list[int]:
    """The least value of the set by each function, its highest 32 bits."""
    elements = set(hashes)
    drop = max(0, FAMILIES[family][1] - 32)
    return [
        min(min(map(function, elements)) >> drop, LARGEST) if elements else EMPTY
        for function in functions(family, seed, k)
    ]
