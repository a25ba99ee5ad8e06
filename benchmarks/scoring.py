"""Recall and precision of a result against the exact similarity of every planted pair."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.corpus.documents import SHINGLE_SIZE
from benchmarks.corpus.planted import jaccard, shingles

LEVELS = (
    ("1.0", 1.0, 2.0),
    (".95-1", 0.95, 1.0),
    (".9-.95", 0.9, 0.95),
    (".8-.9", 0.8, 0.9),
    (".7-.8", 0.7, 0.8),
    (".5-.7", 0.5, 0.7),
    ("below .5", 0.0, 0.5),
)
_STEPS = 40  # of the curve, from 0 to 1
_Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FlagScore:
    """Scores of flagged documents.

    Recall is the share of true pairs that the flags resolve; precision is the share of flagged documents that are
    in a true pair. `by_level` is the share of isolated planted pairs that are found, by similarity: those below the
    threshold should not be. `curve` is the same in finer steps: from, to, pairs, share found. `flagged_by_level`
    counts the flagged documents by their greatest similarity in a known pair; "none" are in no pair.
    """

    recall: float
    precision: float
    by_level: dict[str, float]
    curve: list[tuple[float, float, int, float]]
    flagged_by_level: dict[str, int]


@dataclass(frozen=True, slots=True)
class PairScore:
    """Scores of verified pairs.

    A found pair that was not planted is computed from its texts and is true if its exact similarity reaches the
    threshold; `unplanted` is the number of such pairs, true or not.
    """

    recall: float
    precision: float
    greatest_difference: float
    unplanted: int
    by_level: dict[str, float]


@dataclass(frozen=True)
class Truth:
    """Exact similarity of all pairs within planted clusters; other pairs are below the threshold, except `others`.

    `others` are pairs that were found but not planted, and that plain Python confirmed: flags for them are correct.
    """

    similarity: dict[_Pair, float]
    threshold: float
    others: dict[_Pair, float] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path, threshold: float) -> Truth:
        columns = pq.read_table(path).to_pydict()
        pairs = map(_ordered, columns["left"], columns["right"])
        similarity = dict(zip(pairs, columns["jaccard"], strict=True))
        return cls(similarity, threshold)

    def true_pairs(self) -> set[_Pair]:
        return {pair for pair, value in self.similarity.items() if value >= self.threshold}

    def score_flags(self, flagged: Sequence[int], kind: str) -> FlagScore:
        """With `kind` "removed" one document of a pair must be flagged, with "any" both."""
        gone, needed = set(flagged), 1 if kind == "removed" else 2
        true = self.true_pairs()
        best = self._best()

        def is_found(pair: _Pair) -> bool:
            return len(gone.intersection(pair)) >= needed

        lone = list(self._lone_pairs())
        return FlagScore(
            recall=sum(map(is_found, true)) / max(len(true), 1),
            precision=sum(best.get(document, -1) >= self.threshold for document in gone) / max(len(gone), 1),
            by_level=_found_by_level(lone, is_found),
            curve=_curve(lone, is_found),
            flagged_by_level=dict(Counter(_level(best.get(document)) for document in gone)),
        )

    def _best(self) -> dict[int, float]:
        """The greatest similarity of each document in a known pair."""
        best: dict[int, float] = {}
        for pair, value in (*self.similarity.items(), *self.others.items()):
            for document in pair:
                best[document] = max(best.get(document, 0.0), value)
        return best

    def score_pairs(
        self, pairs: Sequence[tuple[int, int, float]], texts: Path, unit: str = "word"
    ) -> PairScore:
        """Score every pair; one that was not planted is computed from its texts, and stored in `others`."""
        found = {_ordered(left, right): value for left, right, value in pairs}
        known = self.similarity | self.others
        unplanted = [pair for pair in found if pair not in self.similarity]
        unknown = [pair for pair in unplanted if pair not in known]
        known |= dict(zip(unknown, exact_similarities(unknown, texts, unit), strict=True))
        exact = {pair: known[pair] for pair in found}
        self.others.update({pair: exact[pair] for pair in unplanted})
        true = sum(value >= self.threshold for value in exact.values())
        wanted = self.true_pairs()
        return PairScore(
            recall=len(wanted & found.keys()) / max(len(wanted), 1),
            precision=true / len(found) if found else 1.0,
            greatest_difference=max((abs(found[pair] - exact[pair]) for pair in found), default=0.0),
            unplanted=len(unplanted),
            by_level=_found_by_level(self.similarity.items(), found.__contains__),
        )

    def _lone_pairs(self) -> Iterator[tuple[_Pair, float]]:
        """Planted clusters of exactly two documents, which are scored in the same way for every engine."""
        seen = Counter(document for pair in self.similarity for document in pair)
        for pair, value in self.similarity.items():
            if seen[pair[0]] == seen[pair[1]] == 1:
                yield pair, value


def exact_similarities(pairs: Sequence[_Pair], texts: Path, unit: str = "word") -> list[float]:
    """Jaccard similarity of documents of a JSONL file whose ids are their line numbers, in plain Python."""
    shingled = _sets_of(pairs, texts, unit)
    return [jaccard(shingled(left), shingled(right)) for left, right in pairs]


def character_truth(words: Iterable[_Pair], texts: Path) -> list[tuple[int, int, float]]:
    """The pairs of a truth with their similarity by character 5-shingles. Takes about half a millisecond per
    document.
    """
    pairs = sorted(words)
    values = exact_similarities(pairs, texts, "char")
    return [(left, right, value) for (left, right), value in zip(pairs, values, strict=True)]


def _sets_of(pairs: Sequence[_Pair], texts: Path, unit: str) -> Callable[[int], frozenset[str]]:
    """The shingles of a document of these pairs; only the latest sets are cached, because they are large."""
    wanted = {document for pair in pairs for document in pair}
    if not wanted:
        return lambda document: frozenset()
    with texts.open("rb") as lines:
        chosen = {number: json.loads(line)["text"] for number, line in enumerate(lines) if number in wanted}
    make = shingles if unit == "word" else characters
    return lru_cache(maxsize=2000)(lambda document: make(chosen[document]))


def characters(text: str) -> frozenset[str]:
    """The set of character 5-shingles of a text in lower case; a short text has one.

    >>> sorted(characters("Bees fly"))
    ['bees ', 'ees f', 'es fl', 's fly']
    >>> characters("")
    frozenset()
    """
    text = text.lower()
    if len(text) < SHINGLE_SIZE:
        return frozenset([text] if text else [])
    return frozenset(text[start : start + SHINGLE_SIZE] for start in range(len(text) - SHINGLE_SIZE + 1))


def _level(value: float | None) -> str:
    return next((name for name, low, high in LEVELS if value is not None and low <= value < high), "none")


def _curve(
    pairs: Sequence[tuple[_Pair, float]], is_found: Callable[[_Pair], bool]
) -> list[tuple[float, float, int, float]]:
    """Share found by similarity, in steps; equal pairs are a separate step."""
    steps: dict[int, list[bool]] = {}
    for pair, value in pairs:
        steps.setdefault(int(value * _STEPS + 1e-9), []).append(is_found(pair))
    rows = ((at / _STEPS, min((at + 1) / _STEPS, 1.0), found) for at, found in sorted(steps.items()))
    return [(low, high, len(found), sum(found) / len(found)) for low, high, found in rows]


def _found_by_level(
    pairs: Iterable[tuple[_Pair, float]], is_found: Callable[[_Pair], bool]
) -> dict[str, float]:
    known = list(pairs)
    shares = {}
    for name, low, high in LEVELS:
        level = [pair for pair, value in known if low <= value < high]
        if level:
            shares[name] = sum(map(is_found, level)) / len(level)
    return shares


def _ordered(left: int, right: int) -> _Pair:
    return (left, right) if left < right else (right, left)
