"""`benzer export`: write the documents of an index to a file that later versions can read."""

from __future__ import annotations

from pathlib import Path

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.location import Location, existing, printable_location
from benzer.cli.output import remove_leftovers
from benzer.views import upkeep as views

EXAMPLES = """\
# Write all documents of an index, compressed
benzer export docs.benzer docs.jsonl.zst

# Export from a server and replace the last copy
benzer export 'redis://localhost:6379/0?prefix=docs' docs.jsonl.zst --replace
"""


@click.command(
    "export",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    short_help="Write the documents of an index to a JSONL file.",
)
@click.argument("index", type=Location())
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--replace", is_flag=True, help="Replace FILE if it exists.")
@shared.json_option
def command(index: str, file: str, replace: bool, as_json: bool) -> None:
    """Write the documents of INDEX, their ids and last-seen times to FILE (.jsonl, .jsonl.gz, .jsonl.zst).

    The file is written atomically. `benzer import` creates an index from it that returns the same results.
    """
    from benzer.index import Index

    remove_leftovers(Path(file))
    with Index.open(existing(index), mode="read") as opened:
        count = opened.export(file, replace)
    size = Path(file).stat().st_size
    if as_json:
        console.print_json(
            {"index": printable_location(index), "file": file, "documents": count, "bytes": size}
        )
        return
    console.display(views.documents_table("written", count, size))
