"""`benzer restore`: how is a copy of an index put back?"""

from __future__ import annotations

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.location import Location, is_server, shown
from benzer.errors import InputError

EXAMPLES = """\
# Put a copy in the place of a damaged index
benzer restore docs.benzer copies/monday.benzer

# Keep a copy that was put there with cp, without the log of the file before it
benzer restore docs.benzer docs.benzer
"""


@click.command(
    "restore", cls=shared.TaughtCommand, examples=EXAMPLES, short_help="Put a copy of an index file back."
)
@click.argument("index", type=Location())
@click.argument("copy", type=click.Path(dir_okay=False))
@shared.json_option
def command(index: str, copy: str, as_json: bool) -> None:
    """Check COPY, put it in the place of INDEX, a file, and remove what belonged to the old file.

    Close INDEX everywhere before. What was added to it after the copy was made is lost.
    """
    from benzer.index import restore

    if is_server(index):
        raise InputError(f"{shown(index)} is not in a file: use benzer import")
    count = restore(index, copy)
    if as_json:
        console.print_json({"index": index, "copy": copy, "documents": count})
        return
    console.show(console.rows_table([("restored", console.count(count), "documents")]))
