"""How alike are two sets, exactly, and which documents of a collection go?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import combinations

from .hashing import shingle_hashes
from .text import Recipe


def jaccard(a: Collection[Hashable], b: Collection[Hashable]) -> float:
    """|A n B| / |A u B| of the distinct members; two empty sets are alike.

    >>> jaccard([1, 2, 3], [1, 2, 4, 4])
    0.5
    """
    left, right = members(a), members(b)
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if left or right else 1.0


def members(given: Collection[Hashable]) -> AbstractSet[Hashable]:
    """The distinct members; a set is taken as it is, since tests compare each with many others."""
    return given if isinstance(given, AbstractSet) else set(given)


def document_similarity(
    a: Sequence[Collection[Hashable] | None],
    b: Sequence[Collection[Hashable] | None],
    weights: Sequence[float],
) -> float:
    """The weighted mean of the fields that both documents hold (not None) and that are not empty in both.

    Without such a field, 1 if both documents are empty in every field, else 0. The mean stays within its fields.

    >>> document_similarity([[1, 2], []], [[1], None], [1.0, 2.0])
    0.5
    """
    fields = list(zip(weights, a, b, strict=True))
    counted = [(w, jaccard(x, y)) for w, x, y in fields if x is not None and y is not None and (x or y)]
    if not counted:
        return float(not any(x or y for _, x, y in fields))
    total = together = 0.0
    for weight, value in counted:  # one after the other: `sum` rounds differently in newer versions of Python
        total += weight * value
        together += weight
    values = [value for _, value in counted]
    return min(max(total / together, min(values)), max(values))


def text_similarity(a: str | bytes, b: str | bytes, recipe: Recipe) -> float:
    """The Jaccard similarity of the shingle sets of two texts."""
    return jaccard(shingle_hashes(a, recipe), shingle_hashes(b, recipe))


@lru_cache(maxsize=2000)
def shingle_set(text: str | bytes, recipe: Recipe) -> frozenset[int]:
    """The distinct shingle hashes of a text; tests ask for those of one collection again and again."""
    return frozenset(shingle_hashes(text, recipe))


def similar_pairs(
    texts: Sequence[str | bytes], recipe: Recipe, threshold: float
) -> dict[tuple[int, int], float]:
    """Every pair of positions at or above the threshold, by comparing all; empty texts pair with none."""
    sets = [shingle_set(text, recipe) for text in texts]
    found = {}
    for left, right in combinations(range(len(sets)), 2):
        if not sets[left].isdisjoint(sets[right]):
            similarity = jaccard(sets[left], sets[right])
            if similarity >= threshold:
                found[left, right] = similarity
    return found


def leaders(
    rank: Sequence[int], similarity: Callable[[int, int], float], threshold: float
) -> list[tuple[int, float]]:
    """Who speaks for each document: (itself, 1.0) if kept, else its best kept document and the similarity.

    Documents come by rising rank; one goes if and only if it has at least the threshold with a kept one.
    Of several such the most similar is named, of equals the one of lower rank. So resemblance never chains.

    >>> table = {(0, 1): 0.9, (1, 2): 0.9, (0, 2): 0.1}
    >>> leaders([0, 1, 2], lambda a, b: table[min(a, b), max(a, b)], 0.8)
    [(0, 1.0), (0, 0.9), (2, 1.0)]
    """
    result: dict[int, tuple[int, float]] = {}
    kept: list[int] = []
    for position in sorted(range(len(rank)), key=rank.__getitem__):
        choices = [(similarity(position, other), -rank[other], other) for other in kept]
        best = max(choices, default=(-1.0, 0, position))
        if best[0] >= threshold:
            result[position] = (best[2], best[0])
        else:
            result[position] = (position, 1.0)
            kept.append(position)
    return [result[position] for position in range(len(rank))]


def lookup(table: Mapping[tuple[int, int], float]) -> Callable[[int, int], float]:
    """A symmetric similarity from a table of pairs; a pair that is not in it has none."""
    return lambda a, b: table.get((min(a, b), max(a, b)), 0.0)


def components(count: int, pairs: Collection[tuple[int, int]]) -> list[int]:
    """The least member of each document's connected component."""
    least = list(range(count))
    changed = True
    while changed:
        changed = False
        for left, right in pairs:
            low = min(least[left], least[right])
            changed = changed or least[left] != low or least[right] != low
            least[left] = least[right] = low
    return least
