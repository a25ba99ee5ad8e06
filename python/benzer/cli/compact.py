"""`benzer compact`: rewrite an index without removed documents."""

from __future__ import annotations

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.location import Location, existing, printable_location
from benzer.views import upkeep as views

EXAMPLES = """\
# Compact an index after many documents were removed or replaced
benzer compact docs.benzer
"""


@click.command(
    "compact",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    short_help="Rewrite an index without removed documents.",
)
@click.argument("index", type=Location())
@shared.json_option
def command(index: str, as_json: bool) -> None:
    """Rewrite INDEX without removed documents and return the space to the disk.

    An index is compacted automatically once half of it was removed. Compaction of a file needs free disk space of
    twice its size.
    """
    from benzer.index import Index

    with Index.open(existing(index)) as opened:
        before = opened.info()
        opened.compact()
        after = opened.info()
    sizes = {"bytes_before": before["bytes"], "bytes": after["bytes"], "documents": after["documents"]}
    if as_json:
        console.print_json({"index": printable_location(index), **sizes})
        return
    console.display(views.compacted_table(before, after))
