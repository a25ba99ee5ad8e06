"""`benzer search`: which documents of an index are most like this one?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.errors import InputError

if TYPE_CHECKING:
    from benzer.document import Document
    from benzer.index import Index, Match

EXAMPLES = """\
# The documents most like a text
benzer search docs.benzer "the quick brown fox jumps over the dog"

# Most like a file, or like what comes in by a pipe
benzer search docs.benzer --file letter.txt --limit 3
pdftotext letter.pdf - | benzer search docs.benzer -

# Most like a document of the index
benzer search docs.benzer --id 4711

# For a program, and only what is at least 0.9 similar
benzer search docs.benzer --file letter.txt --threshold 0.9 --json
"""


@click.command(
    "search",
    cls=shared.TaughtCommand,
    examples=EXAMPLES,
    short_help="Find the documents most like a given one.",
)
@click.argument("index", type=click.Path(path_type=Path))
@click.argument("text", required=False)
@click.option("--file", "file", type=click.Path(path_type=Path), help="Read the text from a file (UTF-8).")
@click.option("--id", "id", help="Take a document of the index, and find the others like it.")
@click.option(
    "--limit",
    metavar="NUMBER",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many to show at most.",
)
@click.option(
    "--threshold",
    metavar="NUMBER",
    type=click.FloatRange(0, 1),
    help="Least similarity. [default: that of the index]",
)
@shared.json_option
def command(
    index: Path,
    text: str | None,
    file: Path | None,
    id: str | None,
    limit: int,
    threshold: float | None,
    as_json: bool,
) -> int:
    """Print the documents of INDEX most like TEXT, best first, with their exact similarity.

    TEXT is the text itself, or - to read it from stdin. Where nothing is similar enough the answer is
    empty, and the exit status 0.
    """
    from benzer.index import Index

    if sum(given is not None for given in (text, file, id)) != 1:
        raise click.UsageError("give one of TEXT, --file, --id, or - for stdin.")
    with Index.open(existing(index), mode="read") as opened:
        asked = stored(opened, id) if id is not None else read_text(text, file)
        matches = opened.find_similar(asked, limit, threshold)
        if as_json:
            console.print_json({"index": str(index), "matches": [as_answer(match) for match in matches]})
        else:
            show(opened, matches)
    return 0


def existing(index: Path) -> Path:
    if not index.exists():
        raise InputError(f"{index}: no such index; make it with: benzer index {index} INPUT...")
    return index


def read_text(text: str | None, file: Path | None) -> str:
    """Take the text from the command line, from stdin, or from a file."""
    if text is not None and text != "-":
        return text
    name, data = ("stdin", sys.stdin.buffer.read()) if file is None else (str(file), file.read_bytes())
    return utf8(name, data)


def utf8(name: str, data: bytes) -> str:
    """Decode, or say at which byte it fails."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: byte {error.start:,} is not UTF-8: convert the file, with iconv for example"
        ) from None


def stored(index: Index, id: str) -> Document:
    """Fetch a document of the index by its id, which may be a number there."""
    keys: list[str | int] = [id, int(id)] if id.isascii() and id.isdigit() else [id]
    for key in keys:
        document = index.get(key)
        if document is not None:
            return document
    raise InputError(f"no document has the id {id!r} in this index of {len(index):,} documents")


def as_answer(match: Match) -> dict[str, Any]:
    return {"id": match.id, "similarity": match.similarity, "fields": dict(match.fields)}


def show(index: Index, matches: list[Match]) -> None:
    """Print a table of matches, with the beginning of each document."""
    if not matches:
        console.note("nothing in the index is that similar; a lower --threshold may find more")
        return
    ids = [console.printable(str(match.id)) for match in matches]
    room = max(20, console.width() - len("similarity") - max(map(len, ids)) - 6)
    rows = [
        (console.ratio(match.similarity), id, console.snippet(text_of(index.get(match.id)), room))
        for match, id in zip(matches, ids, strict=True)
    ]
    console.show(console.headed_table(["similarity", "id", "text"], rows, right=1))


def text_of(document: Document | None) -> str:
    """Put the text fields of a document behind one another."""
    fields = document.fields.values() if document else []
    return " | ".join(value for value in fields if isinstance(value, str))
