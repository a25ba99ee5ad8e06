"""Clusters of a run with their least similar documents, and the pairs that link clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benzer.results import ClusterReport, Duplicates
from benzer.results.safety import Bridge
from benzer.views.sides import Sides, sides_of

MEMBERS_SHOWN = 8


@dataclass(frozen=True)
class ClusterView:
    """One cluster: its report, some of its members, and the least similar one next to the kept document."""

    report: ClusterReport
    members: Sequence[tuple[str | int, float]]
    left_out: int
    sides: Sides | None


@dataclass(frozen=True)
class BridgeView:
    """A pair that links two clusters, the kept document of the first one, and both kept documents side by side."""

    bridge: Bridge
    representative: str | int
    sides: Sides


def clusters_of(result: Duplicates, numbers: Sequence[int]) -> list[ClusterView]:
    """Clusters by number, each with the least similar removed document next to the kept one."""
    return [
        cluster_of(result, report, int(result.safety.inside.leader[number]))
        for number, report in zip(numbers, result.safety.reports(numbers), strict=True)
    ]


def cluster_of(result: Duplicates, report: ClusterReport, leader: int) -> ClusterView:
    """One cluster."""
    members = np.flatnonzero((result.leader == leader) & result.led).astype(np.uint32)
    members = members[np.lexsort((members, result.leader_similarity[members]))]
    ids, values = result.corpus.ids(members[:MEMBERS_SHOWN]), result.leader_similarity[members].tolist()
    sides = sides_of(result, leader, int(members[0]), values[0]) if values[0] < 1 else None
    named = list(zip(ids, values[:MEMBERS_SHOWN], strict=True))
    return ClusterView(report, named, len(members) - len(named), sides)


def chosen_clusters(result: Duplicates, evidence: int) -> tuple[list[int], list[int]]:
    """The numbers of the largest and of the most doubtful clusters, without repeats."""
    safety = result.safety
    largest = safety.order("largest").tolist()[: evidence // 4]
    doubtful = [item for item in safety.order("doubtful").tolist() if item not in set(largest)]
    return largest, doubtful[: evidence // 2]


def bridges_of(result: Duplicates, most: int) -> list[BridgeView]:
    """The bridges between clusters with the least similar representatives."""
    safety, bridges = result.safety, result.safety.bridges
    views = []
    for position in np.argsort(bridges.leaders, kind="stable")[:most].tolist():
        left, right = int(bridges.left_leader[position]), int(bridges.right_leader[position])
        sides = sides_of(result, left, right, float(bridges.leaders[position]))
        views.append(BridgeView(safety.bridge(position, left), result.corpus.ids([left])[0], sides))
    return views
