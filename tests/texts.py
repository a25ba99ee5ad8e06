"""Which texts try a reader? Pieces of many scripts, in every mixture, and long runs of ASCII."""

from __future__ import annotations

import random
import unicodedata
from itertools import product

from hypothesis import strategies as st

from tests.reference.text import Recipe

ASCII = (
    "the quick brown fox", "it's", "co-operate", "A_b", "1,000.5", "x", "THE", "a.b@c.d", "$5 + 3 = 8",
    "__", "~",
)  # fmt: skip
LATIN = (
    "café", "cafe\u0301", "ÀÉÎ", "e\u0323\u0301", "Straße", "STRASSE", "ẞ", "ŉ", "ſt", "ﬁ", "ﬃx", "ǅ",
    "ǰ", "ÿŸ", "ªº", "µ", "K\u212a", "\u212b", "´¨", "½ ¼", "Ⅷⅷ", "ĳ", "İstanbul", "ıIiİ", "I\u0307",
    "Ø", "ð",
)  # fmt: skip
GREEK_AND_MORE = (
    "ΟΔΥΣΣΕΥΣ", "Σ", "ΑΣ", "Σ\u0301", "ΑΣ.", "Α\u00adΣ", "ΑΣ\u0345Α", "σς", "ΐ\u0390", "ᾳᾼ",
    "\u1fb3\u0345", "\u037a", "Ω\u2126", "Привет", "Ёё", "й", "Ӏ", "Ꭰꭰ", "ᏸ", "𐐀𐐨", "ქართული", "Ა",
    "Հայերեն", "և",
)  # fmt: skip
UNSPACED = (
    "近似重複", "日本語テキスト", "か\u3099", "が", "ｶﾞｷﾞ", "ﾊﾟ", "ﾞ", "ー", "々〇〻", "𠀀𠀁",
    "\U0002f800", "豈", "㐀", "ไทยน้ำ", "กำ", "น\u0e49ำ", "ລາວ", "ໜ", "မြန်မာ", "ខ្មែរ", "១២", "ㇰ",
    "ꧠ", "ꩠ", "中文and英文3", "３近", "a近\u0301b",
)  # fmt: skip
SPACED = (
    "한국어", "\u1112\u1161\u11ab", "각\u11a8", "ㄱㄴ", "ﾡ", "שָׁלוֹם", "\ufb2a", "\u05c1\u05b7",
    "مُحَمَّد", "ﷺ", "ﻻ", "١٢٣", "\u0600\u0661", "हिन्दी", "क्षि", "क\u093c", "\u0958", "தமிழ்",
    "ಕನ್ನಡ", "བོད་ཡིག", "\u0f73", "ስማ፩", "ߒߞߏ", "ᠮᠣᠩ\u180e",
)  # fmt: skip
SYMBOLS = (
    "👩\u200d👩\u200d👧\u200d👦", "🇹🇷🇯🇵", "❤\ufe0f", "1\ufe0f\u20e3", "👍🏽", "🏴\U000e0067\U000e007f",
    "𝐀𝔅𝟙𝟘", "x²₃", "①⑳㈱㍿", "⑴", "㋿", "™℠", "ＡＢＣ１２３", "！？", "　", "…", "—", "“”", "⁄",
    "１⁄２", "\U0001d15e", "\ufffd", "\ue000", "\U0010fffd", "゛", "´a",
)  # fmt: skip
INVISIBLE = (
    "co\u00adop", "\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u200e", "\u061c",
    "\u202e", "\u2066", "\t", "\n", "\r\n", "\x0b", "\x0c", "\x1c", "\x1f", "\x85", "\xa0", "\u2028",
    "\u2029", "\u1680", "\x00", "\x01", "\x7f", "\x9f",
)  # fmt: skip
MARKS = (
    "\u0301", "\u0323\u0301", "\u0308", "\u0345", "\u20dd", "\u0488", "\u3099", "\u309a",
    "\u0327\u0300", "\u034f", "\u0e31", "\u093e", "\ufe0f", "\U000e0100", "\u0315\u0300\u0334",
    "\U0001e000",
)  # fmt: skip
FORMS = ("nfkc", "nfc", "none")
CASES = ("fold", "lower", "keep")
SURROGATES = ("\ud800", "\udfff", "\ud83d\ude00", "a\udc80b")
PIECES = (*ASCII, *LATIN, *GREEK_AND_MORE, *UNSPACED, *SPACED, *SYMBOLS, *INVISIBLE, *MARKS, *SURROGATES)
FILLING = "abcdefghijklmnopqrstuvwxyzABCDEFXYZ0123456789" + " " * 9 + "\t\n.,;:-'_()\x00"
BORDERS = tuple(range(60, 69)) + tuple(range(124, 133)) + tuple(range(188, 196)) + tuple(range(250, 262))


def known(text: str) -> bool:
    """Are all its code points assigned in this Python's Unicode?"""
    return all(unicodedata.category(c) != "Cn" for c in text)


def assigned_characters() -> st.SearchStrategy[str]:
    """Any code point that this Python's Unicode knows, surrogates among them."""
    return st.characters(exclude_categories=("Cn",))


def mixed_texts(max_pieces: int = 12) -> st.SearchStrategy[str]:
    """Pieces of many scripts, some with nothing between them."""
    pieces = st.sampled_from([piece for piece in PIECES if known(piece)])
    part = st.one_of(pieces, pieces, st.sampled_from([" ", ""]), assigned_characters())
    return st.lists(part, max_size=max_pieces).map("".join)


def ascii_text(size: int, seed: int, stranger: str) -> str:
    """So many ASCII characters, and one other piece somewhere in them."""
    choice = random.Random(seed)
    text = "".join(choice.choices(FILLING, k=size))
    place = choice.randint(0, size)
    return text[:place] + stranger + text[place:]


def long_texts() -> st.SearchStrategy[str]:
    """ASCII texts about the lengths at which blocks of 64 bytes end, with at most one stranger in them."""
    sizes = st.one_of(st.sampled_from(BORDERS), st.integers(0, 700))
    strangers = st.sampled_from(["", "", "", *[piece for piece in PIECES if known(piece)]])
    return st.builds(ascii_text, sizes, st.integers(0, 2**32), strangers)


def texts() -> st.SearchStrategy[str]:
    """A short mixture or a long run of ASCII."""
    return st.one_of(mixed_texts(), mixed_texts(), long_texts())


def word_recipes(shingle_size: int, stop_words: tuple[str, ...] = ()) -> list[Recipe]:
    """Every way of reading words that differs."""
    options = product(("unified", "alnum"), FORMS, CASES, ("drop", "keep"))
    return [Recipe("word", shingle_size, *option, stop_words=stop_words) for option in options]


def char_recipes(shingle_size: int) -> list[Recipe]:
    """Every way of reading characters that differs."""
    options = product(FORMS, CASES, ("drop", "keep"), ("fold", "keep"))
    return [Recipe("char", shingle_size, "unified", *option) for option in options]
