"""`benzer evict`: remove documents that were not seen for a given time."""

from __future__ import annotations

import re
import time
from datetime import datetime, timezone

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.location import Location, existing, printable_location
from benzer.views import upkeep as views

EXAMPLES = """\
# Remove documents that were neither added nor touched in the last 30 days
benzer evict docs.benzer --unseen 30d

# Show what would be removed
benzer evict docs.benzer --unseen 12h --dry-run

# Remove documents not seen since a day (0:00 UTC)
benzer evict docs.benzer --unseen 2026-01-31
"""
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
MOST_LISTED = 20


def moment(ctx: click.Context, param: click.Parameter, value: str) -> int:
    """Convert an age such as 30d, or a day, to seconds since 1970."""
    ago = re.fullmatch(r"([0-9]{1,9})([smhdw])", value)
    if ago:
        return max(0, int(time.time()) - int(ago[1]) * UNITS[ago[2]])
    try:
        return max(0, int(datetime.strptime(value, "%Y-%m-%d").replace(tzinfo=timezone.utc).timestamp()))
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is neither an age nor a day: use e.g. 45m, 12h, 30d, 8w or 2026-01-31."
        ) from None


@click.command(
    "evict",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    short_help="Remove documents that were not seen for a given time.",
)
@click.argument("index", type=Location())
@click.option(
    "--unseen", callback=moment, required=True, metavar="TIME",
    help="Age (45m, 12h, 30d, 8w) or day (2026-01-31) of the last time seen.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what would be removed without removing anything.")
@shared.json_option
def command(index: str, unseen: int, dry_run: bool, as_json: bool) -> None:
    """Remove the documents of INDEX that were last seen before a given time.

    A document is seen when it is added, added again or touched by a program. Documents added by an earlier version
    of Benzer count as seen when this version first wrote to the index.
    """
    from benzer.index import Index

    with Index.open(existing(index), mode="read" if dry_run else "write") as opened:
        before = len(opened)
        going = opened.unseen(unseen) if dry_run else []
        if not dry_run:
            opened.evict(unseen)
        left = len(opened)
    if as_json:
        since = datetime.fromtimestamp(unseen, timezone.utc).isoformat()
        answer = {
            "index": printable_location(index),
            "unseen_since": since,
            "removed": before - left,
            "documents": left,
        }
        console.print_json({**answer, "would_go": going} if dry_run else answer)
        return
    if dry_run:
        for item in going[:MOST_LISTED]:
            console.display(console.printable(str(item)))
        console.note(views.evicted(len(going), before, MOST_LISTED))
    else:
        console.display(views.removed_table(before - left, left))
