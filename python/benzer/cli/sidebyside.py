"""Two documents side by side on a terminal, by passage or complete, with equal text in green."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text as Styled

from benzer.cli.console import printable
from benzer.evidence import Evidence
from benzer.evidence.views import LEGEND, Stretch
from benzer.views.evidence import evidence_of

STYLES = {"equal": "green", "differs": "bold yellow", "around": "dim", "cut": "dim italic"}
LONGEST, CONTEXT = 700, 40
PAGE_WIDTH = 100  # without a terminal


def side_by_side(a: tuple[str, str], b: tuple[str, str], evidence: Evidence, most: int | None) -> Table:
    """Show the common passages of two (name, text): the first `most`, or the complete texts if None."""
    table = Table(box=box.SIMPLE_HEAD, expand=True)
    if sys.stdout.isatty():
        table.caption = legend()
    else:
        table.width = PAGE_WIDTH
    for name, _ in (a, b):
        table.add_column(printable(name), ratio=1, overflow="fold")
    view = evidence_of(
        (a[1], b[1]),
        evidence,
        (a[0], b[0]),
        most=most or 0,
        longest=LONGEST,
        context=CONTEXT,
        complete=most is None,
    )
    if view.whole is not None:
        table.add_row(*(drawn(side.stretches) for side in view.whole))
        return table
    for passage in view.passages:
        places = ", ".join(f"{side.place} of {side.letter}" for side in passage.sides)
        table.add_row(Styled(passage.caption, "bold"), Styled(places, "dim"))
        table.add_row(*(drawn(side.stretches) for side in passage.sides), end_section=True)
    return table


def legend() -> Styled:
    """Explain the colours."""
    parts = (part for kind, meaning in LEGEND.items() for part in ((meaning, STYLES[kind]), "  "))
    return Styled.assemble(*parts)


def drawn(stretches: Sequence[Stretch]) -> Styled:
    """Colour the parts of a text; line breaks within a paragraph become spaces."""
    cell = Styled()
    for kind, text in stretches:
        cell.append(text if kind == "cut" else even(text), STYLES[kind])
    return cell


def even(text: str) -> str:
    """Normalize white space: paragraphs remain separate, other white space becomes one space.

    >>> even("a\\n   b \\n\\n  c")
    'a b\\n\\nc'
    """
    return "\n\n".join(printable(re.sub(r"\s+", " ", part)) for part in re.split(r"\s*\n\s*\n\s*", text))
