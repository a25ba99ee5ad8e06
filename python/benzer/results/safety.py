"""Checks of clusters: similarities inside, and chains between clusters.

A cluster is a document that stays and those that go for it; each of these resembles it, but two of them may
resemble each other less. A verified pair whose documents fell into different clusters is a bridge: clusters made of
connected components would be one there.
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
    """A verified pair that ties a member of one cluster (`left_id`) to a member of another (`right_id`).

    representative: the document that stays in the other cluster.
    representatives: the exact similarity of the two documents that stay: what a chain would have overlooked.
    """

    left_id: str | int
    right_id: str | int
    similarity: float
    representative: str | int
    representatives: float


@dataclass(frozen=True)
class ClusterReport:
    """One cluster: how large, how alike inside, and tied to what.

    size: its documents, the one that stays among them; `distinct`: their different contents.
    least_similarity: the least exact similarity found between two of them, `least_pair` which two.
    compared: "all" if it is the least over all pairs; "some" where the cluster has too many contents for that:
        then over the representative with every member, and over all pairs of those least like it.
    component_size, component_clusters: the documents, and the clusters (those of one document too), that verified
        pairs tie together: what a connected component would have made one cluster.
    bridges: the strongest tie to each other cluster, the least alike representatives first.
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
        """The report, JSON-able."""
        return asdict(self)


