"""String hashes give the published numbers; a vocabulary gives each word its own."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from benzer.errors import InputError, SettingsError
from benzer.experiments.hashing import (
    STRING_HASHES,
    Djb2a,
    Murmur3x32,
    Murmur3x128,
    StringHash,
    TokenHash,
    Vocabulary,
    Xxh3,
)
from tests.reference import classical, families, hashing

every_hash = pytest.mark.parametrize("name", STRING_HASHES.names)
TEXTS = ["", "a", "he", "ł", "héllo", "東京", "x" * 15, "x" * 16, "x" * 17, "lorem ipsum " * 40]


def load(name: str) -> StringHash:
    made: StringHash = STRING_HASHES.load(name)()
    return made


EXPECTED = {
    "benzer": hashing.token_hash,
    "djb2a": lambda data: classical.djb2a(data.decode()),
    "murmur3_32": lambda data: classical.murmur3(data, 0),
    "murmur3_128": lambda data: families.murmur3_long(data, 0) % 2**64,
}


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("text", TEXTS)
def test_a_string_has_the_number_of_the_reference(name: str, text: str) -> None:
    assert load(name).hash(text) == EXPECTED[name](text.encode())


@every_hash
def test_a_string_is_hashed_as_its_utf8_alone_and_among_others(name: str) -> None:
    made = load(name)
    alone = [made.hash(text) for text in TEXTS]
    assert [made.hash(text.encode()) for text in TEXTS] == alone
    together = made.hashes([*TEXTS, *(text.encode() for text in TEXTS)])
    assert (together.dtype, together.tolist()) == (np.uint64, alone + alone)
    assert len(set(alone)) == len(TEXTS)
    assert max(alone) < 2**made.bits
    assert made.hashes([]).shape == (0,)


@every_hash
def test_bytes_need_not_be_text_and_lone_surrogates_are_replaced(name: str) -> None:
    made = load(name)
    assert made.hash(b"\xff\x00") != made.hash(b"\xff")
    assert made.hash("a\ud800") == made.hash("a\N{REPLACEMENT CHARACTER}")


@every_hash
@pytest.mark.parametrize("wrong", [7, None, ["a"], bytearray(b"a")])
def test_what_is_no_string_is_refused(name: str, wrong: Any) -> None:
    with pytest.raises(InputError, match="must be str or bytes, got"):
        load(name).hash(wrong)
    with pytest.raises(InputError, match="must be str or bytes, got"):
        load(name).hashes([wrong])
    with pytest.raises(InputError, match="got the text 'abc': put it in a list"):
        load(name).hashes("abc")


@every_hash
def test_a_string_hash_is_a_value_known_by_its_name(name: str) -> None:
    assert load(name) == load(name)
    assert load(name).name == name
    with pytest.raises(SettingsError, match=r'no string hash "md5": choose one of benzer, djb2a'):
        STRING_HASHES.load("md5")


MURMUR = [
    (b"", 0, 0),
    (b"", 1, 0x514E28B7),
    (b"", 0xFFFFFFFF, 0x81F16F39),
    (b"test", 0, 0xBA6BD213),
    (b"test", 0x9747B28C, 0x704B81DC),
    (b"Hello, world!", 0, 0xC0363E43),
    (b"The quick brown fox jumps over the lazy dog", 0, 0x2E4FF723),
]


@pytest.mark.parametrize("data, seed, expected", MURMUR)
def test_murmur3_gives_the_published_numbers(data: bytes, seed: int, expected: int) -> None:
    assert Murmur3x32(seed).hash(data) == classical.murmur3(data, seed) == expected


VERIFICATION = [
    (lambda data, seed: Murmur3x32(seed).hash(data).to_bytes(4, "little"), 0xB0F57EE3),
    (lambda data, seed: Murmur3x128(seed).digest(data), 0x6384BA69),
]


@pytest.mark.parametrize("digest, expected", VERIFICATION, ids=["murmur3_32", "murmur3_128"])
def test_murmur3_passes_the_verification_of_its_author(digest: Any, expected: int) -> None:
    """SMHasher: keys 0, 0 1, 0 1 2 ... of up to 255 bytes under seeds 256 to 1, then all hashes hashed."""
    every = b"".join(digest(bytes(range(length)), 256 - length) for length in range(256))
    assert int.from_bytes(digest(every, 0)[:4], "little") == expected


SANITY = {  # xxHash 0.8, tests/sanity_test_vectors.h: length: (without seed, with its second prime as seed)
    0: (0x2D06800538D394C2, 0xA8A6B918B2F0364A),
    1: (0xC44BDFF4074EECDB, 0x032BE332DD766EF8),
    6: (0x27B56A84CD2D7325, 0x84589C116AB59AB9),
    12: (0xA713DAF0DFBB77E7, 0xE7303E1B2336DE0E),
    24: (0xA3FE70BF9D3510EB, 0x850E80FC35BDD690),
    48: (0x397DA259ECBA1F11, 0xADC2CBAA44ACC616),
    80: (0xBCDEFBBB2C47C90A, 0xC6DD0CB699532E73),
    195: (0xCD94217EE362EC3A, 0xBA68003D370CB3D9),
    403: (0xCDEB804D65C6DEA4, 0x6259F6ECFD6443FD),
    512: (0x617E49599013CB6B, 0x3CE457DE14C27708),
    2048: (0xDD59E2C3A5F038E0, 0x66F81670669ABABC),
    2240: (0x6E73A90539CF2948, 0x757BA8487D1B5247),
    2367: (0xCB37AEB9E5D361ED, 0xD2DB3415B942B42A),
}
FACTOR = 11400714785074694797


def sanity_bytes(length: int) -> bytes:
    """The input of those vectors: the upper bytes of powers of a prime."""
    state, out = 2654435761, bytearray()
    for _ in range(length):
        out.append(state >> 56)
        state = state * FACTOR % 2**64
    return bytes(out)


@pytest.mark.parametrize("length", SANITY)
def test_xxh3_gives_the_published_numbers(length: int) -> None:
    data = sanity_bytes(length)
    assert (Xxh3().hash(data), Xxh3(FACTOR).hash(data)) == SANITY[length]


def test_xxh3_of_eight_bytes_is_that_of_the_reference() -> None:
    for seed in (0, 1, 2**32, 2**64 - 1):
        for x in (0, 1, 0x0123456789ABCDEF):
            assert Xxh3(seed).hash(x.to_bytes(8, "little")) == families.xxh3_of_eight(x, seed)


@pytest.mark.parametrize("make, most", [(Murmur3x32, 2**32 - 1), (Murmur3x128, 2**32 - 1), (Xxh3, 2**64 - 1)])
def test_seeds_are_of_the_width_that_the_hash_takes(make: Any, most: int) -> None:
    assert make(most).hash("a") != make(0).hash("a")
    for seed in (-1, most + 1, 0.5):
        with pytest.raises(SettingsError, match=f"seed must be a whole number from 0 to {most}, got {seed}"):
            make(seed)


def test_bernsteins_hash_gives_the_worked_number() -> None:
    assert Djb2a().hash("he") == 5861128


@pytest.mark.parametrize("length, lost", [(2, 14), (3, 910), (4, 38_980)])
def test_bernsteins_hash_has_fewer_numbers_than_short_strings(length: int, lost: int) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz "
    strings = ["".join(letter) for letter in product(letters, repeat=length)]
    found = {made: len(strings) - len(np.unique(made.hashes(strings))) for made in (Djb2a(), TokenHash())}
    assert found == {Djb2a(): lost, TokenHash(): 0}


def test_a_vocabulary_numbers_words_in_order_of_first_sight() -> None:
    vocabulary = Vocabulary()
    assert vocabulary.ids(["to", "be", "or", "not", "to", "be"]) == [0, 1, 2, 3, 0, 1]
    assert vocabulary.ids(iter(["question", "to"])) == [4, 0]
    assert vocabulary.words([4, 4, 0]) == ["question", "question", "to"]
    assert (len(vocabulary), list(vocabulary)) == (5, ["to", "be", "or", "not", "question"])
    assert ("be" in vocabulary, "bee" in vocabulary, 0 in vocabulary) == (True, False, False)
    assert repr(vocabulary) == "<Vocabulary of 5 words>"


def test_words_are_what_they_are() -> None:
    assert Vocabulary().ids(["The", "the", "", "é", "e\u0301"]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("words, bits", [(0, 0), (1, 0), (2, 1), (16, 4), (17, 5), (20, 5), (32, 5), (33, 6)])
def test_the_bits_of_a_vocabulary_hold_all_its_ids(words: int, bits: int) -> None:
    assert Vocabulary(map(str, range(words))).bits == bits


def test_a_vocabulary_goes_into_a_list_and_comes_back() -> None:
    vocabulary = Vocabulary(["b", "a", "b"])
    assert vocabulary.to_list() == ["b", "a"]
    assert Vocabulary.from_list(vocabulary.to_list()) == vocabulary != Vocabulary(["a", "b"])
    with pytest.raises(InputError, match="'a' appears twice in the list"):
        Vocabulary.from_list(["b", "a", "c", "a"])


def test_what_a_vocabulary_does_not_know_is_refused() -> None:
    vocabulary = Vocabulary(["to", "be"])
    with pytest.raises(InputError, match="the vocabulary of 2 words has no 'bee'"):
        vocabulary.ids(["to", "bee"], grow=False)
    for number in (2, -1):
        with pytest.raises(InputError, match=f"has ids below 2, got {number}"):
            vocabulary.words([number])
    with pytest.raises(InputError, match="a word must be str, got int: 7"):
        vocabulary.ids([7])  # type: ignore[list-item]
    with pytest.raises(InputError, match="got 'to be': put it in a list"):
        vocabulary.ids("to be")
    assert vocabulary.to_list() == ["to", "be"]
