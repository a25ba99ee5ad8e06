"""What is an engine asked, and what does it answer? Standard library only: every environment imports this."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

TOKEN = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Task:
    """A JSONL file with `id` (0, 1, 2, ...) and `text`, and settings; `recall` for engines that take it."""

    path: str
    threshold: float
    recall: float
    num_hashes: int
    bands: int
    rows: int
    threads: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What an engine found.

    `flagged` holds document ids. With `flags="removed"` they are the documents to remove, one of each cluster
    stays; with "any" every document that has a near-duplicate is flagged. `pairs` are verified pairs; None
    means that the engine verifies nothing.
    """

    documents: int
    stages: dict[str, float]
    flags: str | None = None
    flagged: Sequence[int] = ()
    pairs: Sequence[tuple[int, int, float]] | None = None


@dataclass
class Clock:
    """Seconds between laps, by name."""

    stages: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.stages[stage] = self.stages.get(stage, 0.0) + now - self._last
        self._last = now


def shingles(text: str) -> list[str]:
    """Word 5-shingles with repeats, the fastest way in plain Python; a shorter text gives one of all words.

    >>> shingles("To be or not to be")
    ['to be or not to', 'be or not to be']
    """
    words = TOKEN.findall(text.lower())
    if len(words) < 5:
        return [" ".join(words)] if words else []
    return list(map(" ".join, zip(words, words[1:], words[2:], words[3:], words[4:], strict=False)))
