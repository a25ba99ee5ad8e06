"""Prepare the place of an output before the work: remove leftovers, refuse what exists."""

from __future__ import annotations

from pathlib import Path

from benzer.cli import console
from benzer.errors import OutputError


def prepare(output: Path, replace: bool, instead: str = "choose another --output") -> None:
    """Remove what killed runs left beside an output; refuse one that exists, unless it may be replaced."""
    remove_leftovers(output)
    if output.exists() and not replace:
        raise OutputError(f"{output} exists: {instead}, or add --replace to replace it")


def remove_leftovers(output: Path) -> None:
    """Remove what killed runs left beside an output, and name it on stderr."""
    from benzer.tables.partial import sweep

    for path in sweep(output):
        console.note(f"removed {console.printable(str(path))}, which a killed run left")
