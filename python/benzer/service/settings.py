"""The limits and options of a service. Each limit has an error type of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

from benzer.checks import is_number
from benzer.errors import SettingsError

ORIGIN = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]+)?")
"""An origin as browsers send it: lower case, without a trailing slash."""


@dataclass(frozen=True)
class Limits:
    """Limits of one request and of all requests together. The number after a limit is the status of its error.

    max_body_bytes: size of a request body, except streamed uploads. 413
    max_upload_bytes: size of a streamed upload (NDJSON). 413
    max_batch: documents or queries in one JSON body. 413
    max_text: characters of one text, except in uploads to a job. 422
    max_compared: total characters and set values of two documents that are compared with each other. 422
    max_pixels: pixels of one image. 422
    max_seconds: run time of a request, except uploads and jobs. 503
    max_body_seconds: time for a body to arrive, for a pause in an upload, and for a client to read a response. 408
    max_concurrent: requests that run or wait at the same time. 503
    max_jobs: jobs that are queued or running at the same time. 503
    max_results: finished jobs that are kept with their results; the oldest are deleted first.
    max_result_bytes: total size of the kept results; the oldest are deleted first, the latest is always kept.
    grace_seconds: how long a shutdown waits for running requests.

    >>> Limits(max_batch=0)
    Traceback (most recent call last):
    benzer.errors.SettingsError: max_batch must be > 0, got 0
    """

    max_body_bytes: int = 16_000_000
    max_upload_bytes: int = 8_000_000_000
    max_batch: int = 10_000
    max_text: int = 4_000_000
    max_compared: int = 2_000_000
    max_pixels: int = 50_000_000
    max_seconds: float = 30.0
    max_body_seconds: float = 60.0
    max_concurrent: int = 64
    max_jobs: int = 16
    max_results: int = 64
    max_result_bytes: int = 2_000_000_000
    grace_seconds: float = 10.0

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not is_number(value) or value <= 0:
                raise SettingsError(f"{item.name} must be > 0, got {value!r}")


@dataclass(frozen=True)
class ServiceOptions:
    """The options of a service except its limits.

    loopback_only: reject requests whose Host header names another machine.
    origins: other origins (such as "https://example.org") whose pages may send requests; none by default.
    pages: whether to serve the web pages.
    keys: the file with the accepted keys (`benzer keys`); None: no key is required.
    rate: requests per minute of each key without a rate of its own, and of each address without a key; None: no limit.

    >>> ServiceOptions(origins=["https://example.org/page"])
    Traceback (most recent call last):
    benzer.errors.SettingsError: an origin must be a scheme, a host and an optional port, e.g. https://example.org, got 'https://example.org/page'
    """

    limits: Limits = Limits()
    loopback_only: bool = True
    origins: Sequence[str] = ()
    pages: bool = True
    keys: str | os.PathLike[str] | None = None
    rate: float | None = None

    def __post_init__(self) -> None:
        check_rate(self.rate)
        for origin in self.origins:
            if not ORIGIN.fullmatch(origin):
                raise SettingsError(
                    "an origin must be a scheme, a host and an optional port, e.g. https://example.org, "
                    f"got {origin!r}"
                )


def check_rate(rate: float | None) -> None:
    """Reject an invalid rate.

    >>> check_rate(0)
    Traceback (most recent call last):
    benzer.errors.SettingsError: a rate must be > 0 requests per minute, got 0
    """
    if rate is not None and not (is_number(rate) and 0 < rate < float("inf")):
        raise SettingsError(f"a rate must be > 0 requests per minute, got {rate!r}")
