"""Exact similarity of sets and of candidate pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benzer.corpora import DocumentCorpus
from benzer.errors import InputError, SettingsError

BATCH_BYTES = 64 << 20
END: Any = object()


def jaccard(a: Collection[Hashable], b: Collection[Hashable]) -> float:
    """Return the Jaccard similarity |A ∩ B| / |A ∪ B| of two collections as sets.

    Args:
        a: A collection of hashable elements; repeated elements count once.
        b: A collection of hashable elements.

    Returns:
        The similarity; 1.0 for two empty collections.

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
    """Return the share |A ∩ B| / |A| of the first collection that is in the second one.

    Args:
        a: A collection of hashable elements; repeated elements count once.
        b: A collection of hashable elements.

    Returns:
        The containment; 1.0 if `a` is empty.

    >>> containment("abc", "abcdef"), containment("abcdef", "abc")
    (1.0, 0.5)
    """
    left = set(a)
    return len(left & set(b)) / len(left) if left else 1.0


def jaccard_sorted(a: Iterable[Any], b: Iterable[Any]) -> float:
    """Return the Jaccard similarity of two ascending sequences in O(n) time and constant memory.

    Args:
        a: Elements in ascending order, e.g. from a generator; compared with `<` and `==`. Repeated elements count
            once.
        b: Elements in ascending order.

    Returns:
        The similarity; 1.0 for two empty sequences.

    Raises:
        InputError: A sequence is not ascending; sort it, or use `jaccard`.

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
    """Yield each distinct element of a sequence that must be sorted."""
    before: Any = END
    for place, element in enumerate(elements, 1):
        # NaN is not equal to itself and cannot be sorted.
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
    """Return the Jaccard similarity of two bags (multisets): Σ min of the counts / union.

    Args:
        a: Elements with repetitions, or a mapping of elements to counts such as `collections.Counter`.
        b: Elements with repetitions, or a mapping of elements to counts.
        union: "max" divides by Σ max of the counts: 1.0 for equal bags, as with `Text(frequencies=True)`. "sum"
            divides by the total size of both bags, as in some textbooks: J / (1 + J) of the similarity J with
            "max", and 1/2 for equal bags. Both give the same order of pairs.

    Returns:
        The similarity; 1.0 (1/2 with "sum") for two empty bags.

    Raises:
        SettingsError: `union` is neither "max" nor "sum".
        InputError: A count is negative.

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
    """Return the counts of a bag; raise an error for negative counts."""
    bag: Counter[Hashable] = Counter(elements)
    for element, count in bag.items():
        if count < 0:
            raise InputError(f"a bag contains {element!r} {count} times: a count must be 0 or more")
    return bag


def verify(
    corpus: DocumentCorpus,
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    weights: Sequence[float],
    threads: int = 0,
    progress: Callable[[int, int], object] | None = None,
    batch_bytes: int = BATCH_BYTES,
) -> NDArray[np.float64]:
    """Return the exact similarity of pairs of documents (float64, one per pair).

    Shingles are made again from the text. Connected pairs are compared together, so that each document is read once;
    only the documents of one batch, of `batch_bytes` of text, are in memory at a time.
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
