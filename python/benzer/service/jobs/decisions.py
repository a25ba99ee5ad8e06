"""The kept documents after decisions about clusters: those that the job keeps, and those split off.

Keeping a cluster leaves it as found. Splitting a cluster keeps all of its documents, or the named ones. So decisions
only add kept documents: each document that is still removed has the same kept document and similarity as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer.results import Duplicates
from benzer.results.columns import packed_table, places
from benzer.service.errors import Refusal
from benzer.service.jobs.clusters import leader_of, members_of
from benzer.service.jobs.tables import Table, part_of
from benzer.tables import IdColumn
from benzer.tables.native import plain


class Decision(NamedTuple):
    """A decision about one cluster; `members` are the kept members of a split cluster, None for all."""

    cluster: int
    decision: Literal["keep", "split"]
    members: Sequence[str | int] | None = None


class Decided(NamedTuple):
    """Which documents are kept (bool, n)."""

    result: Duplicates
    stays: NDArray[np.bool_]

    def table(self, name: Literal["kept", "removed"]) -> Table:
        """The kept or the removed documents, in the format of the tables of the job."""
        if name == "kept":
            stay = np.flatnonzero(self.stays).astype(np.uint32)
            columns = {"id": IdColumn(self.result.corpus, stay), **places(self.result, stay)}
        else:
            columns = self._removed()
        total = len(next(iter(columns.values())))
        return Table(
            total, lambda start, end: {key: part_of(column, start, end) for key, column in columns.items()}
        )

    def _removed(self) -> dict[str, Any]:
        goes = np.flatnonzero(~self.result.stays)
        rows = np.flatnonzero(~self.stays[goes])
        return {key: chosen(column, rows) for key, column in packed_table(self.result, "removed").items()}


def chosen(column: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of a column."""
    if isinstance(column, IdColumn):
        return IdColumn(column.corpus, column.positions[rows])
    values = plain(column)
    return values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows.tolist()]


def decided(result: Duplicates, decisions: Iterable[Decision]) -> Decided:
    """The kept documents after decisions; each cluster may have one decision.

    >>> from benzer import find_duplicates
    >>> found = find_duplicates({"a": "one two three", "b": "one, two, three", "c": "One two three"})
    >>> decided(found, [Decision(0, "split", ["c"])]).stays.tolist()
    [True, False, True]
    """
    stays, seen = result.stays.copy(), set[int]()
    for position, decision in enumerate(decisions):
        where = f"body.decisions.{position}"
        if decision.cluster in seen:
            raise Refusal(
                422,
                f"cluster {decision.cluster} has two decisions: send one decision per cluster",
                field=where,
            )
        seen.add(decision.cluster)
        members = members_of(result, leader_of(result, decision.cluster))
        if decision.decision == "keep" and decision.members is not None:
            raise Refusal(422, "a kept cluster must not have members: remove them", field=where)
        if decision.decision == "split":
            stays[members if decision.members is None else named(result, members, decision, where)] = True
    return Decided(result, stays)


def named(result: Duplicates, members: Any, decision: Decision, where: str) -> list[int]:
    """The positions of the members that a decision names."""
    positions = {
        (type(id), id): position
        for id, position in zip(result.corpus.ids(members), members.tolist(), strict=True)
    }
    missing = [id for id in decision.members or () if (type(id), id) not in positions]
    if missing:
        raise Refusal(
            422, f"cluster {decision.cluster} has no member {missing[0]!r:.200}: name only its members",
            field=f"{where}.members",
        )  # fmt: skip
    return [positions[type(id), id] for id in decision.members or ()]
