"""`benzer import`: how does an index come about from the file that another one was exported to?"""

from __future__ import annotations

import click

from benzer.cli import merge
from benzer.cli import options as shared
from benzer.cli.location import Location
from benzer.cli.making import made_or_opened

EXAMPLES = """\
# Make an index of an exported file
benzer import docs.benzer docs.jsonl.zst

# Add an exported file to an index of the same settings; documents that are there stay
benzer import docs.benzer docs.jsonl.zst --on-conflict keep
"""


@click.command(
    "import",
    cls=shared.TaughtCommand,
    examples=EXAMPLES,
    short_help="Put the documents of an exported file into an index.",
)
@click.argument("index", type=Location())
@click.argument("file", type=click.Path(dir_okay=False))
@merge.conflict_option
@shared.threads_option
@shared.json_option
def command(index: str, file: str, on_conflict: str, threads: int, as_json: bool) -> None:
    """Put the documents of FILE, which `benzer export` wrote, into INDEX; all of them, or none.

    INDEX is made by the settings in the file where there is none; one that is there must have the same settings.
    To make an index of documents of your own use `benzer index`.
    """
    from benzer.index import exported_settings

    with made_or_opened(index, exported_settings(file)) as opened:
        taken = opened.import_(file, on_conflict, threads)
        documents = len(opened)
    merge.show(index, taken, documents, as_json)
