"""What is said of the share that was found?"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple


class Missed(NamedTuple):
    """Two documents alike by the threshold that the run did not report, and whether both of them stay."""

    left_id: str | int
    right_id: str | int
    similarity: float
    both_stay: bool


@dataclass(frozen=True)
class RecallEstimate:
    """The share of what is alike that a run found, as measured on the run's own documents.

    recall: of the documents that have a near-duplicate, asked for a random one of theirs, the share for which the
        run had found it; None where no drawn document has one.
    low, high: its interval of the given confidence (Clopper and Pearson 1934).
    found, asked: the share as two counts.
    drawn, contents: documents drawn, of all different contents that are not empty. Identical contents are found by
        their hash, without bands: they count once, and do not better the figure.
    exhaustive: all were drawn and asked for all of theirs: `recall` and `pair_recall` are the truth, not estimates.
    pair_recall: the estimated share of all pairs of different contents that was found. It has no interval: the pairs
        of a family are found or missed together.
    predicted: the recall that the S-curve predicts for pairs as similar as those found. None without bands, and where
        pairs of a large bucket were left out: the S-curve assumes that all pairs of a bucket are compared.
    missed_pairs: pairs of drawn documents that were missed; `missed` are examples.

    >>> estimate = RecallEstimate(0.98, 0.9296, 0.9976, 0.95, 98, 100, 400, 5000, False, 0.97, 0.99, 3)
    >>> print(estimate)
    found 98 of 100 sampled near-duplicates: recall 0.980, between 0.930 and 0.998 with 95 % confidence
    """

    recall: float | None
    low: float
    high: float
    confidence: float
    found: int
    asked: int
    drawn: int
    contents: int
    exhaustive: bool
    pair_recall: float | None
    predicted: float | None
    missed_pairs: int
    missed: tuple[Missed, ...] = field(default=())

    def __str__(self) -> str:
        if self.recall is None:
            return f"no near-duplicates among {self.drawn:,} sampled documents"
        if self.exhaustive:
            return f"recall {_shown(self.recall)} (exact: measured on all {self.drawn:,} documents)"
        interval = (
            f"between {_shown(self.low)} and {self.high:.3f} with {100 * self.confidence:g} % confidence"
        )
        return (
            f"found {self.found:,} of {self.asked:,} sampled near-duplicates: "
            f"recall {_shown(self.recall)}, {interval}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return {**asdict(self), "missed": [one._asdict() for one in self.missed]}


def _shown(share: float) -> str:
    """Three digits, of which only a true 1 reads as 1.

    >>> _shown(0.99999), _shown(1.0)
    ('0.999', '1.000')
    """
    return f"{min(round(share, 3), 0.999) if share < 1 else share:.3f}"
