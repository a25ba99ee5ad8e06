"""One cluster: its members with their texts, the kept document first."""

from __future__ import annotations

from typing import Any

import numpy as np

from benzer.fields import Text
from benzer.results import Duplicates
from benzer.service.errors import Refusal
from benzer.service.jobs.tables import clusters, rows_of
from benzer.wording import counted


def opened(result: Duplicates, number: int, offset: int, limit: int, length: int) -> dict[str, Any]:
    """One cluster: its row of the table, its links to other clusters, and some members with their texts.

    The kept document is the first member; the others are in input order.
    """
    leader = leader_of(result, number)
    members = members_of(result, leader)
    listed = members[offset : offset + limit]
    ids = result.corpus.ids(listed)
    (report,) = result.safety.reports([number])
    return {
        **rows_of(clusters(result, "source").part(number, number + 1))[0],
        "bridges": report.to_dict()["bridges"],
        "members": [
            {
                "id": id,
                "kept": position == leader,
                "similarity": float(result.leader_similarity[position]),
                **contents_of(result, position, length),
            }
            for id, position in zip(ids, listed.tolist(), strict=True)
        ],
        "offset": offset,
        "limit": limit,
        "total": len(members),
    }


def leader_of(result: Duplicates, number: int) -> int:
    """The position of the kept document of a cluster."""
    leaders = result.safety.inside.leader
    if not 0 <= number < len(leaders):
        raise Refusal(
            404,
            f"cluster {number} does not exist: there are {counted(len(leaders), 'cluster')}, numbered from 0 in input "
            "order",
        )
    return int(leaders[number])


def members_of(result: Duplicates, leader: int) -> Any:
    """The positions (uint32) of the documents of a cluster, the kept one first."""
    others = np.flatnonzero((result.leader == leader) & result.led)
    return np.concatenate(([leader], others)).astype(np.uint32)


def contents_of(result: Duplicates, position: int, length: int) -> dict[str, Any]:
    """The texts of a document, each up to a length; jobs do not keep the contents of other fields."""
    texts = texts_of(result, position)
    cut = {name: None if text is None else text[:length] for name, text in texts.items()}
    return {"contents": cut, "contents_cut": cut != texts}


def texts_of(result: Duplicates, position: int) -> dict[str, str | None]:
    """The texts of a document by field."""
    fields = enumerate(result.settings.schema.fields.items())
    return {
        name: result.corpus.text(position, number)
        for number, (name, field) in fields
        if isinstance(field, Text)
    }
