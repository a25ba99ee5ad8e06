"""Documents that match a document of an older collection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.uint32]


class OfCollection(NamedTuple):
    """How many documents go for one of an older collection, and how similar they are at least."""

    name: str
    removed: int
    least: float


@dataclass(frozen=True)
class Known:
    """Verified matches of new documents with old ones, the best of each new document first.

    names: the old collections, in their order. position: uint32, one entry a match, ascending: the new document.
    collection: uint32, the number of the old document's collection. old_ids: the old documents. similarity:
    float64, exact.
    Of one new document the matches come in the order in which they may remove it: by collection, then the most
    similar first, then in the order in which the collection got them.
    """

    names: tuple[str, ...]
    position: Positions
    collection: Positions
    old_ids: list[str | int]
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.position)

    def above(self, threshold: float) -> Known:
        """The matches that are at least so similar."""
        chosen = np.flatnonzero(self.similarity >= threshold)
        return replace(
            self,
            position=self.position[chosen],
            collection=self.collection[chosen],
            old_ids=[self.old_ids[at] for at in chosen.tolist()],
            similarity=self.similarity[chosen],
        )

    def mask(self, count: int) -> NDArray[np.bool_]:
        """Which of `count` new documents are known (bool)."""
        known = np.zeros(count, dtype=bool)
        known[self.position] = True
        return known

    @property
    def best(self) -> NDArray[np.intp]:
        """Which match removes each known document, by position: the first of its matches."""
        return np.flatnonzero(np.diff(self.position.astype(np.int64), prepend=-1))

    def columns(self, ids: list[str | int]) -> dict[str, Any]:
        """The columns of the table of matches; `ids` are those of the new documents, one a match."""
        return {
            "id": ids,
            "old_id": self.old_ids,
            "index": [self.names[number] for number in self.collection.tolist()],
            "similarity": self.similarity,
        }

    def of_collections(self) -> list[OfCollection]:
        """What each collection removes."""
        collection, similarity = self.collection[self.best], self.similarity[self.best]
        return [
            OfCollection(name, int((collection == at).sum()), similarity[collection == at].min(initial=1.0))
            for at, name in enumerate(self.names)
        ]
