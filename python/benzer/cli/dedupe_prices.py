"""`benzer dedupe --dry-run`: the estimated effect of each threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console
from benzer.cli.options import given

if TYPE_CHECKING:
    from benzer.pricing import Prices

PASSED_ON = ("schema", "text", "id", "keep", "method", "recall", "threads", "options")


def refuse_other_work(output: Path | None, dry_run: bool, against: Sequence[str]) -> None:
    """Raise an error for a run without --output, or a dry run with --against."""
    if output is None and not dry_run:
        raise click.UsageError("Missing option '--output' (or '--dry-run', which writes nothing).")
    if dry_run and against:
        raise click.UsageError("--dry-run does not support --against: omit one of them.")


def display(inputs: Sequence[str], arguments: Mapping[str, Any], as_json: bool) -> int:
    """Print estimates for some thresholds, including the given one."""
    from benzer.pricing import THRESHOLDS, price
    from benzer.sources import Files
    from benzer.views import prices as views

    thresholds = [arguments["threshold"]] if given("threshold", "preset") else []
    passed = {name: arguments[name] for name in PASSED_ON}
    prices = price(Files(inputs), sorted({*THRESHOLDS, *thresholds}), **passed)
    if as_json:
        console.print_json(prices.to_dict())
        return exit_status(prices)
    answer = prices.to_dict()
    console.display(views.prices_table(answer))
    console.display()
    console.display(views.dry_run(answer))
    return exit_status(prices)


def exit_status(prices: Prices) -> int:
    """Print the number of skipped rows and return the exit status, 1 if there are any."""
    console.tell_malformed((), prices.malformed)
    return 1 if prices.malformed else 0
