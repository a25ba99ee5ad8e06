"""Converts documents to JSON, and responses to the types that an `Index` returns."""

from __future__ import annotations

import io
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from benzer.comparison import Comparison, FieldComparison
from benzer.document import Description, Document
from benzer.errors import BenzerError, InputError
from benzer.evidence import Evidence, Passage
from benzer.fields import Schema
from benzer.fields.text import text_content
from benzer.fields.values import values
from benzer.index import Candidate, ContainmentMatch, ContainmentMatches, IndexSettings, Match, NearestMatches
from benzer.index.passages import Covered, PassageMatch, PassageMatches
from benzer.registry import require


class FoundMatch(Match):
    """A `Match` of a service; equal to that of a local index.

    evidence: the evidence by field, if requested; None for images and for texts that are too long.
    contents: the fields of the matching document, if requested.

    >>> found = FoundMatch("a", 0.9, {"text": 0.9})
    >>> found == Match("a", 0.9, {"text": 0.9}), found.evidence
    (True, {})
    """

    evidence: Mapping[str, Evidence | None] = {}
    contents: Mapping[str, Any] = {}


# To the service


def document_as_json(document: Document, schema: Schema) -> dict[str, Any]:
    """A document as JSON; images are read locally, never by the service."""
    try:
        return {"id": document.id, "fields": fields_as_json(document.fields, schema)}
    except BenzerError as error:
        raise type(error)(f"document {document.id!r}: {error}") from error


def fields_as_json(fields: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Contents as JSON; the service rejects names that are not in the schema.

    >>> from benzer.fields import ValueSet
    >>> fields_as_json({"text": b"one", "tags": {7}}, Schema(tags=ValueSet()))
    {'text': 'one', 'tags': [7]}
    """
    kinds = {name: field.kind for name, field in schema.fields.items()}
    return {name: content_as_json(kinds.get(name), value) for name, value in fields.items()}


def content_as_json(kind: str | None, content: Any) -> Any:
    """One content in the format of its field type."""
    if content is None:
        return None
    if kind == "image":
        return {"base64": b64encode(picture(content)).decode()}
    if kind == "values":
        return list(values(content))
    text = text_content(content) if kind == "text" or isinstance(content, bytes) else content
    return text.decode() if isinstance(text, bytes) else text


def picture(content: Any) -> bytes:
    """The bytes of an image file: a path is read, an array is encoded as PNG without loss."""
    if isinstance(content, bytes):
        return content
    if isinstance(content, (str, PathLike)):
        try:
            return Path(fspath(content)).read_bytes()
        except OSError as error:
            raise InputError(
                f"{fspath(content)!r} cannot be read ({error.strerror}): check the path"
            ) from error
    if isinstance(content, np.ndarray):
        image = require("PIL.Image", extra="images", purpose="image arrays")
        written = io.BytesIO()
        image.fromarray(content).save(written, "PNG")
        return written.getvalue()
    raise InputError(f"an image must be bytes, a path or an array, got {type(content).__name__}: convert it")


# From the service


def settings_of(information: Mapping[str, Any]) -> IndexSettings:
    """The settings in the description of an index."""
    return IndexSettings.from_json(json.dumps(information["settings"]))


def document_of(given: Mapping[str, Any]) -> Document:
    """A document; an image is its description."""
    return Document(given["id"], {name: content_of(value) for name, value in given["fields"].items()})


def content_of(value: Any) -> Any:
    """A content; a description is bytes."""
    if isinstance(value, dict) and set(value) == {"description"}:
        return Description(b64decode(value["description"]))
    return value


def match_of(given: Mapping[str, Any]) -> FoundMatch:
    """A match with its evidence and contents."""
    match = FoundMatch(given["id"], given["similarity"], given["fields"])
    if given.get("evidence"):
        match.evidence = {name: evidence_of(item) for name, item in given["evidence"].items()}
    if given.get("contents"):
        match.contents = given["contents"]
    return match


def nearest_of(answer: Mapping[str, Any], matches: list[FoundMatch]) -> NearestMatches:
    """The nearest documents and the guarantee of the search."""
    promised = {name: answer[name] for name in ("recall", "compared", "documents", "threshold")}
    return NearestMatches(matches, **promised)


def candidate_of(given: Mapping[str, Any]) -> Candidate:
    """A candidate."""
    return Candidate(given["id"], given["shared_bands"])


def containment_of(given: Mapping[str, Any]) -> ContainmentMatch:
    """A document that contains another one, or is contained in it."""
    return ContainmentMatch(given["id"], given["containment"], given["similarity"], given["fields"])


def containments_of(answer: Mapping[str, Any], matches: list[ContainmentMatch]) -> ContainmentMatches:
    """All containment matches, and the number of compared documents."""
    return ContainmentMatches(matches, answer["candidates"], answer["compared"], tuple(answer["short"]))


def quotation_of(given: Mapping[str, Any]) -> PassageMatch:
    """A document with passages."""
    passages = tuple(passage_of(passage) for passage in given["passages"])
    return PassageMatch(given["id"], given["field"], given["words"], passages)


def quotations_of(answer: Mapping[str, Any], matches: list[PassageMatch]) -> PassageMatches:
    """All documents with passages, and the part of the text that they cover."""
    covered = {
        name: Covered([(start, end) for start, end in item["spans"]], item["share"])
        for name, item in answer["covered"].items()
    }
    return PassageMatches(matches, covered, answer["candidates"], answer["unread"])


def passage_of(given: Mapping[str, Any]) -> Passage:
    """One passage with its positions in both texts."""
    differences = tuple((a, b, c, d) for a, b, c, d in given["differences"])
    a, b = given["a"], given["b"]
    return Passage((a[0], a[1]), (b[0], b[1]), given["tokens"], given["shared"], differences)


def evidence_of(given: Mapping[str, Any] | None) -> Evidence | None:
    """The evidence of one field; the service lists the first passages and counts the others in `more`."""
    if given is None:
        return None
    counted = {
        name: given[name]
        for name in (
            "coverage_a", "coverage_b", "containment_a", "containment_b", "shared_shingles", "shingles_a",
            "shingles_b", "unit", "more",
        )
    }  # fmt: skip
    passages = tuple(passage_of(passage) for passage in given["passages"])
    return Evidence(passages, **counted, shared=tuple(given["shared"]))


def comparison_of(answer: Mapping[str, Any]) -> Comparison:
    """The comparison of two documents by field."""
    fields = {
        name: FieldComparison(
            item["similarity"], item["estimate"], item["containment_a"], item["containment_b"], item["shingles_a"],
            item["shingles_b"], item["shared"], evidence_of(item["evidence"]),
        )
        for name, item in answer["fields"].items()
    }  # fmt: skip
    return Comparison(answer["similarity"], answer["estimate"], fields)
