"""`benzer search`: find the documents of an index that are similar to a given one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from benzer.cli import asking, console
from benzer.cli import options as shared
from benzer.cli.location import Location, existing, printable_location
from benzer.views import matches as views
from benzer.views import quotations

if TYPE_CHECKING:
    from benzer.index import Candidate, ContainmentMatch, ContainmentMatches, Index, Match

EXAMPLES = """\
# Search for a text
benzer search docs.benzer "the quick brown fox jumps over the dog"

# Search for a text file, an image (in an index of images), or stdin
benzer search docs.benzer --file letter.txt --limit 3
benzer search photos.benzer --file photo.jpg
pdftotext letter.pdf - | benzer search docs.benzer -

# Search for documents similar to a document of the index
benzer search docs.benzer --id 4711

# Search by several fields, e.g. {"title": "Emma", "tags": ["novel", "1815"]}
benzer search books.benzer --json-document emma.json

# Find the nearest documents, even below the threshold of the index
benzer search docs.benzer --nearest --file letter.txt

# In an index with passages, find documents that contain the text, are contained in it, or quote it
benzer search docs.benzer --containing --file quote.txt
benzer search docs.benzer --contained --id 4711
benzer search docs.benzer --passages --file essay.txt

# Print matches with a similarity of at least 0.9 as JSON
benzer search docs.benzer --file letter.txt --threshold 0.9 --json
"""
CONTAINMENT = 0.8


@click.command(
    "search",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    short_help="Find the documents most similar to a given one.",
)
@click.argument("index", type=Location())
@click.argument("text", required=False)
@click.option("--file", type=click.Path(), help="Read the text (UTF-8) or image from a file.")
@click.option(
    "--json-document", metavar="FILE", type=click.Path(allow_dash=True),
    help="Read the fields from a JSON object in a file, or - for stdin.",
)  # fmt: skip
@click.option("--id", metavar="ID", help="Find documents similar to this document of the index.")
@click.option(
    "--limit", metavar="NUMBER", type=click.IntRange(min=1), default=10, show_default=True,
    help="Maximum number of results.",
)  # fmt: skip
@shared.option(
    shared.MATCHING,
    "--threshold", metavar="NUMBER", type=click.FloatRange(0, 1),
    show_default="set by the index; --nearest: none; containment: 0.8",
    help="Minimum similarity, or minimum containment.",
)  # fmt: skip
@click.option(
    "--candidates", is_flag=True,
    help="List documents that share buckets, without comparing them.",
)  # fmt: skip
@click.option(
    "--nearest", is_flag=True,
    help="Find the nearest documents at any distance; reads the whole index.",
)  # fmt: skip
@click.option("--containing", is_flag=True, help="Find documents that contain the text (requires passages).")
@click.option(
    "--contained", is_flag=True, help="Find documents that are contained in the text (requires passages)."
)
@click.option(
    "--passages", is_flag=True,
    help="Find passages of 8 words or more that other documents contain.",
)  # fmt: skip
@shared.json_option
def command(
    index: str,
    limit: int,
    threshold: float | None,
    candidates: bool,
    nearest: bool,
    containing: bool,
    contained: bool,
    passages: bool,
    as_json: bool,
    **question: str | None,
) -> int:
    """Print the documents of INDEX most similar to TEXT, best first, with their exact similarity.

    TEXT is the text itself, or - to read it from stdin; in an index of images it is the path of an image. If the
    documents have several fields, the similarity of each field is shown. The exit status is 0 even if nothing
    matches. --passages, --containing and --contained require an index created with --passages.
    """
    from benzer.index import Index

    asking.refuse_unless_one(question)
    flags = {
        "candidates": candidates, "nearest": nearest, "containing": containing, "contained": contained,
        "passages": passages,
    }  # fmt: skip
    way = way_of(flags, threshold)
    with Index.open(existing(index), mode="read") as opened:
        query = asking.document(opened, question)
        answer, draw = WAYS[way](opened, query, limit, threshold)
        if as_json:
            console.print_json({"index": printable_location(index), **answer})
        else:
            draw()
    return 0


def way_of(flags: dict[str, bool], threshold: float | None) -> str:
    """Return the selected mode; raise an error for two modes or a threshold that does not apply."""
    chosen = [name for name, flag in flags.items() if flag]
    if len(chosen) > 1:
        raise click.UsageError(f"--{chosen[0]} and --{chosen[1]} exclude each other: use one of them.")
    if threshold is not None and chosen == ["candidates"]:
        raise click.UsageError("--threshold does not apply to --candidates, which are not compared: omit it.")
    if threshold is not None and chosen == ["passages"]:
        raise click.UsageError(
            "--threshold does not apply to --passages, which have at least 8 words: omit it."
        )
    return chosen[0] if chosen else "similar"


Way = Callable[["Index", Any, int, "float | None"], tuple[dict[str, Any], Callable[[], object]]]


def similar(index: Index, query: Any, limit: int, threshold: float | None) -> Any:
    """Compare the query with the documents that share buckets."""
    matches = index.find_similar(query, limit, threshold)
    return {"matches": [as_answer(match) for match in matches]}, lambda: display(index, matches)


def proposed(index: Index, query: Any, limit: int, threshold: float | None) -> Any:
    """List the documents that share buckets."""
    result = index.find_candidates(query, limit)
    return {"candidates": [item._asdict() for item in result]}, lambda: show_candidates(index, result)


def nearest(index: Index, query: Any, limit: int, threshold: float | None) -> Any:
    """List the nearest documents with the promised recall."""
    result = index.find_nearest(query, limit, threshold=threshold)

    def draw() -> None:
        console.note(views.promised(result.compared, result.documents, result.threshold, result.recall))
        display(index, list(result))

    promised = {"recall": result.recall, "threshold": result.threshold}
    answer = {**promised, "compared": result.compared, "documents": result.documents}
    return {"matches": [as_answer(match) for match in result], **answer}, draw


def containing(index: Index, query: Any, limit: int, threshold: float | None) -> Any:
    """List the documents that contain the query."""
    return containments(
        index, index.find_containing(query, CONTAINMENT if threshold is None else threshold, limit)
    )


def contained(index: Index, query: Any, limit: int, threshold: float | None) -> Any:
    """List the documents that are contained in the query."""
    return containments(
        index, index.find_contained(query, CONTAINMENT if threshold is None else threshold, limit)
    )


def containments(index: Index, matches: ContainmentMatches) -> Any:
    """Return the JSON values of containments and a function that prints them."""

    def draw() -> None:
        for line in quotations.notes_of(matches, index.settings.passages):
            console.note(line)
        if matches:
            console.display(quotations.containments_table(matches, excerpts(index, matches), console.width()))

    return containments_answer(matches), draw


def containments_answer(result: ContainmentMatches) -> dict[str, Any]:
    """The matches as JSON values, and how many documents were compared."""
    matches = [{**match._asdict(), "fields": dict(match.fields)} for match in result]
    counts = {"candidates": result.candidates, "compared": result.compared}
    return {"matches": matches, **counts, "short": list(result.short)}


def passages(index: Index, query: Any, limit: int, threshold: float | None) -> Any:
    """List the documents that share passages."""
    result = index.find_passages(query, limit=limit)

    def draw() -> None:
        for line in quotations.covered_lines(result):
            console.display(line)
        if result.unread:
            console.note(quotations.unread(result.unread))
        if result:
            console.display()
            given = getattr(query, "fields", query)
            texts = dict.fromkeys(index.settings.schema.fields, given) if isinstance(given, str) else given
            console.display(quotations.passages_table(result, texts, console.width()))

    return result.to_dict(), draw


WAYS: dict[str, Way] = {
    "similar": similar, "candidates": proposed, "nearest": nearest, "containing": containing,
    "contained": contained, "passages": passages,
}  # fmt: skip


def as_answer(match: Match) -> dict[str, Any]:
    return {"id": match.id, "similarity": match.similarity, "fields": dict(match.fields)}


def display(index: Index, matches: Sequence[Match]) -> None:
    """Print a table of matches: the similarity, that of each field, and the beginning of the text."""
    if not matches:
        console.note(views.NO_MATCH)
        return
    names = list(index.settings.schema.fields)
    console.display(views.matches_table(matches, names, excerpts(index, matches), console.width()))


def show_candidates(index: Index, candidates: list[Candidate]) -> None:
    """Print a table of candidates."""
    if not candidates:
        console.note(views.NO_CANDIDATE)
        return
    settings = index.settings
    bands = settings.bands.bands * len(settings.schema.fields)
    console.display(views.candidates_table(candidates, bands, excerpts(index, candidates), console.width()))


def excerpts(index: Index, matches: Iterable[Match | Candidate | ContainmentMatch]) -> list[str]:
    """The beginning of each document; images have none."""
    stored = (index.get(match.id) for match in matches)
    return [views.excerpt(document.fields if document else {}) for document in stored]
