"""Who truly is alike? The exact similarity of candidate pairs, and of single sets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from benzer._native import Corpus

BATCH_BYTES = 64 << 20
BATCH_PAIRS = 200_000


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


def verify(
    corpus: Corpus,
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    weights: Sequence[float],
    threads: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> NDArray[np.float64]:
    """The exact similarity (float64, one a pair) of pairs of documents, sorted by `left`.

    Shingles are made again from the text, so that only those of documents in one batch are ever held.
    """
    similarity = np.empty(len(left), dtype=np.float64)
    for start, end in _batches(corpus.lengths(), left, right):
        part = slice(start, end)
        similarity[part] = corpus.similarity(left[part].copy(), right[part].copy(), list(weights), threads)
        if progress is not None:
            progress(end, len(left))
    return similarity


def _batches(
    lengths: NDArray[np.uint64], left: NDArray[np.uint32], right: NDArray[np.uint32]
) -> Iterator[tuple[int, int]]:
    """Cut pairs so that the texts of a batch stay within `BATCH_BYTES` (a pair of longer ones is a batch)."""
    new_left = np.concatenate((np.ones(min(len(left), 1), dtype=bool), left[1:] != left[:-1]))
    spent = np.cumsum(lengths[left] * new_left + lengths[right])
    start = 0
    while start < len(left):
        before = spent[start - 1] if start else np.uint64(0)
        within = int(np.searchsorted(spent, before + np.uint64(BATCH_BYTES), side="right"))
        end = min(max(within, start + 1), start + BATCH_PAIRS, len(left))
        yield start, end
        start = end
