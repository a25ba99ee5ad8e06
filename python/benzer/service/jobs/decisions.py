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
from benzer.results.columns import held, places
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

    found: Duplicates
    stays: NDArray[np.bool_]

    def table(self, name: Literal["kept", "removed"]) -> Table:
        """The kept or the removed documents, in the format of the tables of the job."""
        if name == "kept":
            stay = np.flatnonzero(self.stays).astype(np.uint32)
            columns = {"id": IdColumn(self.found.corpus, stay), **places(self.found, stay)}
        else:
            columns = self._removed()
        total = len(next(iter(columns.values())))
        return Table(
            total, lambda start, end: {key: part_of(one, start, end) for key, one in columns.items()}
        )

    def _removed(self) -> dict[str, Any]:
        goes = np.flatnonzero(~self.found.stays)
        rows = np.flatnonzero(~self.stays[goes])
        return {key: chosen(column, rows) for key, column in held(self.found, "removed").items()}


def chosen(column: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of a column."""
    if isinstance(column, IdColumn):
        return IdColumn(column.corpus, column.positions[rows])
    values = plain(column)
    return values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows.tolist()]


def decided(found: Duplicates, decisions: Iterable[Decision]) -> Decided:
    """The kept documents after decisions; each cluster may have one decision.

    >>> from benzer import find_duplicates
    >>> found = find_duplicates({"a": "one two three", "b": "one, two, three", "c": "One two three"})
    >>> decided(found, [Decision(0, "split", ["c"])]).stays.tolist()
    [True, False, True]
    """
    stays, seen = found.stays.copy(), set[int]()
    for at, one in enumerate(decisions):
        where = f"body.decisions.{at}"
        if one.cluster in seen:
            raise Refusal(
                422, f"cluster {one.cluster} has two decisions: send one decision per cluster", field=where
            )
        seen.add(one.cluster)
        members = members_of(found, leader_of(found, one.cluster))
        if one.decision == "keep" and one.members is not None:
            raise Refusal(422, "a kept cluster must not have members: remove them", field=where)
        if one.decision == "split":
            stays[members if one.members is None else named(found, members, one, where)] = True
    return Decided(found, stays)


def named(found: Duplicates, members: Any, decision: Decision, where: str) -> list[int]:
    """The positions of the members that a decision names."""
    at = {
        (type(id), id): position
        for id, position in zip(found.corpus.ids(members), members.tolist(), strict=True)
    }
    missing = [id for id in decision.members or () if (type(id), id) not in at]
    if missing:
        raise Refusal(
            422, f"cluster {decision.cluster} has no member {missing[0]!r:.200}: name only its members",
            field=f"{where}.members",
        )  # fmt: skip
    return [at[type(id), id] for id in decision.members or ()]
