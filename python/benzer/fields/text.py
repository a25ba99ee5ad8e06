"""Field type for texts: tokens and shingles."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from benzer._native import TextReader, token_spans
from benzer.checks import is_number
from benzer.document import FieldValue
from benzer.errors import InputError, SettingsError
from benzer.fields.base import Kind, Sets
from benzer.fields.stop_words import language_words

_LONE = re.compile("[\ud800-\udfff]")
DEFAULT_SIZE = {"word": 3, "char": 5}
# Settings added after the first format are omitted if they have these values, so that older indexes still have the
# same settings.
LATER: dict[str, object] = {"frequencies": False, "shingle_hash": "benzer", "hash_bytes": 8}


@dataclass(frozen=True)
class Text:
    """A text field, compared as the set of its shingles.

    The defaults suit web pages in English and most other languages: shingles of 3 words after NFKC and case folding. A
    word is a run of letters, numbers and marks; each character of a script without spaces (Chinese, Japanese, Thai,
    Lao, Khmer, Myanmar) is a word. Use `unit="char"` for names, titles and noisy OCR, and longer shingles (5 words)
    for books and code.

    docs/reference/hashing.md defines every step. Reading takes about 1 ns per byte; frequencies add about 20 ns per
    shingle; hashes other than "benzer" add 60 ns per shingle of words and 5 to 15 ns per shingle of characters.

    Args:
        unit: Unit of a shingle, "word" or "char".
        shingle_size: Units in a shingle, 1 to 64; None means 3 words or 5 characters. A shorter text is one
            shingle.
        tokenizer: "unified" as above, or "alnum": runs of letters and digits in every script.
        normalize: Unicode normalization: "nfkc", "nfc" or "none".
        case: Case normalization: "fold" (full case folding), "lower" or "keep".
        punctuation: "drop" or "keep"; None drops it in words, which it separates, and keeps it in characters.
        whitespace: "fold" (runs become one space) or "keep"; affects shingles of characters only.
        stop_words: Words to ignore, normalized by the same rules; or the name or code of a language ("english",
            "en"), whose list comes from the package stop-words and becomes part of the settings. Words only.
        weight: Weight of this field in the similarity, > 0.
        frequencies: Whether to count how often a shingle occurs. Each occurrence is then an element, and the Jaccard
            similarity is that of the bags, Σ min / Σ max of the counts.
        shingle_hash: "benzer" (fast), or a published hash of the shingle as returned by `shingles`: "djb2a",
            "murmur3_32", "murmur3_128" or "xxh3" (UTF-8, seed 0; see `benzer.experiments.hashing`).
        hash_bytes: 8, or 4 for the low 32 bits; with 4, a shingle collides with one of n others with probability
            n / 2³².

    Raises:
        SettingsError: A setting is out of range.

    >>> Text().shingles("The quick brown fox")
    ['the quick brown', 'quick brown fox']
    >>> Text(unit="char", shingle_size=3).shingles("Ab  c!")
    ['ab ', 'b c', ' c!']
    >>> bags = Text(shingle_size=1, frequencies=True, stop_words=["to"])
    >>> bags.shared("To be, or not to be", "Be as you may be")
    ['be', 'be']
    >>> Text(shingle_size=0)
    Traceback (most recent call last):
    benzer.errors.SettingsError: shingle_size must be in 1..64, got 0
    """

    unit: Literal["word", "char"] = "word"
    shingle_size: int | None = None
    tokenizer: Literal["unified", "alnum"] = "unified"
    normalize: Literal["nfkc", "nfc", "none"] = "nfkc"
    case: Literal["fold", "lower", "keep"] = "fold"
    punctuation: Literal["drop", "keep"] | None = None
    whitespace: Literal["fold", "keep"] = "fold"
    stop_words: Collection[str] | str = ()
    weight: float = 1.0
    frequencies: bool = False
    shingle_hash: str = "benzer"
    hash_bytes: Literal[4, 8] = 8

    kind: ClassVar[Kind] = "text"

    def __post_init__(self) -> None:
        if self.unit not in DEFAULT_SIZE:
            raise SettingsError(f"unit must be 'word' or 'char', got {self.unit!r}")
        if self.hash_bytes not in (4, 8):
            raise SettingsError(f"hash_bytes must be 4 or 8, got {self.hash_bytes!r}")
        if not isinstance(self.frequencies, bool):
            raise SettingsError(f"frequencies must be True or False, got {self.frequencies!r}")
        self._fill("shingle_size", DEFAULT_SIZE[self.unit])
        self._fill("punctuation", "drop" if self.unit == "word" else "keep")
        object.__setattr__(self, "stop_words", tuple(sorted(word_list(self.stop_words))))
        if self.stop_words and self.unit == "char":
            raise SettingsError(
                "stop_words require unit='word', got unit 'char': change the unit, or omit stop_words"
            )
        object.__setattr__(self, "weight", checked_weight(self.weight))
        _ = self.reader

    def _fill(self, name: str, value: object) -> None:
        if getattr(self, name) is None:
            object.__setattr__(self, name, value)

    @cached_property
    def reader(self) -> TextReader:
        """The native reader with these settings."""
        size = self.shingle_size
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= 64:
            raise SettingsError(f"shingle_size must be in 1..64, got {size}")
        return TextReader(
            unit=self.unit,
            shingle_size=size,
            tokenizer=self.tokenizer,
            normalize=self.normalize,
            case=self.case,
            punctuation=str(self.punctuation),
            whitespace=self.whitespace,
            stop_words=list(self.stop_words),
            shingle_hash=self.shingle_hash,
            hash_bytes=self.hash_bytes,
            frequencies=self.frequencies,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "reader"}

    def tokens(self, text: str | bytes) -> list[str]:
        """Return the tokens of a text, in order.

        >>> Text().tokens("Don't—stop, 東京!")
        ['don', 't', 'stop', '東', '京']
        """
        return self.reader.tokens(text)

    def shingles(self, text: str | bytes) -> list[str]:
        """Return the shingles of a text, in order, with repetitions; words are joined by a space."""
        return self.reader.shingles(text)

    def shingle_hashes(self, text: str | bytes) -> NDArray[np.uint64]:
        """Return the elements (uint64) of `shingles(text)`, in the same order: their hashes.

        With `frequencies`, the second and further occurrences of a shingle have different numbers.

        >>> Text(shingle_size=1, shingle_hash="djb2a").shingle_hashes("He, he").tolist()
        [5861128, 5861128]
        """
        return self.reader.shingle_hashes(text)

    def token_spans(self, text: str | bytes) -> tuple[list[str], NDArray[np.int64]]:
        """Return the units of a text in order, with their positions: int64, n × 2, start and end in code points.

        For words these are `tokens(text)`; with unit "char" the characters that shingles consist of. Positions are
        those of the original text (UTF-8: of the decoded text), whatever its normal form. If several characters are
        normalized together (a letter and the accent after it), each has the position of all.

        >>> tokens, places = Text().token_spans("The ﬁne ½")
        >>> list(zip(tokens, places.tolist()))
        [('the', [0, 3]), ('fine', [4, 7]), ('1', [8, 9]), ('2', [8, 9])]
        """
        return token_spans(self.reader, text)

    def sets(self, contents: Sequence[FieldValue], threads: int = 1) -> Sets:
        """See `Field`."""
        return self.reader.sets([text_content(content) for content in contents], threads)

    def encode(self, content: FieldValue) -> bytes:
        """See `Field`."""
        text = text_content(content)
        if isinstance(text, bytes):
            return text
        return text.encode("utf-8", "surrogatepass") if text.isascii() else clean(text).encode()

    def decode(self, data: bytes) -> FieldValue:
        """See `Field`."""
        return data.decode()

    def encoded_sets(self, contents: Sequence[bytes | None]) -> Sets:
        """See `Field`."""
        return self.reader.sets([content or b"" for content in contents])

    def shared(self, a: FieldValue, b: FieldValue) -> list[str]:
        """See `Field`. With `frequencies`, a shingle is listed as often as both have it."""
        text, there = text_content(a), set(self.shingle_hashes(text_content(b)).tolist())
        elements: dict[int, str] = {}
        # By number, as the sets are compared: two shingles of one number are one element.
        for number, shingle in zip(self.shingle_hashes(text).tolist(), self.shingles(text), strict=True):
            elements.setdefault(number, shingle)
        return [shingle for number, shingle in elements.items() if number in there]

    def to_dict(self) -> dict[str, Any]:
        """See `Field`."""
        settings = {name: value for name, value in asdict(self).items() if value != LATER.get(name)}
        return {"type": "text", **settings, "stop_words": list(self.stop_words)}


def word_list(given: Any) -> set[str]:
    """Return the listed stop words, or those of a language.

    >>> word_list(None)
    Traceback (most recent call last):
    benzer.errors.SettingsError: stop_words must be a list of words or a language, got None: use () for none
    """
    if isinstance(given, str):
        return set(language_words(given))
    words = list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(word, str) for word in words):
        raise SettingsError(
            f"stop_words must be a list of words or a language, got {given!r:.60}: use () for none"
        )
    return set(words)


def text_content(content: FieldValue) -> str | bytes:
    """Return the content of a text field; "" for a missing one."""
    if content is None:
        return ""
    if isinstance(content, (str, bytes)):
        return content
    raise InputError(f"a text field takes str or bytes, got {type(content).__name__}: use a ValueSet field")


def clean(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot represent, by U+FFFD."""
    return _LONE.sub("\ufffd", text)


def checked_weight(weight: float) -> float:
    """Return the weight as a float; raise an error for a weight that makes the mean meaningless."""
    if not is_number(weight) or not 0 < weight < float("inf"):
        raise SettingsError(f"weight must be > 0, got {weight}: remove the field instead")
    return float(weight)
