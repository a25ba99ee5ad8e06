"""The estimated effect of each threshold on a collection, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benzer.views.tables import TableView, headed_table
from benzer.wording import about, about_seconds, amount, count, counted, percentage, setting, share

HEADINGS = (
    "threshold", "removed", "share", "interval", "pairs", "candidates", "method", "core time", "memory",
)  # fmt: skip
TEXT_COLUMNS = 3
"""The number of columns at the end that are not counts."""


@dataclass(frozen=True)
class PriceView:
    """One row of the table; `threshold` is the exact value."""

    threshold: float
    cells: tuple[str, ...]


def price_of(price: Mapping[str, Any], documents: int) -> PriceView:
    """One threshold, as `Price.to_dict` returns it.

    >>> one = {"threshold": 0.8, "removed": 491, "low": 480, "high": 500, "pairs": 606, "candidates": 1187,
    ...        "method": "lsh", "bands": 10, "rows": 6, "seconds": 0.0024, "memory": 308288}
    >>> price_of(one, 1764).cells
    ('0.80', '491', '27.8 %', '480 to 500', '610', '1,200', '10 x 6 bands', '0.0024 s', '308.3 kB')
    """
    cells = (
        setting(price["threshold"]),
        count(price["removed"]),
        share(price["removed"], documents),
        interval(price),
        about(price["pairs"]),
        about(price["candidates"]),
        price["method"] if price["bands"] is None else f"{price['bands']} x {price['rows']} bands",
        about_seconds(price["seconds"]),
        amount(price["memory"]),
    )
    return PriceView(price["threshold"], cells)


def interval(price: Mapping[str, Any]) -> str:
    """The confidence interval of the removed documents."""
    return f"{count(price['low'])} to {count(price['high'])}"


def note(prices: Mapping[str, Any]) -> str:
    """Describe the sample on which the estimates are based.

    >>> note({"documents": 8, "identical": 1, "sampled": 7, "contents": 7, "confidence": 0.95})
    '8 documents, 1 exact copy. Estimated from 7 of 7 different documents with 95 % confidence.'
    """
    return (
        f"{counted(prices['documents'], 'document')}, {counted(prices['identical'], 'exact copy', 'exact copies')}. "
        f"Estimated from {count(prices['sampled'])} of {count(prices['contents'])} different documents "
        f"with {percentage(prices['confidence'])} confidence."
    )


def prices_table(prices: Mapping[str, Any]) -> TableView:
    """The estimates by threshold, as `Prices.to_dict` returns them."""
    rows = [price_of(price, prices["documents"]).cells for price in prices["prices"]]
    return headed_table(HEADINGS, rows, numbers=len(HEADINGS) - TEXT_COLUMNS)


def dry_run(prices: Mapping[str, Any]) -> str:
    """The basis of the estimates of a dry run."""
    return f"{note(prices)} Nothing was written."
