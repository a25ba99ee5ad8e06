"""What is in one cluster? Its members with their texts, who stays first."""

from __future__ import annotations

from typing import Any

import numpy as np

from benzer.fields import Text
from benzer.results import Duplicates
from benzer.service.errors import Refusal
from benzer.service.jobs.tables import clusters, rows_of


def opened(found: Duplicates, number: int, offset: int, limit: int, length: int) -> dict[str, Any]:
    """One cluster: its row of the table, what ties it to others, and some of its members with their texts.

    The members: who stays first, then the others in the order of the input.
    """
    leader = leader_of(found, number)
    members = members_of(found, leader)
    shown = members[offset : offset + limit]
    ids = found.corpus.ids(shown)
    (report,) = found.safety.reports([number])
    return {
        **rows_of(clusters(found, "source").part(number, number + 1))[0],
        "bridges": report.to_dict()["bridges"],
        "members": [
            {
                "id": id,
                "kept": position == leader,
                "similarity": float(found.leader_similarity[position]),
                **contents_of(found, position, length),
            }
            for id, position in zip(ids, shown.tolist(), strict=True)
        ],
        "offset": offset,
        "limit": limit,
        "total": len(members),
    }


def leader_of(found: Duplicates, number: int) -> int:
    """The position of the document that stays in a cluster."""
    leaders = found.safety.inside.leader
    if not 0 <= number < len(leaders):
        raise Refusal(
            404, f"there is no cluster {number}: there are {len(leaders):,}, counted from 0 in the order of the input"
        )  # fmt: skip
    return int(leaders[number])


def members_of(found: Duplicates, leader: int) -> Any:
    """The positions (uint32) of a cluster's documents, that of who stays first."""
    others = np.flatnonzero((found.leader == leader) & found.led)
    return np.concatenate(([leader], others)).astype(np.uint32)


def contents_of(found: Duplicates, position: int, length: int) -> dict[str, Any]:
    """The texts of a document, each up to a length; of other fields a job keeps no contents, but numbers of them."""
    texts = texts_of(found, position)
    cut = {name: None if text is None else text[:length] for name, text in texts.items()}
    return {"contents": cut, "contents_cut": cut != texts}


def texts_of(found: Duplicates, position: int) -> dict[str, str | None]:
    """The texts of a document by field."""
    fields = enumerate(found.settings.schema.fields.items())
    return {
        name: found.corpus.text(position, number)
        for number, (name, field) in fields
        if isinstance(field, Text)
    }
