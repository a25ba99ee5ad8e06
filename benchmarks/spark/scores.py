"""Scores of a result: pairs compared with the exact ones, and one result compared with another."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations, product
from typing import Any

PairOfIds = tuple[int, int]


def ordered(pairs: Iterable[Iterable[int]]) -> set[PairOfIds]:
    """Each pair once, the lower id first; pairs of a document with itself are dropped.

    >>> ordered([(2, 1), (1, 2), (3, 3)])
    {(1, 2)}
    """
    found: set[PairOfIds] = set()
    for left, right in pairs:
        if left != right:
            found.add((min(left, right), max(left, right)))
    return found


def expanded(pairs: Iterable[PairOfIds], original: dict[int, int]) -> set[PairOfIds]:
    """The pairs with those of identical documents added; `original`: the document that represents a copy.

    >>> sorted(expanded([(1, 5)], {2: 1}))
    [(1, 2), (1, 5), (2, 5)]
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for copy, first in original.items():
        groups[first].append(copy)
    spelt = [pair for first, copies in groups.items() for pair in combinations([first, *copies], 2)]
    for left, right in pairs:
        ones, others = (original.get(id, id) for id in (left, right))
        spelt += product([ones, *groups.get(ones, ())], [others, *groups.get(others, ())])
    return ordered(spelt)


def pair_score(found: set[PairOfIds], truth: set[PairOfIds]) -> dict[str, Any]:
    """Recall and precision.

    >>> pair_score({(1, 2), (3, 4)}, {(1, 2), (5, 6)})
    {'pairs': 2, 'true': 2, 'recall': 0.5, 'precision': 0.5}
    """
    hits = len(found & truth)
    return {
        "pairs": len(found),
        "true": len(truth),
        "recall": hits / len(truth) if truth else 1.0,
        "precision": hits / len(found) if found else 1.0,
    }


def digest(rows: Iterable[tuple[Any, ...]]) -> str:
    """A digest that is the same for equal rows in any order.

    >>> digest([(1, 0.5), (2, 1.0)]) == digest([(2, 1.0), (1, 0.5)])
    True
    """
    answer = hashlib.sha256()
    for row in sorted(rows):
        answer.update(repr(row).encode())
    return answer.hexdigest()[:16]
