"""Evidence for two documents of a run."""

from __future__ import annotations

import numpy as np

from benzer.errors import InputError
from benzer.evidence import Evidence, find_passages
from benzer.evidence.passages import in_common
from benzer.fields import Text, ValueSet
from benzer.results.base import DecidedDocuments


def evidence_of(result: DecidedDocuments, left_id: str | int, right_id: str | int) -> dict[str, Evidence]:
    """Return the common passages of two documents for each field that both have; see `Duplicates.evidence`."""
    left, right = position_of(result, left_id), position_of(result, right_id)
    evidence: dict[str, Evidence] = {}
    for number, (name, field) in enumerate(result.settings.schema.fields.items()):
        if isinstance(field, Text):
            a, b = result.corpus.text(left, number), result.corpus.text(right, number)
            if a is not None and b is not None:
                evidence[name] = find_passages(field, a, b)
        elif isinstance(field, ValueSet) and not result.corpus.missing(number)[[left, right]].any():
            sets = result.corpus.sets(number, np.array([left, right], dtype=np.uint32))
            counted = in_common(*sets)
            shares = counted["containment_a"], counted["containment_b"]
            evidence[name] = Evidence((), *shares, **counted, unit="value")
    return evidence


def position_of(result: DecidedDocuments, id: str | int) -> int:
    """Return the position of the document with an id."""
    try:
        return result.ids.index(id)
    except ValueError:
        raise InputError(
            f"there is no document with the id {id!r} in this run: use an id of `pairs` or `removed`"
        ) from None
