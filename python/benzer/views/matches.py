"""Documents and matches of an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benzer.views.html import fragment
from benzer.views.tables import TableView, headed_table
from benzer.wording import count, counted, duration, likeness, plain, setting, snippet

if TYPE_CHECKING:
    from benzer.index import Candidate, Match

EXCERPT = 260
LISTED = 40
"""Values of a set that an excerpt joins."""
LOOSER = (0.5, 0.3, 0.1)
NO_MATCH = "no document reaches the threshold; a lower --threshold may find more"
NO_CANDIDATE = "no document shares a bucket with the query"
SHORTEST = 20
"""Minimum characters of an excerpt in a table."""
MOST_EXACT = 2**53 - 1
"""The largest integer that a browser does not round."""


@dataclass(frozen=True)
class MatchView:
    """A match: its id, its similarity, the beginning of its content and the similarity of each field."""

    id: str | int
    similarity: float
    excerpt: str
    thumbnail: str
    fields: Mapping[str, float]

    @property
    def exact(self) -> bool:
        """Whether a browser represents the id exactly."""
        return is_exact(self.id)


@dataclass(frozen=True)
class MatchesView:
    """The result of a search.

    Attributes:
        heading: The number of matches.
        limits: The minimum similarity, or what was compared.
        about: The query and the time.
        none: The text if there is no match.
        looser: Lower thresholds to try; with `nearest` also the nearest documents.
    """

    heading: str
    limits: str
    like: str | int | None
    time: str
    matches: Sequence[MatchView]
    none: str
    looser: Sequence[tuple[str, float]] = ()
    nearest: bool = False


def matches_of(
    matches: Sequence[Mapping[str, Any]], like: str | int | None, least: float, seconds: float
) -> MatchesView:
    """The matches of a search, as the service sends them.

    >>> matches_of([], None, 0.8, 0.002).none
    'No document has a similarity of 0.80 or more.'
    """
    looser = next((value for value in LOOSER if value < least), None)
    return MatchesView(
        counted(len(matches), "document") if matches else "No documents",
        f"with a similarity of at least {setting(least)}",
        like,
        duration(seconds),
        [match_of(match) for match in matches],
        f"No document has a similarity of {setting(least)} or more.",
        [] if looser is None else [(setting(looser), looser)],
        nearest=True,
    )


def nearest_of(answer: Mapping[str, Any], like: str | int | None) -> MatchesView:
    """The nearest documents, as the service sends them."""
    matches = [match_of(match) for match in answer["matches"]]
    none = "No document has anything in common with the query."
    said = compared(answer["compared"], answer["documents"])
    return MatchesView("Nearest documents", said, like, "", matches, none)


def compared(some: int, documents: int) -> str:
    """The documents that a search for the nearest ones compared.

    >>> compared(12, 2000)
    '12 of 2,000 documents compared exactly'
    """
    return f"{count(some)} of {counted(documents, 'document')} compared exactly"


def promised(some: int, documents: int, threshold: float, recall: float) -> str:
    """The documents that a search for the nearest ones compared, and its promise."""
    promise = (
        f"each true neighbour with a similarity of at least {setting(threshold)} is found with probability "
        f"{setting(recall)} or more"
    )
    return f"{compared(some, documents)}; {promise if recall < 1 else 'all true neighbours are found'}"


def match_of(values: Mapping[str, Any]) -> MatchView:
    """One match."""
    thumbnails = values.get("thumbnails") or {}
    thumbnail = next(iter(thumbnails.values()), "")
    fields = values["fields"] if len(values["fields"]) > 1 else {}
    return MatchView(
        values["id"], values["similarity"], excerpt(values.get("contents") or {}), thumbnail, fields
    )


def excerpt(contents: Mapping[str, Any], length: int = EXCERPT) -> str:
    """The beginning of the texts and sets of values of a document.

    >>> excerpt({"title": "Red", "photo": None, "tags": ["red", 7]}), excerpt({"text": "  "}), excerpt({})
    ('Red | red, 7', '(empty)', '')
    """
    texts = [
        content if isinstance(content, str) else ", ".join(map(str, content[:LISTED]))
        for content in contents.values()
        if isinstance(content, str | list)
    ]
    return snippet(" | ".join(texts), length) or "(empty)" if texts else ""


def is_exact(id: str | int) -> bool:
    """Whether a browser represents an id exactly: it rounds larger integers, which could then be another id.

    >>> is_exact("7"), is_exact(2**53)
    (True, False)
    """
    return isinstance(id, str) or abs(id) <= MOST_EXACT


def matches_html(view: MatchesView, index: str, command: str) -> str:
    """The result of a search in an index as HTML, with the same request as a command."""
    said = f"{view.heading} {view.limits}"
    return fragment("matches", view=view, index=index, command=command, said=said, plain=plain)


def matches_table(
    matches: Sequence[Match], fields: Sequence[str], excerpts: Sequence[str], width: int
) -> TableView:
    """Matches with their similarity, that of each of several fields, and the beginning of their content."""
    fields = fields if len(fields) > 1 else []
    numbers = [
        [
            likeness(match.similarity),
            *(likeness(match.fields[name]) if name in match.fields else "" for name in fields),
        ]
        for match in matches
    ]
    ids = [match.id for match in matches]
    return documents_table(["similarity", *map(plain, fields)], numbers, ids, excerpts, width)


def candidates_table(
    candidates: Sequence[Candidate], bands: int, excerpts: Sequence[str], width: int
) -> TableView:
    """Candidates with the number of bands that they share with the query."""
    numbers = [[f"{count(candidate.shared_bands)} of {count(bands)}"] for candidate in candidates]
    return documents_table(
        ["shared bands"], numbers, [candidate.id for candidate in candidates], excerpts, width
    )


def documents_table(
    headings: Sequence[str],
    numbers: Sequence[Sequence[str]],
    ids: Sequence[str | int],
    excerpts: Sequence[str],
    width: int,
) -> TableView:
    """Numbers, ids and the beginning of each content in a given width; without contents if all are images."""
    names = [plain(id) for id in ids]
    left = room(headings, names, width)
    last = ["id", "text"] if any(excerpts) else ["id"]
    rows = [
        (*number, name, snippet(text, left))[: len(headings) + len(last)]
        for number, name, text in zip(numbers, names, excerpts, strict=True)
    ]
    return headed_table([*headings, *last], rows, numbers=len(headings))


def room(headings: Sequence[str], ids: Sequence[str], width: int) -> int:
    """The characters that columns of numbers and ids leave for a text."""
    return max(SHORTEST, width - sum(len(heading) + 2 for heading in headings) - max(map(len, ids)) - 4)
