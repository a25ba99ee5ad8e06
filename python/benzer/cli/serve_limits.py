"""By which options are the limits of a service set? One for each limit, with its own default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import click


class Limit(NamedTuple):
    """An option, the field of `Limits` that it sets, and how many of the field's units one of its own is."""

    option: str
    field: str
    metavar: str
    help: str
    factor: int = 1
    whole: bool = True


MEGABYTE = 1_000_000
LIMITS = [
    Limit("--max-body", "max_body_bytes", "MEGABYTES", "Largest body of one request.", MEGABYTE),
    Limit("--max-upload", "max_upload_bytes", "MEGABYTES", "Largest upload of JSON lines.", MEGABYTE),
    Limit("--max-batch", "max_batch", "NUMBER", "Most documents, or questions, in one JSON body."),
    Limit("--max-text", "max_text", "CHARACTERS", "Longest text."),
    Limit("--max-compared", "max_compared", "CHARACTERS", "Longest two documents to compare, together."),
    Limit("--max-pixels", "max_pixels", "PIXELS", "Largest picture."),
    Limit("--max-seconds", "max_seconds", "SECONDS", "Longest time of one request.", whole=False),
    Limit(
        "--max-body-seconds", "max_body_seconds", "SECONDS",
        "Longest time for a body to arrive, and longest pause of an upload.", whole=False,
    ),
    Limit("--max-concurrent", "max_concurrent", "NUMBER", "Most requests at a time."),
    Limit("--max-jobs", "max_jobs", "NUMBER", "Most jobs that wait or run."),
    Limit("--max-results", "max_results", "NUMBER", "Most ended jobs whose results are kept."),
    Limit("--max-result-memory", "max_result_bytes", "MEGABYTES", "Most memory of these together.", MEGABYTE),
    Limit(
        "--grace-seconds", "grace_seconds", "SECONDS",
        "At the end, longest time for requests that have begun.", whole=False,
    ),
]  # fmt: skip


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command an option for each limit; `limits_of` reads them."""
    from benzer.service.settings import Limits

    for limit in reversed(LIMITS):
        default = getattr(Limits(), limit.field) / limit.factor
        kind = click.IntRange(min=1) if limit.whole else click.FloatRange(min=0, min_open=True)
        command = click.option(
            limit.option, limit.field, metavar=limit.metavar, type=kind, help=limit.help,
            default=int(default) if limit.whole else default, show_default=True,
        )(command)  # fmt: skip
    return command


def limits_of(given: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, as fields of `Limits`.

    >>> limits_of({"max_body_bytes": 16, "max_seconds": 1.5})
    {'max_body_bytes': 16000000, 'max_seconds': 1.5}
    """
    factors = {limit.field: limit.factor for limit in LIMITS}
    return {field: value * factors[field] for field, value in given.items()}
