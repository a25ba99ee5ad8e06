"""How is a set of shingle hashes sketched, and what do two sketches say of their sets?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .hashing import K4, MASK32, MASK64, finish, mix32, split_mix

ALGORITHMS = ("fast", "kmins", "bottomk")
EMPTY = 0xFFFFFFFF
LARGEST = 0xFFFFFFFE  # the largest value a non-empty set leaves in a slot
ROUNDS = 8


def seeded(hashes: Iterable[int], seed: int) -> list[int]:
    """The distinct hashes, each mixed with the first random number of the seed."""
    salt = next(split_mix(seed))
    return [scrambled(value ^ salt) for value in sorted(set(hashes))]


def scrambled(z: int) -> int:
    """xor-shift, odd multiplication, xor-shift: a permutation of the 64-bit numbers."""
    z ^= z >> 32
    z = z * K4 & MASK64
    return z ^ z >> 29


def fast_offers(z: int, k: int) -> Iterable[tuple[int, int]]:
    """What one element offers: (slot, code) in each random round, then in a private round of every slot.

    The codes of a later round are larger than all of an earlier one, so that the minimum over all offers is
    the earliest round's: Fast Similarity Sketching (Dahlgaard, Langhede, Houen, Thorup, arXiv 1704.04370).
    """
    place = (z >> 16) * k
    yield place >> 48, (place >> 17) & 0x7FFFFFFF
    x = z & MASK32
    for i in range(1, ROUNDS):
        place = mix32(x ^ (i * 0x9E3779B9 & MASK32)) * k
        ones = ((1 << i) - 1) << (32 - i)
        yield place >> 32, ones | (place & MASK32) >> (i + 1)
    for slot in range(k):
        u = mix32(x ^ ((slot + ROUNDS) * 0x85EBCA6B & MASK32))
        yield slot, min(0xFF000000 | u >> 8, LARGEST)


def fast(hashes: Iterable[int], k: int, seed: int) -> list[int]:
    """Fast Similarity Sketching: the minimum of all offers, slot by slot."""
    slots = [EMPTY] * k
    for z in seeded(hashes, seed):
        for slot, code in fast_offers(z, k):
            slots[slot] = min(slots[slot], code)
    return slots


def kmins(hashes: Iterable[int], k: int, seed: int) -> list[int]:
    """k multiply-shift functions of the seed after a mixer; the minimum of each."""
    elements = seeded(hashes, seed)
    numbers = split_mix(seed)
    next(numbers)
    slots = []
    for _ in range(k):
        a, b = next(numbers) | 1, next(numbers)
        least = min(((a * z + b & MASK64) >> 32 for z in elements), default=None)
        slots.append(EMPTY if least is None else min(least, LARGEST))
    return slots


def bottomk(hashes: Iterable[int], k: int, seed: int) -> list[int]:
    """One function; the k least distinct values ascending, then EMPTY."""
    values = {min(z >> 32, LARGEST) for z in seeded(hashes, seed)}
    return padded(sorted(values)[:k], k)


def integer_signature(algorithm: str, integers: Iterable[int], k: int, seed: int) -> list[int]:
    """The signature of integers that are not hashes: "fast" and "bottomk" hash each of them first.

    >>> integer_signature("kmins", [1, 2], 4, 0) == signature("kmins", [1, 2], 4, 0)
    True
    >>> integer_signature("fast", [1, 2], 4, 0) == signature("fast", [1, 2], 4, 0)
    False
    """
    hashes = integers if algorithm == "kmins" else map(finish, integers)
    return signature(algorithm, hashes, k, seed)


def padded(values: Sequence[int], k: int) -> list[int]:
    """Fill up to k slots with EMPTY."""
    return [*values, *[EMPTY] * (k - len(values))]


def signature(algorithm: str, hashes: Iterable[int], k: int, seed: int) -> list[int]:
    """The signature of a set by the algorithm's name.

    >>> signature("fast", [], 2, 0) == [EMPTY, EMPTY]
    True
    """
    return {"fast": fast, "kmins": kmins, "bottomk": bottomk}[algorithm](hashes, k, seed)


def merged(algorithm: str, a: Sequence[int], b: Sequence[int]) -> list[int]:
    """The signature of the union, from the signatures of the parts, exactly."""
    if algorithm == "bottomk":
        return padded(least_of_union(a, b), len(a))
    return [min(x, y) for x, y in zip(a, b, strict=True)]


def least_of_union(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """The k least distinct values of two bottom-k signatures."""
    return sorted({*a, *b} - {EMPTY})[: len(a)]


def estimate(algorithm: str, a: Sequence[int], b: Sequence[int]) -> float:
    """The estimated Jaccard similarity of the sets behind two signatures.

    Slots: the share that is equal. Bottom-k: among the k least of the union the share that is in both.
    Two empty sets are alike, an empty one is like no other.

    >>> estimate("bottomk", [1, 2, 5], [1, 3, 5])
    0.3333333333333333
    """
    empty = [all(value == EMPTY for value in side) for side in (a, b)]
    if any(empty):
        return float(all(empty))
    if algorithm == "bottomk":
        union = least_of_union(a, b)
        return len({*union} & {*a} & {*b}) / len(union)
    return sum(x == y for x, y in zip(a, b, strict=True)) / len(a)
