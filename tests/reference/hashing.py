"""Which 64-bit number stands for a shingle or a value? All arithmetic is modulo 2^64 unless said."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from .text import Recipe, runs, shingles, word_tokens

MASK32 = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF
K1 = 0x9E3779B97F4A7C15  # golden ratio
K2 = 0x6A09E667F3BCC909  # square root of 2
K3 = 0xBB67AE8584CAA73B  # square root of 3
K4 = 0xA54FF53A5F1D36F1  # square root of 7, last bit odd


def mum(x: int, y: int) -> int:
    """Multiply to 128 bits; the low half xor the high half."""
    product = x * y
    return (product & MASK64) ^ (product >> 64)


def finish(state: int) -> int:
    """The last mixing of every shingle hash."""
    state ^= state >> 32
    state = state * K2 & MASK64
    return state ^ (state >> 29)


def rotated(value: int, bits: int) -> int:
    """Rotate 64 bits to the left."""
    bits %= 64
    return (value << bits | value >> (64 - bits)) & MASK64


def little_endian(data: bytes) -> int:
    """Up to 8 bytes, least first, zero padded."""
    return int.from_bytes(data[:8], "little")


@lru_cache(maxsize=1 << 16)
def token_hash(data: bytes) -> int:
    """The hash of a byte string: 16 bytes at first, then 8 at a time; the length is mixed in at the start.

    >>> token_hash(b"a") != token_hash(bytes([97, 0]))
    True
    """
    state = mum(little_endian(data[0:8]) ^ K1, little_endian(data[8:16]) ^ K3 ^ len(data))
    for start in range(16, len(data), 8):
        state = mum(state ^ K2, little_endian(data[start : start + 8]) ^ K4)
    return state


def word_shingle_hash(tokens: Sequence[str]) -> int:
    """The token hashes, each rotated by 11 bits more than the one before, summed and finished."""
    total = sum(rotated(token_hash(token.encode()), 11 * i) for i, token in enumerate(tokens))
    return finish(total & MASK64)


def char_shingle_hash(shingle: str) -> int:
    """Up to 8 bytes of UTF-8 by one multiplication; longer ones as a token."""
    data = shingle.encode()
    if len(data) > 8:
        return finish(token_hash(data))
    return finish((little_endian(data) * K1 + len(data) * K3) & MASK64)


def default_hashes(text: str | bytes, recipe: Recipe) -> list[int]:
    """The hashes of the shingles by the default rule, in order and with repeats."""
    if recipe.unit == "char":
        return [char_shingle_hash(shingle) for shingle in shingles(text, recipe)]
    return [word_shingle_hash(run) for run in runs(word_tokens(text, recipe), recipe.shingle_size)]


def shingle_hashes(
    text: str | bytes, recipe: Recipe, named: Mapping[str, Callable[[str], int]] = MappingProxyType({})
) -> list[int]:
    """The elements that the shingles become, in order; `named` has the hashes other than "benzer".

    >>> len(shingle_hashes("to be or not to be", Recipe(shingle_size=2)))
    5
    """
    if recipe.shingle_hash == "benzer":
        hashes = default_hashes(text, recipe)
    else:
        hashes = [named[recipe.shingle_hash](shingle) for shingle in shingles(text, recipe)]
    mask = MASK64 if recipe.hash_bytes == 8 else MASK32
    hashes = [value & mask for value in hashes]
    if not recipe.frequencies:
        return hashes
    return [occurrence(value, hashes[:at].count(value)) & mask for at, value in enumerate(hashes)]


def occurrence(value: int, before: int) -> int:
    """The element of a hash that occurred so often before: the first time itself.

    >>> occurrence(5, 0), occurrence(5, 1) == occurrence(5, 2)
    (5, False)
    """
    return finish((value + before * K1) & MASK64) if before else value


def value_hash(value: str | int) -> int:
    """The hash of a member of a value set: text and numbers never meet, so 7 is not "7".

    >>> value_hash(7) == value_hash("7")
    False
    """
    if isinstance(value, bool):
        raise TypeError("a boolean is not a value")
    data = b"i%d" % value if isinstance(value, int) else b"s" + value.encode()
    return finish(token_hash(data))


def value_set(values: Collection[str | int]) -> list[int]:
    """The distinct hashes of a value set, ascending."""
    return sorted({value_hash(value) for value in values})


def split_mix(seed: int) -> Iterator[int]:
    """SplitMix64 (Steele, Lea, Flood 2014): the random numbers of a seed, without end."""
    state = seed
    while True:
        state = (state + K1) & MASK64
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK64
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK64
        yield z ^ z >> 31


def mix32(x: int) -> int:
    """lowbias32 of C. Wellons: a permutation of the 32-bit numbers."""
    x ^= x >> 16
    x = x * 0x7FEB352D & MASK32
    x ^= x >> 15
    x = x * 0x846CA68B & MASK32
    return x ^ x >> 16
