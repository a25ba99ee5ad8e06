"""Fingerprints of passages, and what they promise, in plain Python."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product


def winnowed(hashes: Sequence[int], window: int) -> set[int]:
    """The least of each `window` hashes in a row; of fewer hashes the least of all."""
    if not hashes:
        return set()
    window = min(window, len(hashes))
    return {min(hashes[at : at + window]) for at in range(len(hashes) - window + 1)}


def longest_run(spared: Sequence[bool]) -> int:
    """The most words in a row that were spared."""
    longest = run = 0
    for one in spared:
        run = run + 1 if one else 0
        longest = max(longest, run)
    return longest


def probability_of_run(words: int, run: int, edits: float) -> float:
    """How probable `run` spared words in a row are among `words`, by adding up every way to edit them."""
    found = 0.0
    for spared in product((True, False), repeat=words):
        if longest_run(spared) >= run:
            found += edits ** spared.count(False) * (1 - edits) ** spared.count(True)
    return found


def containment(a: Collection[object], b: Collection[object]) -> float:
    """The share of the elements of `a` that `b` has."""
    return len(set(a) & set(b)) / len(set(a))


def word_shingles(text: str, size: int = 3) -> set[tuple[str, ...]]:
    """The runs of `size` words of a text of plain lower-case words; a shorter text is one."""
    words = text.split()
    if not words:
        return set()
    return {tuple(words[at : at + size]) for at in range(max(1, len(words) - size + 1))}
