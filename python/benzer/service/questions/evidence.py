"""Evidence as JSON: positions for programs, and text segments that a page can render directly.

Positions count code points, as in Python strings; JavaScript counts differently. So each passage is also returned as a
sequence of text segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field

from benzer.document import FieldValue
from benzer.evidence import Evidence, Passage, field_evidence, views
from benzer.evidence.views import Side, Stretch
from benzer.fields import base
from benzer.fields.text import clean, text_content

MOST_PASSAGES = 20
"""Maximum number of listed passages; the others are counted in `more`."""
MOST_DIFFERENCES = 200
"""Maximum number of listed differences of a passage; the others are counted in `more_differences`."""
MOST_VALUES = 1000
"""Maximum number of listed shared values; `shared_shingles` counts all of them."""
MOST_WHOLE = 200_000
"""Maximum total characters of two texts that are returned in full."""


class ShownStretch(BaseModel):
    """A segment of a text and its kind; for an omitted segment (`cut`), `text` is its number of characters."""

    kind: str = Field(description="around, equal, differs or cut", examples=["equal"])
    text: str = Field(examples=["the quick brown fox "])


class BothSides(BaseModel):
    """The segments of the first and the second text."""

    a: list[ShownStretch]
    b: list[ShownStretch]


class ShownPassage(BaseModel):
    """A passage that appears in both texts with small changes; positions are code points, from start to end."""

    a: tuple[int, int] = Field(description="The position in the first text.", examples=[(0, 19)])
    b: tuple[int, int] = Field(description="The position in the second text.", examples=[(4, 23)])
    tokens: int = Field(description="Tokens of the passage in the first text.", examples=[4])
    shared: int = Field(description="Tokens that the second text has in the same order.", examples=[4])
    differences: list[tuple[int, int, int, int]] = Field(
        description="Start and end in the first text, start and end in the second; at most 200.",
        examples=[[(10, 15, 14, 17)]],
    )
    more_differences: int = Field(description="Number of differences that are not listed.", examples=[0])
    caption: str = Field(examples=["Passage 1: 4 words equal"])
    views: BothSides = Field(
        description="The passage with some context, as segments; the middle of a long one is omitted."
    )


class ShownEvidence(BaseModel):
    """The shared content of two documents in one field, with positions."""

    unit: str = Field(description="The counted unit: word, char or value.", examples=["word"])
    coverage_a: float = Field(
        description="The share of the first that appears in the second.", examples=[1.0]
    )
    coverage_b: float = Field(
        description="The share of the second that appears in the first.", examples=[0.8]
    )
    containment_a: float = Field(
        description="The share of the shingles of the first that the second has.", examples=[1.0]
    )
    containment_b: float = Field(
        description="The share of the shingles of the second that the first has.", examples=[0.75]
    )
    shared_shingles: int = Field(description="Distinct shingles (or values) that both have.", examples=[3])
    shingles_a: int = Field(description="Distinct shingles of the first.", examples=[3])
    shingles_b: int = Field(description="Distinct shingles of the second.", examples=[4])
    headline: str = Field(examples=["100 % of A appears in B, 80 % of B appears in A"])
    shared: list[str] = Field(
        description="For a field of values: the shared values; at most 1,000.", examples=[["red"]]
    )
    passages: list[ShownPassage] = Field(description="Passages, most shared tokens first; at most 20.")
    more: int = Field(description="Number of passages that are not listed.", examples=[0])
    whole: BothSides | None = Field(
        description="Both full texts as segments; null if they are too long or not texts."
    )


def as_json(
    evidence: Evidence | None, a: FieldValue, b: FieldValue, longest: int = MOST_WHOLE
) -> dict[str, Any] | None:
    """Evidence as part of a response, with the contents; None if there is none, e.g. for images.

    longest: maximum total characters of both texts to return them in full.

    >>> from benzer.evidence import find_passages
    >>> from benzer.fields import Text
    >>> fox, dog = "the quick brown fox", "See: the quick brown fox!"
    >>> found = as_json(find_passages(Text(), fox, dog), fox, dog)
    >>> found["passages"][0]["b"], found["passages"][0]["views"]["b"]
    ([5, 24], [{'kind': 'around', 'text': 'See: '}, {'kind': 'equal', 'text': 'the quick brown fox'},
               {'kind': 'around', 'text': '!'}])
    """
    if evidence is None:
        return None
    texts = None if evidence.unit == "value" else (text_of(a), text_of(b))
    listed = evidence.passages[:MOST_PASSAGES] if texts else ()
    return {
        "unit": evidence.unit,
        "coverage_a": evidence.coverage_a,
        "coverage_b": evidence.coverage_b,
        "containment_a": evidence.containment_a,
        "containment_b": evidence.containment_b,
        "shared_shingles": evidence.shared_shingles,
        "shingles_a": evidence.shingles_a,
        "shingles_b": evidence.shingles_b,
        "headline": headline(evidence),
        "shared": list(evidence.shared[:MOST_VALUES]),
        "passages": [
            passage_as_json(number, passage, evidence.unit, *texts)
            for number, passage in enumerate(listed, 1)
            if texts
        ],
        "more": evidence.more + len(evidence.passages) - len(listed),
        "whole": whole(evidence, *texts) if texts and len(texts[0]) + len(texts[1]) <= longest else None,
    }


def explained(
    field: base.Field, a: FieldValue, b: FieldValue, longest: int = MOST_WHOLE
) -> dict[str, Any] | None:
    """The evidence of two contents of a field as part of a response; None if one is missing, and for images.

    >>> from benzer.fields import ValueSet
    >>> explained(ValueSet(), ["red", "round"], ["red"])["shared"]
    ['red']
    """
    if a is None or b is None:
        return None
    return as_json(field_evidence(field, a, b), a, b, longest)


def text_of(content: FieldValue) -> str:
    """The text that positions refer to; a text that is not valid UTF-8 is read as an index stores it."""
    text = text_content(content)
    return text.decode() if isinstance(text, bytes) else clean(text)


def headline(evidence: Evidence) -> str:
    """The coverage in both directions, and the text if there is nothing to show."""
    said, none = views.headline(evidence), views.nothing(evidence)
    return f"{said}. {none}" if none else said


def passage_as_json(number: int, passage: Passage, unit: str, a: str, b: str) -> dict[str, Any]:
    """One passage, the `number`-th, in both texts."""
    return {
        "a": list(passage.a),
        "b": list(passage.b),
        "tokens": passage.tokens,
        "shared": passage.shared,
        "differences": [list(difference) for difference in passage.differences[:MOST_DIFFERENCES]],
        "more_differences": max(0, len(passage.differences) - MOST_DIFFERENCES),
        "caption": views.caption(number, passage, unit),
        "views": both(views.stretches(a, passage, "a"), views.stretches(b, passage, "b")),
    }


def whole(evidence: Evidence, a: str, b: str) -> dict[str, Any]:
    """Both full texts with all passages marked."""
    sides: tuple[Side, Side] = ("a", "b")
    return both(
        *(views.whole(text, evidence.passages, side) for text, side in zip((a, b), sides, strict=True))
    )


def both(a: Sequence[Stretch], b: Sequence[Stretch]) -> dict[str, Any]:
    """The segments of both sides."""
    return {"a": [item._asdict() for item in a], "b": [item._asdict() for item in b]}
