"""Documents that match a document of an older collection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.uint32]


class OfCollection(NamedTuple):
    """The number of documents that are removed because of an older collection, and their lowest similarity."""

    name: str
    removed: int
    least: float


@dataclass(frozen=True)
class Known:
    """Verified matches of new documents with old ones, the best match of each new document first.

    The matches of a new document are in the order in which they may remove it: by collection, then the most similar
    first, then in the order of addition to the collection.

    Attributes:
        names: The older collections, in order.
        position: The new document of each match, ascending (uint32).
        collection: The number of the old document's collection (uint32).
        old_ids: The old documents.
        similarity: The exact similarity (float64).
    """

    names: tuple[str, ...]
    position: Positions
    collection: Positions
    old_ids: list[str | int]
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.position)

    def above(self, threshold: float) -> Known:
        """Return the matches with at least this similarity."""
        chosen = np.flatnonzero(self.similarity >= threshold)
        return replace(
            self,
            position=self.position[chosen],
            collection=self.collection[chosen],
            old_ids=[self.old_ids[position] for position in chosen.tolist()],
            similarity=self.similarity[chosen],
        )

    def mask(self, count: int) -> NDArray[np.bool_]:
        """Return which of `count` new documents are known (bool)."""
        known = np.zeros(count, dtype=bool)
        known[self.position] = True
        return known

    @property
    def best(self) -> NDArray[np.intp]:
        """The match that removes each known document, by position: its first match."""
        return np.flatnonzero(np.diff(self.position.astype(np.int64), prepend=-1))

    def columns(self, ids: list[str | int]) -> dict[str, Any]:
        """Return the columns of the table of matches; `ids` are those of the new documents, one per match."""
        return {
            "id": ids,
            "old_id": self.old_ids,
            "index": [self.names[number] for number in self.collection.tolist()],
            "similarity": self.similarity,
        }

    def of_collections(self) -> list[OfCollection]:
        """Return the number of documents removed because of each collection."""
        collection, similarity = self.collection[self.best], self.similarity[self.best]
        return [
            OfCollection(
                name, int((collection == position).sum()), similarity[collection == position].min(initial=1.0)
            )
            for position, name in enumerate(self.names)
        ]
