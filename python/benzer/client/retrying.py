"""Retries with jittered exponential waits, for requests that were rejected temporarily or lost their response."""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Any

from benzer.checks import is_number
from benzer.client.requests import Request
from benzer.errors import BenzerError, SettingsError

if TYPE_CHECKING:
    from tenacity import RetryCallState

FOR_NOW = (429, 503)
FIRST_WAIT, LONGEST_WAIT = 0.25, 16.0


@dataclass(frozen=True)
class Patience:
    """The limits of retries.

    retries: number of retries of a request. timeout: maximum seconds for one response.
    patience: maximum seconds for all attempts of a request, including the waits between them.
    """

    retries: int = 5
    timeout: float = 60.0
    patience: float = 120.0

    def __post_init__(self) -> None:
        if not is_number(self.retries) or self.retries % 1 != 0 or self.retries < 0:
            raise SettingsError(f"retries must be 0 or more, got {self.retries!r}")
        for name in ("timeout", "patience"):
            seconds = getattr(self, name)
            if not is_number(seconds) or seconds <= 0:
                raise SettingsError(f"{name} must be > 0 seconds, got {seconds!r}")


class Transient(Exception):
    """A temporary failure; `error` is raised if all retries fail.

    refused: whether the request certainly had no effect. after: seconds requested by the service.
    """

    def __init__(self, error: BenzerError, *, refused: bool, after: float | None = None) -> None:
        super().__init__(str(error))
        self.error, self.refused, self.after = error, refused, after


def policy(patience: Patience, request: Request) -> dict[str, Any]:
    """The tenacity options for one request."""
    from tenacity import (
        retry_if_exception,
        stop_after_attempt,
        stop_any,
        stop_before_delay,
        wait_random_exponential,
    )

    growing = wait_random_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT)

    def wait(state: RetryCallState) -> float:
        failed = None if state.outcome is None else state.outcome.exception()
        query = failed.after if isinstance(failed, Transient) else None
        return growing(state) if query is None else query + growing(state)

    return {
        "retry": retry_if_exception(
            lambda error: isinstance(error, Transient) and (request.again or error.refused)
        ),
        "stop": stop_any(stop_after_attempt(patience.retries + 1), stop_before_delay(patience.patience)),
        "wait": wait,
        "reraise": True,
    }


def seconds_of(header: str | None) -> float | None:
    """The wait of a Retry-After header in seconds; None if it is missing or invalid.

    >>> seconds_of("3"), seconds_of("soon"), seconds_of("Thu, 01 Jan 1970 00:00:00 GMT")
    (3.0, None, 0.0)
    """
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time())
    except ValueError:
        return None
