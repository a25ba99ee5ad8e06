"""Evidence for two documents of a run."""

from __future__ import annotations

import numpy as np

from benzer.errors import InputError
from benzer.evidence import Evidence, find_passages
from benzer.evidence.passages import in_common
from benzer.fields import Text, ValueSet
from benzer.results.base import DecidedDocuments


def evidence_of(found: DecidedDocuments, left_id: str | int, right_id: str | int) -> dict[str, Evidence]:
    """Return the common passages of two documents for each field that both have; see `Duplicates.evidence`."""
    left, right = position_of(found, left_id), position_of(found, right_id)
    shown: dict[str, Evidence] = {}
    for number, (name, field) in enumerate(found.settings.schema.fields.items()):
        if isinstance(field, Text):
            a, b = found.corpus.text(left, number), found.corpus.text(right, number)
            if a is not None and b is not None:
                shown[name] = find_passages(field, a, b)
        elif isinstance(field, ValueSet) and not found.corpus.missing(number)[[left, right]].any():
            sets = found.corpus.sets(number, np.array([left, right], dtype=np.uint32))
            counted = in_common(*sets)
            shares = counted["containment_a"], counted["containment_b"]
            shown[name] = Evidence((), *shares, **counted, unit="value")
    return shown


def position_of(found: DecidedDocuments, id: str | int) -> int:
    """Return the position of the document with an id."""
    try:
        return found.ids.index(id)
    except ValueError:
        raise InputError(
            f"there is no document with the id {id!r} in this run: use an id of `pairs` or `removed`"
        ) from None
