"""`benzer import`: add the documents of an exported file to an index."""

from __future__ import annotations

import click

from benzer.cli import merge
from benzer.cli import options as shared
from benzer.cli.location import Location
from benzer.cli.making import made_or_opened

EXAMPLES = """\
# Create an index from an exported file
benzer import docs.benzer docs.jsonl.zst

# Add an exported file to an index with the same settings; keep existing documents
benzer import docs.benzer docs.jsonl.zst --on-conflict keep
"""


@click.command(
    "import",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    short_help="Add the documents of an exported file to an index.",
)
@click.argument("index", type=Location())
@click.argument("file", type=click.Path(dir_okay=False))
@merge.conflict_option
@shared.threads_option
@shared.json_option
def command(index: str, file: str, on_conflict: str, threads: int, as_json: bool) -> None:
    """Add the documents of FILE, written by `benzer export`, to INDEX. If an error occurs, none are added.

    INDEX is created with the settings in the file if it does not exist. An existing index must have the same
    settings. To index other documents, use `benzer index`.
    """
    from benzer.index import exported_settings

    with made_or_opened(index, exported_settings(file)) as opened:
        counts = opened.import_(file, on_conflict, threads)
        documents = len(opened)
    merge.display(index, counts, documents, as_json)
