"""Compares two documents of a job, or one of them and a document of an older index."""

from __future__ import annotations

from typing import Any

import numpy as np

from benzer.comparison import compare
from benzer.document import Document
from benzer.errors import InputError
from benzer.fields import Schema
from benzer.index import Index
from benzer.index.documents import ids_of
from benzer.pipeline.against import same_id
from benzer.results import Duplicates
from benzer.results.evidence import evidence_of, position_of
from benzer.service.errors import Refusal
from benzer.service.jobs.clusters import contents_of, texts_of
from benzer.service.questions import evidence


def compared(result: Duplicates, left_id: str, right_id: str, length: int) -> dict[str, Any]:
    """Two documents of a job: their similarity by field, and the evidence."""
    left, right = place(result, left_id, "left"), place(result, right_id, "right")
    ids = result.corpus.ids([left, right])
    texts = texts_of(result, left), texts_of(result, right)
    shared = evidence_of(result, *ids)
    fields = result.settings.schema.fields
    each = {
        name: {
            "similarity": field_similarity(result, left, right, number),
            "evidence": evidence.as_json(shared.get(name), texts[0].get(name), texts[1].get(name)),
        }
        for number, name in enumerate(fields)
    }
    return {
        "left": {"id": ids[0], **contents_of(result, left, length)},
        "right": {"id": ids[1], **contents_of(result, right, length)},
        "similarity": similarity(result, left, right),
        "fields": each,
    }


def stored_document(text: str, index: Index) -> Document | None:
    """The document of an index with an id given as text."""
    return next(filter(None, map(index.get, ids_of(text))), None)


def compared_with_old(
    result: Duplicates, left_id: str, name: str, old: Document | None, right_id: str, length: int
) -> dict[str, Any]:
    """A document of a job and a matching one of an older index: the same, by the texts that both have."""
    left = place(result, left_id, "left")
    alike = None if old is None else known_similarity(result, left, name, old.id)
    if old is None or alike is None:
        raise Refusal(
            404, f"the job has no match between document {right_id!r:.200} of the index {name!r:.80} and "
            f"{left_id!r:.200}: give a kept_id with its kept_in", field="query.right",
        )  # fmt: skip
    texts = texts_of(result, left)
    others = {key: str(old.fields[key]) for key, text in texts.items() if old.fields.get(key) is not None}
    each = {}
    for key, field in result.settings.schema.fields.items():
        a, b = texts.get(key), others.get(key)
        both = a is not None and b is not None
        similarity = compare(text_alone(key, a), text_alone(key, b), Schema(**{key: field})) if both else None
        each[key] = {
            "similarity": None if similarity is None else similarity.similarity,
            "evidence": evidence.explained(field, a, b),
        }
    cut = {key: text[:length] for key, text in others.items()}
    return {
        "left": {"id": result.corpus.ids([left])[0], **contents_of(result, left, length)},
        "right": {"id": old.id, "contents": cut, "contents_cut": cut != others},
        "similarity": alike,
        "fields": each,
    }


def text_alone(name: str, text: str | None) -> Document:
    """A document with one text."""
    return Document("", {name: text})


def known_similarity(result: Duplicates, left: int, name: str, old_id: str | int) -> float | None:
    """The similarity of a document and one of an older index in the result; None if they do not match."""
    matches = result.matches
    if matches is None or name not in matches.names:
        return None
    mine = np.flatnonzero((matches.position == left) & (matches.collection == matches.names.index(name)))
    for position in mine.tolist():
        if same_id(matches.old_ids[position], old_id):
            return float(matches.similarity[position])
    return None


def place(result: Duplicates, text: str, side: str) -> int:
    """The position of a document by its id as text: first as a text id, then as a number."""
    for id in ids_of(text):
        try:
            return position_of(result, id)
        except InputError:
            continue
    raise Refusal(
        404, f"the job has no document {text!r:.200}: use an id from its tables", field=f"query.{side}"
    )


def similarity(result: Duplicates, left: int, right: int) -> float:
    """The exact similarity of two documents."""
    return float(result.compare(*positions(left, right))[0])


def field_similarity(result: Duplicates, left: int, right: int, number: int) -> float | None:
    """The similarity of one field; None if a document does not have it, or if both are empty."""
    weights = [float(position == number) for position in range(len(result.settings.schema.fields))]
    if result.corpus.missing(number)[[left, right]].any():
        return None
    value = float(result.corpus.similarity(*positions(left, right), weights, 1)[0])
    return value if value == value else None


def positions(left: int, right: int) -> tuple[Any, Any]:
    """Two positions as an array for the core."""
    return np.array([left], dtype=np.uint32), np.array([right], dtype=np.uint32)
