"""Generates the texts of the experiments from a seed, equal on every machine.

Words consist of syllables and are drawn by Zipf's law, like the words of a language. They are drawn by
`random.Random`, whose numbers have been the same since Python 3.2.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from benzer._native import jaccard
from benzer.fields.text import Text

WORDS = 20_000
ONSETS = (
    "b",
    "d",
    "f",
    "g",
    "h",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "v",
    "st",
    "tr",
    "pl",
    "kr",
    "sh",
    "ch",
)
VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
FIFTY_WORDS = (
    "before sunrise the harbour lies quiet while fishermen mend their nets and gulls wait on wet roofs a lantern "
    "swings above every boat someone hums an old tune then engines wake one after another ropes fall into water "
    "slowly this small fleet leaves for open sea where silver shoals rise"
)


@cache
def vocabulary() -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the words, short ones first, and the cumulative weights 1/3, 1/4, 1/5, … (Mandelbrot)."""
    syllables = [onset + vowel for onset in ONSETS for vowel in VOWELS]
    words = syllables + [first + second for second in syllables for first in syllables]
    return tuple(words[:WORDS]), tuple(accumulate(1 / (rank + 3) for rank in range(WORDS)))


def draw_words(rng: random.Random, count: int) -> list[str]:
    """Draw words by their weights.

    >>> draw_words(random.Random(1), 4)
    ['bai', 'stougea', 'chidai', 'fea']
    """
    words, weights = vocabulary()
    return rng.choices(words, cum_weights=weights, k=count)


def edited(words: Sequence[str], rate: float, rng: random.Random) -> list[str]:
    """Return a copy in which each word is replaced by another with probability `rate`."""
    others = draw_words(rng, len(words))
    return [other if rng.random() < rate else word for word, other in zip(words, others, strict=True)]


def collection(count: int, seed: int, copies: float = 1 / 3) -> list[str]:
    """Return shuffled texts of 40 to 160 words; a share of them are edited copies of others.

    The similarity J of a copy is drawn evenly from 0.3 to 1 by word 3-shingles. For it, a share q = 2 J / (1 + J) of
    the shingles must be unchanged, so each word is replaced with probability 1 - q^(1/3).

    >>> len(collection(30, seed=0))
    30
    """
    rng = random.Random(seed)
    originals = [draw_words(rng, rng.randint(40, 160)) for _ in range(count - int(count * copies))]
    texts = [" ".join(words) for words in originals]
    while len(texts) < count:
        similarity = rng.uniform(0.3, 1.0)
        rate = 1 - (2 * similarity / (1 + similarity)) ** (1 / 3)
        texts.append(" ".join(edited(rng.choice(originals), rate, rng)))
    rng.shuffle(texts)
    return texts


def pair_of_similarity(similarity: float, field: Text, words: int, seed: int) -> tuple[str, str, float]:
    """Return a text, an edited copy whose exact similarity is nearest to the given one, and that similarity.

    The first words of both are equal. Words are replaced one after the other in a random order.

    >>> a, b, exact = pair_of_similarity(0.6, Text(unit="char", shingle_size=9), words=200, seed=0)
    >>> abs(exact - 0.6) < 0.02
    True
    """
    rng = random.Random(seed)
    text, others = draw_words(rng, words), draw_words(rng, words)
    places = rng.sample(range(words // 20, words), words // 4)
    versions = [" ".join(text)]
    for place in places:
        text[place] = others[place]
        versions.append(" ".join(text))
    exact = similarities_to_first(field, versions)
    nearest = int(np.abs(exact - similarity).argmin())
    return versions[0], versions[nearest], float(exact[nearest])


def similarities_to_first(field: Text, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the exact similarity of the first text to each of all (float64)."""
    offsets, hashes = field.sets(list(texts))
    first = np.zeros(len(texts), dtype=np.uint32)
    return jaccard(offsets, hashes, first, np.arange(len(texts), dtype=np.uint32), 1)
