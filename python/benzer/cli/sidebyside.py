"""Two documents side by side on a terminal, by passage or complete, with equal text in green."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text as Styled

from benzer.cli.console import count, printable
from benzer.evidence import Evidence
from benzer.evidence.views import Side, Stretch, caption, stretches, whole

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
    if most is None:
        left, right = whole(a[1], evidence.passages, "a"), whole(b[1], evidence.passages, "b")
        table.add_row(drawn(left), drawn(right))
        return table
    for number, passage in enumerate(evidence.passages[:most], 1):
        sides: tuple[tuple[str, Side], ...] = ((a[1], "a"), (b[1], "b"))
        cells = [drawn(stretches(text, passage, side, CONTEXT, LONGEST)) for text, side in sides]
        title = Styled(caption(number, passage, evidence.unit), "bold")
        table.add_row(title, Styled(places(passage.a, passage.b), "dim"))
        table.add_row(*cells, end_section=True)
    return table


def places(a: tuple[int, int], b: tuple[int, int]) -> str:
    """Describe the position of a passage.

    >>> places((0, 1200), (7, 1207))
    'characters 0 to 1,200 of A, 7 to 1,207 of B'
    """
    return f"characters {a[0]:,} to {a[1]:,} of A, {b[0]:,} to {b[1]:,} of B"


def legend() -> Styled:
    """Explain the colours."""
    return Styled.assemble(
        ("green", STYLES["equal"]), ": in both;  ", ("yellow", STYLES["differs"]), ": differs"
    )


def drawn(shown: Sequence[Stretch]) -> Styled:
    """Colour the parts of a text; line breaks within a paragraph become spaces."""
    cell = Styled()
    for kind, text in shown:
        if kind == "cut":
            cell.append(f" … {count(int(text))} characters omitted (--full shows all) … ", STYLES[kind])
        else:
            cell.append(even(text), STYLES[kind])
    return cell


def even(text: str) -> str:
    """Normalize white space: paragraphs remain separate, other white space becomes one space.

    >>> even("a\\n   b \\n\\n  c")
    'a b\\n\\nc'
    """
    return "\n\n".join(printable(re.sub(r"\s+", " ", part)) for part in re.split(r"\s*\n\s*\n\s*", text))
