"""How does `benzer search` answer: what contains a document, what stands in it, what shares passages with it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benzer.cli import console

if TYPE_CHECKING:
    from benzer.index import ContainmentMatches, Index
    from benzer.index.passages import PassageMatch, PassageMatches


def containments_answer(found: ContainmentMatches) -> dict[str, Any]:
    """The matches for programs, and how many documents were compared for them."""
    matches = [{**match._asdict(), "fields": dict(match.fields)} for match in found]
    return {
        "matches": matches,
        "candidates": found.candidates,
        "compared": found.compared,
        "short": list(found.short),
    }


def containment_columns(found: ContainmentMatches) -> tuple[list[str], list[list[str]], list[str | int]]:
    """The headings, numbers and ids of a table of matches."""
    numbers = [[console.ratio(match.containment), console.ratio(match.similarity)] for match in found]
    return ["containment", "similarity"], numbers, [match.id for match in found]


def tell_compared(index: Index, found: ContainmentMatches) -> None:
    """Say so where not all may be found, not all candidates were compared, or there is nothing to show."""
    passages = index.settings.passages
    if found.short and passages is not None:
        of = f"the {' and the '.join(map(console.printable, found.short))} asked for"
        verb = "has" if len(found.short) == 1 else "have"
        console.note(f"{of} {verb} fewer than {passages.certain} words: what contains so few may be missed")
    if found.compared < found.candidates:
        console.note(
            f"compared the {console.count(found.compared)} documents that share most, of "
            f"{console.count(found.candidates)} that may be matches"
        )
    if not found:
        console.note("nothing in the index reaches the threshold; a lower --threshold may find more")


def show_passages(index: Index, asked: Any, found: PassageMatches) -> None:
    """Print how much of the text stands in the collection, and in which documents, with the longest passage."""
    for name, covered in found.covered.items():
        of = "the text" if len(index.settings.schema.fields) == 1 else console.printable(name)
        places = "place" if len(covered.spans) == 1 else "places"
        share = console.share(round(1e6 * covered.share), 10**6)
        console.show(
            f"{share} of {of} stands in the collection, in {console.count(len(covered.spans))} {places}"
        )
    if found.unread:
        console.note(f"{console.count(found.unread)} more documents share words with it, and were not read")
    if not found:
        return
    headings = ["words", "passages", "id", "longest passage"]
    ids = [console.printable(str(match.id)) for match in found]
    room = max(20, console.width() - len("words  passages  ") - max(map(len, ids)) - 4)
    rows = [
        (console.count(match.words), console.count(len(match.passages)), id, longest(asked, match, room))
        for match, id in zip(found, ids, strict=True)
    ]
    console.show()
    console.show(console.headed_table(headings, rows, right=2))


def longest(asked: Any, match: PassageMatch, room: int) -> str:
    """The first passage as it stands in the text that was asked for, cut where it is long."""
    given = getattr(asked, "fields", asked)
    text = str(given if isinstance(given, str) else given.get(match.field) or "")
    start, end = match.passages[0].a
    return console.snippet(text[start:end], room)
