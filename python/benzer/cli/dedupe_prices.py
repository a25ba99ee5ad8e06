"""What would each threshold do? The table of a dry run, which writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console
from benzer.cli.options import given

if TYPE_CHECKING:
    from benzer.pricing import Prices

PASSED_ON = ("schema", "text", "id", "keep", "method", "recall", "on_error", "format", "threads", "seed")


def refuse_other_work(output: Path | None, dry_run: bool, against: Sequence[str]) -> None:
    """Refuse a run without a place to write to, and a dry run of what is not priced."""
    if output is None and not dry_run:
        raise click.UsageError("Missing option '--output' (or --dry-run, which writes nothing).")
    if dry_run and against:
        raise click.UsageError("--dry-run prices the documents among themselves: leave --against out.")


def show(inputs: Sequence[str], arguments: Mapping[str, Any], as_json: bool) -> int:
    """Price some thresholds, that of the option among them, and print what each would do."""
    from benzer.pricing import HEADINGS, THRESHOLDS, price, table_rows

    asked = [arguments["threshold"]] if given("threshold", "preset") else []
    passed = {name: arguments[name] for name in PASSED_ON}
    prices = price(list(inputs), sorted({*THRESHOLDS, *asked}), **passed)
    if as_json:
        console.print_json(prices.to_dict())
        return told(prices)
    right = len(HEADINGS) - 3  # what follows is a word, and two figures that need no column of digits
    console.show(console.headed_table(HEADINGS, table_rows(prices), right=right))
    console.show(
        f"\n{console.count(prices.documents)} documents, of which {console.count(prices.identical)} are copies of "
        f"others; the rest is estimated from {console.count(prices.sampled)} of {console.count(prices.contents)} "
        f"different ones, with {100 * prices.confidence:g} % confidence. Nothing was written."
    )
    return told(prices)


def told(prices: Prices) -> int:
    """Say how many rows were set aside, and the exit status: 1 if any were."""
    if prices.malformed:
        console.note(f"malformed rows set aside: {console.count(prices.malformed)}")
    return 1 if prices.malformed else 0
