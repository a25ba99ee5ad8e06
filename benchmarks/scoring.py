"""How good is an answer? Recall and precision against the exact similarity of every planted pair."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.corpus.planted import jaccard, shingles

LEVELS = (
    ("1.0", 1.0, 2.0),
    (".95-1", 0.95, 1.0),
    (".9-.95", 0.9, 0.95),
    (".8-.9", 0.8, 0.9),
    (".7-.8", 0.7, 0.8),
)
_Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FlagScore:
    """Scores of flagged documents.

    Recall is the share of true pairs that the flags settle, precision the share of flagged documents that are
    in a true pair; `by_level` is the recall of lone planted pairs, by similarity.
    """

    recall: float
    precision: float
    by_level: dict[str, float]


@dataclass(frozen=True, slots=True)
class PairScore:
    """Scores of verified pairs.

    A found pair that was not planted is looked up in the texts and counts as true when its exact similarity
    reaches the threshold; `unplanted` says how many such pairs there were, true or not.
    """

    recall: float
    precision: float
    greatest_difference: float
    unplanted: int
    by_level: dict[str, float]


@dataclass(frozen=True)
class Truth:
    """Exact similarity of all pairs within planted clusters; other pairs are below the threshold."""

    similarity: dict[_Pair, float]
    threshold: float

    @classmethod
    def load(cls, path: Path, threshold: float) -> Truth:
        columns = pq.read_table(path).to_pydict()
        pairs = map(_ordered, columns["left"], columns["right"])
        similarity = dict(zip(pairs, columns["jaccard"], strict=True))
        return cls(similarity, threshold)

    def true_pairs(self) -> set[_Pair]:
        return {pair for pair, value in self.similarity.items() if value >= self.threshold}

    def score_flags(self, flagged: Sequence[int], kind: str) -> FlagScore:
        """`kind` "removed": one document of a pair is to be flagged; "any": both are."""
        gone, needed = set(flagged), 1 if kind == "removed" else 2
        true = self.true_pairs()
        alike = {document for pair in true for document in pair}

        def is_found(pair: _Pair) -> bool:
            return len(gone.intersection(pair)) >= needed

        return FlagScore(
            recall=sum(map(is_found, true)) / len(true),
            precision=len(gone & alike) / max(len(gone), 1),
            by_level=_found_by_level(self._lone_pairs(), is_found),
        )

    def score_pairs(self, pairs: Sequence[tuple[int, int, float]], texts: Path) -> PairScore:
        found = {_ordered(left, right): value for left, right, value in pairs}
        exact = {pair: self.similarity[pair] for pair in found if pair in self.similarity}
        unplanted = [pair for pair in found if pair not in exact]
        exact |= dict(zip(unplanted, exact_similarities(unplanted, texts), strict=True))
        true = sum(value >= self.threshold for value in exact.values())
        wanted = self.true_pairs()
        return PairScore(
            recall=len(wanted & found.keys()) / len(wanted),
            precision=true / max(len(found), 1),
            greatest_difference=max((abs(found[pair] - exact[pair]) for pair in found), default=0.0),
            unplanted=len(unplanted),
            by_level=_found_by_level(self.similarity.items(), found.__contains__),
        )

    def _lone_pairs(self) -> Iterator[tuple[_Pair, float]]:
        """Planted clusters of exactly two documents: found or not is the same question for every engine."""
        seen = Counter(document for pair in self.similarity for document in pair)
        for pair, value in self.similarity.items():
            if seen[pair[0]] == seen[pair[1]] == 1:
                yield pair, value


def exact_similarities(pairs: Sequence[_Pair], texts: Path) -> list[float]:
    """Jaccard similarity of documents of a JSONL file whose ids are their line numbers, in plain Python."""
    wanted = {document for pair in pairs for document in pair}
    if not wanted:
        return []
    with texts.open("rb") as lines:
        chosen = ((number, json.loads(line)["text"]) for number, line in enumerate(lines) if number in wanted)
        sets = {number: shingles(text) for number, text in chosen}
    return [jaccard(sets[left], sets[right]) for left, right in pairs]


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
