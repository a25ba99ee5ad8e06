"""`benzer merge`: add the documents of indexes to another index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.location import Location, existing, is_server, printable_location
from benzer.cli.making import made_or_opened
from benzer.errors import InputError
from benzer.views import upkeep as views

if TYPE_CHECKING:
    from benzer.index import Taken

EXAMPLES = """\
# Add the documents of two indexes to a third
benzer merge all.benzer monday.benzer tuesday.benzer

# Keep the existing document if both have the same id
benzer merge all.benzer monday.benzer --on-conflict keep

# Move an index from a file to a server
benzer merge 'redis://localhost:6379/0?prefix=docs' docs.benzer
"""
conflict_option = click.option(
    "--on-conflict", type=click.Choice(["replace", "keep"]), default="replace", show_default=True,
    help="Replace or keep an existing document with the same id.",
)  # fmt: skip


@click.command(
    "merge",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    short_help="Add the documents of indexes to another index.",
)
@click.argument("target", type=Location())
@click.argument("sources", nargs=-1, required=True, type=Location(), metavar="SOURCE...")
@conflict_option
@shared.threads_option
@shared.json_option
def command(target: str, sources: tuple[str, ...], on_conflict: str, threads: int, as_json: bool) -> None:
    """Add all documents of each SOURCE to TARGET, in this order. If an error occurs, none are added.

    All indexes must have the same settings. TARGET is created if it does not exist; the sources are not changed. If
    two documents have the same id, the later time of the two is stored as last seen.
    """
    from benzer.index import Index, Taken

    for source in sources:
        existing(source)
        refuse_same(source, target)
    with Index.open(sources[0], mode="read") as first:
        settings = first.settings
    total = Taken(0, 0, 0)
    with made_or_opened(target, settings) as index:
        for source in sources:
            with Index.open(source, mode="read") as other:
                counts = index.merge(other, on_conflict, threads=threads)
            total = Taken(*(a + b for a, b in zip(total, counts, strict=True)))
        documents = len(index)
    display(target, total, documents, as_json)


def refuse_same(source: str, target: str) -> None:
    """Raise an error for merging an index into itself."""
    from pathlib import Path

    same = source == target
    if not same and not is_server(source) and not is_server(target) and Path(target).exists():
        same = Path(source).samefile(target)
    if same:
        raise InputError(
            f"{printable_location(source)} is the target of the merge: remove it from the sources"
        )


def display(target: str, counts: Taken, documents: int, as_json: bool) -> None:
    """Print the counts."""
    if as_json:
        console.print_json({"index": printable_location(target), **counts._asdict(), "documents": documents})
        return
    console.display(views.merged_table(counts, documents))
