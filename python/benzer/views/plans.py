"""The bands and the method for a threshold, as `benzer tune` shows them on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log10
from typing import NamedTuple

from benzer.bands import Bands
from benzer.views.charts import ESTIMATED
from benzer.views.recall import promise
from benzer.views.tables import TableView, headed_table
from benzer.wording import about, count, counted, ratio, setting

CURVE = "probability of finding a pair (y) by similarity (x):"
BAR = 2.5
"""Characters for each power of ten."""


class PairsBin(NamedTuple):
    """The expected pairs in a range of similarities, and the probability of finding a pair in its middle."""

    least: float
    below: float
    pairs: float
    probability: float


def sampled(sample: int, contents: int) -> str:
    """The documents that the estimates are based on.

    >>> sampled(1000, 2000)
    'sample: 1,000 of 2,000 different documents'
    """
    return f"sample: {count(sample)} of {count(contents)} different documents"


def similarities_table(bins: Sequence[PairsBin]) -> TableView:
    """The estimated pairs by similarity, highest first, with a logarithmic bar."""
    rows = [
        (
            f"{setting(item.least)} to {setting(item.below)}",
            about(item.pairs),
            ratio(item.probability),
            "█" * round(BAR * log10(item.pairs + 1)),
        )
        for item in reversed(bins)
    ]
    return headed_table(("similarity", ESTIMATED, "probability", ""), rows, numbers=3)


def expected(threshold: float, pairs: float, candidates: float, bands: Bands) -> str:
    """The estimated pairs and candidates of some bands.

    >>> expected(0.8, 1234.0, 56789.0, Bands(10, 6))
    '0.80 and above: about 1,200 pairs, 57,000 candidates with bands 10 x 6'
    """
    shape = f"bands {count(bands.bands)} x {count(bands.rows)}"
    return f"{setting(threshold)} and above: about {about(pairs)} pairs, {about(candidates)} candidates with {shape}"


def method(reason: str) -> str:
    """The method that a run would choose."""
    return f"method auto: {reason}"


def bands_lines(bands: Bands, threshold: float, recall: float) -> Iterator[str]:
    """The promise and the size of some bands.

    >>> list(bands_lines(Bands(10, 6), 0.8, 0.9))[-1]
    '60 signature values per document'
    """
    yield promise(bands, threshold)
    yield counted(bands.num_values, "signature value per document", "signature values per document")
    if float(bands.probability(threshold)) < recall:
        yield f"below the recall of {setting(recall)}: add bands, or omit --bands, --rows and --rule"


def curve_table(bands: Bands, threshold: float) -> TableView:
    """The probability of finding a pair at each tenth of the similarity and at the threshold.

    >>> curve_table(Bands(10, 6), 0.8).rows[7]
    ('0.80', '0.9522', '952', '← threshold')
    """
    rows = []
    for similarity in sorted({*(tenth / 10 for tenth in range(1, 11)), threshold}):
        result = float(bands.probability(similarity))
        mark = "← threshold" if similarity == threshold else ""
        rows.append((setting(similarity), ratio(result, 4), count(round(1000 * result)), mark))
    return headed_table(("similarity", "found with probability", "of 1,000 pairs", ""), rows, numbers=3)


def usage(documents: str, unit: str, size: int) -> str:
    """How to use a suggested shingle size.

    >>> usage("docs.jsonl", "char", 7)
    'to use it: benzer dedupe docs.jsonl --shingle char:7 ...'
    """
    return f"to use it: benzer dedupe {documents} --shingle {unit}:{size} ..."
