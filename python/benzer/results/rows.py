"""Rows of a result: pairs, removals, clusters, counts of sources and distributions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer.corpora import DocumentCorpus

Positions = NDArray[np.uint32]


class Pair(NamedTuple):
    """Two documents and their exact similarity.

    Attributes:
        left_id: Id of the document that comes first in the input.
        right_id: Id of the other document.
        similarity: Exact similarity.
    """

    left_id: str | int
    right_id: str | int
    similarity: float


class _Witness(NamedTuple):
    kept_id: str | int
    similarity: float


class Removal(_Witness):
    """The kept document for a removed one, and their exact similarity: a pair of these two.

    Attributes:
        kept_in: The older collection with the kept document; None if it is one of the same run.

    >>> Removal("a", 0.9), Removal("a", 0.9, "old.benzer").kept_in
    (Removal(kept_id='a', similarity=0.9), 'old.benzer')
    """

    kept_in: str | None = None

    def __new__(cls, kept_id: str | int, similarity: float, kept_in: str | None = None) -> Removal:  # noqa: PYI034
        removal = super().__new__(cls, kept_id, similarity)
        if kept_in is not None:
            removal.kept_in = kept_in
        return removal

    def __repr__(self) -> str:
        where = f", kept_in={self.kept_in!r}" if self.kept_in is not None else ""
        return f"Removal(kept_id={self.kept_id!r}, similarity={self.similarity!r}{where})"


class Cluster(NamedTuple):
    """A kept document, and all documents removed because of it with their exact similarity to it.

    Attributes:
        representative: Id of the kept document.
        removed: The removed documents, with their similarities.
    """

    representative: str | int
    removed: dict[str | int, float]


class Pairs(Sequence[Pair]):
    """Pairs by position (`left`, `right`: uint32; `similarity`: float64), as a sequence of pairs of ids."""

    def __init__(
        self, corpus: DocumentCorpus, left: Positions, right: Positions, similarity: NDArray[np.float64]
    ) -> None:
        order = np.lexsort((right, left))
        self.left, self.right, self.similarity = left[order], right[order], similarity[order]
        self._corpus = corpus

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(self._read(index))
        position = range(len(self))[index]
        return next(self._read(slice(position, position + 1)))

    def __iter__(self) -> Iterator[Pair]:
        return self._read(slice(None))

    def _read(self, part: slice) -> Iterator[Pair]:
        columns = (self._corpus.ids(self.left[part].copy()), self._corpus.ids(self.right[part].copy()))
        return map(Pair, *columns, self.similarity[part].tolist())

    def columns(self) -> dict[str, Any]:
        """Return the columns of the table of pairs."""
        ids = self._corpus.ids
        return {"left_id": ids(self.left), "right_id": ids(self.right), "similarity": self.similarity}


class SourceCounts(NamedTuple):
    """The counts of one source: `read == documents + malformed`, `documents == kept + removed`.

    Attributes:
        name: The source.
        read: Rows read.
        documents: Documents.
        kept: Kept documents.
        removed: Removed documents: `identical + near + known`.
        identical: Removed because of a kept document with the same content.
        near: Removed because of a similar kept document.
        known: Removed because of a document of an older collection.
        short: Documents (kept or removed) with less than one shingle.
        empty: Documents without content.
        malformed: Malformed rows.
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
        """The share of its documents that are removed."""
        return self.removed / self.documents if self.documents else 0.0


class Spread(NamedTuple):
    """The number of compared pairs of different contents, by their exact similarity.

    Attributes:
        heights: Pairs between each two edges.
        above: Pairs at the threshold.
        below: Candidates below the threshold; None if they were not counted.
        undrawn: Pairs below the first edge.
    """

    heights: list[int]
    above: int
    below: int | None
    undrawn: int
