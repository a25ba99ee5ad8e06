"""Which documents are alike, and what did a run say of them? Collections made by their pairs, for those who ask."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benzer.recall import Reported

Positions = NDArray[np.uint32]
SIMILARITY = 0.9


@dataclass(frozen=True)
class RunReport:
    """A corpus that knows which of its documents are alike; it has no texts. All contents differ."""

    pairs: frozenset[tuple[int, int]]
    count: int

    def exact_neighbours(
        self, queries: Positions, thresholds: Sequence[float], threads: int
    ) -> tuple[Positions, Positions]:
        near: dict[int, list[int]] = {}
        for a, b in self.pairs:
            near.setdefault(a, []).append(b)
            near.setdefault(b, []).append(a)
        found = sorted((at, one) for at, query in enumerate(queries.tolist()) for one in near.get(query, ()))
        table = np.array(found, dtype=np.uint32).reshape(-1, 2)
        return table[:, 0].copy(), table[:, 1].copy()

    def lengths(self) -> NDArray[np.uint64]:
        return np.full(self.count, 100, dtype=np.uint64)

    def text_sizes(self, positions: NDArray[np.uint32], threads: int) -> NDArray[np.uint64]:
        return np.full(len(positions), 100, dtype=np.uint64)

    def ids(self, positions: Positions) -> list[int]:
        return [int(one) for one in positions]

    def batches(self, left: Positions, right: Positions, most: int) -> tuple[Positions, list[int]]:
        return np.arange(len(left), dtype=np.uint32), [len(left)]

    def similarity(
        self, left: Positions, right: Positions, weights: Sequence[float], threads: int
    ) -> NDArray[np.float64]:
        return np.full(len(left), SIMILARITY)


@dataclass(frozen=True)
class Known:
    """A collection whose recall is known: its corpus, what a run reported, and the share that it found."""

    corpus: RunReport
    reported: Reported
    document_recall: float
    pair_recall: float


def known(seed: int, families: int, alone: int, largest: int, found: float, whole: float = 0.7) -> Known:
    """Families of 2 to `largest` alike documents among others; a share of them is found or missed as a whole."""
    choice = random.Random(seed)
    pairs: set[tuple[int, int]] = set()
    reported: set[tuple[int, int]] = set()
    count = 0
    for _ in range(families):
        members = range(count, count + choice.randint(2, largest))
        count = members.stop
        within = {(a, b) for a in members for b in members if a < b}
        pairs |= within
        together = choice.random() < whole
        lucky = choice.random() < found
        reported |= {pair for pair in within if (lucky if together else choice.random() < found)}
    return described(frozenset(pairs), reported, count + alone, seed)


def described(pairs: frozenset[tuple[int, int]], found: set[tuple[int, int]], count: int, seed: int) -> Known:
    """The collection of these pairs, of which the run reported those found."""
    share: dict[int, list[bool]] = {}
    for pair in pairs:
        for one in pair:
            share.setdefault(one, []).append(pair in found)
    of_documents = [sum(flags) / len(flags) for flags in share.values()]
    return Known(
        RunReport(pairs, count),
        reported_run(found, count, seed),
        sum(of_documents) / len(of_documents),
        len(found) / len(pairs),
    )


def reported_run(found: set[tuple[int, int]], count: int, seed: int) -> Reported:
    """What a run reports that found these pairs, of documents with random contents."""
    content = np.random.default_rng(seed).integers(0, 2**64, size=(count, 2), dtype=np.uint64)
    table = np.array(sorted(found), dtype=np.uint32).reshape(-1, 2)
    return Reported(
        content=content,
        empty=np.zeros(count, dtype=bool),
        stands_for=np.arange(count, dtype=np.uint32),
        left=table[:, 0].copy(),
        right=table[:, 1].copy(),
        proposed=np.full(len(table), SIMILARITY),
        stays=np.ones(count, dtype=bool),
    )


def permuted(collection: Known, order: Sequence[int]) -> tuple[RunReport, Reported]:
    """The same collection with its documents in another order: place i holds what stood at order[i]."""
    place = {old: new for new, old in enumerate(order)}
    old = collection.reported

    def moved(a: int, b: int) -> tuple[int, int]:
        return min(place[a], place[b]), max(place[a], place[b])

    pairs = {moved(a, b) for a, b in zip(old.left.tolist(), old.right.tolist(), strict=True)}
    reported = reported_run(pairs, len(order), 0)
    content = old.content[np.array(order)]
    told_of = RunReport(frozenset(moved(a, b) for a, b in collection.corpus.pairs), len(order))
    return told_of, Reported(**{**vars(reported), "content": content})
