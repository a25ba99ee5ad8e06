"""An exact join of sets, which finds all similar pairs without bands.

Two sets that reach a threshold share an element among the first few of both, in any order that is the same for all
sets (the prefix filter: Bayardo, Ma and Srikant 2007; Xiao, Wang, Lin and Yu 2008). Rare elements come first, so few
sets share one; those that do are compared exactly. Nothing depends on chance, so the recall is 1.

The number of shared elements determines the cost. If most sets have rare elements (texts by word 3-shingles, sets of
many different values), the cost is that of reading them. If all elements are common (texts by 5 characters at a
threshold of 0.5), it grows with the square of their number, and bands are faster. n identical sets are n² / 2 pairs:
remove copies first, as `find_duplicates` does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benzer._native import contained, exact_join
from benzer.checks import check_threshold
from benzer.corpora import DocumentCorpus
from benzer.errors import InputError

Positions: TypeAlias = NDArray[np.uint32]
Csr: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint64]]
Progress: TypeAlias = Callable[[int, int], object]


@dataclass(frozen=True, eq=False)
class ExactPairs:
    """All similar pairs, each once, the lower position left, ascending.

    Attributes:
        left: Left document of each pair (uint32).
        right: Right document of each pair (uint32).
        similarity: Exact Jaccard similarity of each pair (float64). None for several fields, or a field with a
            similarity of its own: then one field of each pair reaches its threshold, and the documents must be
            verified.
    """

    left: Positions
    right: Positions
    similarity: NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, eq=False)
class SetPairs:
    """All similar pairs of sets by position (uint32), left < right, ascending, with their similarity (float64)."""

    left: Positions
    right: Positions
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, eq=False)
class ContainedPairs:
    """All ordered pairs whose right set contains the left one, ascending.

    Attributes:
        left: The contained set of each pair (uint32). Two equal sets make a pair in each direction.
        right: The containing set of each pair (uint32).
        containment: The share |A ∩ B| / |A| of the left set A that is in the right set B (float64).
    """

    left: Positions
    right: Positions
    containment: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The documents that are similar to some queries, one entry per pair, ascending.

    Attributes:
        query: Number of the query in the list of queries (uint32).
        position: Position of the similar document (uint32). A query is not its own neighbour.
    """

    query: Positions
    position: Positions

    def __len__(self) -> int:
        return len(self.query)


def exact_pairs(
    corpus: DocumentCorpus,
    thresholds: Sequence[float],
    taking_part: NDArray[np.bool_],
    threads: int = 0,
    progress: Progress | None = None,
) -> ExactPairs:
    """Find all pairs of documents for which the sets of one field reach the Jaccard similarity given for it.

    The sets of all documents are in memory: 17 bytes per shingle at a threshold of 0.8, 25 at 0.5, plus 64 MB.

    Args:
        corpus: The documents.
        thresholds: A threshold for each field, in (0, 1].
        taking_part: Documents to use (bool, n); the others (copies of a representative) are left out. An empty set is
            similar to nothing.
        threads: Number of threads; 0 uses all cores. Does not affect the result.
        progress: Called with (done, total).

    Returns:
        The pairs.

    >>> from benzer.corpus import corpus_of
    >>> from benzer.fields import Schema, ValueSet
    >>> corpus = corpus_of(Schema(tags=ValueSet()))
    >>> _ = corpus.add(0, [1, 2, 3], ["a", "b", "c"], [[["x", "y", "z"], ["x", "y"], ["w"]]])
    >>> found = exact_pairs(corpus, [0.6], np.ones(3, dtype=bool))
    >>> found.left, found.right, found.similarity.round(3)
    (array([0], dtype=uint32), array([1], dtype=uint32), array([0.667]))
    """
    for threshold in thresholds:
        check_threshold(threshold)
    return ExactPairs(*corpus.exact_pairs(list(thresholds), taking_part, threads, progress))


def neighbours(
    corpus: DocumentCorpus, queries: Positions, thresholds: Sequence[float], threads: int = 0
) -> Neighbours:
    """Find all documents for which the sets of one field reach its threshold with those of a query.

    Only the sets of the queries are in memory. The shingles of every document are made once, so for few queries the
    cost is that of reading the corpus; it grows with the number of queries.

    Args:
        corpus: The documents.
        queries: Positions of documents of the corpus (uint32).
        thresholds: A threshold for each field, in (0, 1].
        threads: Number of threads; 0 uses all cores. Does not affect the result.

    Returns:
        The similar documents of each query.

    >>> from benzer.corpus import corpus_of
    >>> from benzer.fields import Schema, ValueSet
    >>> corpus = corpus_of(Schema(tags=ValueSet()))
    >>> _ = corpus.add(0, [1, 2, 3], ["a", "b", "c"], [[["x", "y", "z"], ["x", "y"], ["w"]]])
    >>> found = neighbours(corpus, np.array([1, 2], dtype=np.uint32), [0.6])
    >>> found.query, found.position
    (array([0], dtype=uint32), array([0], dtype=uint32))
    """
    for threshold in thresholds:
        check_threshold(threshold)
    return Neighbours(*corpus.exact_neighbours(queries, list(thresholds), threads))


