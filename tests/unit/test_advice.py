"""The advised shingle size."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from benzer.advice import _draw, advise_shingle_size, possible_shingles, rule_of_thumb
from benzer.errors import InputError, SettingsError
from benzer.fields import Text
from benzer.verify import jaccard


def random_texts(count: int, length: int, letters: str = "abcdefghijklmnopqrst", seed: int = 1) -> list[str]:
    choice = random.Random(seed)
    return ["".join(choice.choices(letters, k=length)) for _ in range(count)]


@pytest.mark.parametrize("alphabet, size, count", [(27, 4, 531_441), (20, 9, 512 * 10**9), (20, 0, 1)])
def test_possible_shingles(alphabet: int, size: int, count: int) -> None:
    assert possible_shingles(alphabet, size) == count


@pytest.mark.parametrize("length", [1, 40, 1_600, 80_000, 4_000_001])
def test_the_rule_is_the_least_size_with_a_hundredfold_room(length: int) -> None:
    size = rule_of_thumb(length)
    assert possible_shingles(20, size) >= 100 * length > possible_shingles(20, size - 1)


def test_every_size_is_measured_on_all_pairs_of_a_small_collection() -> None:
    texts = random_texts(8, 100)
    advice = advise_shingle_size(texts, sizes=[3, 2])
    assert (advice.documents, advice.pairs, [one.size for one in advice.sizes]) == (8, 28, [2, 3])
    for one in advice.sizes:
        shingles = [Text(unit="char", shingle_size=one.size).shingles(text) for text in texts]
        measured = [jaccard(a, b) for a, b in combinations(shingles, 2)]
        assert one.background == pytest.approx(np.median(measured))
        assert one.high == pytest.approx(np.quantile(measured, 0.95))


def test_independent_letters_need_what_the_rule_says_or_less() -> None:
    """A shingle of size k of 20 equal letters is in a text of n with n / 20^k: J is about half of that."""
    advice = advise_shingle_size(random_texts(60, 800))
    assert advice.alphabet == pytest.approx(20, rel=0.01)
    assert (advice.size, advice.rule_size) == (3, 4)
    expected = {size: 800 / 20**size for size in (3, 4)}
    for one in advice.sizes[1:3]:
        filled = 1 - np.exp(-expected[one.size])
        assert one.background == pytest.approx(filled / (2 - filled), rel=0.25, abs=0.002)


def test_a_skewed_alphabet_counts_for_less() -> None:
    even = advise_shingle_size(random_texts(30, 500, "abcdefgh"))
    skewed = advise_shingle_size(random_texts(30, 500, "aaaaaabcdefgh"))
    assert skewed.alphabet < even.alphabet == pytest.approx(8, rel=0.01)


def test_longer_documents_need_longer_shingles() -> None:
    sizes = [advise_shingle_size(random_texts(20, length)).size for length in (50, 1_000, 20_000)]
    assert sizes == sorted(set(sizes))


def test_equal_seeds_give_equal_advice_of_a_sample() -> None:
    texts = random_texts(500, 60)
    first, again, other = (
        advise_shingle_size(iter(texts), sample=50, pairs=100, seed=seed, sizes=[2]) for seed in (1, 1, 2)
    )
    assert first == again != other
    assert (first.documents, first.pairs) == (50, 100)


def test_each_text_is_as_likely_to_be_drawn() -> None:
    """Of 40 texts 10 are drawn: over 400 seeds each 100 times, within 6 standard deviations of 8.7."""
    drawn = Counter(text for seed in range(400) for text in _draw(map(str, range(40)), 10, seed))
    assert (drawn.total(), len(drawn)) == (4000, 40)
    assert max(abs(count - 100) for count in drawn.values()) < 6 * 8.7


def test_words_have_a_vocabulary_for_an_alphabet() -> None:
    words = [f"w{i}" for i in range(50)]
    texts = [" ".join(text) for text in (random.Random(i).choices(words, k=200) for i in range(40))]
    advice = advise_shingle_size(texts, "word")
    assert advice.alphabet == pytest.approx(50, rel=0.02)
    assert advice.typical_length == 200
    # 50^2 = 2500 < 100 x 200 <= 50^3
    assert advice.rule_size == 3
    # 199 of 2500 pairs of words in each: J is about 0.077 / (2 - 0.077).
    assert (advice.size, round(advice.chosen.background, 2)) == (2, 0.04)


def test_the_reading_of_a_field_is_kept() -> None:
    texts = ["A b A c", "a d a e", "A f A g"]
    folded = advise_shingle_size(texts, field=Text(unit="word"), sizes=[1])
    kept = advise_shingle_size(texts, field=Text(unit="word", case="keep", stop_words=["A"]), sizes=[1])
    assert folded.sizes[0].background == 0.2
    assert kept.sizes[0].background == 0.0
    assert folded.unit == kept.unit == "word"


def test_advice_explains_itself() -> None:
    shown = str(advise_shingle_size(random_texts(20, 300)))
    assert shown.startswith("Suggested shingle size: 3 characters.\n")
    assert "190 random pairs of 20 documents" in shown
    assert "Rule of thumb: 4, the smallest k with 20^k >= 100 x 300." in shown
    assert [line.split()[0] for line in shown.splitlines()[6:]] == [str(size) for size in range(2, 13)]
    none = str(advise_shingle_size(["abc abc", "abc abcd"], sizes=[2, 3]))
    assert "no tested size reaches 0.05" in none


def test_empty_texts_are_left_out() -> None:
    assert advise_shingle_size(["", "abc", " ", "xyz"], sizes=[2]).documents == 2
    with pytest.raises(InputError, match="at least 2 non-empty documents are required, got 1"):
        advise_shingle_size(["", "abc", " "])


@pytest.mark.parametrize(
    "options, message",
    [
        ({"limit": 0}, r"limit must be in \(0, 1\], got 0"),
        ({"sample": 1}, "sample must be at least 2"),
        ({"pairs": 0}, "pairs at least 1"),
        ({"sizes": []}, "at least one size"),
        ({"sizes": [0]}, "shingle_size must be in 1..64, got 0"),
        ({"unit": "line"}, "unit must be 'word' or 'char'"),
        ({"seed": -1}, "seed must be a whole number from 0 to 18446744073709551615, got -1"),
        ({"seed": 0.5}, "seed must be a whole number from 0 to 18446744073709551615, got 0.5"),
    ],
)
def test_settings_that_mean_nothing_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        advise_shingle_size(["abc", "abd"], **options)


@pytest.mark.parametrize(
    "length, alphabet", [(math.inf, 20), (math.nan, 20), (0, 20), (100, math.inf), (100, 1), (100, math.nan)]
)
def test_the_rule_is_for_texts_of_some_length(length: float, alphabet: float) -> None:
    with pytest.raises(SettingsError, match="length must be > 0 and alphabet must be > 1, both finite"):
        rule_of_thumb(length, alphabet)


def test_a_length_beyond_all_measure_has_a_size_too() -> None:
    """20^309 is the first power above 100 times 10^400."""
    assert rule_of_thumb(10**400) == 309
    assert 20**309 >= 100 * 10**400 > 20**308


def test_more_shingles_than_a_number_can_tell_are_infinitely_many() -> None:
    """Each word once: the effective alphabet is all 80,000 words, and 80,000^64 is above 2^1024."""
    texts = [" ".join(f"{letter}{number}" for number in range(40_000)) for letter in "ab"]
    advice = advise_shingle_size(texts, "word", sizes=[1, 64])
    assert [one.possible for one in advice.sizes] == [pytest.approx(80_000), math.inf]
    assert "inf" in str(advice).splitlines()[-1]


def test_one_text_is_not_many() -> None:
    with pytest.raises(InputError, match="got one text"):
        advise_shingle_size("one text")
