"""Families: the documents of large buckets, compared with the kept documents among them.

Documents made from one template fall into the same buckets. A family of n documents has n² / 2 pairs, but only the
pairs with kept documents decide which documents are removed. Documents are taken in keep order. Each is compared with
every leader before it that shares one of its large buckets, and becomes a leader if it is similar to none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from benzer._native import components
from benzer.buckets import LargeBuckets
from benzer.corpora import DocumentCorpus
from benzer.fields import Schema
from benzer.fields.base import has_own_similarity

Positions = NDArray[np.uint32]
Compare = Callable[[Positions, Positions], NDArray[np.float64]]

TOGETHER = 64
"""Documents of a family whose pairs among each other are compared in one call, where the core does not compare."""


class FamilyPairs(NamedTuple):
    """The result of a comparison of families.

    Attributes:
        documents: Documents, each with an earlier leader that is similar at the threshold (uint32).
        leaders: Their leaders (uint32).
        similarity: The exact similarity of each pair (float64).
        led: The documents that became leaders (uint32).
    """

    documents: Positions
    leaders: Positions
    similarity: NDArray[np.float64]
    led: Positions


class Families(Protocol):
    """Compares the documents of large buckets with the leaders among them."""

    def __call__(
        self, rank: Positions, large: LargeBuckets, may_lead: Positions, threshold: float
    ) -> FamilyPairs:
        """Compare the documents of all large buckets that contain one of `may_lead`.

        Args:
            rank: The position of each document in the keep order (uint32, n).
            large: The large buckets.
            may_lead: The documents that may become leaders (uint32, ascending).
            threshold: Minimum similarity of duplicates.
        """
        ...


@dataclass(frozen=True)
class NativeFamilies:
    """The comparison in the native core: exact, and linear in the documents of a family with few leaders.

    Texts are read again, some documents at a time. In a family with more than a few leaders, each document takes 4
    bytes for each of its first shingles (a fifth of its shingles at a threshold of 0.8), and a leader half a byte for
    each of its shingles. A family of up to 4 million shingles is kept in memory as a whole: 32 MB. The time is
    quadratic in leaders just below the threshold: about 40 nanoseconds for each pair of them.
    """

    corpus: DocumentCorpus
    weights: list[float]
    threads: int = 0

    def __call__(
        self, rank: Positions, large: LargeBuckets, may_lead: Positions, threshold: float
    ) -> FamilyPairs:
        """See `Families`."""
        given = (rank, large.members, large.ends, may_lead, threshold, self.weights, self.threads)
        return FamilyPairs(*self.corpus.compare_families(*given))


@dataclass(frozen=True)
class ComparedFamilies:
    """The comparison by a function, for field types whose similarity the core does not know.

    Every document is compared with every leader before it that shares a large bucket: quadratic in the leaders.
    """

    compare: Compare

    def __call__(
        self, rank: Positions, large: LargeBuckets, may_lead: Positions, threshold: float
    ) -> FamilyPairs:
        """See `Families`."""
        lead = np.zeros(len(rank), dtype=bool)
        lead[may_lead] = True
        buckets = [bucket for bucket in large.each() if lead[bucket].any()]
        parts = [
            self._of(family, buckets_of, lead, threshold) for family, buckets_of in _families(rank, buckets)
        ]
        columns = zip(*parts, strict=True) if parts else ([], [], [], [])
        documents, leaders, similarity, led = (np.concatenate((*column, [])) for column in columns)
        whole = (column.astype(np.uint32) for column in (documents, leaders, led))
        documents, leaders, led = whole
        return FamilyPairs(documents, leaders, similarity, led)

    def _of(
        self, family: list[int], buckets_of: dict[int, set[int]], lead: NDArray[np.bool_], threshold: float
    ) -> FamilyPairs:
        led: list[int] = []
        compared: list[tuple[int, int, float]] = []
        for start in range(0, len(family), TOGETHER):
            chunk = family[start : start + TOGETHER]
            pairs = [
                (document, other)
                for place, document in enumerate(chunk)
                for other in (*led, *chunk[:place])
                if lead[other] and not buckets_of[document].isdisjoint(buckets_of[other])
            ]
            left, right = (np.array(end, dtype=np.uint32) for end in zip(*pairs, strict=True)) if pairs else (
                np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint32)
            )  # fmt: skip
            values = self.compare(left, right).tolist() if pairs else []
            similar: dict[int, list[tuple[int, float]]] = {}
            for (document, other), value in zip(pairs, values, strict=True):
                if value >= threshold:
                    similar.setdefault(document, []).append((other, value))
            leaders = set(led)
            for document in chunk:
                matches = [(other, value) for other, value in similar.get(document, []) if other in leaders]
                compared.extend((document, other, value) for other, value in matches)
                if lead[document] and not matches:
                    led.append(document)
                    leaders.add(document)
        documents, others, similarity = zip(*compared, strict=True) if compared else ((), (), ())
        return FamilyPairs(
            np.array(documents, dtype=np.uint32),
            np.array(others, dtype=np.uint32),
            np.array(similarity, dtype=np.float64),
            np.array(led, dtype=np.uint32),
        )


def families_of(corpus: DocumentCorpus, schema: Schema, compare: Compare, threads: int = 0) -> Families:
    """Return the comparison for a corpus: that of the core, unless a field has a similarity of its own."""
    if any(has_own_similarity(field) for field in schema.fields.values()):
        return ComparedFamilies(compare)
    return NativeFamilies(corpus, schema.weights, threads)


def _families(rank: Positions, buckets: list[Positions]) -> list[tuple[list[int], dict[int, set[int]]]]:
    """Return the documents that share buckets, in keep order, each family with the buckets of its documents."""
    buckets_of: dict[int, set[int]] = {}
    for number, bucket in enumerate(buckets):
        for document in bucket.tolist():
            buckets_of.setdefault(document, set()).add(number)
    first = np.concatenate([np.full_like(bucket, bucket[0]) for bucket in buckets]) if buckets else rank[:0]
    label = components(len(rank), first, np.concatenate(buckets) if buckets else rank[:0])
    families: dict[int, list[int]] = {}
    for document in sorted(buckets_of, key=lambda document: int(rank[document])):
        families.setdefault(int(label[document]), []).append(document)
    return [(family, buckets_of) for family in families.values()]
