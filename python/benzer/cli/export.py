"""`benzer export`: how does an index become a file that any later Benzer can read?"""

from __future__ import annotations

from pathlib import Path

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.location import Location, existing, shown
from benzer.cli.output import remove_leftovers

EXAMPLES = """\
# Write all documents of an index, compressed
benzer export docs.benzer docs.jsonl.zst

# From a server, in the place of the last copy
benzer export 'redis://localhost:6379/0?prefix=docs' docs.jsonl.zst --replace
"""


@click.command(
    "export",
    cls=shared.TaughtCommand,
    examples=EXAMPLES,
    short_help="Write the documents of an index to a JSONL file.",
)
@click.argument("index", type=Location())
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--replace", is_flag=True, help="Replace a file that is there.")
@shared.json_option
def command(index: str, file: str, replace: bool, as_json: bool) -> None:
    """Write the documents of INDEX, their ids and when each was last seen, to FILE (.jsonl, .jsonl.gz, .jsonl.zst).

    The file appears whole or not at all. `benzer import` makes an index of it that answers the same.
    """
    from benzer.index import Index

    remove_leftovers(Path(file))
    with Index.open(existing(index), mode="read") as opened:
        count = opened.export(file, replace)
    size = Path(file).stat().st_size
    if as_json:
        console.print_json({"index": shown(index), "file": file, "documents": count, "bytes": size})
        return
    console.show(console.rows_table([("written", console.count(count), f"documents, {size / 1e6:,.1f} MB")]))
