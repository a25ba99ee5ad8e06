"""Which sets are alike, or contained in another? By comparing all with all."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from itertools import combinations, permutations

Similarities = dict[tuple[int, int], float]


def alike(sets: Sequence[Collection[Hashable]], threshold: float) -> Similarities:
    """The Jaccard similarity of every two places whose sets reach the threshold; an empty set is alike nothing.

    >>> alike([{1, 2}, {2, 1}, {2, 3}, set()], 0.5)
    {(0, 1): 1.0}
    """
    members = [frozenset(one) for one in sets]
    return {
        (left, right): len(members[left] & members[right]) / len(members[left] | members[right])
        for left, right in combinations(range(len(members)), 2)
        if members[left] | members[right]
        and len(members[left] & members[right]) / len(members[left] | members[right]) >= threshold
    }


def contained(sets: Sequence[Collection[Hashable]], threshold: float) -> Similarities:
    """The share of the left set that is in the right one, of every ordered two places that reach the threshold.

    >>> contained([{1, 2, 3, 4}, {1, 2, 9}], 0.5)
    {(0, 1): 0.5, (1, 0): 0.6666666666666666}
    """
    members = [frozenset(one) for one in sets]
    return {
        (left, right): len(members[left] & members[right]) / len(members[left])
        for left, right in permutations(range(len(members)), 2)
        if members[left] and len(members[left] & members[right]) / len(members[left]) >= threshold
    }


def neighbours(
    sets: Sequence[Collection[Hashable]], queries: Sequence[int], threshold: float
) -> set[tuple[int, int]]:
    """Each query's place among the queries with each other set that is alike it.

    >>> neighbours([{1}, {1}, {2}], [1, 1], 0.5) == {(0, 0), (1, 0)}
    True
    """
    pairs = alike(sets, threshold)
    near = {*pairs, *((right, left) for left, right in pairs)}
    return {
        (place, other)
        for place, query in enumerate(queries)
        for other in range(len(sets))
        if (query, other) in near
    }
