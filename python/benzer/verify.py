"""Who truly is alike? The exact similarity of candidate pairs, and of single sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benzer.errors import InputError, SettingsError

BATCH_BYTES = 64 << 20
END: Any = object()


def jaccard(a: Collection[Hashable], b: Collection[Hashable]) -> float:
    """The Jaccard similarity |A ∩ B| / |A ∪ B| of two collections, taken as sets; 1.0 for two empty ones.

    >>> jaccard({2, 3, 4}, {1, 5, 4, 2})
    0.4
    >>> jaccard(["a", "a", "b"], ["b"])
    0.5
    """
    left, right = set(a), set(b)
    shared = len(left & right)
    union = len(left) + len(right) - shared
    return shared / union if union else 1.0


def containment(a: Collection[Hashable], b: Collection[Hashable]) -> float:
    """The share |A ∩ B| / |A| of the first collection that is in the second; 1.0 for an empty first one.

    >>> containment("abc", "abcdef"), containment("abcdef", "abc")
    (1.0, 0.5)
    """
    left = set(a)
    return len(left & set(b)) / len(left) if left else 1.0


def jaccard_sorted(a: Iterable[Any], b: Iterable[Any]) -> float:
    """`jaccard` of two ascending sequences, by merging them: O(n), and in the memory of two elements.

    Repeats count once. The elements are compared with `<` and `==`, so they may be numbers, strings, tuples …,
    and the sequences may be generators of any length. An element that is less than the one before it is an
    `InputError`: sort first, or use `jaccard`, which takes any order.

    >>> jaccard_sorted([0, 1, 2, 5, 6], [0, 2, 3, 4, 5, 7, 9]) == 3 / 9
    True
    >>> jaccard_sorted([3, 1], [1, 3])
    Traceback (most recent call last):
    benzer.errors.InputError: element 2 of the first sequence is 1, after 3: sort it first, or use jaccard
    """
    left, right = _ascending(a, "first"), _ascending(b, "second")
    x, y = next(left, END), next(right, END)
    shared = union = 0
    while x is not END and y is not END:
        shared += bool(x == y)
        union += 1
        advance_left, advance_right = not y < x, not x < y
        x = next(left, END) if advance_left else x
        y = next(right, END) if advance_right else y
    union += (x is not END) + (y is not END) + sum(1 for _ in left) + sum(1 for _ in right)
    return shared / union if union else 1.0


def _ascending(elements: Iterable[Any], which: str) -> Iterator[Any]:
    """Each distinct element of a sequence that must be sorted."""
    before: Any = END
    for place, element in enumerate(elements, 1):
        # A nan is neither more nor less than anything, nor itself, so it has no place in an order.
        if element != element or (before is not END and element < before):
            after = "" if before is END else f", after {before}"
            raise InputError(
                f"element {place} of the {which} sequence is {element}{after}: sort it first, or use jaccard"
            )
        if before is END or element != before:
            yield element
        before = element


def bag_jaccard(
    a: Iterable[Hashable] | Mapping[Any, int],
    b: Iterable[Hashable] | Mapping[Any, int],
    union: Literal["max", "sum"] = "max",
) -> float:
    """The Jaccard similarity of two bags, in which it counts how often an element occurs: Σ min / union.

    a, b: the elements with their repeats, or a mapping of elements to counts such as `collections.Counter`.
    union: "max", Σ max of the counts: 1.0 for equal bags, and what `Text(frequencies=True)` gives. "sum", the
        size of both bags together, as some textbooks have it: J / (1 + J) of the other, at most 1/2, which a
        bag has with itself. Both put pairs into the same order.

    Two empty bags are alike: 1.0, or 1/2. A negative count is an `InputError`.

    >>> bag_jaccard("aaab", "aabbc"), bag_jaccard("aaab", "aabbc", union="sum") == 3 / 9
    (0.5, True)
    >>> bag_jaccard("aaab", "aaab"), bag_jaccard("aaab", "aaab", union="sum")
    (1.0, 0.5)
    """
    if union not in ("max", "sum"):
        raise SettingsError(f"union must be 'max' or 'sum', got {union!r}")
    left, right = _bag(a), _bag(b)
    shared = sum((left & right).values())
    together = sum(left.values()) + sum(right.values())
    if not together:
        return 1.0 if union == "max" else 0.5
    return shared / (together - shared if union == "max" else together)


def _bag(elements: Iterable[Hashable] | Mapping[Any, int]) -> Counter[Hashable]:
    """The counts of a bag; `min` of counts below 0 would mean nothing."""
    bag: Counter[Hashable] = Counter(elements)
    for element, count in bag.items():
        if count < 0:
            raise InputError(f"a bag holds {element!r} {count} times: a count must be 0 or more")
    return bag


def verify(
    corpus: Any,
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    weights: Sequence[float],
    threads: int = 0,
    progress: Callable[[int, int], object] | None = None,
    batch_bytes: int = BATCH_BYTES,
) -> NDArray[np.float64]:
    """The exact similarity (float64, one a pair) of pairs of documents.

    Shingles are made again from the text. Pairs that hang together are compared together, so that each document is
    read once; only what belongs to the documents of one batch, of `batch_bytes` of text, is ever held.
    """
    similarity = np.empty(len(left), dtype=np.float64)
    order, ends = corpus.batches(left, right, batch_bytes)
    start = 0
    for end in ends:
        part = order[start:end]
        similarity[part] = corpus.similarity(left[part], right[part], list(weights), threads)
        if progress is not None:
            progress(end, len(left))
        start = end
    return similarity
