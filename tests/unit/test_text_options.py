"""The further options of a text: other hashes, fewer bytes, frequencies, stop words by language."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from benzer.errors import MissingExtraError, SettingsError
from benzer.fields import Text
from tests.reference import classical

LATER = {"frequencies", "shingle_hash", "hash_bytes"}
TEXT = "to be or not to be that is the question whether tis nobler in the mind to suffer"


def test_settings_of_before_are_told_as_before() -> None:
    assert list(Text().to_dict()) == [
        "type", "unit", "shingle_size", "tokenizer", "normalize", "case", "punctuation", "whitespace",
        "stop_words", "weight",
    ]  # fmt: skip
    told = Text(frequencies=True, shingle_hash="xxh3", hash_bytes=4).to_dict()
    assert {name: told[name] for name in LATER} == {
        "frequencies": True,
        "shingle_hash": "xxh3",
        "hash_bytes": 4,
    }


def test_four_bytes_are_the_low_half_of_eight() -> None:
    for name in ("benzer", "djb2a", "murmur3_32", "murmur3_128", "xxh3"):
        whole = Text(shingle_hash=name).shingle_hashes(TEXT)
        half = Text(shingle_hash=name, hash_bytes=4).shingle_hashes(TEXT)
        assert np.array_equal(half, whole & np.uint64(0xFFFFFFFF))


def test_a_named_hash_is_that_of_the_shingle_as_it_is_shown() -> None:
    text = Text(shingle_size=2, shingle_hash="djb2a")
    assert text.shingle_hashes(TEXT).tolist() == [classical.djb2a(shingle) for shingle in text.shingles(TEXT)]


def test_a_character_beyond_ascii_is_hashed_whole() -> None:
    letters = Text(unit="char", shingle_size=1, case="keep", shingle_hash="djb2a")
    # 'ł' is U+0142, whose low byte is that of 'B'.
    assert letters.shingle_hashes("ł").tolist() != letters.shingle_hashes("B").tolist()


def test_without_repeats_frequencies_change_nothing() -> None:
    words = "each of these words stands here but once"
    for size in (1, 2):
        plain, bag = (Text(shingle_size=size, frequencies=flag) for flag in (False, True))
        assert np.array_equal(plain.shingle_hashes(words), bag.shingle_hashes(words))


def test_every_occurrence_is_an_element() -> None:
    bag = Text(shingle_size=1, frequencies=True)
    hashes = bag.shingle_hashes("a rose is a rose is a rose").tolist()
    assert len(set(hashes)) == len(hashes) == 8
    assert hashes[:3] == Text(shingle_size=1).shingle_hashes("a rose is").tolist()


def test_the_third_occurrence_needs_three_in_both() -> None:
    bag = Text(shingle_size=1, frequencies=True)
    assert bag.shared("a a a a b", "b a a") == ["a", "a", "b"]
    assert bag.shared("b a a", "a a a a b") == ["b", "a", "a"]
    assert Text(shingle_size=1).shared("a a a a b", "b a a") == ["a", "b"]


def test_a_text_of_a_million_equal_words_is_read() -> None:
    _, hashes = Text(shingle_size=1, frequencies=True).sets(["a " * 1_000_000])
    assert len(hashes) == 1_000_000


@pytest.mark.parametrize("language", ["english", "en", "English", "EN"])
def test_a_language_stands_for_its_stop_words(language: str) -> None:
    text = Text(shingle_size=1, stop_words=language)
    assert text.tokens("The question is what to do") == ["question"]
    assert text == Text(shingle_size=1, stop_words=text.stop_words)


def test_an_unknown_language_is_refused_with_all_that_are_known() -> None:
    with pytest.raises(SettingsError, match=r'"klingon".*english \(en\).*turkish \(tr\).*list of words'):
        Text(stop_words="klingon")


def test_without_the_package_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stop_words", None)
    with pytest.raises(MissingExtraError, match=r"stop_words.*pip install 'benzer\[stopwords\]'"):
        Text(stop_words="en")


@pytest.mark.parametrize(
    "options, message",
    [
        ({"hash_bytes": 5}, "hash_bytes must be 4 or 8, got 5"),
        ({"hash_bytes": "4"}, "hash_bytes must be 4 or 8, got '4'"),
        ({"shingle_hash": "md5"}, "shingle_hash must be one of benzer, djb2a, .* got 'md5'"),
        ({"frequencies": 2}, "frequencies must be True or False, got 2"),
        ({"stop_words": "en", "unit": "char"}, "stop_words require unit='word'"),
        ({"stop_words": None}, "stop_words must be a list of words or a language, got None"),
        ({"stop_words": 5}, "stop_words must be a list of words or a language, got 5"),
        ({"stop_words": ["a", 1]}, r"stop_words must be a list of words or a language, got \['a', 1\]"),
        ({"stop_words": b"en"}, "stop_words must be a list of words or a language, got b'en'"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Text(**options)  # type: ignore[arg-type]
