"""What ties clusters together, and how alike are their members, by comparing all with all?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from itertools import combinations
from typing import Any


def members(leader: Mapping[Any, Any]) -> dict[Any, list[Any]]:
    """Who belongs to each that stays, itself too.

    >>> members({"a": "a", "b": "a", "c": "c"})
    {'a': ['a', 'b'], 'c': ['c']}
    """
    found: dict[Any, list[Any]] = {}
    for one, lead in leader.items():
        found.setdefault(lead, []).append(one)
    return found


def least_inside(cluster: Collection[Any], similarity: Callable[[Any, Any], float]) -> float:
    """The least similarity of two members.

    >>> least_inside([1, 2, 4], lambda a, b: a / b)
    0.25
    """
    return min(similarity(a, b) for a, b in combinations(cluster, 2))


def least_of_some(
    leader: Any, distinct: Collection[Any], most: int, similarity: Callable[[Any, Any], float]
) -> float:
    """The least over the leader with every content, and over all pairs of the leader and those least like it.

    >>> least_of_some(9, [9, 8, 7, 1], 3, lambda a, b: 1 - abs(a - b) / 10)
    0.2
    """
    others = sorted((one for one in distinct if one != leader), key=lambda one: similarity(leader, one))
    near = [similarity(leader, one) for one in others]
    chosen = combinations(others[: most - 1], 2)
    return round(min([*near, *(similarity(a, b) for a, b in chosen)]), 12)


def bridges(leader: Mapping[Any, Any], pairs: Mapping[frozenset[Any], float]) -> dict[frozenset[Any], float]:
    """For each two clusters that a pair ties, the similarity of the strongest such pair.

    >>> bridges({1: 1, 2: 1, 3: 3}, {frozenset((1, 2)): 0.9, frozenset((2, 3)): 0.8, frozenset((1, 3)): 0.7})
    {frozenset({1, 3}): 0.8}
    """
    found: dict[frozenset[Any], float] = {}
    for pair, value in pairs.items():
        ends = frozenset(leader[one] for one in pair)
        if len(ends) == 2:
            found[ends] = max(found.get(ends, 0.0), value)
    return found


def components(documents: Collection[Hashable], pairs: Collection[frozenset[Any]]) -> list[set[Any]]:
    """The documents that pairs tie together.

    >>> components([1, 2, 3], [frozenset((1, 3))])
    [{1, 3}, {2}]
    """
    found: list[set[Any]] = [{one} for one in documents]
    for pair in pairs:
        tied = [one for one in found if one & pair]
        found = [set().union(*tied)] + [one for one in found if not one & pair]
    return sorted(found, key=lambda one: list(documents).index(next(iter(sorted(one, key=str)))))
