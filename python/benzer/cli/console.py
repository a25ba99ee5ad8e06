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
from benzer.views.tables import TableView

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Progress: TypeAlias = "Callable[[str, int, int | None], None]"
PIPE_WIDTH = 10_000


def display(result: RenderableType | TableView = "") -> None:
    """Print a text, or a table as wide as the terminal, to stdout.

    Without a terminal a table is as wide as its content, and its lines have no trailing spaces.
    """
    if isinstance(result, TableView):
        result = laid_out(result) if not sys.stdout.isatty() and is_plain(result) else table_of(result)
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
    from benzer.views.outputs import malformed_lines

    for line in malformed_lines([str(row) for row in rows], len(rows) if number is None else number):
        note(line)


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


def laid_out(view: TableView) -> str:
    """Lay out a table of ASCII text as `rich` does.

    >>> from benzer.views.tables import counts_table
    >>> print(laid_out(counts_table([("a", "10", ""), ("long", "9", "more")])))
    a     10
    long   9  more
    """
    rows = [view.headings, *view.rows] if view.headings else view.rows
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        cells = zip(row, widths, view.columns, strict=True)
        return "  ".join(
            cell.rjust(width) if column.number else cell.ljust(width) for cell, width, column in cells
        )

    return "\n".join(line(row).rstrip() for row in rows)


def is_plain(view: TableView) -> bool:
    """Whether every cell is printable ASCII text without trailing spaces."""
    cells = (cell for row in (view.headings, *view.rows) for cell in row)
    return all(cell.isascii() and cell.isprintable() and not cell.endswith(" ") for cell in cells)


def table_of(view: TableView) -> Table:
    """Make the `rich` table of a view; control characters in its cells are replaced."""
    from rich.table import Table

    table = Table(
        box=None, show_header=bool(view.headings), pad_edge=False, padding=(0, 2, 0, 0), header_style="bold"
    )
    for place, column in enumerate(view.columns):
        table.add_column(
            printable(view.headings[place]) if view.headings else "",
            justify="right" if column.number else "left",
            style=column.style,
            no_wrap=not column.wraps,
            overflow="fold",
        )
    for row in view.rows:
        table.add_row(*map(printable, row))
    return table


def printable(text: str) -> str:
    """Replace control characters and surrogates in text of unknown origin.

    >>> printable("a\\x1b[31mb")
    'a\ufffd[31mb'
    """
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)


def snippet(text: str, length: int = 80) -> str:
    """Return the beginning of a text on one line, without lines such as "=====" and control characters."""
    return printable(wording.snippet(text, length))
