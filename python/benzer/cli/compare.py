"""`benzer compare`: show the similarity of two documents and what they have in common."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console, fields
from benzer.cli import options as shared
from benzer.cli.asking import file_text
from benzer.cli.output import prepare
from benzer.cli.reading import DocumentReader
from benzer.errors import InputError
from benzer.views.outputs import written

if TYPE_CHECKING:
    from benzer.comparison import Comparison
    from benzer.document import Document
    from benzer.evidence import Evidence

EXAMPLES = """\
# Compare two files
benzer compare old.txt new.txt

# Compare two texts
benzer compare --texts "the quick brown fox jumps" "the quick brown fox sleeps"

# Compare two documents of a file by their ids
benzer compare --from docs.jsonl --id url a.html b.html

# Compare two images
benzer compare a.jpg b.jpg --images local

# Compare by shingles of 5 characters and print JSON
benzer compare a.txt b.txt --shingle char:5 --json

# Write a side-by-side view for a browser
benzer compare old.txt new.txt --html changes.html
"""
MOST_SHARED, LINE = 5, 60
HTML_PASSAGES = 100
COMMON = "--texts --from --id --text --images --shingle --full --html --json"


@click.command(
    "compare",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    common=COMMON,
    short_help="Show what two documents have in common.",
)
@click.argument("a")
@click.argument("b")
@shared.option(
    shared.INPUT, "--texts", "literal", is_flag=True, help="Treat A and B as texts, not as file names."
)
@shared.option(
    shared.INPUT,
    "--from",
    "source",
    type=click.Path(),
    metavar="FILE",
    help="Treat A and B as ids of documents in FILE.",
)
@shared.option(shared.OUTPUT, "--full", is_flag=True, help="Show the complete texts side by side.")
@shared.option(
    shared.OUTPUT,
    "--html",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write a page for viewing in a browser.",
)
@shared.option(shared.OUTPUT, "--replace", is_flag=True, help="Replace the --html file if it exists.")
@shared.json_option
@fields.column_options
@fields.weight_option
@fields.text_options
def command(
    a: str,
    b: str,
    literal: bool,
    source: str | None,
    full: bool,
    html: str | None,
    replace: bool,
    as_json: bool,
    **reading: Any,
) -> int:
    """Show the similarity of the files A and B (UTF-8 text or images; - for stdin) and what they have in common.

    Lists the passages that appear in both, longest first, and how much of each document they cover. A terminal, or
    --full, shows them side by side; --html writes a page; --json includes their positions. "shared" counts the
    shingles (runs of words) that both documents contain, at any position.
    """
    from benzer.comparison import compare

    if html is not None:
        check_page(Path(html), [source] if source else [] if literal else [a, b], replace)
    schema, columns = fields.described(reading, reading["weight"])
    if source:
        if literal:
            raise click.UsageError("--texts and --from exclude each other.")
        layout = fields.layout_of(reading)
        reader = DocumentReader(
            (source,), columns, reading["id_column"], reading["format"], schema, layout=layout
        )
        left, right = pick(source, a, b, reader)
    else:
        refuse_columns(reading)
        left, right = documents(a, b, literal, fields.wants_images(reading))
    comparison = compare(left, right, schema=schema, evidence=True)
    if html is not None:
        write_html(Path(html), left, right, comparison, replace)
        console.note(written(html))
    if as_json:
        console.print_json({"a": left.id, "b": right.id, **answer(comparison)})
    else:
        display(left, right, comparison, full)
    return 0


def check_page(path: Path, inputs: Sequence[str], replace: bool) -> None:
    """Raise an error if the page would replace another file (unless allowed) or an input."""
    from benzer.tables import check_destination

    prepare(path, replace, "choose another file")
    check_destination(inputs, path)


def refuse_columns(reading: dict[str, Any]) -> None:
    """Raise an error if columns are named without a table."""
    named = shared.given("text", "values", "image_column", "id_column")
    if named or reading["format"] not in (None, "text", "images"):
        raise click.UsageError(
            "--format and the options for columns require --from; to compare two texts, use --texts A B."
        )


def documents(a: str, b: str, literal: bool, images: bool) -> tuple[Document, Document]:
    """Read two texts from the command line, or two texts or images from files."""
    from benzer.document import Document

    if literal and images:
        raise click.UsageError("--texts and --images exclude each other.")
    if literal:
        return Document("A", a), Document("B", b)
    if a == b == "-":
        raise click.UsageError("only one of A and B can be stdin.")
    if images:
        return Document(a, {"image": image(a)}), Document(b, {"image": image(b)})
    return Document(a, file_text(a)), Document(b, file_text(b))


def image(name: str) -> Path | bytes:
    return sys.stdin.buffer.read() if name == "-" else Path(name)


def pick(source: str, a: str, b: str, reading: DocumentReader) -> tuple[Document, Document]:
    """Read a file and return the two documents with the given ids."""
    from benzer.index.documents import ids_of

    requested = {*ids_of(a), *ids_of(b)}
    picked: dict[str | int, Document] = {}
    reading.each(lambda batch: picked.update({item.id: item for item in batch if item.id in requested}))
    left, right = ([picked[id] for id in ids_of(text) if id in picked] for text in (a, b))
    for text, documents in ((a, left), (b, right)):
        if not documents:
            raise InputError(
                f"{source}: no document has the id {text!r:.60}: check the id, or name the id column with --id"
            )
        if len(documents) > 1:
            raise InputError(
                f"{source} has a document with the id {text!r} and one with the id {text}: "
                "the id is ambiguous; change one of them"
            )
    return left[0], right[0]


def answer(comparison: Comparison) -> dict[str, Any]:
    """Convert a comparison to JSON values."""
    names = ("similarity", "estimate", "containment_a", "containment_b", "shingles_a", "shingles_b")
    fields = {}
    for name, field in comparison.fields.items():
        fields[name] = {**{key: getattr(field, key) for key in names}, "shared": list(field.shared)}
        if field.evidence is not None:
            evidence = field.evidence.to_dict()
            fields[name].update(
                {key: evidence[key] for key in ("coverage_a", "coverage_b", "unit", "passages", "more")}
            )
    return {"similarity": comparison.similarity, "estimate": comparison.estimate, "fields": fields}


def display(a: Document, b: Document, comparison: Comparison, full: bool) -> None:
    """Print the numbers and the common passages of each field, on a terminal or in full side by side."""
    from benzer.views.evidence import field_heading, more_passages, numbers_table, shared_lines

    console.display(numbers_table(comparison))
    for name, field in comparison.fields.items():
        if field.evidence is None:
            continue
        console.display(f"\n{field_heading(name, field.evidence)}")
        if field.evidence.passages and (full or sys.stdout.isatty()):
            from benzer.cli.sidebyside import side_by_side

            texts = (str(a.id), text_of(a, name)), (str(b.id), text_of(b, name))
            console.display(side_by_side(*texts, field.evidence, None if full else MOST_SHARED))
        elif field.evidence.passages:
            list_passages(field.evidence, text_of(a, name))
        elif field.shared:
            for line in shared_lines(field.shared[:MOST_SHARED]):
                console.display(console.printable(line))
        left = len(field.evidence.passages) + field.evidence.more - MOST_SHARED
        if left > 0 and not full:
            console.display(more_passages(left))


def list_passages(evidence: Evidence, text: str) -> None:
    """List the passages for a pipe: the length of each and its beginning."""
    from benzer.evidence.views import caption

    for number, passage in enumerate(evidence.passages[:MOST_SHARED], 1):
        begins = console.snippet(text[slice(*passage.a)], LINE)
        console.display(f"  {caption(number, passage, evidence.unit)}: {begins}")


def write_html(path: Path, a: Document, b: Document, comparison: Comparison, replace: bool) -> None:
    """Write a self-contained page with the numbers and each field side by side."""
    from benzer.tables import atomic_write
    from benzer.views.evidence import evidence_of, page

    names = str(a.id), str(b.id)
    sections = []
    for name, field in comparison.fields.items():
        view = None
        if field.evidence is not None:
            texts = text_of(a, name), text_of(b, name)
            view = evidence_of(texts, field.evidence, names, most=HTML_PASSAGES, complete=True)
        sections.append((name, field.similarity, view))
    with atomic_write(path, replace) as partial:
        partial.write_text(page(names, sections), encoding="utf-8")


def text_of(document: Document, name: str) -> str:
    content = document.fields.get(name)
    return content if isinstance(content, str) else ""
