"""Tasks and results of engines. Standard library only, because every environment imports this."""

from __future__ import annotations

import re
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

TOKEN = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Task:
    """A file with `id` (0, 1, 2, ...) and `text`, JSONL or Parquet, and settings; `recall` for engines that use it.

    `unit` is "word" or "char": a shingle has five of them.
    """

    path: str
    unit: str
    threshold: float
    recall: float
    num_hashes: int
    bands: int
    rows: int
    threads: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of an engine.

    `flagged` contains document ids. With `flags="removed"` they are the removed documents, and one document of each
    cluster is kept; with "any" every document that has a near-duplicate is flagged. `pairs` are verified pairs;
    None means that the engine does not verify.
    """

    documents: int
    stages: dict[str, float]
    flags: str | None = None
    flagged: Sequence[int] = ()
    pairs: Sequence[tuple[int, int, float]] | None = None


@dataclass
class Clock:
    """Seconds between laps, by name, and the CPU time of the process at the last lap of any clock.

    Later work (preparing results for the score) does not count.
    """

    ended: ClassVar[float] = 0.0  # by time.monotonic(), which all processes share
    peak_rss_mb: ClassVar[float] = 0.0

    stages: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.stages[stage] = self.stages.get(stage, 0.0) + now - self._last
        Clock.ended, Clock.peak_rss_mb = time.monotonic(), _peak_rss_mb()
        self._last = time.perf_counter()


def _peak_rss_mb() -> float:
    """Peak memory of this process, or of the largest process that it started and that has ended.

    On Linux this is VmHWM of this program; the value of `getrusage` includes the process before it was replaced.
    """
    scale = 1 if sys.platform == "darwin" else 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        own = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024
    except (OSError, StopIteration):
        pass
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * scale) / 1e6


def shingles(text: str, unit: str = "word") -> list[str]:
    """The 5-shingles with repetitions, in the fastest way of plain Python; a shorter text has one.

    >>> shingles("To be or not to be")
    ['to be or not to', 'be or not to be']
    >>> shingles("Bees fly", "char")
    ['bees ', 'ees f', 'es fl', 's fly']
    """
    text = text.lower()
    if unit == "char":
        return [text[start : start + 5] for start in range(max(len(text) - 4, min(len(text), 1)))]
    words = TOKEN.findall(text)
    if len(words) < 5:
        return [" ".join(words)] if words else []
    return list(map(" ".join, zip(words, words[1:], words[2:], words[3:], words[4:], strict=False)))
