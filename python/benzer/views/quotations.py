"""Documents that contain a text, are contained in it, or quote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from benzer.views.matches import NO_MATCH, documents_table, room
from benzer.views.tables import TableView, headed_table
from benzer.wording import count, counted, likeness, plain, share, snippet

if TYPE_CHECKING:
    from benzer.index import ContainmentMatches, Passages
    from benzer.index.passages import PassageMatches

HEADINGS = ("words", "passages", "id", "longest passage")


def containments_table(matches: ContainmentMatches, excerpts: Sequence[str], width: int) -> TableView:
    """Documents with their containment, similarity and the beginning of their content."""
    numbers = [(likeness(match.containment), likeness(match.similarity)) for match in matches]
    ids = [match.id for match in matches]
    return documents_table(("containment", "similarity"), numbers, ids, excerpts, width)


def notes_of(matches: ContainmentMatches, passages: Passages | None) -> Iterator[str]:
    """Why matches may be missing, and how many candidates were compared."""
    if matches.short and passages is not None:
        names = f"the {' and the '.join(map(plain, matches.short))} of the query"
        verb = "has" if len(matches.short) == 1 else "have"
        yield f"{names} {verb} fewer than {counted(passages.certain, 'word')}: matches may be missing"
    if matches.compared < matches.candidates:
        yield f"compared the {count(matches.compared)} candidates that share most, of {count(matches.candidates)}"
    if not matches:
        yield NO_MATCH


def covered_lines(matches: PassageMatches) -> Iterator[str]:
    """How much of each text of the query appears in the index."""
    for name, covered in matches.covered.items():
        of = "the text" if len(matches.covered) == 1 else plain(name)
        yield f"{share(covered.share, 1)} of {of} appears in the index, in {counted(len(covered.spans), 'place')}"


def unread(documents: int) -> str:
    """The candidates that were not read.

    >>> unread(1)
    '1 more document that shares words was not read'
    """
    more = counted(documents, "more document that shares words was", "more documents that share words were")
    return f"{more} not read"


def passages_table(matches: PassageMatches, texts: Mapping[str, str], width: int) -> TableView:
    """Documents that quote a text, with the longest quotation of each; `texts` are those of the query by field."""
    left = room(HEADINGS[:2], [str(match.id) for match in matches], width)
    rows = []
    for match in matches:
        start, end = match.passages[0].a
        quotation = snippet(texts.get(match.field, "")[start:end], left)
        rows.append((count(match.words), count(len(match.passages)), plain(match.id), quotation))
    return headed_table(HEADINGS, rows, numbers=2)
