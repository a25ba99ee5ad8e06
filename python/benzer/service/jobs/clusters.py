"""What is in one cluster, and what do two documents of a job share?"""

from __future__ import annotations

from typing import Any

import numpy as np

from benzer.errors import InputError
from benzer.fields import Text
from benzer.index.given import ids_of
from benzer.results import Duplicates
from benzer.results.evidence import evidence_of, position_of
from benzer.service import evidence
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


def compared(found: Duplicates, left_id: str, right_id: str, length: int) -> dict[str, Any]:
    """Two documents of a job: how alike they are, field by field, and what they share."""
    left, right = place(found, left_id, "left"), place(found, right_id, "right")
    ids = found.corpus.ids([left, right])
    texts = texts_of(found, left), texts_of(found, right)
    shared = evidence_of(found, *ids)
    fields = found.settings.schema.fields
    each = {
        name: {
            "similarity": field_similarity(found, left, right, number),
            "evidence": evidence.as_json(shared.get(name), texts[0].get(name), texts[1].get(name)),
        }
        for number, name in enumerate(fields)
    }
    return {
        "left": {"id": ids[0], **contents_of(found, left, length)},
        "right": {"id": ids[1], **contents_of(found, right, length)},
        "similarity": similarity(found, left, right),
        "fields": each,
    }


def place(found: Duplicates, text: str, side: str) -> int:
    """The position of the document that a text of a query means: that of this text as id, else of the number."""
    for id in ids_of(text):
        try:
            return position_of(found, id)
        except InputError:
            continue
    raise Refusal(
        404, f"the job has no document {text!r:.200}: give an id of its tables", field=f"query.{side}"
    )


def similarity(found: Duplicates, left: int, right: int) -> float:
    """The exact similarity of two documents."""
    return float(found.compare(*positions(left, right))[0])


def field_similarity(found: Duplicates, left: int, right: int, number: int) -> float | None:
    """That of one of their fields; None where one of them does not hold it, or both are empty."""
    weights = [float(at == number) for at in range(len(found.settings.schema.fields))]
    if found.corpus.missing(number)[[left, right]].any():
        return None
    value = float(found.corpus.similarity(*positions(left, right), weights, 1)[0])
    return value if value == value else None


def positions(left: int, right: int) -> tuple[Any, Any]:
    """Two positions as the core takes them."""
    return np.array([left], dtype=np.uint32), np.array([right], dtype=np.uint32)
