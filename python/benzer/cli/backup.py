"""`benzer backup`: copy an index file while it is in use."""

from __future__ import annotations

from pathlib import Path

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.location import Location, existing, printable_location
from benzer.views import upkeep as views

EXAMPLES = """\
# Copy an index, even while a program writes to it
benzer backup docs.benzer copies/monday.benzer

# Replace the copy of last week
benzer backup docs.benzer copies/monday.benzer --replace
"""


@click.command(
    "backup",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    short_help="Copy an index file while it is in use.",
)
@click.argument("index", type=Location())
@click.argument("copy", type=click.Path(dir_okay=False))
@click.option("--replace", is_flag=True, help="Replace COPY if it exists.")
@shared.json_option
def command(index: str, copy: str, replace: bool, as_json: bool) -> None:
    """Copy the last committed state of the file INDEX to COPY and check the copy.

    The copy is written atomically and is a complete index. Use `benzer restore` to restore it.
    """
    from benzer.index import Index

    with Index.open(existing(index), mode="read") as opened:
        count = opened.backup(copy, replace)
    size = Path(copy).stat().st_size
    if as_json:
        console.print_json(
            {"index": printable_location(index), "copy": copy, "documents": count, "bytes": size}
        )
        return
    console.display(views.documents_table("copied", count, size))
