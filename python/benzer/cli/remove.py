"""`benzer remove`: remove documents from an index."""

from __future__ import annotations

import click

from benzer.cli import asking, console
from benzer.cli import options as shared
from benzer.cli.location import Location, existing, printable_location
from benzer.views import upkeep as views

EXAMPLES = """\
# Remove two documents
benzer remove docs.benzer 4711 https://example.org/old

# Remove the ids listed in a file, one per line; - reads from stdin
benzer remove docs.benzer --ids gone.txt
"""


def listed(text: str) -> list[str]:
    """Split a text into ids, one per line; an id may contain other line separators such as U+2028.

    >>> listed("a\\u2028b\\r\\n\\nc")
    ['a\\u2028b', 'c']
    """
    return [line for line in (item.removesuffix("\r") for item in text.split("\n")) if line]


@click.command(
    "remove",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    short_help="Remove documents from an index by their ids.",
)
@click.argument("index", type=Location())
@click.argument("id", nargs=-1, metavar="[ID]...")
@click.option(
    "--ids", type=click.Path(allow_dash=True), help="Read ids from a file, one per line, or - for stdin."
)
@shared.json_option
def command(index: str, id: tuple[str, ...], ids: str | None, as_json: bool) -> None:
    """Remove the documents with these ids from INDEX.

    Ids that are not in the index are reported and ignored. An id of digits only is matched as text first, then as a
    number.
    """
    from benzer.index import Index

    wanted = dict.fromkeys([*id, *(listed(asking.file_text(ids)) if ids else [])])
    if not wanted:
        raise click.UsageError("no ids given: list the ids to remove, or use --ids FILE.")
    with Index.open(existing(index)) as opened:
        known = {item: asking.held_id(opened, item) for item in wanted}
        removed = opened.remove([known_id for known_id in known.values() if known_id is not None])
        left = len(opened)
    missing = [item for item, known_id in known.items() if known_id is None]
    if as_json:
        console.print_json(
            {"index": printable_location(index), "removed": removed, "not_there": missing, "documents": left}
        )
        return
    if missing:
        console.note(views.not_there(missing))
    console.display(views.removed_table(removed, left))
