"""Generated documents for the benchmark of scale, in any number; the same seed gives the same documents.

A document has 40 to 60 words, drawn from 50,000 by Zipf's law like words of a language. They are generated in
blocks with numpy and written as bytes: about four million per minute.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BLOCK = 20_000
WORDS = 50_000
DRAWS = 1 << 20
SHORTEST, LONGEST = 40, 60
COPIES = 0.2
CHANGED = (0, 1, 1, 2, 3, 5)
"""Words that a copy has replaced: of 50 words in shingles of 3, similarities of 1, .88, .79, .70 and .55."""
POOL = 65_536
BOILERPLATE = 30
FAMILIES = ("ordinary", "identical", "boilerplate", "distinct")

Numbers = NDArray[np.int32]


@dataclass(frozen=True)
class Block:
    """Some documents: the numbers of their words (int32, n x LONGEST), and the number of used words (int64, n)."""

    words: Numbers
    lengths: NDArray[np.int64]


class Vocabulary:
    """Words of 2 to 12 letters, the frequent ones short, and a table that contains each word in proportion to its
    frequency.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        letters = np.frombuffer(string.ascii_lowercase.encode(), dtype=np.uint8)
        lengths = np.clip(2 + rng.poisson(0.3 * np.log1p(np.arange(WORDS))), 2, 12)
        spelt = letters[rng.integers(0, len(letters), (WORDS, 12))]
        words = [bytes(one[:length]) + b" " for one, length in zip(spelt, lengths.tolist(), strict=True)]
        self.words = np.array(words, dtype=object)
        shares = np.cumsum(1 / (np.arange(WORDS) + 2.7))
        self._table = np.searchsorted(shares / shares[-1], (np.arange(DRAWS) + 0.5) / DRAWS).astype(np.int32)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Draw words by frequency."""
        return self._table[rng.integers(0, DRAWS, shape, dtype=np.int32)]


class Copied:
    """Originals to be copied: each is used once, usually about 300,000 documents later."""

    def __init__(self) -> None:
        self._words = np.zeros((POOL, LONGEST), dtype=np.int32)
        self._lengths = np.zeros(POOL, dtype=np.int64)
        self._filled = 0

    def take(self, rng: np.random.Generator, new: Block, count: int) -> Block:
        """Originals for a number of copies; new documents replace them."""
        room = min(POOL - self._filled, len(new.lengths))
        self._put(slice(self._filled, self._filled + room), new, slice(0, room))
        self._filled += room
        places = rng.choice(self._filled, count, replace=False)
        taken = Block(self._words[places], self._lengths[places])
        left = places[rng.random(count) > 0.1][: len(new.lengths) - room]
        self._put(left, new, slice(room, room + len(left)))
        return taken

    def _put(self, places: slice | NDArray[np.int64], new: Block, part: slice) -> None:
        self._words[places], self._lengths[places] = new.words[part], new.lengths[part]


def blocks(family: str, count: int, seed: int, vocabulary: Vocabulary) -> Iterator[Block]:
    """All documents of a family, one block at a time."""
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    copied, shared = Copied(), vocabulary.draw(rng, (LONGEST,))
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        new = Block(vocabulary.draw(rng, (size, LONGEST)), rng.integers(SHORTEST, LONGEST + 1, size))
        if family == "identical":
            new = Block(np.tile(shared, (size, 1)), np.full(size, (SHORTEST + LONGEST) // 2))
        elif family == "boilerplate":
            new.words[:, :BOILERPLATE] = shared[:BOILERPLATE]
        elif family == "ordinary":
            new = with_copies(rng, new, copied, vocabulary)
        yield new


def with_copies(rng: np.random.Generator, new: Block, copied: Copied, vocabulary: Vocabulary) -> Block:
    """A block with a share of copies of earlier documents, with some words replaced."""
    count = int(len(new.lengths) * COPIES)
    base = Block(new.words[count:], new.lengths[count:])
    taken = copied.take(rng, base, count)
    changed = np.array(CHANGED)[rng.integers(0, len(CHANGED), count)]
    for number in range(max(CHANGED)):
        rows = np.flatnonzero(changed > number)
        taken.words[rows, rng.integers(0, taken.lengths[rows])] = vocabulary.draw(rng, (len(rows),))
    order = rng.permutation(len(new.lengths))
    words = np.concatenate((taken.words, base.words))[order]
    return Block(words, np.concatenate((taken.lengths, base.lengths))[order])


def write(path: Path, family: str, count: int, seed: int = 1) -> None:
    """Write the documents of a family as JSON lines with an id and a text; an existing file is not changed."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    vocabulary = Vocabulary(np.random.default_rng(seed))
    with partial.open("wb", buffering=1 << 20) as file:
        number = 0
        for block in blocks(family, count, seed, vocabulary):
            chosen = np.arange(LONGEST) < block.lengths[:, None]
            words = vocabulary.words[block.words[chosen]].tolist()
            start = 0
            for length in block.lengths.tolist():
                text = b"".join(words[start : start + length])
                file.write(b'{"id": "d%08d", "text": "%s"}\n' % (number, text[:-1]))
                start, number = start + length, number + 1
    partial.replace(path)