@dataclass(frozen=True)
class Bridges:
    """The strongest verified pair between each two clusters, by position.

    left, right: uint32, the two documents; `similarity`: float64, of the two.
    left_leader, right_leader: uint32, who stays for each; `leaders`: float64, the similarity of these two.
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
    """The least similarity within each cluster of two or more documents, by the cluster's number.

    leader: uint32, who stays; `size`, `distinct`: int64, documents and different contents.
    least: float64; `left`, `right`: uint32, a pair that has it; `all_compared`: bool, whether over all pairs.
    """

    leader: Positions
    size: NDArray[np.int64]
    distinct: NDArray[np.int64]
    least: Floats
    left: Positions
    right: Positions
    all_compared: NDArray[np.bool_]


class Safety:
    """All clusters of a result, looked into; each part is worked out when it is asked for.

    most: clusters of up to so many different contents are compared all with all; of a larger one the `most`
        contents least like the representative. Costs up to most² / 2 comparisons a cluster, of which those that
        the run has made are not made again.
    """

    def __init__(self, found: DecidedDocuments, most: int = DISTINCT) -> None:
        if most < 2:
            raise SettingsError(f"most must be at least 2 documents, got {most}: use 2 or more")
        self.found = found
        self.most = most

    @cached_property
    def component(self) -> Positions:
        """The component of each document under all verified pairs (uint32, n), named by its first document."""
        left, right, _ = self._ties
        return components(len(self.found.leader), left, right)

    @cached_property
    def _ties(self) -> tuple[Positions, Positions, Floats]:
        """The verified pairs of documents that belong to clusters: those known from elsewhere belong to none."""
        pairs, known = self.found.pairs, self.found.known
        held = np.flatnonzero(~(known[pairs.left] | known[pairs.right]))
        return pairs.left[held], pairs.right[held], pairs.similarity[held]

    @cached_property
    def component_sizes(self) -> NDArray[np.int64]:
        """For each position the documents of the component that it names, else 0 (int64, n)."""
        return np.bincount(self.component, minlength=len(self.component))

    @cached_property
    def component_clusters(self) -> NDArray[np.int64]:
        """For each position the documents that stay of the component that it names (int64, n)."""
        return np.bincount(self.component[self.found.stays], minlength=len(self.component))

    @cached_property
    def component_largest(self) -> NDArray[np.int64]:
        """For each position the documents of the largest cluster of the component that it names (int64, n)."""
        largest = np.zeros(len(self.component), dtype=np.int64)
        sizes = np.bincount(self.found.leader, minlength=len(largest))
        np.maximum.at(largest, self.component, sizes[self.found.leader])
        return largest

    @cached_property
    def bridges(self) -> Bridges:
        """What ties clusters together."""
        leader, (left, right, similarity) = self.found.leader, self._ties
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
        """How alike the members of each cluster are."""
        found = self.found
        number_of, contents, starts = self._contents()
        leader = np.unique(found.leader[found.led])
        distinct = np.diff(starts)
        pairs = [
            pairs_within(contents, starts[:-1], distinct, size) for size in sizes_up_to(distinct, self.most)
        ]
        members = np.flatnonzero(found.led).astype(np.uint32)
        # A member and who stays for it are a pair whose similarity is known; copies of one content differ in nothing.
        left = np.concatenate([found.leader[members], *(pair[0] for pair in pairs)])
        right = np.concatenate([members, *(pair[1] for pair in pairs)])
        split = len(members)
        values = np.concatenate(
            (found.leader_similarity[members], self.similarity(left[split:], right[split:]))
        )
        cluster = np.concatenate([number_of[members], *(pair[2] for pair in pairs)])
        order = np.lexsort((right, left, values, cluster))
        first = order[np.searchsorted(cluster[order], np.arange(len(leader)))] if len(leader) else order
        size = np.bincount(number_of[members], minlength=len(leader)) + 1
        return Inside(leader, size, distinct, values[first], left[first], right[first], distinct <= self.most)

    def _contents(self) -> tuple[NDArray[np.int64], Positions, NDArray[np.int64]]:
        """The number of each document's cluster, and one document for each content of each cluster.

        Those of a cluster lie together (`starts`), who stays first, then the least similar to it.
        """
        found = self.found
        leaders = np.unique(found.leader[found.led])
        number_of = np.searchsorted(leaders, found.leader)
        held = np.flatnonzero(np.isin(found.leader, leaders))
        cluster, content = number_of[held], found.stands_for[held]
        stays = found.stays[held]
        order = np.lexsort((held, content, found.leader_similarity[held], ~stays, cluster))
        # Copies of one content have one similarity to who stays, so they lie side by side.
        new = np.ones(len(order), dtype=bool)
        if len(order):
            same_cluster = cluster[order][1:] == cluster[order][:-1]
            new[1:] = ~(same_cluster & (content[order][1:] == content[order][:-1]))
            new[1:] &= ~(same_cluster & (content[order][1:] == found.stands_for[leaders[cluster[order][1:]]]))
        chosen = order[new]
        counts = np.bincount(cluster[chosen], minlength=len(leaders))
        return number_of, held[chosen].astype(np.uint32), np.concatenate(([0], np.cumsum(counts)))

    def similarity(self, left: Positions, right: Positions) -> Floats:
        """The exact similarity of pairs: that which the run knows, else compared now."""
        keys, known = self._known
        # Of documents of one content only one took part in the run's pairs.
        left, right = self.found.stands_for[left], self.found.stands_for[right]
        asked, back = np.unique(packed(np.minimum(left, right), np.maximum(left, right)), return_inverse=True)
        a, b = (asked >> np.uint64(32)).astype(np.uint32), (asked & np.uint64(2**32 - 1)).astype(np.uint32)
        values = np.ones(len(asked), dtype=np.float64)
        place = np.searchsorted(keys, asked)
        held = np.flatnonzero(place < len(keys))
        held = held[keys[place[held]] == asked[held]]
        values[held] = known[place[held]]
        new = a != b
        new[held] = False
        if new.any():
            values[new] = self.found.compare(a[new], b[new])
        return values[back]

    @cached_property
    def _known(self) -> tuple[NDArray[np.uint64], Floats]:
        found = self.found
        left = np.concatenate((found.proposed.left, found.decision.left))
        right = np.concatenate((found.proposed.right, found.decision.right))
        keys = packed(np.minimum(left, right), np.maximum(left, right))
        order = np.argsort(keys, kind="stable")
        return keys[order], np.concatenate((found.verified, found.decision.score))[order]

    def order(self, order: Order = "largest") -> NDArray[np.intp]:
        """The numbers of the clusters in an order: the largest first, or the least alike inside first."""
        inside = self.inside
        if order == "largest":
            return np.lexsort((inside.leader, inside.least, -inside.size))
        if order == "doubtful":
            return np.lexsort((inside.leader, -inside.size, inside.least))
        raise SettingsError(f"order must be 'largest' or 'doubtful', got {order!r}")

    def reports(self, numbers: Sequence[int] | NDArray[np.intp]) -> list[ClusterReport]:
        """The report on each of some clusters, by number."""
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
                    tuple(self.bridge(at, leader) for at in bridges[leader]),
                )
            )
        return reports

    def _bridges_of(self, leaders: Sequence[int]) -> dict[int, list[int]]:
        """Which bridges each of some clusters has, the least alike representatives first."""
        bridges = self.bridges
        asked = np.array(leaders, dtype=np.uint32)
        held = np.flatnonzero(np.isin(bridges.left_leader, asked) | np.isin(bridges.right_leader, asked))
        found: dict[int, list[int]] = {leader: [] for leader in leaders}
        for at in held[np.argsort(bridges.leaders[held], kind="stable")].tolist():
            for end in (int(bridges.left_leader[at]), int(bridges.right_leader[at])):
                if end in found:
                    found[end].append(at)
        return found

    def bridge(self, at: int, leader: int) -> Bridge:
        """One bridge, seen from the cluster of `leader`."""
        bridges = self.bridges
        ends = [int(bridges.left[at]), int(bridges.right[at])]
        leaders = [int(bridges.left_leader[at]), int(bridges.right_leader[at])]
        if leader != leaders[0]:
            ends, leaders = ends[::-1], leaders[::-1]
        left, right, other = self._names([*ends, leaders[1]])
        return Bridge(left, right, float(bridges.similarity[at]), other, float(bridges.leaders[at]))

    def _names(self, positions: Sequence[int]) -> list[str | int]:
        return self.found.corpus.ids(list(positions))


def packed(low: Positions, high: Positions) -> NDArray[np.uint64]:
    """One number for each pair (uint64).

    >>> packed(np.array([1], dtype=np.uint32), np.array([2], dtype=np.uint32)).tolist()
    [4294967298]
    """
    keys: NDArray[np.uint64] = (low.astype(np.uint64) << np.uint64(32)) | high.astype(np.uint64)
    return keys


def sizes_up_to(distinct: NDArray[np.int64], most: int) -> list[tuple[int, bool]]:
    """The sizes of clusters that are compared all with all, and at the end `most` for those of more contents.

    >>> sizes_up_to(np.array([1, 3, 9, 3]), 4)
    [(3, True), (4, False)]
    """
    sizes = [(int(size), True) for size in np.unique(distinct) if 3 <= size <= most]
    return [*sizes, (most, False)] if (distinct > most).any() else sizes


def pairs_within(
    contents: Positions, starts: NDArray[np.int64], distinct: NDArray[np.int64], size: tuple[int, bool]
) -> tuple[Positions, Positions, NDArray[np.intp]]:
    """All pairs, but for those with the first, among the first `size` contents of each cluster of that size."""
    first, exactly = size
    clusters = np.flatnonzero(distinct == first if exactly else distinct > first)
    a, b = np.triu_indices(first - 1, 1)
    rows = contents[starts[clusters][:, None] + np.arange(1, first)]
    return rows[:, a].ravel(), rows[:, b].ravel(), np.repeat(clusters, len(a))
