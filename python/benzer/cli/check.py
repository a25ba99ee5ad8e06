"""`benzer check`: check an index for damage."""

from __future__ import annotations

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.location import Location, existing, printable_location
from benzer.views import upkeep as views

EXAMPLES = """\
# Read the whole index and verify its contents
benzer check docs.benzer
"""


@click.command("check", cls=shared.ExampleCommand, examples=EXAMPLES, short_help="Check an index for damage.")
@click.argument("index", type=Location())
@shared.json_option
def command(index: str, as_json: bool) -> int:
    """Read all of INDEX and verify checksums, counts, ids, documents and postings.

    Other processes can read and write during the check. The exit status is 1 if the index is damaged.
    """
    from benzer.errors import StoreFormatError
    from benzer.index import Index

    count, fault = 0, None
    try:
        with Index.open(existing(index), mode="read") as opened:
            opened.check()
            count = len(opened)
    except StoreFormatError as error:
        fault = str(error)
    if as_json:
        console.print_json(
            {"index": printable_location(index), "whole": fault is None, "documents": count, "fault": fault}
        )
    elif fault is None:
        console.display(views.documents_table("intact", count))
    else:
        click.echo(f"benzer: error: {fault}", err=True)
    return 0 if fault is None else 1
