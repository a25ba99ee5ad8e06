"""Output on a terminal, in a pipe and as JSON.

`show` prints results to stdout, `note` prints messages to stderr. In a pipe there are no colours and no progress
bars, and lines are not shortened. `rich` is imported only to draw a table on a terminal or with non-ASCII cells.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from benzer import wording
from benzer.errors import full_disk_named
from benzer.wording import amount as amount
from benzer.wording import count as count
from benzer.wording import duration as duration
from benzer.wording import ratio as ratio
from benzer.wording import setting as setting

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Progress: TypeAlias = "Callable[[str, int, int | None], None]"
PIPE_WIDTH = 10_000
MALFORMED_SHOWN = 3


def show(result: RenderableType = "") -> None:
    """Print a text, or a table as wide as the terminal, to stdout.

    Without a terminal a table is as wide as its content, and its lines have no trailing spaces.
    """
    if isinstance(result, Laid) and not sys.stdout.isatty() and result.is_plain:
        result = result.plain()
    if isinstance(result, str):
        echo(result)
        return
    from rich.console import Console

    if sys.stdout.isatty():
        Console(markup=False, highlight=False, emoji=False).print(result)
        return
    drawn = io.StringIO()
    Console(file=drawn, width=PIPE_WIDTH, markup=False, highlight=False, emoji=False).print(result)
    echo("\n".join(line.rstrip() for line in drawn.getvalue().splitlines()), color=False)


def echo(text: str, color: bool | None = None) -> None:
    """Print to stdout; a full disk raises an error that names it."""
    with full_disk_named("standard output", "redirect the output to another disk"):
        click.echo(text, color=color)


def print_json(answer: Mapping[str, Any]) -> None:
    """Print one JSON object to stdout."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    echo(json.dumps(answer, ensure_ascii=encoding != "utf8", indent=2, default=plain))


def plain(value: Any) -> Any:
    """Convert a NumPy value to plain Python, and other values such as paths to text.

    >>> plain(bytearray(b"x"))
    "bytearray(b'x')"
    """
    return value.tolist() if hasattr(value, "tolist") else str(value)


def note(message: str) -> None:
    """Print a message to stderr."""
    click.echo(f"benzer: {message}", err=True)


def talk(message: str) -> None:
    """Print a message to stderr if it is a terminal."""
    if sys.stderr.isatty():
        note(message)


def tell_malformed(rows: Sequence[object], number: int | None = None) -> None:
    """Print the first malformed rows to stderr and count the others; `number` is the total if `rows` is a part."""
    total = len(rows) if number is None else number
    if not total:
        return
    note(f"{count(total)} malformed {'row' if total == 1 else 'rows'} skipped:")
    for row in rows[:MALFORMED_SHOWN]:
        note(f"  {printable(str(row))}")
    if total > MALFORMED_SHOWN:
        note(f"  and {count(total - MALFORMED_SHOWN)} more")


@contextmanager
def progress(*stages: str) -> Iterator[Progress | None]:
    """Show a progress bar for each stage, with rate and remaining time; yields None if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from benzer.cli.progress import bars

    with bars(stages) as report:
        yield report


def width() -> int:
    """Return the width of the terminal, or 80 without one."""
    return shutil.get_terminal_size((80, 24)).columns


class Laid:
    """Rows of a table; the columns from `numbers` to `after` are right-aligned. `draw` makes the `rich` table."""

    def __init__(
        self, rows: Sequence[Sequence[RenderableType]], numbers: int, after: int, draw: Callable[[], Table]
    ) -> None:
        self._rows, self._right, self._draw = [list(row) for row in rows], range(numbers, after), draw

    def __rich__(self) -> Table:
        return self._draw()

    @property
    def is_plain(self) -> bool:
        """Whether every cell is printable ASCII text without trailing spaces."""

        def plain(cell: object) -> bool:
            return isinstance(cell, str) and cell.isascii() and cell.isprintable() and not cell.endswith(" ")

        return all(plain(cell) for row in self._rows for cell in row)

    def plain(self) -> str:
        """The rows as text, laid out as by `rich`.

        >>> print(Laid([["a", "10"], ["long", "9"]], 1, 2, print).plain())
        a     10
        long   9
        """
        widths = [max(map(len, map(str, column))) for column in zip(*self._rows, strict=True)]
        return "\n".join("  ".join(self._cells(row, widths)).rstrip() for row in self._rows)

    def _cells(self, row: Sequence[RenderableType], widths: Sequence[int]) -> Iterator[str]:
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            yield str(cell).rjust(width) if place in self._right else str(cell).ljust(width)


def rows_table(rows: Sequence[tuple[str, str, str]]) -> Laid:
    """Make a table of (name, number, remark) rows without borders; numbers are right-aligned."""

    def draw() -> Table:
        from rich.table import Table

        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True, style="bold")
        table.add_column(style="dim")
        for row in rows:
            table.add_row(*row)
        return table

    return Laid(rows, 1, 2, draw)


def headed_table(headings: Sequence[str], rows: Sequence[Sequence[RenderableType]], right: int = 0) -> Laid:
    """Make a table with headings; the first `right` columns contain numbers."""

    def draw() -> Table:
        from rich.table import Table

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for place, heading in enumerate(headings):
            number = place < right
            table.add_column(heading, justify="right" if number else "left", overflow="fold", no_wrap=number)
        for row in rows:
            table.add_row(*row)
        return table

    return Laid([headings, *rows], 0, right, draw)


def facts_table(facts: Sequence[tuple[str, str]]) -> Laid:
    """Make a table of (name, value) rows."""

    def draw() -> Table:
        from rich.table import Table

        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, style="bold")
        table.add_column(overflow="fold")
        for fact in facts:
            table.add_row(*fact)
        return table

    return Laid(facts, 0, 0, draw)


def printable(text: str) -> str:
    """Replace control characters and surrogates in text of unknown origin.

    >>> printable("a\\x1b[31mb")
    'a\ufffd[31mb'
    """
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)


def snippet(text: str, length: int = 80) -> str:
    """Return the beginning of a text on one line, without lines such as "=====" and control characters."""
    return printable(wording.snippet(text, length))
