"""Counts of a result by source."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from benzer.results.duplicates import Duplicates


class SourceCounts(NamedTuple):
    """The counts of one source: `read == documents + malformed`, `documents == kept + removed`.

    identical: removed for a kept document of the same content; near: for one that is similar; known: for one of an
        older collection. Together they are `removed`.
    short, empty: documents (kept or removed) of less than a shingle, of nothing at all.
    """

    name: str
    read: int
    documents: int
    kept: int
    removed: int
    identical: int
    near: int
    known: int
    short: int
    empty: int
    malformed: int

    @property
    def removed_share(self) -> float:
        """The share of its documents that go."""
        return self.removed / self.documents if self.documents else 0.0


def source_counts(found: Duplicates) -> list[SourceCounts]:
    """The counts of each source, in the order of the input."""
    of_source = found.corpus.sources()
    sources = found.reading.sources

    def count(chosen: NDArray[np.bool_]) -> list[int]:
        counted: list[int] = np.bincount(of_source[chosen], minlength=len(sources)).tolist()
        return counted

    identical = identical_removals(found)
    near = found.led & ~identical
    chosen = (found.stays, ~found.stays, identical, near, found.known, found.short, found.empty)
    columns = [count(one) for one in chosen]
    counted = zip(*columns, strict=True)
    return [
        SourceCounts._make((source.name, report.rows_read, report.documents, *counts, len(report.malformed)))
        for source, report, counts in zip(sources, found.reading.reports, counted, strict=True)
    ]


def identical_removals(found: Duplicates) -> NDArray[np.bool_]:
    """Which documents go for a kept one of the same content (bool, n).

    >>> from benzer import find_duplicates
    >>> identical_removals(find_duplicates({"a": "one two three", "b": "One, two, three", "c": "four"})).tolist()
    [False, True, False]
    """
    identical: NDArray[np.bool_] = found.led & (found.stands_for[found.leader] == found.stands_for)
    return identical
