"""`benzer compact`: how does an index become small and fast again?"""

from __future__ import annotations

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.location import Location, existing, shown

EXAMPLES = """\
# After many documents were removed or replaced
benzer compact docs.benzer
"""


@click.command(
    "compact",
    cls=shared.TaughtCommand,
    examples=EXAMPLES,
    short_help="Rewrite an index in its smallest and fastest shape.",
)
@click.argument("index", type=Location())
@shared.json_option
def command(index: str, as_json: bool) -> None:
    """Rewrite INDEX without what was removed.

    An index does this by itself once half of it is gone; this does it now, and gives the space back to the disk. A
    file needs free disk space of twice its size meanwhile.
    """
    from benzer.index import Index

    with Index.open(existing(index)) as opened:
        before = opened.info()
        opened.compact()
        after = opened.info()
    sizes = {"bytes_before": before["bytes"], "bytes": after["bytes"], "documents": after["documents"]}
    if as_json:
        console.print_json({"index": shown(index), **sizes})
        return
    rows = [
        (
            "before",
            f"{before['bytes'] / 1e6:,.1f} MB",
            f"{console.count(before['removed'])} removed documents",
        ),
        ("now", f"{after['bytes'] / 1e6:,.1f} MB", f"{console.count(after['documents'])} documents"),
    ]
    console.show(console.rows_table(rows))
