"""Stop words by language, from the package stop-words."""

from __future__ import annotations

from benzer.errors import SettingsError
from benzer.registry import require


def language_words(language: str) -> list[str]:
    """Return the stop words of a language, by its English name or its code of two letters (ISO 639-1).

    They come from the package stop-words (the extra `stopwords`), whose lists may change between its versions:
    settings therefore store the words, not the name of the language. For another name a `SettingsError` lists all
    languages.

    >>> words = language_words("en")
    >>> "the" in words, words == language_words("English"), "und" in language_words("german")
    (True, True, True)
    """
    lists = require("stop_words", extra="stopwords", purpose="stop words by language")
    codes: dict[str, str] = lists.LANGUAGE_MAPPING
    name = codes.get(language.lower(), language.lower())
    if name not in lists.AVAILABLE_LANGUAGES:
        known = ", ".join(
            f"{word} ({code})" for code, word in sorted(codes.items(), key=lambda pair: pair[1])
        )
        raise SettingsError(
            f'there are no stop words of the language "{language}": choose one of {known}; '
            "or use a list of words"
        )
    words: list[str] = lists.get_stop_words(name)
    return words
