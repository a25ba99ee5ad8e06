"""Matches in responses: contents, thumbnails and evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from pydantic import BaseModel, Field

from benzer.document import Document
from benzer.fields import Schema
from benzer.index import Match
from benzer.service.indexes.served import ServedIndex
from benzer.service.pictures.thumbnails import urls_of
from benzer.service.questions import evidence
from benzer.service.questions.evidence import ShownEvidence
from benzer.service.wire.documents import Content, Id

MOST_READ = 10_000_000
"""Maximum characters of texts compared for the evidence of one response."""
MOST_SHOWN = 20_000_000
"""Maximum characters of texts in one response."""

Pictures = Callable[[Document], dict[str, str]]
"""The addresses of the thumbnails of a document, by field."""


def pictures_of(served: ServedIndex) -> Pictures:
    """The addresses of the thumbnails of an index."""
    return partial(urls_of, served.thumbnails, served.name)


THUMBNAIL_BY_FIELD = "The address of a thumbnail, by image field."


class Allowance:
    """A budget of characters for one response: earlier parts are served first, parts beyond it are omitted.

    >>> allowance = Allowance(10)
    >>> allowance.grants(6), allowance.grants(6), allowance.grants(1)
    (True, False, False)
    """

    def __init__(self, most: int) -> None:
        self._left = most

    def grants(self, length: int) -> bool:
        """Use some characters; returns whether they were left."""
        self._left -= length
        return self._left >= 0


class SimilarDocument(BaseModel):
    """A match: its similarity, and the similarity of each field that both documents have."""

    id: Id = Field(examples=["fox/again"])
    similarity: float = Field(description="Exact.", examples=[0.75])
    fields: dict[str, float] = Field(examples=[{"text": 0.75}])


class ExplainedDocument(SimilarDocument):
    """A match with contents and evidence, if requested."""

    contents: dict[str, Content] | None = Field(
        {},
        description="Texts and lists by field; null after 20,000,000 characters. Images have a thumbnail instead.",
        examples=[{"text": "A fox …"}],
    )
    thumbnails: dict[str, str] = Field({}, description=THUMBNAIL_BY_FIELD)
    evidence: dict[str, ShownEvidence | None] = Field(
        {},
        description="Evidence by field that both have; null for images, and if the texts are too long in total.",
    )


class AskedFor(BaseModel):
    """The query."""

    contents: dict[str, Content] | None = Field(examples=[{"text": "The quick brown fox …"}])
    thumbnails: dict[str, str] = Field({}, description=THUMBNAIL_BY_FIELD)


class QueryMatches(NamedTuple):
    """The query, the matches, and the document of each match; no documents if only ids were requested."""

    document: Document
    matches: Sequence[Match]
    documents: Sequence[Document]


def answer_of(
    result: QueryMatches, schema: Schema, pictures: Pictures, *, contents: bool, explains: bool
) -> dict[str, Any]:
    """The matches as part of a response, with `contents`, and with evidence if it `explains`.

    Slow for texts: call it without a snapshot.
    """
    answer: dict[str, Any] = {"matches": [match_as_json(match) for match in result.matches]}
    allowance = Allowance(MOST_SHOWN)
    if explains:
        answer["asked"] = shown_contents(result.document, pictures, allowance)
    if contents:
        for item, document in zip(answer["matches"], result.documents, strict=True):
            item.update(shown_contents(document, pictures, allowance))
    if explains:
        answer["unexplained"] = explain(result, answer["matches"], schema)
    return answer


def match_as_json(match: Match) -> dict[str, Any]:
    return {"id": match.id, "similarity": match.similarity, "fields": dict(match.fields)}


def shown_contents(document: Document, pictures: Pictures, allowance: Allowance) -> dict[str, Any]:
    """Texts and lists of a document, and the addresses of its thumbnails.

    >>> document = Document(7, {"text": "one", "photo": b"..."})
    >>> shown_contents(document, lambda document: {"photo": "/v1/..."}, Allowance(100))
    {'contents': {'text': 'one'}, 'thumbnails': {'photo': '/v1/...'}}
    """
    contents = {
        name: evidence.text_of(content) if isinstance(content, str) else content
        for name, content in document.fields.items()
        if content is None or isinstance(content, str | list)
    }
    granted = allowance.grants(length_of(document, list(contents)))
    return {"contents": contents if granted else None, "thumbnails": pictures(document)}


def explain(result: QueryMatches, matches: Sequence[dict[str, Any]], schema: Schema) -> int:
    """Add the evidence to each match; returns the number of matches that are too long for it."""
    allowance, unexplained = Allowance(MOST_READ), 0
    for item, document in zip(matches, result.documents, strict=True):
        names = list(item["fields"])
        item["evidence"] = explained_pair(result.document, document, names, schema, allowance, len(matches))
        unexplained += allowance.grants(0) is False
    return unexplained


def explained_pair(
    a: Document, b: Document, names: Sequence[str], schema: Schema, allowance: Allowance, among: int = 1
) -> dict[str, dict[str, Any] | None]:
    """The evidence of two documents by field; None for fields that are too long or have no evidence.

    among: the number of such pairs in the response, which share the limit for full texts.
    """
    if not allowance.grants(length_of(a, names) + length_of(b, names)):
        return dict.fromkeys(names)
    longest = evidence.MOST_WHOLE // max(1, among)
    return {
        name: evidence.explained(schema.fields[name], a.fields.get(name), b.fields.get(name), longest)
        for name in names
    }


def length_of(document: Document, names: Sequence[str]) -> int:
    """The number of characters of some fields of a document.

    >>> length_of(Document(7, {"text": "one", "tags": ["red"]}), ["text", "tags"])
    3
    """
    contents = (document.fields.get(name) for name in names)
    return sum(len(content) for content in contents if isinstance(content, str))