def contained_pairs(
    corpus: DocumentCorpus, field: int, threshold: float, taking_part: NDArray[np.bool_], threads: int = 0
) -> ContainedPairs:
    """Find all ordered pairs of documents whose right set of a field has at least a share of the left set.

    A set of two elements is contained in every set with both, however large: many small sets make many pairs.

    Args:
        corpus: The documents.
        field: Number of the field, from 0.
        threshold: Minimum share |A ∩ B| / |A|, in (0, 1].
        taking_part: Documents to use (bool, n). An empty set is contained in nothing here, and contains nothing.
        threads: Number of threads; 0 uses all cores. Does not affect the result.

    Returns:
        The pairs with their containment.

    >>> from benzer.corpus import corpus_of
    >>> from benzer.fields import Schema, ValueSet
    >>> corpus = corpus_of(Schema(tags=ValueSet()))
    >>> _ = corpus.add(0, [1, 2], ["a", "b"], [[["x", "y", "z", "u"], ["x", "y"]]])
    >>> found = contained_pairs(corpus, 0, 0.8, np.ones(2, dtype=bool))
    >>> found.left, found.right, found.containment
    (array([1], dtype=uint32), array([0], dtype=uint32), array([1.]))
    """
    check_threshold(threshold)
    return ContainedPairs(*corpus.contained_pairs(field, threshold, taking_part, threads))


def set_join(sets: Iterable[Collection[Hashable]] | Csr, threshold: float, threads: int = 0) -> SetPairs:
    """Find all pairs of sets with a Jaccard similarity |A ∩ B| / |A ∪ B| of at least the threshold.

    Empty sets are in no pair. The pairs do not depend on threads or on the order of sets and elements.

    Args:
        sets: Collections of hashable elements; or two arrays, offsets (integers, n + 1, from 0) and elements
            (integers): set i is `elements[offsets[i]:offsets[i + 1]]`.
        threshold: Minimum similarity in (0, 1], compared like `shared / union` in Python.
        threads: Number of threads; 0 uses all cores.

    Returns:
        The positions of the sets of each pair, and their similarities.

    Raises:
        InputError: A set is a text, or an array has another type.

    >>> found = set_join([{"a", "b", "c"}, {"b", "c"}, {"d"}, {"d"}], threshold=0.6)
    >>> for left, right, similarity in zip(found.left, found.right, found.similarity):
    ...     print(left, right, round(float(similarity), 3))
    0 1 0.667
    2 3 1.0
    """
    check_threshold(threshold)
    return SetPairs(*exact_join(*_csr(sets), threshold, threads))


def set_containments(
    sets: Iterable[Collection[Hashable]] | Csr, threshold: float, threads: int = 0
) -> ContainedPairs:
    """Find all ordered pairs (A, B) of sets with a containment |A ∩ B| / |A| of at least the threshold.

    Args:
        sets: As in `set_join`.
        threshold: Minimum containment in (0, 1].
        threads: Number of threads; 0 uses all cores.

    Returns:
        The positions of the sets of each pair, and their containments.

    Raises:
        InputError: A set is a text, or an array has another type.

    >>> found = set_containments([{1, 2, 3, 4}, {2, 3}, {3, 9}], threshold=0.5)
    >>> for left, right, containment in zip(found.left, found.right, found.containment):
    ...     print(left, right, containment)
    0 1 0.5
    1 0 1.0
    1 2 0.5
    2 0 0.5
    2 1 0.5
    """
    check_threshold(threshold)
    return ContainedPairs(*contained(*_csr(sets), threshold, threads))


def _csr(sets: Iterable[Collection[Hashable]] | Csr) -> Csr:
    """Convert sets to the format of the native join: ascending, without repetition."""
    if isinstance(sets, tuple) and len(sets) == 2:
        offsets, elements = sets
        if isinstance(offsets, np.ndarray) and isinstance(elements, np.ndarray):
            return _ascending(offsets, elements)
    numbers: dict[Hashable, int] = {}
    offsets, elements = [0], []
    for place, item in enumerate(sets):
        if isinstance(item, (str, bytes)):
            raise InputError(
                f"set {place} is the text {item!r}: use a collection of elements, e.g. text.split()"
            )
        elements.extend(sorted({numbers.setdefault(element, len(numbers)) for element in item}))
        offsets.append(len(elements))
    return np.array(offsets, dtype=np.int64), np.array(elements, dtype=np.uint64)


def _ascending(offsets: NDArray[Any], elements: NDArray[Any]) -> Csr:
    """Return the arrays of sets with the elements of each in order and without repetition."""
    for name, array in (("offsets", offsets), ("elements", elements)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InputError(
                f"{name} must be an array of integers of one dimension, got {array.dtype} {array.shape}"
            )
    offsets = offsets.astype(np.int64)  # of unsigned ones no difference is below 0
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(elements) or (np.diff(offsets) < 0).any():
        raise InputError(f"offsets must rise from 0 to the number of elements, {len(elements)}")
    elements = elements.astype(np.uint64)
    place = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((elements, place))
    place, elements = place[order], elements[order]
    new = np.ones(len(elements), dtype=bool)
    new[1:] = (place[1:] != place[:-1]) | (elements[1:] != elements[:-1])
    counts = np.bincount(place[new], minlength=len(offsets) - 1)
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64), elements[new]
