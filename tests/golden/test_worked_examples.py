"""The worked examples of the literature, by number (docs/reference/sources.md), through Benzer's public names.

Sources: Grattan 2014 (C#), a blog on matching documents, Karamatli 2012, Hanna and Hunt 2015 (Scala),
Bergillos, Rambla and Cabeza 2018 (C++).
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import inf

import numpy as np
import pytest

import benzer
from benzer.advice import possible_shingles
from benzer.experiments.hashing import (
    Djb2a,
    HashVec,
    Linear,
    Modular,
    Multiplicative,
    Murmur3x32,
    Vocabulary,
    signed,
)
from benzer.experiments.matrices import (
    characteristic_matrix,
    estimated_similarities,
    permutation_minhash,
    signature_matrix,
    signature_steps,
)
from benzer.verify import bag_jaccard, jaccard_sorted
from tests.reference import classical

DAY = 24 * 60 * 60


def char_text(size: int, **options: str) -> benzer.Text:
    """A reader of character shingles."""
    return benzer.Text(unit="char", shingle_size=size, **options)


def test_g01_jaccard_of_lists_with_repeats() -> None:
    assert benzer.jaccard({2, 3, 4}, [1, 5, 4, 2, 2]) == 0.4
    assert benzer.jaccard({2, 3, 4}, [4, 3, 2, 2]) == 1.0
    assert benzer.jaccard({2, 3, 4}, {1}) == 0.0


def test_g02_jaccard_of_two_value_sets() -> None:
    assert benzer.jaccard({1, 2, 3}, {1, 2, 4}) == 0.5


def test_g03_jaccard_of_sorted_sequences() -> None:
    assert jaccard_sorted([0, 1, 2, 5, 6], [0, 2, 3, 4, 5, 7, 9]) == 3 / 9


def test_g04_bags_by_both_conventions() -> None:
    assert bag_jaccard("aaab", "aabbc", union="sum") == 3 / 9
    assert bag_jaccard("aaab", "aabbc", union="max") == 3 / 6
    assert bag_jaccard("aaab", "aaab", union="sum") == 1 / 2
    assert bag_jaccard("aaab", "aaab", union="max") == 1.0


def test_g05_shingles_of_two() -> None:
    assert char_text(2).shingles("match") == ["ma", "at", "tc", "ch"]
    words = benzer.Text(shingle_size=2)
    assert words.shingles("Its quite sunny today") == ["its quite", "quite sunny", "sunny today"]


def test_g06_shingles_of_three_go_over_the_space() -> None:
    expected = ["sam", "amp", "mpl", "ple", "le ", "e d", " do", "doc", "ocu", "cum", "ume", "men", "ent"]
    assert char_text(3).shingles("sample document") == expected


def test_g07_a_pangram_has_all_letters() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz "
    text = char_text(1, case="keep", whitespace="keep")
    alphabet = set(text.shingles(letters))
    assert len(alphabet) == 27
    pangram = "the quick brown fox jumps over the lazy dog"
    assert benzer.jaccard(alphabet, text.shingles(pangram)) == 1.0
    assert benzer.jaccard(alphabet, text.shingles(pangram.capitalize())) == 27 / 28


SETS = [{0, 3}, {2}, {1, 3, 4}, {0, 2, 3}]
STEPS = [
    [[1, inf, inf, 1], [1, inf, inf, 1]],
    [[1, inf, 2, 1], [1, inf, 4, 1]],
    [[1, 3, 2, 1], [1, 2, 4, 1]],
    [[1, 3, 2, 1], [0, 2, 0, 0]],
    [[1, 3, 0, 1], [0, 2, 0, 0]],
]
COMPARED = {
    (0, 1): (0.0, Fraction(0)),
    (0, 2): (0.5, Fraction(1, 4)),
    (0, 3): (1.0, Fraction(2, 3)),
    (2, 3): (0.5, Fraction(1, 5)),
}


def test_g08_the_signature_matrix_row_by_row() -> None:
    characteristic = characteristic_matrix(SETS, universe=range(5))
    functions = Modular(p=5, multipliers=[1, 3], addends=[1, 1]).values(range(5), 2)
    steps = [step.tolist() for step in signature_steps(characteristic, functions)]
    assert steps == STEPS
    estimates = estimated_similarities(signature_matrix(characteristic, functions))
    for (a, b), (estimate, truth) in COMPARED.items():
        assert estimates[a, b] == estimate
        assert benzer.jaccard(SETS[a], SETS[b]) == float(truth)


def test_g09_minhash_by_a_permutation() -> None:
    assert list(permutation_minhash([{"b"}, {"c"}, {"a", "b", "d"}], "cabd")) == ["b", "c", "a"]


def test_g10_djb2a() -> None:
    assert Djb2a().hash("he") == 5861128


ON_WORD = [
    480357896, 1614176836, 543325601, -1459947919, 197787375, -1314960722, 1201186924, 1044615541, -789411859,
    -145694732,
]  # fmt: skip
MODULO_PRIME = [
    293140713005, 195425796639, 581487865688, 94294325416, 499065953213, 829336087516, 654857033873,
    245494147645, 899737714081, 748920428300,
]  # fmt: skip


def test_g11_the_seeded_collection_of_ten() -> None:
    family, x = Linear(seed=1337), [Djb2a().hash("he")]
    multipliers, addends = map(signed, family.parameters(10))
    pairs = list(zip(multipliers.tolist(), addends.tolist(), strict=True))
    assert pairs[:2] == [(-1460590454, 747279288), (-1334692577, -539670452)]
    assert signed(family.values(x, 10))[:, 0].tolist() == ON_WORD
    prime = 999999999989
    exact = Modular(p=prime, multipliers=multipliers.tolist(), addends=addends.tolist())
    assert exact.values(x, 10)[:, 0].tolist() == MODULO_PRIME


def test_g12_a_signed_remainder_fills_zero_twice() -> None:
    hashes = signed(Linear(seed=1337).values(range(1, 100_001), 1))[0]
    counts = Counter(np.fmod(hashes, 13).tolist())
    assert sorted(counts) == list(range(-12, 13))
    assert counts.pop(0) == 7704
    assert (min(counts.values()), max(counts.values())) == (3837, 3867)
    assert counts.total() + 7704 == 100_000


PICKED = {0.5: 23, 0.6: 18, 0.7: 14, 0.8: 10, 0.9: 6, 0.95: 4, 0.99: 2, 1.0: 1}
PICKED_FIND = {0.5: 0.773, 0.6: 0.767, 0.7: 0.700, 0.8: 0.679, 0.9: 0.708, 0.95: 0.727, 0.99: 0.844}


@pytest.mark.parametrize("threshold", PICKED)
def test_g13_pick_bands_of_a_hundred(threshold: float) -> None:
    chosen = benzer.Bands.by_rule("pick_bands", threshold, 100)
    assert (chosen.bands, chosen.rows) == (PICKED[threshold], 100 // PICKED[threshold])


@pytest.mark.parametrize("threshold", PICKED_FIND)
def test_g13_what_the_picked_bands_find(threshold: float) -> None:
    chosen = benzer.Bands.by_rule("pick_bands", threshold, 100)
    assert float(chosen.probability(threshold)) == pytest.approx(PICKED_FIND[threshold], abs=0.0006)


@pytest.mark.parametrize("bands, rows, root", [(20, 5, 0.5493), (50, 2, 0.1414), (16, 8, 0.7071)])
def test_g14_the_inverse_root_is_found_with_two_thirds(bands: int, rows: int, root: float) -> None:
    similarity = (1 / bands) ** (1 / rows)
    assert similarity == pytest.approx(root, abs=0.00005)
    assert float(benzer.Bands(bands, rows).probability(similarity)) == pytest.approx(0.64, abs=0.01)


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
def test_g15_murmur3(data: bytes, seed: int, expected: int) -> None:
    assert Murmur3x32(seed).hash(data) == expected


def test_g16_multiplicative() -> None:
    assert Multiplicative(bits=14, multipliers=[2654435769]).values([123456], 1).item() == 67


@pytest.mark.parametrize("values, expected", [([1, 2, 3], 4213921812), ([0], 2654435832), ([], 0)])
def test_g17_hash_vec(values: list[int], expected: int) -> None:
    assert HashVec().hashes(values) == expected


def cyclic_text(alphabet: str, size: int) -> str:
    """A text in which every string of `size` letters stands exactly once (de Bruijn, by Lyndon words)."""
    letters, word, out = len(alphabet), [-1], []
    while word:
        word[-1] += 1
        if size % len(word) == 0:
            out.extend(word)
        length = len(word)
        while len(word) < size:
            word.append(word[-length])
        while word and word[-1] == letters - 1:
            word.pop()
    text = "".join(alphabet[i] for i in out)
    return text + text[: size - 1]


def test_g18_pairs_and_possible_shingles() -> None:
    result = benzer.find_duplicates([benzer.Document(i, "one and the same text") for i in range(20)])
    pairs = {tuple(sorted((pair.left_id, pair.right_id))) for pair in result.expanded_pairs()}
    assert pairs == set(combinations(range(20), 2))
    assert len(pairs) == 190
    shingles = char_text(4, whitespace="keep").shingles(cyclic_text("abcdefghijklmnopqrstuvwxyz ", 4))
    assert len(set(shingles)) == len(shingles) == possible_shingles(27, 4) == 531441
    assert possible_shingles(20, 9) == 512 * 10**9


def test_g19_the_price_of_all_pairs() -> None:
    assert Vocabulary(f"word{number}" for number in range(20)).bits == 5
    pairs = classical.pair_count(12_000)
    assert pairs == 71_994_000
    assert round(pairs * 0.010 / DAY, 1) == 8.3
    assert round(2 * pairs * 0.010 / DAY, 1) == 16.7  # the published 16 days count ordered pairs
