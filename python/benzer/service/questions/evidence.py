"""How does what two documents share look in JSON? Places for a program, and stretches that a page only has to show.

Places count code points, as Python's strings do; those of JavaScript count otherwise. So each passage comes cut into
stretches of text as well, which stand one after the other in elements of a page.
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
"""Passages that are listed; the others are counted in `more`."""
MOST_DIFFERENCES = 200
"""Differences of one passage that are listed; the others are counted in `more_differences`."""
MOST_VALUES = 1000
"""Shared values that are listed; `shared_shingles` counts them all."""
MOST_WHOLE = 200_000
"""Characters that two texts may have together to be shown as a whole."""


class ShownStretch(BaseModel):
    """A part of a text, and what it is; of a part that is cut out (`cut`), `text` is how many characters it has."""

    kind: str = Field(description="around, equal, differs or cut", examples=["equal"])
    text: str = Field(examples=["the quick brown fox "])


class BothSides(BaseModel):
    """Stretches of the first text, and of the second."""

    a: list[ShownStretch]
    b: list[ShownStretch]


class ShownPassage(BaseModel):
    """What stands in both texts but for small changes; places are code points, from start to end."""

    a: tuple[int, int] = Field(description="Where it stands in the first text.", examples=[(0, 19)])
    b: tuple[int, int] = Field(description="Where it stands in the second text.", examples=[(4, 23)])
    tokens: int = Field(description="Its tokens in the first text.", examples=[4])
    shared: int = Field(description="Those that the second text has too, in order.", examples=[4])
    differences: list[tuple[int, int, int, int]] = Field(
        description="Start and end in the first text, start and end in the second; 200 at most.",
        examples=[[(10, 15, 14, 17)]],
    )
    more_differences: int = Field(description="Further differences, which are not listed.", examples=[0])
    caption: str = Field(examples=["Passage 1: 4 words equal"])
    views: BothSides = Field(
        description="It and a little around it, in stretches; the middle of a long one is cut."
    )


class ShownEvidence(BaseModel):
    """What two documents share in one field, and where."""

    unit: str = Field(description="What is counted: word, char or value.", examples=["word"])
    coverage_a: float = Field(description="The share of the first that stands in the second.", examples=[1.0])
    coverage_b: float = Field(description="The share of the second that stands in the first.", examples=[0.8])
    containment_a: float = Field(
        description="The share of the first one's shingles that the second has.", examples=[1.0]
    )
    containment_b: float = Field(
        description="The share of the second one's shingles that the first has.", examples=[0.75]
    )
    shared_shingles: int = Field(description="Distinct shingles (or values) that both have.", examples=[3])
    shingles_a: int = Field(description="Distinct shingles of the first.", examples=[3])
    shingles_b: int = Field(description="Distinct shingles of the second.", examples=[4])
    headline: str = Field(examples=["100 % of A appears in B, 80 % of B appears in A"])
    shared: list[str] = Field(
        description="Of a field of values, those that both have; 1,000 at most.", examples=[["red"]]
    )
    passages: list[ShownPassage] = Field(description="The passage of most shared tokens first; 20 at most.")
    more: int = Field(description="Further passages, which are not listed.", examples=[0])
    whole: BothSides | None = Field(
        description="Both whole texts in stretches; null where they are too long, or are no texts."
    )


def as_json(
    evidence: Evidence | None, a: FieldValue, b: FieldValue, longest: int = MOST_WHOLE
) -> dict[str, Any] | None:
    """Evidence as it is answered, with the contents it is about; None where there is none, as of images.

    longest: how many characters both texts may have together to be shown as a whole, too.

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
    """What two contents of a field share, as it is answered; None where one is missing, and of images.

    >>> from benzer.fields import ValueSet
    >>> explained(ValueSet(), ["red", "round"], ["red"])["shared"]
    ['red']
    """
    if a is None or b is None:
        return None
    return as_json(field_evidence(field, a, b), a, b, longest)


def text_of(content: FieldValue) -> str:
    """The text that places count in: one that UTF-8 cannot hold is read as an index keeps it."""
    text = text_content(content)
    return text.decode() if isinstance(text, bytes) else clean(text)


def headline(evidence: Evidence) -> str:
    """How much of each stands in the other, and what to say where nothing is shown."""
    said, none = views.headline(evidence), views.nothing(evidence)
    return f"{said}. {none}" if none else said


def passage_as_json(number: int, passage: Passage, unit: str, a: str, b: str) -> dict[str, Any]:
    """One passage, the `number`-th, in both texts."""
    return {
        "a": list(passage.a),
        "b": list(passage.b),
        "tokens": passage.tokens,
        "shared": passage.shared,
        "differences": [list(one) for one in passage.differences[:MOST_DIFFERENCES]],
        "more_differences": max(0, len(passage.differences) - MOST_DIFFERENCES),
        "caption": views.caption(number, passage, unit),
        "views": both(views.stretches(a, passage, "a"), views.stretches(b, passage, "b")),
    }


def whole(evidence: Evidence, a: str, b: str) -> dict[str, Any]:
    """Both whole texts with all passages marked in them."""
    sides: tuple[Side, Side] = ("a", "b")
    return both(
        *(views.whole(text, evidence.passages, side) for text, side in zip((a, b), sides, strict=True))
    )


def both(a: Sequence[Stretch], b: Sequence[Stretch]) -> dict[str, Any]:
    """Stretches of both sides."""
    return {"a": [one._asdict() for one in a], "b": [one._asdict() for one in b]}
