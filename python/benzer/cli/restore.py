"""`benzer restore`: replace an index file with a backup."""

from __future__ import annotations

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.location import Location, is_server, printable_location
from benzer.errors import InputError
from benzer.views import upkeep as views

EXAMPLES = """\
# Replace a damaged index with a backup
benzer restore docs.benzer copies/monday.benzer

# Check a copy that was put in place with cp, and remove the log of the previous file
benzer restore docs.benzer docs.benzer
"""


@click.command(
    "restore", cls=shared.ExampleCommand, examples=EXAMPLES, short_help="Replace an index file with a backup."
)
@click.argument("index", type=Location())
@click.argument("copy", type=click.Path(dir_okay=False))
@shared.json_option
def command(index: str, copy: str, as_json: bool) -> None:
    """Check COPY, replace the file INDEX with it, and remove the log of the old file.

    Close INDEX in all processes first. Changes made after the backup are lost.
    """
    from benzer.index import restore

    if is_server(index):
        raise InputError(f"{printable_location(index)} is not in a file: use benzer import")
    count = restore(index, copy)
    if as_json:
        console.print_json({"index": index, "copy": copy, "documents": count})
        return
    console.display(views.documents_table("restored", count))
