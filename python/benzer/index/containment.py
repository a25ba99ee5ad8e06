"""Finds the documents that contain a given one or are contained in it.

Documents that share a fingerprint with the query are compared exactly, those with the most and rarest fingerprints
first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from benzer.index.documents import Query
from benzer.index.fingerprints import Fingerprints
from benzer.sketcher import SketchedQuery, Sketcher
from benzer.storage import DocumentId, Storage

_READ_AT_ONCE = 1000  # bounds the documents in memory while many are compared


class ContainmentMatch(NamedTuple):
    """A document that contains the query, or is contained in it.

    Attributes:
        id: Id of the document.
        containment: Exact share of the contained document's elements (shingles, values) that the other has. For
            several fields, the weighted mean over the fields that both have and that are not empty in the contained
            document.
        similarity: Similarity as in `Index.find_similar`.
        fields: Containment of each field.

    >>> ContainmentMatch("a", 1.0, 0.25, {"text": 1.0}).containment
    1.0
    """

    id: DocumentId
    containment: float
    similarity: float
    fields: Mapping[str, float]


@dataclass(frozen=True)
class ContainmentMatches(Sequence[ContainmentMatch]):
    """Matches by descending containment, then similarity, then the order in which they were added.

    Attributes:
        matches: The matches.
        candidates: Number of documents that share stored passages with the query.
        compared: Number of compared candidates; fewer if `most` limited them.
        short: For `find_containing`, the text fields of the query with fewer words than `passages.certain`: matches of
            these may be missing.
    """

    matches: Sequence[ContainmentMatch]
    candidates: int
    compared: int
    short: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> ContainmentMatch: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ContainmentMatch]: ...
    def __getitem__(self, index: Any) -> Any:
        return self.matches[index]

    def __len__(self) -> int:
        return len(self.matches)


@dataclass(frozen=True)
class Containment:
    """Computes how much of a document other documents contain, or (`inward`) how much of them it contains."""

    sketcher: Sketcher
    fingerprints: Fingerprints
    inward: bool

    def find(
        self, storage: Storage, query: Query, threshold: float, limit: int | None, most: int | None
    ) -> ContainmentMatches:
        """Return the matches of a document, reading at most `most` others."""
        query_keys = self.fingerprints.query_keys(query.document, shorter=self.inward)
        short = () if self.inward else self.fingerprints.short(query.document)
        (question,) = self.sketcher.ask([query.document], threads=1)
        with storage.snapshot():
            hits = self.fingerprints.hits(storage, query_keys.keys)
            itself = storage.numbers([query.document.id] if query.identified else [])
            open_to = ~np.isin(hits.documents, itself)
            if not self.inward:
                open_to &= self.fingerprints.most_contained(query_keys, hits) >= threshold
            candidates = hits.documents[open_to]
            chosen = candidates[:most]
            results = [
                item
                for start in range(0, len(chosen), _READ_AT_ONCE)
                for item in self._compare(storage, question, chosen[start : start + _READ_AT_ONCE], threshold)
            ]
            results.sort(key=lambda item: (-item.match.containment, -item.match.similarity, item.number))
            best = results[:limit]
            ids = storage.ids([item.number for item in best])
        matches = [item.match._replace(id=document_id) for item, document_id in zip(best, ids, strict=True)]
        return ContainmentMatches(matches, len(candidates), len(chosen), short)

    def _compare(
        self, storage: Storage, question: SketchedQuery, numbers: NDArray[np.int64], threshold: float
    ) -> list[_Compared]:
        payloads = storage.payloads(numbers)
        table = self.table(question, payloads)
        chosen = np.flatnonzero(table[:, 0] >= threshold)  # not where it is NaN
        if not len(chosen):
            return []
        similar = question.similarities([payloads[number] for number in chosen.tolist()])[:, 0]
        results = []
        for position, similarity in zip(chosen.tolist(), similar.tolist(), strict=True):
            shares = zip(self.fingerprints.schema.fields, table[position, 1:].tolist(), strict=True)
            fields = {name: share for name, share in shares if share == share}  # not NaN
            match = ContainmentMatch("", float(table[position, 0]), similarity, fields)
            results.append(_Compared(int(numbers[position]), match))
        return results

    def table(self, question: SketchedQuery, payloads: Sequence[bytes]) -> NDArray[np.float64]:
        """Return the containment of each encoded document (float64, m × (1 + fields)): the mean, then each field's.

        Not-a-number if one of the two lacks a field, if the contained one is empty, and for fields without
        fingerprints.
        """
        filed, weights = self.fingerprints.filed, self.fingerprints.schema.weights
        counted = [weight if number in filed else 0.0 for number, weight in enumerate(weights)]
        return question.overlaps(payloads).containments(counted, of_right=not self.inward)


class _Compared(NamedTuple):
    number: int
    match: ContainmentMatch
