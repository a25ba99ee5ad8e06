"""Rows of a result: pairs, removals, clusters, counts of sources and distributions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer.corpora import DocumentCorpus

Positions = NDArray[np.uint32]


class Pair(NamedTuple):
    """Two documents and their exact similarity."""

    left_id: str | int
    right_id: str | int
    similarity: float


class _Witness(NamedTuple):
    kept_id: str | int
    similarity: float


class Removal(_Witness):
    """The kept document for which another goes, and their exact similarity: a pair of these two.

    kept_in: the older collection in which the kept document lies; None where it is one of the same run.

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
    """A document that stays, and all that go for it with their exact similarity to it."""

    representative: str | int
    removed: dict[str | int, float]


class Pairs(Sequence[Pair]):
    """Pairs by position (`left`, `right`: uint32; `similarity`: float64) that read as pairs of ids."""

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
        at = range(len(self))[index]
        return next(self._read(slice(at, at + 1)))

    def __iter__(self) -> Iterator[Pair]:
        return self._read(slice(None))

    def _read(self, part: slice) -> Iterator[Pair]:
        columns = (self._corpus.ids(self.left[part].copy()), self._corpus.ids(self.right[part].copy()))
        return map(Pair, *columns, self.similarity[part].tolist())

    def columns(self) -> dict[str, Any]:
        """The columns of the table of pairs."""
        ids = self._corpus.ids
        return {"left_id": ids(self.left), "right_id": ids(self.right), "similarity": self.similarity}


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


class Spread(NamedTuple):
    """How many pairs of different contents were compared, by their exact similarity.

    heights: those between each two edges. above: those that count; below: candidates that do not, None where they
    were not counted. undrawn: those below the first edge.
    """

    heights: list[int]
    above: int
    below: int | None
    undrawn: int
