"""Every single character that this Python knows is read as the reference reads it."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator

import pytest

from tests.native import reader
from tests.reference import text as reference
from tests.reference.text import Recipe

PRIVATE_PLANES = range(0xF0010, 0x10FFF0)  # private use from end to end: its borders stand for it


def assigned() -> Iterator[str]:
    """Every assigned code point, without the inside of the two private planes."""
    for code in range(sys.maxunicode + 1):
        if code not in PRIVATE_PLANES and unicodedata.category(chr(code)) != "Cn":
            yield chr(code)


def misread(recipe: Recipe) -> Iterator[str]:
    """Each code point that is read otherwise, between letters and alone."""
    native = reader(recipe)
    ask = native.tokens if recipe.unit == "word" else native.shingles
    expect = reference.word_tokens if recipe.unit == "word" else reference.shingles
    for character in assigned():
        text = f"a{character}b {character}"
        if ask(text) != (expected := expect(text, recipe)):
            yield f"U+{ord(character):04X} in {text!a}: expected {expected!a}, got {ask(text)!a}"


RECIPES = [
    Recipe(),
    Recipe(tokenizer="alnum", normalize="nfc", case="lower", punctuation="keep"),
    Recipe("char", 9, normalize="none", case="keep"),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=["default", "alnum", "char"])
def test_every_character_is_read_as_the_reference_reads_it(recipe: Recipe) -> None:
    wrong = list(misread(recipe))
    assert not wrong, f"{len(wrong)} misread; the first: " + "\n".join(wrong[:20])
