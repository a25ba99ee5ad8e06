"""How does a text become shingles?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from benzer._native import TextReader
from benzer.document import FieldValue
from benzer.errors import InputError, SettingsError
from benzer.fields.base import Sets

DEFAULT_SIZE = {"word": 3, "char": 5}


@dataclass(frozen=True)
class Text:
    """A text, as the set of its shingles.

    The defaults suit web pages in English and most other languages: runs of 3 words after NFKC and case
    folding; a word is a run of letters, numbers and marks, and each character of a script without spaces
    (Chinese, Japanese, Thai, Lao, Khmer, Myanmar) is a word of its own. For names, titles and noisy OCR take
    `unit="char"`; for books and code longer shingles (5 words).

    unit: "word" or "char": what a shingle is made of.
    shingle_size: units in a shingle, 1 to 64; None means 3 words or 5 characters. A shorter text is one
        shingle.
    tokenizer: "unified" as above, or "alnum": runs of letters and digits in every script.
    normalize: "nfkc", "nfc" or "none".
    case: "fold" (full case folding), "lower" or "keep".
    punctuation: "drop" or "keep"; None means drop in words (it separates them) and keep in characters.
    whitespace: "fold" (runs become one space) or "keep"; only characters see it.
    stop_words: words to leave out, read by the same rules. Only for words.
    weight: of this field among others, > 0.

    docs/reference/hashing.md defines every step. Reading costs about a nanosecond a byte.

    >>> Text().shingles("The quick brown fox")
    ['the quick brown', 'quick brown fox']
    >>> Text(unit="char", shingle_size=3).shingles("Ab  c!")
    ['ab ', 'b c', ' c!']
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
    stop_words: Collection[str] = ()
    weight: float = 1.0

    kind: ClassVar[Literal["text", "values"]] = "text"

    def __post_init__(self) -> None:
        if self.unit not in DEFAULT_SIZE:
            raise SettingsError(f"unit must be 'word' or 'char', got {self.unit!r}")
        self._fill("shingle_size", DEFAULT_SIZE[self.unit])
        self._fill("punctuation", "drop" if self.unit == "word" else "keep")
        object.__setattr__(self, "stop_words", tuple(sorted(self.stop_words)))
        if self.stop_words and self.unit == "char":
            raise SettingsError(
                "stop_words work on words, got unit 'char': use unit='word', or leave them out"
            )
        check_weight(self.weight)
        _ = self.reader

    def _fill(self, name: str, value: object) -> None:
        if getattr(self, name) is None:
            object.__setattr__(self, name, value)

    @cached_property
    def reader(self) -> TextReader:
        """The native reader with these settings."""
        size = self.shingle_size
        if not isinstance(size, int) or not 1 <= size <= 64:
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
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "reader"}

    def tokens(self, text: str | bytes) -> list[str]:
        """The tokens of a text, in order.

        >>> Text().tokens("Don't—stop, 東京!")
        ['don', 't', 'stop', '東', '京']
        """
        return self.reader.tokens(text)

    def shingles(self, text: str | bytes) -> list[str]:
        """The shingles of a text, in order, with repeats; words joined by a space."""
        return self.reader.shingles(text)

    def shingle_hashes(self, text: str | bytes) -> NDArray[np.uint64]:
        """The hashes (uint64) of `shingles(text)`, in the same order."""
        return self.reader.shingle_hashes(text)

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
        """See `Field`."""
        there = set(self.shingles(text_content(b)))
        return [shingle for shingle in dict.fromkeys(self.shingles(text_content(a))) if shingle in there]

    def to_dict(self) -> dict[str, Any]:
        """See `Field`."""
        return {"type": "text", **asdict(self), "stop_words": list(self.stop_words)}


def text_content(content: FieldValue) -> str | bytes:
    """The content of a text field; "" for a missing one."""
    if content is None:
        return ""
    if isinstance(content, (str, bytes)):
        return content
    raise InputError(f"a text field takes str or bytes, got {type(content).__name__}: use a ValueSet field")


def clean(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot hold, replaced by U+FFFD."""
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


def check_weight(weight: float) -> None:
    """Refuse a weight that would make the mean of fields meaningless."""
    if not 0 < weight < float("inf"):
        raise SettingsError(f"weight must be above 0, got {weight}: leave out a field that shall not count")
