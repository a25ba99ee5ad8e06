"""Options that set the limits of the service, one for each limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import click

from benzer.cli import options as shared


class Limit(NamedTuple):
    """An option, the field of `Limits` that it sets, and the factor between their units."""

    option: str
    field: str
    metavar: str
    help: str
    factor: int = 1
    whole: bool = True


MEGABYTE = 1_000_000
LIMITS = [
    Limit("--max-body", "max_body_bytes", "MEGABYTES", "Maximum size of a request body.", MEGABYTE),
    Limit("--max-upload", "max_upload_bytes", "MEGABYTES", "Maximum size of an upload of JSON lines.", MEGABYTE),
    Limit("--max-batch", "max_batch", "NUMBER", "Maximum number of documents or queries in a JSON body."),
    Limit("--max-text", "max_text", "CHARACTERS", "Maximum length of a text."),
    Limit("--max-compared", "max_compared", "CHARACTERS", "Maximum total length of two documents to compare."),
    Limit("--max-pixels", "max_pixels", "PIXELS", "Maximum size of an image."),
    Limit("--max-seconds", "max_seconds", "SECONDS", "Maximum duration of a request.", whole=False),
    Limit(
        "--max-body-seconds", "max_body_seconds", "SECONDS",
        "Maximum time to receive a body, and maximum pause of an upload.", whole=False,
    ),
    Limit("--max-concurrent", "max_concurrent", "NUMBER", "Maximum number of concurrent requests."),
    Limit("--max-jobs", "max_jobs", "NUMBER", "Maximum number of waiting and running jobs."),
    Limit("--max-results", "max_results", "NUMBER", "Maximum number of finished jobs with kept results."),
    Limit("--max-result-memory", "max_result_bytes", "MEGABYTES", "Maximum memory of kept results.", MEGABYTE),
    Limit(
        "--grace-seconds", "grace_seconds", "SECONDS",
        "Maximum time to complete running requests at shutdown.", whole=False,
    ),
]  # fmt: skip


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each limit to a command; `limits_of` reads them."""
    from benzer.service.settings import Limits

    for limit in reversed(LIMITS):
        default = getattr(Limits(), limit.field) / limit.factor
        kind = click.IntRange(min=1) if limit.whole else click.FloatRange(min=0, min_open=True)
        command = shared.option(
            shared.LIMITS, limit.option, limit.field, metavar=limit.metavar, type=kind, help=limit.help,
            default=int(default) if limit.whole else default, show_default=True,
        )(command)  # fmt: skip
    return command


def limits_of(given: dict[str, Any]) -> dict[str, Any]:
    """Convert the given options to fields of `Limits`.

    >>> limits_of({"max_body_bytes": 16, "max_seconds": 1.5})
    {'max_body_bytes': 16000000, 'max_seconds': 1.5}
    """
    factors = {limit.field: limit.factor for limit in LIMITS}
    return {field: value * factors[field] for field, value in given.items()}
