"""Which collections try a deduplication? Random texts, copies, edited copies, short and foreign ones."""

from __future__ import annotations

import random
from collections.abc import Mapping

SYLLABLES = [f"{first}{second}" for first in "bdgklmnprst" for second in "aeiou"]
VOCABULARY = [f"{syllable}{last}" for syllable in SYLLABLES for last in "bdklnrst"]
HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 300)]


def prose(choice: random.Random, length: int) -> list[str]:
    """So many random words."""
    return choice.choices(VOCABULARY, k=length)


def edited(choice: random.Random, words: list[str], edits: int) -> list[str]:
    """A copy with so many words replaced, inserted or taken out."""
    copy = list(words)
    for _ in range(edits):
        place = choice.randrange(len(copy) + 1)
        copy[place : place + choice.randint(0, 1)] = choice.choices(VOCABULARY, k=choice.randint(0, 1))
    return copy


def surface(choice: random.Random, words: list[str]) -> str:
    """The words as a text; case and punctuation differ from time to time, which changes no token."""
    separators = choice.choices([" ", " ", " ", ", ", "\n", " - "], k=len(words))
    return "".join(word + gap for word, gap in zip(words, separators, strict=True)).capitalize()


def one_document(choice: random.Random, earlier: list[list[str]]) -> list[str]:
    """New words, or an edited copy of earlier ones."""
    kind = choice.random()
    if earlier and kind < 0.6:
        return edited(choice, choice.choice(earlier), choice.choice([0, 0, 1, 1, 2, 3, 5, 8]))
    if kind < 0.7:
        return prose(choice, choice.randint(0, 4))
    if kind < 0.8:
        return [" ".join(choice.choices(HAN, k=choice.randint(5, 60)))]
    return prose(choice, choice.randint(5, 80))


def collection(seed: int, count: int) -> dict[str, str]:
    """Texts by id; in any order they are the same collection."""
    choice = random.Random(seed)
    documents: list[list[str]] = []
    for _ in range(count):
        documents.append(one_document(choice, documents))
    return {f"d{number}": surface(choice, words) for number, words in enumerate(documents)}


def shuffled(texts: Mapping[str, str], seed: int) -> dict[str, str]:
    """The same collection in another order."""
    ids = list(texts)
    random.Random(seed).shuffle(ids)
    return {identity: texts[identity] for identity in ids}
