"""The result of a recall measurement."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from benzer.wording import count, percentage, ratio, rounded


class Missed(NamedTuple):
    """A pair at or above the threshold that the run missed.

    Attributes:
        left_id: Id of the first document.
        right_id: Id of the second document.
        similarity: Exact similarity.
        both_stay: Whether both documents are kept.
    """

    left_id: str | int
    right_id: str | int
    similarity: float
    both_stay: bool


@dataclass(frozen=True)
class RecallEstimate:
    """The share of the true duplicates that a run found, measured on its own documents.

    Attributes:
        recall: The share of sampled documents with near-duplicates for which the run found a random one of them; None
            if no sampled document has one.
        low: Lower bound of the interval (Clopper and Pearson 1934).
        high: Upper bound of the interval.
        confidence: Confidence of the interval.
        found: Number of near-duplicates found.
        asked: Number of near-duplicates tested.
        drawn: Number of sampled documents.
        contents: Number of different non-empty contents. Identical contents are found without bands; they count once
            and do not raise the recall.
        exhaustive: Whether all documents were tested for all near-duplicates, so that `recall` and `pair_recall` are
            exact.
        pair_recall: Estimated share of all pairs of different contents that was found, without an interval, because
            pairs of similar documents are found or missed together.
        predicted: Recall predicted by the S-curve for pairs as similar as those found; None without bands, or if pairs
            of a large bucket were not listed.
        missed_pairs: Number of missed pairs of sampled documents.
        missed: Examples of missed pairs.

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
            return f"no near-duplicates among {count(self.drawn)} sampled documents"
        if self.exhaustive:
            return f"recall {ratio(self.recall)} (exact: measured on all {count(self.drawn)} documents)"
        interval = f"between {ratio(self.low)} and {rounded(self.high)} with {percentage(self.confidence)} confidence"
        return (
            f"found {count(self.found)} of {count(self.asked)} sampled near-duplicates: "
            f"recall {ratio(self.recall)}, {interval}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all values as JSON values."""
        return {**asdict(self), "missed": [item._asdict() for item in self.missed]}
