"""How is a text read into tokens and shingles? Follow `prepare`, `word_tokens` and `shingles`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

UNSPACED_RANGES = (
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x19E0, 0x19FF),  # Khmer symbols
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark, zero
    (0x303B, 0x303B),  # vertical ideographic iteration mark
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),  # Katakana extensions
    (0x3400, 0x4DBF),  # Han extension A
    (0x4E00, 0x9FFF),  # Han
    (0xA9E0, 0xA9FF),  # Myanmar extended B
    (0xAA60, 0xAA7F),  # Myanmar extended A
    (0xF900, 0xFAFF),  # Han compatibility
    (0xFF66, 0xFF9F),  # half-width Katakana
    (0x1B000, 0x1B16F),  # Kana supplement and extensions
    (0x20000, 0x3FFFF),  # Han extensions B and later
)


@dataclass(frozen=True)
class Recipe:
    """How a text is read; the fields are the options of the product, with its defaults."""

    unit: str = "word"
    shingle_size: int = 3
    tokenizer: str = "unified"
    normalize: str = "nfkc"
    case: str = "fold"
    punctuation: str = "drop"
    whitespace: str = "fold"
    stop_words: tuple[str, ...] = ()
    shingle_hash: str = "benzer"
    hash_bytes: int = 8
    frequencies: bool = False


def replace_surrogates(text: str) -> str:
    """Every surrogate code point becomes one U+FFFD (a Python string pairs none, so each stands alone).

    >>> replace_surrogates("a" + chr(0xD83D) + chr(0xDE00)) == "a" + chr(0xFFFD) * 2
    True
    """
    return "".join(chr(0xFFFD) if 0xD800 <= ord(c) <= 0xDFFF else c for c in text)


def read_input(text: str | bytes) -> str:
    """Bytes must be valid UTF-8; a string may hold anything."""
    return text.decode("utf-8") if isinstance(text, bytes) else replace_surrogates(text)


def normalized(text: str, form: str) -> str:
    """The Unicode normal form by the recipe's name for it."""
    if form == "none":
        return text
    return unicodedata.normalize({"nfkc": "NFKC", "nfc": "NFC"}[form], text)


def prepare(text: str | bytes, recipe: Recipe) -> str:
    """Steps 0 to 3: surrogates, normal form, case, normal form again, format characters.

    The second normalisation is there because folding may take a text out of its normal form.

    >>> prepare("Straße", Recipe())
    'strasse'
    """
    result = normalized(read_input(text), recipe.normalize)
    if recipe.case == "fold":
        result = result.casefold()
    elif recipe.case == "lower":
        result = result.lower()
    if recipe.case != "keep":
        result = normalized(result, recipe.normalize)
    if drops_format(recipe):
        result = "".join(c for c in result if unicodedata.category(c) != "Cf")
    return result


def drops_format(recipe: Recipe) -> bool:
    """Are format characters (soft hyphens, joiners, direction marks) taken out?

    Words: with the unified tokenizer. Characters: unless nothing at all is normalised.
    """
    if recipe.unit == "char":
        return recipe.normalize != "none"
    return recipe.tokenizer == "unified"


@cache
def is_unspaced(character: str) -> bool:
    """Is the character of a script that writes no spaces between words?"""
    return any(low <= ord(character) <= high for low, high in UNSPACED_RANGES)


def is_punctuation(character: str) -> bool:
    """Punctuation or symbol, the underscore among them."""
    return unicodedata.category(character)[0] in "PS"


def unified_tokens(text: str, keep_punctuation: bool) -> list[str]:
    """Runs of letters, numbers and marks that begin with a letter or number; unspaced scripts one by one.

    A mark belongs to the letter before it; with no letter or number before it, it only separates.

    >>> unified_tokens("open 近似a", False)
    ['open', '近', '似', 'a']
    """
    found: list[str] = []
    current = ""
    for character in text:
        kind = unicodedata.category(character)[0]
        if kind in "LN":
            if current and (is_unspaced(current[0]) or is_unspaced(character)):
                found.append(current)
                current = ""
            current += character
        elif kind == "M" and current:
            current += character
        else:
            if current:
                found.append(current)
                current = ""
            if keep_punctuation and is_punctuation(character):
                found.append(character)
    return [*found, current] if current else found


def alnum_tokens(text: str, keep_punctuation: bool) -> list[str]:
    """Maximal runs of `str.isalnum` characters, which is what `[^\\W_]+` finds.

    >>> alnum_tokens("it's 1_2", False)
    ['it', 's', '1', '2']
    """
    if not keep_punctuation:
        return re.findall(r"[^\W_]+", text)
    pieces: list[str] = re.findall(r"[^\W_]+|.", text, flags=re.DOTALL)
    return [piece for piece in pieces if piece[0].isalnum() or is_punctuation(piece)]


def word_tokens(text: str | bytes, recipe: Recipe) -> list[str]:
    """Step 4: the tokens of a text, without those that a stop word consists of.

    >>> word_tokens("The quick-brown fox", Recipe(stop_words=("THE",)))
    ['quick', 'brown', 'fox']
    """
    stopped = {token for word in recipe.stop_words for token in all_tokens(word, recipe)}
    return [token for token in all_tokens(text, recipe) if token not in stopped]


def all_tokens(text: str | bytes, recipe: Recipe) -> list[str]:
    """Steps 0 to 4 without stop words."""
    split = unified_tokens if recipe.tokenizer == "unified" else alnum_tokens
    return split(prepare(text, recipe), recipe.punctuation == "keep")


def characters(text: str | bytes, recipe: Recipe) -> str:
    """Step 4': the text whose characters are shingled.

    >>> characters("  To  be, or ", Recipe(unit="char"))
    'to be or'
    """
    result = prepare(text, recipe)
    if recipe.punctuation == "drop":
        result = "".join(" " if is_punctuation(c) else c for c in result)
    return fold_whitespace(result) if recipe.whitespace == "fold" else result


def fold_whitespace(text: str) -> str:
    """Runs of `str.isspace` characters become one space; none at either end."""
    spaced = "".join(" " if c.isspace() else c for c in text)
    return " ".join(part for part in spaced.split(" ") if part)


def runs(pieces: Sequence[str], size: int) -> list[Sequence[str]]:
    """All runs of `size` consecutive pieces; fewer pieces make one run of what there is, none make none."""
    if not pieces:
        return []
    if len(pieces) <= size:
        return [pieces]
    return [pieces[start : start + size] for start in range(len(pieces) - size + 1)]


def shingles(text: str | bytes, recipe: Recipe) -> list[str]:
    """The shingles in order and with repeats; the words of one are joined by one space.

    >>> shingles("Its quite sunny today", Recipe(shingle_size=2))
    ['its quite', 'quite sunny', 'sunny today']
    >>> shingles("match", Recipe(unit="char", shingle_size=2))
    ['ma', 'at', 'tc', 'ch']
    """
    if recipe.unit == "char":
        return ["".join(run) for run in runs(characters(text, recipe), recipe.shingle_size)]
    return [" ".join(run) for run in runs(word_tokens(text, recipe), recipe.shingle_size)]
