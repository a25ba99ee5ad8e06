"""The common content of two documents in one field, side by side.

Everything that comes from a document is escaped; nothing is fetched from anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from benzer.evidence.passages import Evidence
from benzer.evidence.views import CONTEXT, LONGEST, Stretch, caption, headline, nothing, stretches, whole
from benzer.views.html import fragment
from benzer.views.tables import TableView, headed_table
from benzer.wording import count, counted, likeness, plain, ratio

if TYPE_CHECKING:
    from benzer.comparison import Comparison

MOST_PASSAGES, MOST_VALUES = 10, 60
QUERY = "Query"
STYLE = files("benzer.views").joinpath("templates/evidence.css").read_text(encoding="utf-8")
"""The style sheet of `side_by_side_html`."""


@dataclass(frozen=True)
class SideView:
    """One document of a pair: its letter and name, the position of a part of its text, and the segments of the part."""

    letter: str
    name: str
    place: str
    stretches: Sequence[Stretch]


@dataclass(frozen=True)
class PassageView:
    """A passage of two texts, with the parts of both."""

    caption: str
    sides: tuple[SideView, SideView]


@dataclass(frozen=True)
class EvidenceView:
    """The common content of two documents in a field.

    Attributes:
        headline: The share of each document that appears in the other.
        note: The text if there is no passage to show.
        passages: Passages, longest first.
        count: The number of all passages.
        more: A sentence about the passages that are not shown.
        values: Shared values of a value set.
        more_values: A sentence about the values that are not shown.
        whole: Both complete texts, or None.
    """

    headline: str
    note: str
    passages: Sequence[PassageView]
    count: int
    more: str = ""
    values: Sequence[str] = ()
    more_values: str = ""
    whole: tuple[SideView, SideView] | None = None


def evidence_of(
    texts: tuple[str, str],
    evidence: Evidence,
    names: tuple[str, str],
    *,
    most: int = MOST_PASSAGES,
    longest: int = LONGEST,
    context: int = CONTEXT,
    complete: bool = False,
) -> EvidenceView:
    """The evidence of two texts.

    Args:
        texts: The two texts; empty for value sets.
        evidence: The common content.
        names: The names of the two documents.
        most: Maximum number of passages.
        longest: Length in characters above which the middle of a passage is omitted.
        context: Characters of context around a passage.
        complete: Whether to include both complete texts.

    >>> from benzer.evidence import find_passages
    >>> from benzer.fields import Text
    >>> fox, dog = "The quick brown fox", "See: the quick brown fox"
    >>> view = evidence_of((fox, dog), find_passages(Text(), fox, dog), ("a.txt", "b.txt"))
    >>> view.passages[0].caption, view.passages[0].sides[1].place
    ('Passage 1: 4 words equal', 'characters 5 to 24')
    """
    a, b = texts
    passages = [
        PassageView(
            caption(number, passage, evidence.unit),
            (
                SideView(
                    "A", names[0], place_of(passage.a), worded(stretches(a, passage, "a", context, longest))
                ),
                SideView(
                    "B", names[1], place_of(passage.b), worded(stretches(b, passage, "b", context, longest))
                ),
            ),
        )
        for number, passage in enumerate(evidence.passages[:most], 1)
    ]
    both = None
    if complete and a + b:
        left, right = whole(a, evidence.passages, "a"), whole(b, evidence.passages, "b")
        both = SideView("A", names[0], "", left), SideView("B", names[1], "", right)
    return view_of(
        headline(evidence),
        passages,
        len(evidence.passages) + evidence.more,
        evidence.shared,
        note=nothing(evidence),
        whole=both,
    )


def evidence_from(answer: Mapping[str, Any], names: tuple[str, str]) -> EvidenceView:
    """The same from JSON values, as the service sends them."""
    sides = tuple(zip("AB", names, ("a", "b"), strict=True))

    def both(parts: Mapping[str, Any], places: Mapping[str, Any]) -> tuple[SideView, SideView]:
        left, right = (
            SideView(letter, name, place_of(places[key]) if places else "", worded(map(stretch, parts[key])))
            for letter, name, key in sides
        )
        return left, right

    passages = [
        PassageView(passage["caption"], both(passage["views"], passage)) for passage in answer["passages"]
    ]
    complete = None if answer["whole"] is None else both(answer["whole"], {})
    return view_of(
        answer["headline"], passages, len(passages) + answer["more"], answer["shared"], whole=complete
    )


def view_of(
    headline: str,
    passages: Sequence[PassageView],
    count: int,
    values: Sequence[str],
    *,
    note: str = "",
    whole: tuple[SideView, SideView] | None = None,
) -> EvidenceView:
    """A view with sentences about what is not shown."""
    left, unlisted = count - len(passages), len(values) - MOST_VALUES
    return EvidenceView(
        headline,
        note,
        passages,
        count,
        more_passages(left) if left > 0 else "",
        values[:MOST_VALUES],
        f"and {counted(unlisted, 'more value')}" if unlisted > 0 else "",
        whole,
    )


def stretch(values: Mapping[str, Any]) -> Stretch:
    """A segment from JSON values."""
    return Stretch(values["kind"], values["text"])


def worded(parts: Any) -> list[Stretch]:
    """Segments in which an omitted one says how long it is.

    >>> worded([Stretch("cut", "1200")])
    [Stretch(kind='cut', text=' … 1,200 characters omitted … ')]
    """
    return [
        Stretch("cut", f" … {counted(int(part.text), 'character')} omitted … ")
        if part.kind == "cut"
        else part
        for part in parts
    ]


def place_of(span: Sequence[int]) -> str:
    """The position of a part of a text.

    >>> place_of((0, 1200))
    'characters 0 to 1,200'
    """
    return f"characters {count(span[0])} to {count(span[1])}"


@dataclass(frozen=True)
class FieldView:
    """A field of two documents: passages, two images, or a note."""

    name: str
    similarity: float | None
    evidence: EvidenceView | None
    images: Sequence[tuple[str, str]]
    note: str


def fields_of(
    fields: Mapping[str, Any], ids: Sequence[str | int | None], addresses: Sequence[Mapping[str, str]],
    kinds: Mapping[str, str],
) -> list[FieldView]:  # fmt: skip
    """The fields of two documents, as the service sends them.

    Args:
        fields: The similarity and the evidence of each field.
        ids: The ids of the documents; None for a query.
        addresses: The addresses of the thumbnails of both documents, by field.
        kinds: The type of each field.
    """
    names = [QUERY if id is None else str(id) for id in ids]
    views = []
    for name, field in fields.items():
        images = [(title, known.get(name, "")) for title, known in zip(names, addresses, strict=True)]
        told_evidence = field["evidence"]
        views.append(
            FieldView(
                name,
                field["similarity"],
                None if told_evidence is None else evidence_from(told_evidence, (names[0], names[1])),
                images if kinds.get(name) == "image" else (),
                shared_note(field),
            )
        )
    return views


def shared_note(field: Mapping[str, Any]) -> str:
    """What to show for a field without evidence."""
    if "shared" not in field:
        return "Nothing to show side by side: images and very long texts are compared by numbers only."
    return f"{counted(len(field['shared']), 'element')} in common. This field type has no passages."


def fields_html(
    fields: Mapping[str, Any], similarity: float, ids: Sequence[str | int | None],
    addresses: Sequence[Mapping[str, str]], kinds: Mapping[str, str],
) -> Markup:  # fmt: skip
    """The fields of two documents side by side as HTML; see `fields_of` for the arguments."""
    views = fields_of(fields, ids, addresses, kinds)
    return fragment("compared_fields", fields=views, similarity=similarity)


def side_by_side_html(
    a_text: str, b_text: str, evidence: Evidence, title_a: str, title_b: str, **options: Any
) -> Markup:
    """Render the common content of two documents in one field as HTML; `STYLE` is the style sheet for it.

    Args:
        a_text: The first text.
        b_text: The second text.
        evidence: The common content.
        title_a: The name of the first document.
        title_b: The name of the second document.
        options: `most`, `longest`, `context` and `complete` of `evidence_of`.

    Returns:
        The fragment; all texts in it are escaped.

    >>> from benzer.evidence import find_passages
    >>> from benzer.fields import Text
    >>> fox, dog = "The quick <b> brown fox", "the quick b brown fox!"
    >>> page = side_by_side_html(fox, dog, find_passages(Text(), fox, dog), "a.txt", "b.txt")
    >>> '<mark class="equal">The quick &lt;b&gt; brown fox</mark>' in page
    True
    """
    view = evidence_of((a_text, b_text), evidence, (title_a, title_b), **options)
    return fragment("evidence_view", view=view)


def page(names: tuple[str, str], sections: Sequence[tuple[str, float, EvidenceView | None]]) -> str:
    """A complete page with the similarity and the evidence of each field of two documents."""
    return fragment("compared", names=names, sections=sections, style=Markup(STYLE))


def numbers_table(comparison: Comparison) -> TableView:
    """The numbers of each field of two documents, and those of the whole if there are several fields."""
    rows = [
        (
            likeness(field.similarity), ratio(field.estimate),
            count(len(field.shared)), count(field.shingles_a), count(field.shingles_b),
            likeness(field.containment_a), likeness(field.containment_b), plain(name),
        )
        for name, field in comparison.fields.items()
    ]  # fmt: skip
    if len(rows) != 1:
        whole = likeness(comparison.similarity), ratio(comparison.estimate)
        rows.append((*whole, "", "", "", "", "", "all fields"))
    headings = ("similarity", "estimate", "shared", "of A", "of B", "A in B", "B in A", "field")
    return headed_table(headings, rows, numbers=7)


def field_heading(name: str, evidence: Evidence) -> str:
    """The name of a field and the share of each document that appears in the other."""
    return f"{plain(name)}: {headline(evidence)}"


def shared_lines(shingles: Sequence[str]) -> list[str]:
    """Some shared shingles.

    >>> shared_lines(["the fox"])
    ['shared shingles, e.g.:', '  the fox']
    """
    return ["shared shingles, e.g.:", *(f"  {shingle}" for shingle in shingles)]


def more_passages(passages: int) -> str:
    """The number of passages that are not shown.

    >>> more_passages(2)
    'and 2 more passages, none of them longer'
    """
    return f"and {counted(passages, 'more passage')}, none of them longer"
