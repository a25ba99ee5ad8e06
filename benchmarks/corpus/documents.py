"""Division of running text into documents that are not near-duplicates of each other."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

TOKEN = re.compile(r"[^\W_]+")
SHINGLE_SIZE = 5
SHORTEST, LONGEST = 300, 20_000
_REPEATED_FROM = 30  # characters; shorter lines are headings and code that repeat by nature


@dataclass
class Cutter:
    """Divides lines into documents of lognormal length, and drops repeated longer lines."""

    rng: random.Random
    median: float
    sigma: float
    seen: set[int] = field(default_factory=set)

    def cut(self, lines: Iterable[str]) -> Iterator[str]:
        """Documents of one file, in order; a remainder that is too short is dropped."""
        parts: list[str] = []
        size, target = 0, self._target()
        for line in filter(self._is_new, lines):
            parts.append(line)
            size += len(line) + 1
            if size >= target:
                yield from _readable("\n".join(parts))
                parts, size, target = [], 0, self._target()
        yield from _readable("\n".join(parts))

    def _target(self) -> int:
        drawn = self.median * self.rng.lognormvariate(0.0, self.sigma)
        return int(min(LONGEST, max(SHORTEST, drawn)))

    def _is_new(self, line: str) -> bool:
        if len(line) < _REPEATED_FROM:
            return True
        key = hash(line)
        if key in self.seen:
            return False
        self.seen.add(key)
        return True


def _readable(text: str) -> Iterator[str]:
    """The text itself if it is long enough and mostly letters, otherwise nothing (tables of numbers)."""
    head = text[:500]
    if len(text) >= SHORTEST and sum(map(str.isalpha, head)) > 0.5 * len(head) and len(text.split()) >= 50:
        yield text


def unshared(texts: Sequence[str], limit: float, table_bits: int = 32) -> list[int]:
    """Positions of the texts that share at most `limit` of their word 5-shingles with earlier kept texts.

    A table of 2^table_bits bits stores the shingles. With 50 million of them about 1 % of the lookups are false
    positives, which make the filter slightly stricter. Costs about 0.3 ms per text.
    """
    table = np.zeros(1 << (table_bits - 3), np.uint8)
    vocabulary: dict[str, int] = {}
    kept = []
    for position, text in enumerate(texts):
        hashes = _shingle_hashes(text, vocabulary) >> np.uint64(64 - table_bits)
        byte, bit = hashes >> np.uint64(3), (hashes & np.uint64(7)).astype(np.uint8)
        if len(hashes) and np.mean((table[byte] >> bit) & 1) <= limit:
            np.bitwise_or.at(table, byte, np.left_shift(np.uint8(1), bit))
            kept.append(position)
    return kept


def _shingle_hashes(text: str, vocabulary: dict[str, int]) -> NDArray[np.uint64]:
    """uint64, one per distinct word 5-shingle; equal shingles have equal hashes within one vocabulary."""
    numbers = [vocabulary.setdefault(token, len(vocabulary)) for token in TOKEN.findall(text.lower())]
    tokens = _mix(np.array(numbers, np.uint64))
    count = max(len(tokens) - SHINGLE_SIZE + 1, 0)
    total = np.zeros(count, np.uint64)
    for offset in range(SHINGLE_SIZE):
        total = _mix(total + tokens[offset : offset + count])
    return np.unique(total)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finisher of SplitMix64: every input bit moves every output bit."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
