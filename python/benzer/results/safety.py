"""Checks of clusters: similarities inside, and chains between clusters.

A cluster is a kept document with the documents removed because of it. Each of these resembles the kept one, but two
of them may resemble each other less. A verified pair with documents of different clusters is a bridge: connected
components would merge these clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benzer._native import components
from benzer.errors import SettingsError
from benzer.results.base import DecidedDocuments

Positions = NDArray[np.uint32]
Floats = NDArray[np.float64]
Order = Literal["largest", "doubtful"]
DISTINCT = 16
"""Up to so many different contents of a cluster are compared all with all."""


@dataclass(frozen=True)
class Bridge:
    """A verified pair that connects a member of one cluster to a member of another.

    Attributes:
        left_id: The member of this cluster.
        right_id: The member of the other cluster.
        representative: The kept document of the other cluster.
        representatives: The exact similarity of the two kept documents, which connected components would ignore.
    """

    left_id: str | int
    right_id: str | int
    similarity: float
    representative: str | int
    representatives: float


@dataclass(frozen=True)
class ClusterReport:
    """The size of one cluster, its lowest similarity inside, and its bridges to other clusters.

    Attributes:
        size: Number of documents, including the kept one.
        distinct: Number of different contents.
        least_similarity: The lowest exact similarity found between two documents.
        least_pair: These two documents.
        compared: "all" if `least_similarity` is the lowest over all pairs. "some" if the cluster has too many
            contents: then it is the lowest over the pairs of the representative with every member, and over all pairs
            of the members least similar to it.
        component_size: Number of documents that verified pairs connect with this cluster: a connected component.
        component_clusters: Number of clusters of that component, including those of one document.
        bridges: The strongest bridge to each other cluster, the least similar representatives first.
    """

    representative: str | int
    size: int
    distinct: int
    least_similarity: float
    least_pair: tuple[str | int, str | int]
    compared: Literal["all", "some"]
    component_size: int
    component_clusters: int
    bridges: tuple[Bridge, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Bridges:
    """The strongest verified pair between each two clusters, by position.

    Attributes:
        left: A document of one cluster (uint32).
        right: A document of the other cluster (uint32).
        similarity: The similarity of the two (float64).
        left_leader: The kept document of the left cluster (uint32).
        right_leader: The kept document of the right cluster (uint32).
        leaders: The similarity of the two kept documents (float64).
    """

    left: Positions
    right: Positions
    similarity: Floats
    left_leader: Positions
    right_leader: Positions
    leaders: Floats

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True)
class Inside:
    """The lowest similarity within each cluster of two or more documents, by the number of the cluster.

    Attributes:
        leader: The kept document (uint32).
        size: Number of documents (int64).
        distinct: Number of different contents (int64).
        least: The lowest similarity (float64).
        left: The first document of a pair with this similarity (uint32).
        right: The second document of that pair (uint32).
        all_compared: Whether all pairs were compared (bool).
    """

    leader: Positions
    size: NDArray[np.int64]
    distinct: NDArray[np.int64]
    least: Floats
    left: Positions
    right: Positions
    all_compared: NDArray[np.bool_]


class Safety:
    """Checks of all clusters of a result; each part is computed when it is first used.

    Attributes:
        most: Clusters with up to this many different contents are compared completely; in a larger cluster, the
            `most` contents that are least similar to the representative are. Takes up to most² / 2 comparisons per
            cluster, without those that the run has made.
    """

    def __init__(self, result: DecidedDocuments, most: int = DISTINCT) -> None:
        if most < 2:
            raise SettingsError(f"most must be at least 2 documents, got {most}: use 2 or more")
        self.result = result
        self.most = most

    @cached_property
    def component(self) -> Positions:
        """The component of each document over all verified pairs (uint32, n), identified by its first document."""
        left, right, _ = self._ties
        return components(len(self.result.leader), left, right)

    @cached_property
    def _ties(self) -> tuple[Positions, Positions, Floats]:
        """The verified pairs of documents in clusters; known documents are in no cluster."""
        pairs, known = self.result.pairs, self.result.known
        unknown = np.flatnonzero(~(known[pairs.left] | known[pairs.right]))
        return pairs.left[unknown], pairs.right[unknown], pairs.similarity[unknown]

    @cached_property
    def component_sizes(self) -> NDArray[np.int64]:
        """The number of documents of each component, at the position of its first document, otherwise 0 (int64, n)."""
        return np.bincount(self.component, minlength=len(self.component))

    @cached_property
    def component_clusters(self) -> NDArray[np.int64]:
        """The number of kept documents of each component, at the position of its first document (int64, n)."""
        return np.bincount(self.component[self.result.stays], minlength=len(self.component))

    @cached_property
    def component_largest(self) -> NDArray[np.int64]:
        """The size of the largest cluster of each component, at the position of its first document (int64, n)."""
        largest = np.zeros(len(self.component), dtype=np.int64)
        sizes = np.bincount(self.result.leader, minlength=len(largest))
        np.maximum.at(largest, self.component, sizes[self.result.leader])
        return largest

    @cached_property
    def bridges(self) -> Bridges:
        """The bridges between clusters."""
        leader, (left, right, similarity) = self.result.leader, self._ties
        apart = np.flatnonzero(leader[left] != leader[right])
        left, right, similarity = left[apart], right[apart], similarity[apart]
        ends = np.stack((leader[left], leader[right]))
        swap = ends[0] > ends[1]
        left, right = np.where(swap, right, left), np.where(swap, left, right)
        low, high = ends.min(axis=0), ends.max(axis=0)
        order = np.lexsort((right, left, -similarity, high, low))
        keys = packed(low[order], high[order])
        first = order[np.flatnonzero(np.diff(keys, prepend=keys[:1] + np.uint64(1)))]
        low, high = low[first], high[first]
        return Bridges(left[first], right[first], similarity[first], low, high, self.similarity(low, high))

    @cached_property
    def inside(self) -> Inside:
        """The lowest similarity inside each cluster."""
        result = self.result
        number_of, contents, starts = self._contents()
        leader = np.unique(result.leader[result.led])
        distinct = np.diff(starts)
        pairs = [
            pairs_within(contents, starts[:-1], distinct, size) for size in sizes_up_to(distinct, self.most)
        ]
        members = np.flatnonzero(result.led).astype(np.uint32)
        # A member and who stays for it are a pair whose similarity is known; copies of one content differ in nothing.
        left = np.concatenate([result.leader[members], *(pair[0] for pair in pairs)])
        right = np.concatenate([members, *(pair[1] for pair in pairs)])
        split = len(members)
        values = np.concatenate(
            (result.leader_similarity[members], self.similarity(left[split:], right[split:]))
        )
        cluster = np.concatenate([number_of[members], *(pair[2] for pair in pairs)])
        order = np.lexsort((right, left, values, cluster))
        first = order[np.searchsorted(cluster[order], np.arange(len(leader)))] if len(leader) else order
        size = np.bincount(number_of[members], minlength=len(leader)) + 1
        return Inside(leader, size, distinct, values[first], left[first], right[first], distinct <= self.most)

    def _contents(self) -> tuple[NDArray[np.int64], Positions, NDArray[np.int64]]:
        """The number of each document's cluster, and one document for each content of each cluster.

        Those of a cluster are adjacent (`starts`), the kept one first, then the others by ascending similarity to it.
        """
        result = self.result
        leaders = np.unique(result.leader[result.led])
        number_of = np.searchsorted(leaders, result.leader)
        members = np.flatnonzero(np.isin(result.leader, leaders))
        cluster, content = number_of[members], result.stands_for[members]
        stays = result.stays[members]
        order = np.lexsort((members, content, result.leader_similarity[members], ~stays, cluster))
        # Copies of one content have one similarity to who stays, so they lie side by side.
        new = np.ones(len(order), dtype=bool)
        if len(order):
            same_cluster = cluster[order][1:] == cluster[order][:-1]
            new[1:] = ~(same_cluster & (content[order][1:] == content[order][:-1]))
            new[1:] &= ~(
                same_cluster & (content[order][1:] == result.stands_for[leaders[cluster[order][1:]]])
            )
        chosen = order[new]
        counts = np.bincount(cluster[chosen], minlength=len(leaders))
        return number_of, members[chosen].astype(np.uint32), np.concatenate(([0], np.cumsum(counts)))

    def similarity(self, left: Positions, right: Positions) -> Floats:
        """Return the exact similarity of pairs: from the run, or compared now."""
        keys, known = self._known
        # Of documents of one content only one took part in the run's pairs.
        left, right = self.result.stands_for[left], self.result.stands_for[right]
        keys_wanted, back = np.unique(
            packed(np.minimum(left, right), np.maximum(left, right)), return_inverse=True
        )
        a, b = (
            (keys_wanted >> np.uint64(32)).astype(np.uint32),
            (keys_wanted & np.uint64(2**32 - 1)).astype(np.uint32),
        )
        values = np.ones(len(keys_wanted), dtype=np.float64)
        place = np.searchsorted(keys, keys_wanted)
        compared = np.flatnonzero(place < len(keys))
        compared = compared[keys[place[compared]] == keys_wanted[compared]]
        values[compared] = known[place[compared]]
        new = a != b
        new[compared] = False
        if new.any():
            values[new] = self.result.compare(a[new], b[new])
        return values[back]

    @cached_property
    def _known(self) -> tuple[NDArray[np.uint64], Floats]:
        result = self.result
        left = np.concatenate((result.proposed.left, result.decision.left))
        right = np.concatenate((result.proposed.right, result.decision.right))
        keys = packed(np.minimum(left, right), np.maximum(left, right))
        order = np.argsort(keys, kind="stable")
        return keys[order], np.concatenate((result.verified, result.decision.score))[order]

    def order(self, order: Order = "largest") -> NDArray[np.intp]:
        """Return the numbers of the clusters in an order: the largest first, or the lowest similarity inside first."""
        inside = self.inside
        if order == "largest":
            return np.lexsort((inside.leader, inside.least, -inside.size))
        if order == "doubtful":
            return np.lexsort((inside.leader, -inside.size, inside.least))
        raise SettingsError(f"order must be 'largest' or 'doubtful', got {order!r}")

    def reports(self, numbers: Sequence[int] | NDArray[np.intp]) -> list[ClusterReport]:
        """Return a report for each cluster, by number."""
        inside, name = self.inside, self._names
        bridges = self._bridges_of(inside.leader[np.asarray(numbers, dtype=np.intp)].tolist())
        reports = []
        for number in map(int, numbers):
            leader = int(inside.leader[number])
            component = int(self.component[leader])
            reports.append(
                ClusterReport(
                    name([leader])[0],
                    int(inside.size[number]),
                    int(inside.distinct[number]),
                    float(inside.least[number]),
                    (name([int(inside.left[number])])[0], name([int(inside.right[number])])[0]),
                    "all" if inside.all_compared[number] else "some",
                    int(self.component_sizes[component]),
                    int(self.component_clusters[component]),
                    tuple(self.bridge(position, leader) for position in bridges[leader]),
                )
            )
        return reports

    def _bridges_of(self, leaders: Sequence[int]) -> dict[int, list[int]]:
        """Return the bridges of each cluster, the least similar representatives first."""
        bridges = self.bridges
        wanted = np.array(leaders, dtype=np.uint32)
        own = np.flatnonzero(np.isin(bridges.left_leader, wanted) | np.isin(bridges.right_leader, wanted))
        by_leader: dict[int, list[int]] = {leader: [] for leader in leaders}
        for position in own[np.argsort(bridges.leaders[own], kind="stable")].tolist():
            for end in (int(bridges.left_leader[position]), int(bridges.right_leader[position])):
                if end in by_leader:
                    by_leader[end].append(position)
        return by_leader

    def bridge(self, position: int, leader: int) -> Bridge:
        """Return one bridge as seen from the cluster of `leader`."""
        bridges = self.bridges
        ends = [int(bridges.left[position]), int(bridges.right[position])]
        leaders = [int(bridges.left_leader[position]), int(bridges.right_leader[position])]
        if leader != leaders[0]:
            ends, leaders = ends[::-1], leaders[::-1]
        left, right, other = self._names([*ends, leaders[1]])
        return Bridge(
            left, right, float(bridges.similarity[position]), other, float(bridges.leaders[position])
        )

    def _names(self, positions: Sequence[int]) -> list[str | int]:
        return self.result.corpus.ids(list(positions))


def packed(low: Positions, high: Positions) -> NDArray[np.uint64]:
    """Return one number for each pair (uint64).

    >>> packed(np.array([1], dtype=np.uint32), np.array([2], dtype=np.uint32)).tolist()
    [4294967298]
    """
    keys: NDArray[np.uint64] = (low.astype(np.uint64) << np.uint64(32)) | high.astype(np.uint64)
    return keys


def sizes_up_to(distinct: NDArray[np.int64], most: int) -> list[tuple[int, bool]]:
    """Return the sizes of clusters that are compared completely, and at the end `most` for larger ones.

    >>> sizes_up_to(np.array([1, 3, 9, 3]), 4)
    [(3, True), (4, False)]
    """
    sizes = [(int(size), True) for size in np.unique(distinct) if 3 <= size <= most]
    return [*sizes, (most, False)] if (distinct > most).any() else sizes


def pairs_within(
    contents: Positions, starts: NDArray[np.int64], distinct: NDArray[np.int64], size: tuple[int, bool]
) -> tuple[Positions, Positions, NDArray[np.intp]]:
    """Return all pairs, except those with the first, among the first `size` contents of each cluster of that size."""
    first, exactly = size
    clusters = np.flatnonzero(distinct == first if exactly else distinct > first)
    a, b = np.triu_indices(first - 1, 1)
    rows = contents[starts[clusters][:, None] + np.arange(1, first)]
    return rows[:, a].ravel(), rows[:, b].ravel(), np.repeat(clusters, len(a))
