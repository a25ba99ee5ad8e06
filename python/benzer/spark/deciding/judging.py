"""Decides which documents are kept, as rows of outcomes, from pairs with their similarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer._native import components
from benzer.clusters import ClusterDecision, Compare, Families, Keep, Positions, decide_unknown
from benzer.registry import require
from benzer.spark.deciding.members import Members, input_order, whole_numbers
from benzer.spark.frames import KEPT, OUTCOMES, PAIR, REMOVED, WITNESS

DECIDED = OUTCOMES + ", of_place {place}, of_extra string, of_length bigint"
"""Outcomes, and for a WITNESS the columns that determine the place of `right` in the keep order."""


@dataclass(frozen=True)
class Verified:
    """Pairs by position, the earlier document in the input first, with their exact similarity."""

    left: Positions
    right: Positions
    similarity: NDArray[np.float64]

    @classmethod
    def of(cls, left: Positions, right: Positions, similarity: NDArray[np.float64]) -> Verified:
        """The pairs in this order."""
        return cls(np.minimum(left, right), np.maximum(left, right), similarity)

    def at_least(self, threshold: float) -> Verified:
        """The pairs with at least this similarity."""
        alike = self.similarity >= threshold
        return Verified(self.left[alike], self.right[alike], self.similarity[alike])

    def and_those(self, other: Verified) -> Verified:
        """These and the others."""
        return Verified(
            np.concatenate((self.left, other.left)),
            np.concatenate((self.right, other.right)),
            np.concatenate((self.similarity, other.similarity)),
        )


@dataclass(frozen=True)
class Judge:
    """Decides as in a local run: by the rules of `benzer.clusters`, on documents in input order.

    Complete components are independent, so any number of them can be decided in one call.
    """

    threshold: float
    keep: Keep

    def outcomes(
        self, members: Members, pairs: Verified, compare: Compare, families: Families | None = None
    ) -> Any:
        """The rows of `FOUND` for some documents and their pairs, as a table.

        Args:
            members: The documents.
            pairs: Their pairs.
            compare: Returns the exact similarity of further pairs.
            families: Compares the documents of large buckets; None without texts and without such documents.
        """
        rank = members.rank(self.keep)
        itself = np.arange(len(members), dtype=np.uint32)
        given = (pairs.left, pairs.right, pairs.similarity)
        decision = decide_unknown(
            members.known, rank, itself, given, self.threshold, compare, members.large, families
        )
        second = Verified.of(decision.left, decision.right, decision.score)
        pairs = pairs.at_least(self.threshold).and_those(second)
        return _Rows(members, rank, pairs, decision).table()


@dataclass(frozen=True)
class _Rows:
    """The outcomes of decided documents; `pairs` are those at the threshold."""

    members: Members
    rank: Positions
    pairs: Verified
    decision: ClusterDecision

    def table(self) -> Any:
        pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
        return pyarrow.concat_tables([self._pairs(), self._documents(), self._witnesses()])

    def _pairs(self) -> Any:
        members, pairs = self.members, self.pairs
        id = members.table.column("id")
        return self._rows(
            np.full(len(pairs.left), PAIR),
            (members.numbers[pairs.left], members.numbers[pairs.right]),
            (id.take(pairs.left), id.take(pairs.right)),
            pairs.similarity,
        )

    def _documents(self) -> Any:
        """The outcomes of documents in pairs: removed ones with the kept document, and kept ones."""
        leader = self.decision.leader
        tied = np.zeros(len(leader), dtype=bool)
        tied[self.pairs.left] = tied[self.pairs.right] = True
        listed = np.flatnonzero(tied & ~self.members.known).astype(np.uint32)
        kind = np.where(leader[listed] == listed, KEPT, REMOVED)
        return self._of(kind, listed, leader[listed], self.decision.similarity[listed])

    def _witnesses(self) -> Any:
        """For each removed document the later kept ones that are more similar than all before.

        A copy after one of them is removed as its duplicate, as in `best_leader` of the core.
        """
        leader, rank, pairs = self.decision.leader, self.rank, self.pairs
        gone = np.concatenate((pairs.left, pairs.right))
        kept = np.concatenate((pairs.right, pairs.left))
        similarity = np.concatenate((pairs.similarity, pairs.similarity))
        stays = (leader == np.arange(len(leader))) & ~self.members.known
        # `known` documents were not decided, so they are neither.
        steps = ~stays[gone] & ~self.members.known[gone] & stays[kept] & (rank[kept] > rank[gone])
        steps &= similarity > self.decision.similarity[gone]
        order = np.flatnonzero(steps)
        order = order[np.lexsort((rank[kept[order]], gone[order]))]
        order = order[rising(gone[order], similarity[order])]
        rows = self._of(np.full(len(order), WITNESS), gone[order], kept[order], similarity[order])
        return self._with_places(rows, kept[order])

    def _of(
        self, kind: NDArray[Any], left: Positions, right: Positions, similarity: NDArray[np.float64]
    ) -> Any:
        members = self.members
        number, id = whole_numbers(members.decided("number")), members.decided("id")
        component, component_id = self._component
        return self._rows(
            kind,
            (number[left], number[right]),
            (id.take(left), id.take(right)),
            similarity,
            (component.take(left), component_id.take(left)),
            members.identity[left],
        )

    @property
    def _component(self) -> tuple[Any, Any]:
        """The number and id of the first document in the input of those linked by pairs and equal contents."""
        members = self.members
        tied = components(len(members), self.pairs.left, self.pairs.right)
        place, number, id = (members.first(column) for column in ("place", "number", "id"))
        order = input_order(place, number)
        least = np.full(len(members), len(members), dtype=np.int64)
        positions = np.empty(len(members), dtype=np.int64)
        positions[order] = np.arange(len(members))
        np.minimum.at(least, tied, positions)
        first = order[least[tied]] if len(members) else order
        return number.take(first), id.take(first)

    def _rows(
        self,
        kind: NDArray[Any],
        numbers: tuple[NDArray[np.int64], NDArray[np.int64]],
        ids: tuple[Any, Any],
        similarity: NDArray[np.float64],
        component: tuple[Any, Any] | None = None,
        identity: NDArray[np.int64] | None = None,
    ) -> Any:
        pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
        id, place = (self.members.table.schema.field(name).type for name in ("id", "place"))

        def nulls(kind_of: Any) -> Any:
            return pyarrow.nulls(len(kind), kind_of)

        none = nulls(pyarrow.int64())
        return pyarrow.table(
            {
                "kind": pyarrow.array(kind.astype(np.int32)),
                "left": numbers[0],
                "right": numbers[1],
                "left_id": ids[0],
                "right_id": ids[1],
                "similarity": similarity,
                "component": none if component is None else component[0],
                "component_id": nulls(id) if component is None else component[1],
                "identity_a": none if identity is None else np.ascontiguousarray(identity[:, 0]),
                "identity_b": none if identity is None else np.ascontiguousarray(identity[:, 1]),
                "of_place": nulls(place),
                "of_extra": nulls(self.members.table.schema.field("extra").type),
                "of_length": none,
            }
        )

    def _with_places(self, rows: Any, right: Positions) -> Any:
        pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
        members = self.members
        columns = {
            "of_place": members.decided("place").take(right),
            "of_extra": members.decided("extra").take(right),
            "of_length": pyarrow.array(members.decided_lengths[right].astype(np.int64)),
        }
        for name, column in columns.items():
            positions = rows.schema.get_field_index(name)
            rows = rows.set_column(positions, rows.schema.field(positions), column)
        return rows


def rising(group: Sequence[int] | NDArray[Any], value: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which values are larger than all before them in their group (bool, n); groups are ascending.

    >>> rising([0, 0, 0, 0, 2], np.array([0.8, 0.8, 0.9, 0.85, 0.1])).tolist()
    [True, False, True, False, True]
    """
    if not len(value):
        return np.zeros(0, dtype=bool)
    # By the ranks of the values, which are integers: sums of a group and a value would lose bits.
    distinct, place = np.unique(value, return_inverse=True)
    height = np.asarray(group, dtype=np.int64) * (len(distinct) + 1) + place + 1
    before = np.maximum.accumulate(np.concatenate(([0], height[:-1])))
    more: NDArray[np.bool_] = height > before
    return more
