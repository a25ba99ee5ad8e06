"""Results of `benzer search` for containment and passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benzer.cli import console
from benzer.wording import counted, share

if TYPE_CHECKING:
    from benzer.index import ContainmentMatches, Index
    from benzer.index.passages import PassageMatch, PassageMatches

NO_MATCH = "no document reaches the threshold; a lower --threshold may find more"


def containments_answer(found: ContainmentMatches) -> dict[str, Any]:
    """The matches as JSON values, and how many documents were compared."""
    matches = [{**match._asdict(), "fields": dict(match.fields)} for match in found]
    return {
        "matches": matches,
        "candidates": found.candidates,
        "compared": found.compared,
        "short": list(found.short),
    }


def containment_columns(found: ContainmentMatches) -> tuple[list[str], list[list[str]], list[str | int]]:
    """Return the headings, numbers and ids of a table of matches."""
    numbers = [[console.ratio(match.containment), console.ratio(match.similarity)] for match in found]
    return ["containment", "similarity"], numbers, [match.id for match in found]


def tell_compared(index: Index, found: ContainmentMatches) -> None:
    """Print a note if matches may be missing, not all candidates were compared, or nothing matches."""
    passages = index.settings.passages
    if found.short and passages is not None:
        names = f"the {' and the '.join(map(console.printable, found.short))} of the query"
        verb = "has" if len(found.short) == 1 else "have"
        console.note(f"{names} {verb} fewer than {passages.certain} words: matches may be missing")
    if found.compared < found.candidates:
        console.note(
            f"compared the {console.count(found.compared)} candidates that share most, of "
            f"{console.count(found.candidates)}"
        )
    if not found:
        console.note(NO_MATCH)


def show_passages(index: Index, asked: Any, found: PassageMatches) -> None:
    """Print how much of the text appears in the index, and the documents with the longest passage of each."""
    for name, covered in found.covered.items():
        of = "the text" if len(index.settings.schema.fields) == 1 else console.printable(name)
        places = counted(len(covered.spans), "place")
        console.show(f"{share(covered.share, 1)} of {of} appears in the index, in {places}")
    if found.unread:
        console.note(f"{console.count(found.unread)} more documents that share words were not read")
    if not found:
        return
    headings = ["words", "passages", "id", "longest passage"]
    ids = [console.printable(str(match.id)) for match in found]
    width = max(20, console.width() - len("words  passages  ") - max(map(len, ids)) - 4)
    rows = [
        (console.count(match.words), console.count(len(match.passages)), id, longest(asked, match, width))
        for match, id in zip(found, ids, strict=True)
    ]
    console.show()
    console.show(console.headed_table(headings, rows, right=2))


def longest(asked: Any, match: PassageMatch, width: int) -> str:
    """Return the first passage as it appears in the query, shortened to `width`."""
    given = getattr(asked, "fields", asked)
    text = str(given if isinstance(given, str) else given.get(match.field) or "")
    start, end = match.passages[0].a
    return console.snippet(text[start:end], width)
