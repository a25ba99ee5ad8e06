"""Hashes of strings, and families of hash functions for integers.

`STRING_HASHES` map text to numbers. `INTEGER_FAMILIES` are families of functions on numbers; `MinHash("kmins",
family=...)` uses their minima. The defaults are right in most cases; the others are the functions of the literature,
to repeat its results and to show their weaknesses. `VECTOR_HASHES` are the literature's hashes for the values of a
band; Benzer's own is in `Bands.keys`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from benzer.registry import Registry

if TYPE_CHECKING:
    from benzer.experiments.hashing.affine import (
        KNUTH,
        Linear,
        Mixed,
        Modular,
        Multiplicative,
        MultiplyShift,
        Universal,
    )
    from benzer.experiments.hashing.base import MERSENNE_61, HashFamily, Parameters, signed
    from benzer.experiments.hashing.seeded import SeededMurmur3x32, SeededMurmur3x128, SeededXxh3, Tabulation
    from benzer.experiments.hashing.strings import Djb2a, Murmur3x32, Murmur3x128, StringHash, TokenHash, Xxh3
    from benzer.experiments.hashing.vectors import HashVec, JoinedDjb2a, VectorHash
    from benzer.experiments.hashing.vocabulary import Vocabulary

STRING_HASHES = Registry(
    "string hash",
    {
        "benzer": "benzer.experiments.hashing.strings:TokenHash",
        "djb2a": "benzer.experiments.hashing.strings:Djb2a",
        "murmur3_32": "benzer.experiments.hashing.strings:Murmur3x32",
        "murmur3_128": "benzer.experiments.hashing.strings:Murmur3x128",
        "xxh3": "benzer.experiments.hashing.strings:Xxh3",
    },
)

INTEGER_FAMILIES = Registry(
    "hash family",
    {
        "mixed": "benzer.experiments.hashing.affine:Mixed",
        "modular": "benzer.experiments.hashing.affine:Modular",
        "multiplicative": "benzer.experiments.hashing.affine:Multiplicative",
        "multiply_shift": "benzer.experiments.hashing.affine:MultiplyShift",
        "murmur3_32": "benzer.experiments.hashing.seeded:SeededMurmur3x32",
        "murmur3_128": "benzer.experiments.hashing.seeded:SeededMurmur3x128",
        "xxh3": "benzer.experiments.hashing.seeded:SeededXxh3",
        "tabulation": "benzer.experiments.hashing.seeded:Tabulation",
        "linear": "benzer.experiments.hashing.affine:Linear",
        "universal": "benzer.experiments.hashing.affine:Universal",
    },
)

VECTOR_HASHES = Registry(
    "vector hash",
    {
        "hash_vec": "benzer.experiments.hashing.vectors:HashVec",
        "joined_djb2a": "benzer.experiments.hashing.vectors:JoinedDjb2a",
    },
)

__all__ = [
    "INTEGER_FAMILIES",
    "KNUTH",
    "MERSENNE_61",
    "STRING_HASHES",
    "VECTOR_HASHES",
    "Djb2a",
    "HashFamily",
    "HashVec",
    "JoinedDjb2a",
    "Linear",
    "Mixed",
    "Modular",
    "Multiplicative",
    "MultiplyShift",
    "Murmur3x32",
    "Murmur3x128",
    "Parameters",
    "SeededMurmur3x32",
    "SeededMurmur3x128",
    "SeededXxh3",
    "StringHash",
    "Tabulation",
    "TokenHash",
    "Universal",
    "VectorHash",
    "Vocabulary",
    "Xxh3",
    "signed",
]

# A name is imported when it is first used: a signature needs the names of the families alone, and making all
# these classes would cost every command 20 ms.
_FILES = {
    "affine": ("KNUTH", "Linear", "Mixed", "Modular", "Multiplicative", "MultiplyShift", "Universal"),
    "base": ("MERSENNE_61", "HashFamily", "Parameters", "signed"),
    "seeded": ("SeededMurmur3x32", "SeededMurmur3x128", "SeededXxh3", "Tabulation"),
    "strings": ("Djb2a", "Murmur3x32", "Murmur3x128", "StringHash", "TokenHash", "Xxh3"),
    "vectors": ("HashVec", "JoinedDjb2a", "VectorHash"),
    "vocabulary": ("Vocabulary",),
}


def __getattr__(name: str) -> Any:
    for file, names in _FILES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"benzer.experiments.hashing.{file}"), name)
            return value
    raise AttributeError(f"module 'benzer.experiments.hashing' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
