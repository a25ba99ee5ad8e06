"""Documents and matches of an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benzer.views.html import fragment
from benzer.wording import count, counted, duration, plain, setting, snippet

EXCERPT = 260
LISTED = 40
"""Values of a set that an excerpt joins."""
LOOSER = (0.5, 0.3, 0.1)
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
        [match_of(one) for one in matches],
        f"No document has a similarity of {setting(least)} or more.",
        [] if looser is None else [(setting(looser), looser)],
        nearest=True,
    )


def nearest_of(answer: Mapping[str, Any], like: str | int | None) -> MatchesView:
    """The nearest documents, as the service sends them."""
    compared = f"{count(answer['compared'])} of {counted(answer['documents'], 'document')} compared exactly"
    matches = [match_of(one) for one in answer["matches"]]
    none = "No document has anything in common with the query."
    return MatchesView("Nearest documents", compared, like, "", matches, none)


def match_of(told: Mapping[str, Any]) -> MatchView:
    """One match."""
    thumbnails = told.get("thumbnails") or {}
    thumbnail = next(iter(thumbnails.values()), "")
    fields = told["fields"] if len(told["fields"]) > 1 else {}
    return MatchView(told["id"], told["similarity"], excerpt(told.get("contents") or {}), thumbnail, fields)


def excerpt(contents: Mapping[str, Any], length: int = EXCERPT) -> str:
    """The beginning of the first text or set of values of a document.

    >>> excerpt({"photo": None, "tags": ["red", 7]}), excerpt({"text": "  "}), excerpt({})
    ('red, 7', '(empty)', '')
    """
    content = next((one for one in contents.values() if isinstance(one, str | list)), None)
    if content is None:
        return ""
    text = content if isinstance(content, str) else ", ".join(map(str, content[:LISTED]))
    return snippet(text, length) or "(empty)"


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
