"""Distributions of the similarities and cluster sizes of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from benzer.results.duplicates import Duplicates


class Spread(NamedTuple):
    """How many pairs of different contents were compared, by their exact similarity.

    heights: those between each two edges. above: those that count; below: candidates that do not, None where they
    were not counted. undrawn: those below the first edge.
    """

    heights: list[int]
    above: int
    below: int | None
    undrawn: int


def spread_of(found: Duplicates, edges: NDArray[np.float64]) -> Spread:
    """The pairs of a result between ascending edges, of which the last belongs to the last class."""
    alike = found.verified >= found.threshold
    above = np.concatenate((found.verified[alike], found.decision.score))
    below = found.verified[~alike]
    heights = np.histogram(np.concatenate((above, below)), edges)[0].tolist()
    return Spread(heights, len(above), len(below), int((below < edges[0]).sum()))


def sizes_of(found: Duplicates) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sizes of clusters of two documents or more, ascending, and how many clusters have each."""
    sizes, clusters = np.unique(found.safety.inside.size, return_counts=True)
    return sizes, clusters.astype(np.int64)
