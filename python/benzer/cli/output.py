"""Checks of an output location before the run: existing outputs and leftovers of killed runs."""

from __future__ import annotations

from pathlib import Path

from benzer.cli import console
from benzer.errors import OutputError
from benzer.views.outputs import leftover


def prepare(output: Path, replace: bool, instead: str = "choose another --output") -> None:
    """Remove leftovers of killed runs next to an output; raise an error if the output exists and is not replaced."""
    remove_leftovers(output)
    if output.exists() and not replace:
        raise OutputError(f"{output} exists: {instead}, or add --replace to replace it")


def remove_leftovers(output: Path) -> None:
    """Remove leftovers of killed runs next to an output, and report them on stderr."""
    from benzer.tables.partial import sweep

    for path in sweep(output):
        console.note(leftover(path))
