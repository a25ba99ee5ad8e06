"""Scores of pairs and clusters: precision, recall and F1 of pairs, adjusted Rand index, B-cubed; numpy only.

The figures are those of the sets' own scorers: a pair counts once for any order of its ids, and documents without
matches are clusters of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality_sets import Truth

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
STEPS = tuple(round(0.1 + 0.02 * step, 2) for step in range(46))
"""The thresholds that every engine's similarities are cut at."""


class Score(NamedTuple):
    """Scores of one result; the figures of clusters are None for results or labels without clusters.

    answer: "pairs", "components" (the connected components of the pairs) or "leaders" (each document in the cluster
    of a similar kept one).
    """

    answer: str
    threshold: float
    precision: float
    recall: float
    f1: float
    ari: float | None = None
    bcubed_precision: float | None = None
    bcubed_recall: float | None = None
    bcubed_f1: float | None = None


def harmonic(precision: float, recall: float) -> float:
    """The harmonic mean; 0 when both are 0.

    >>> harmonic(0.5, 1.0), harmonic(0.0, 0.0)
    (0.6666666666666666, 0.0)
    """
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def sweep_pairs(truth: Truth, left: Ints, right: Ints, similarity: Floats) -> Iterator[Score]:
    """Scores of the pairs at or above each step. Pairs are given once each, in any order of their documents.

    >>> truth = Truth(4, np.array([0, 2]), np.array([1, 3]))
    >>> found = sweep_pairs(truth, np.array([1, 0]), np.array([0, 2]), np.array([0.9, 0.5]))
    >>> [(one.precision, one.recall) for one in found if one.threshold in (0.5, 0.9, 0.92)]
    [(0.5, 0.5), (1.0, 0.5), (0.0, 0.0)]
    """
    counted = truth.counts(left, right)
    left, right, similarity = left[counted], right[counted], similarity[counted]
    keys = np.minimum(left, right) * truth.count + np.maximum(left, right)
    hit = np.isin(keys, truth.left * truth.count + truth.right)
    order = np.argsort(-similarity, kind="stable")
    hits = np.concatenate(([0], np.cumsum(hit[order])))
    ends = np.searchsorted(-similarity[order], [-step for step in STEPS], side="right")
    for step, end in zip(STEPS, ends.tolist(), strict=True):
        yield pair_score("pairs", step, int(hits[end]), end, len(truth.left))


def pair_score(answer: str, threshold: float, hits: int, found: int, wanted: int) -> Score:
    """Precision, recall and F1 from counts."""
    precision, recall = hits / found if found else 0.0, hits / wanted if wanted else 0.0
    return Score(answer, threshold, precision, recall, harmonic(precision, recall))


def sweep_components(truth: Truth, left: Ints, right: Ints, similarity: Floats) -> Iterator[Score]:
    """Scores of the connected components of the pairs at or above each step."""
    order = np.argsort(-similarity, kind="stable")
    left, right, similarity = left[order], right[order], similarity[order]
    parent = list(range(truth.count))
    start, found = 0, []
    for step in reversed(STEPS):
        end = int(np.searchsorted(-similarity, -step, side="right"))
        _join(parent, left[start:end].tolist(), right[start:end].tolist())
        start = end
        found.append(cluster_score("components", step, truth, _roots(parent)))
    yield from reversed(found)


def components(count: int, left: Ints, right: Ints) -> Ints:
    """The component of each document (int64, n): the number of one of its members.

    >>> found = components(4, np.array([0, 1]), np.array([1, 3]))
    >>> bool(found[0] == found[1] == found[3] != found[2])
    True
    """
    parent = list(range(count))
    _join(parent, left.tolist(), right.tolist())
    return _roots(parent)


def _join(parent: list[int], left: list[int], right: list[int]) -> None:
    for one, other in zip(left, right, strict=True):
        while parent[one] != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        while parent[other] != other:
            parent[other] = parent[parent[other]]
            other = parent[other]
        if one != other:
            parent[max(one, other)] = min(one, other)


def _roots(parent: list[int]) -> Ints:
    roots = np.array(parent, dtype=np.int64)
    while not np.array_equal(up := roots[roots], roots):
        roots = up
    return roots


def cluster_score(answer: str, threshold: float, truth: Truth, labels: Ints) -> Score:
    """Scores of clusters by their pairs and, if the labels are clusters, by ARI and B-cubed.

    >>> truth = Truth(3, np.array([0]), np.array([1]), clusters=np.array([5, 5, 6]))
    >>> one = cluster_score("leaders", 0.5, truth, np.array([1, 1, 1]))
    >>> one.precision, one.recall, one.ari, one.bcubed_precision
    (0.3333333333333333, 1.0, 0.0, 0.5555555555555556)
    """
    _, labels = np.unique(labels, return_inverse=True)
    hit = int((labels[truth.left] == labels[truth.right]).sum())
    score = pair_score(answer, threshold, hit, _pairs_counted(truth, labels), len(truth.left))
    if truth.clusters is None:
        return score
    precision, recall = bcubed(labels, truth.clusters)
    return score._replace(
        ari=adjusted_rand_index(labels, truth.clusters),
        bcubed_precision=precision,
        bcubed_recall=recall,
        bcubed_f1=harmonic(precision, recall),
    )


def _pairs_counted(truth: Truth, labels: Ints) -> int:
    """The number of pairs of the clusters, among those that count."""
    inside = _choose_two(np.bincount(labels))
    if truth.side is None:
        return inside
    if truth.rule == "anchors":
        return inside - _choose_two(np.bincount(labels[truth.side == 0]))
    return inside - sum(
        _choose_two(np.bincount(labels[truth.side == side])) for side in np.unique(truth.side)
    )


def _choose_two(sizes: Ints) -> int:
    sizes = sizes.astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def _meetings(a: Ints, b: Ints) -> tuple[Ints, Ints, Ints]:
    """For each overlap of a cluster of `a` with one of `b`: its size, and those of the two clusters."""
    a, b = np.unique(a, return_inverse=True)[1], np.unique(b, return_inverse=True)[1]
    width = int(b.max(initial=0)) + 1
    keys, sizes = np.unique(a * width + b, return_counts=True)
    return sizes, np.bincount(a)[keys // width], np.bincount(b)[keys % width]


def adjusted_rand_index(found: Ints, true: Ints) -> float:
    """Hubert and Arabie's adjusted Rand index (1985); 1.0 for equal clusterings.

    >>> adjusted_rand_index(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2]))
    0.5714285714285715
    """
    pairs = _choose_two(np.array([len(found)]))
    in_found = _choose_two(np.unique(found, return_counts=True)[1])
    in_true = _choose_two(np.unique(true, return_counts=True)[1])
    in_both = _choose_two(_meetings(found, true)[0])
    expected = in_found * in_true / pairs if pairs else 0.0
    most = (in_found + in_true) / 2
    return 1.0 if most == expected else (in_both - expected) / (most - expected)


def bcubed(found: Ints, true: Ints) -> tuple[float, float]:
    """B-cubed precision and recall (Bagga and Baldwin 1998): means over documents.

    >>> bcubed(np.array([0, 0, 0]), np.array([1, 1, 2]))
    (0.5555555555555556, 1.0)
    """
    sizes, in_found, in_true = _meetings(found, true)
    shared = sizes.astype(np.float64) ** 2 / len(found)
    return float((shared / in_found).sum()), float((shared / in_true).sum())
