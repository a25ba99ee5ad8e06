"""Charts of a run: the S-curve, the similarities of pairs and the sizes of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from benzer.recall import RecallEstimate
from benzer.results import Duplicates
from benzer.views.charts import Axes, Bar, bars, recall_strip, s_curve
from benzer.wording import count, counted, decimal, ratio, setting, short

BIN = 0.02
BELOW = 0.2
"""Range below the threshold in which candidates are drawn."""
SIZES = (2, 3, 4, 5, 8, 11, 21, 101, 1001, 10_001)
"""Lower bounds of the classes of cluster sizes."""


@dataclass(frozen=True)
class Figure:
    """A drawing, the same data as a table, and a summary sentence."""

    drawing: Markup
    headings: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    says: str = ""


def recall_figure(result: Duplicates, recall: RecallEstimate | None) -> Figure | None:
    """The S-curve with the measured recall; None if no bands were used."""
    if result.bands is None:
        return None
    points = [(number / 100, result.probability(number / 100)) for number in range(1, 101)]
    measured = None
    if recall is not None and recall.recall is not None:
        measured = (recall.low, recall.recall, recall.high)
    promised = result.probability(result.threshold)
    drawing = s_curve(points, result.threshold, promised, measured)
    if measured is not None:
        drawing += recall_strip(promised, measured)
    at_tenths = sorted({*(number / 10 for number in range(1, 11)), result.threshold})
    rows = [(setting(position), ratio(result.probability(position))) for position in at_tenths]
    return Figure(drawing, ("similarity", "probability"), rows)


def similarity_edges(threshold: float) -> NDArray[np.float64]:
    """The edges of the similarity histogram, starting below the threshold.

    >>> similarity_edges(0.95).tolist()[-4:]
    [0.95, 0.97, 0.99, 1.01]
    """
    steps = np.arange(-round(BELOW / BIN), int(np.ceil(round((1 - threshold) / BIN, 6))) + (threshold == 1))
    edges = np.append(threshold + BIN * steps, threshold + BIN * (steps[-1] + 1))
    edges = edges[edges > -1e-9]
    edges = np.round(edges, 9)  # otherwise 0.82 is below 0.8 + 0.02
    edges[np.abs(edges - threshold) < 1e-9] = threshold
    edges[-1] = max(edges[-1], 1.0)
    return edges


def similarity_figure(result: Duplicates) -> Figure:
    """The number of pairs by similarity, starting below the threshold."""
    threshold, edges = result.threshold, similarity_edges(result.threshold)
    heights, above, below, undrawn = result.spread(edges)
    if below is None:  # do not draw the unknown part
        heights = heights[int(np.searchsorted(edges, threshold)) :]
        edges = edges[edges >= threshold]
    drawn, rows = [], []
    for start, end, height in zip(edges[:-1].tolist(), edges[1:].tolist(), heights, strict=True):
        pair = start >= threshold
        words = f"{setting(start)} to {setting(min(end, 1.0))}"
        said = f"{words}: {counted(height, 'pair' if pair else 'candidate')}{'' if pair else ' below the threshold'}"
        drawn.append(Bar(start, end, height, "near" if pair else "below", said))
        if height:
            rows.append((words, count(height), "yes" if pair else "no: below the threshold"))
    axes = Axes((float(edges[0]), float(edges[-1])), (0, max(heights, default=0) or 1), "similarity", "pairs")
    parts = 10 if edges[-1] - edges[0] > 0.5 else 20
    places = [
        (number / parts, decimal(number / parts))
        for number in range(parts + 1)
        if edges[0] - 1e-9 <= number / parts <= edges[-1]
    ]
    less = "pairs below it were not stored" if below is None else f"{counted(below, 'candidate')} below it"
    said = f"{counted(above, 'pair')} at or above the threshold, {less}."
    if undrawn:
        said += f" Not drawn: {counted(undrawn, 'candidate')} below {setting(float(edges[0]))}."
    drawing = bars("similarities", "Exact similarities of the compared pairs", said, axes, drawn, places)
    return Figure(drawing, ("similarity", "pairs", "match"), rows, said)


def size_figure(result: Duplicates) -> Figure:
    """The number of clusters by size."""
    sizes, clusters = result.cluster_sizes()
    edges = [*[size for size in SIZES if size <= max(int(sizes.max(initial=2)), 4)], np.inf]
    heights = np.histogram(sizes, edges, weights=clusters)[0].tolist()
    documents = np.histogram(sizes, edges, weights=sizes * clusters)[0].tolist()
    drawn, rows, places = [], [], []
    for place, (height, total) in enumerate(zip(heights, documents, strict=True)):
        start, end = int(edges[place]), edges[place + 1]
        last = end == np.inf
        words = size_class(start, None if last else int(end) - 1)
        said = f"{counted(height, 'cluster')} of {words} documents"
        drawn.append(Bar(place + 0.1, place + 0.9, height, "near", said))
        places.append((place + 0.5, words))
        rows.append((words, count(height), count(int(total))))
    axes = Axes((0, len(heights)), (0, max(heights, default=0) or 1), "documents in a cluster", "clusters")
    said = f"{counted(int(clusters.sum()), 'cluster')}; the largest has {count(int(sizes.max(initial=0)))} documents."
    drawing = bars("sizes", "Sizes of the clusters", said, axes, drawn, places)
    return Figure(drawing, ("cluster size", "clusters", "documents in total"), rows, said)


def size_class(least: int, most: int | None) -> str:
    """The name of a class of sizes; None means no upper bound.

    >>> size_class(2, 2), size_class(21, 100), size_class(101, 1000), size_class(10_001, None)
    ('2', '21–100', '101–1k', '10k+')
    """
    first = short(least - 1) if least > 1000 else str(least)
    if most is None:
        return f"{first}+"
    return first if most == least else f"{first}–{short(most)}"
