"""How much may be asked of a service, and by whom? Every bound can be set, and each has an error of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

from benzer.checks import is_number
from benzer.errors import SettingsError

ORIGIN = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]+)?")
"""An origin as browsers write it, in small letters and without a slash at its end."""


@dataclass(frozen=True)
class Limits:
    """What one request, and all of them together, may take of the server.

    max_body_bytes: the body of one request, but for an upload that is read as it comes. 413
    max_upload_bytes: such an upload (NDJSON). 413
    max_batch: documents, or questions, in one JSON body. 413
    max_text: characters of one text, but for those that are uploaded to a job. 422
    max_compared: characters, and values of sets, of two documents that are compared with each other, together. 422
    max_pixels: pixels of one picture. 422
    max_seconds: how long a request may work, uploads and jobs aside. 503
    max_body_seconds: how long a body may take to arrive, an upload may pause, and a client may take no answer. 408
    max_concurrent: requests that work or wait at the same time. 503
    max_jobs: jobs that wait or run at the same time. 503
    max_results: jobs that have ended and are kept with their results; the oldest give way.
    max_result_bytes: the results that are kept, together; the oldest give way, but the last one stays.
    grace_seconds: how long requests that have begun are waited for at the end.

    >>> Limits(max_batch=0)
    Traceback (most recent call last):
    benzer.errors.SettingsError: max_batch must be more than 0, got 0
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
        for one in fields(self):
            value = getattr(self, one.name)
            if not is_number(value) or value <= 0:
                raise SettingsError(f"{one.name} must be more than 0, got {value!r}")


@dataclass(frozen=True)
class Options:
    """How a service behaves beside its limits.

    loopback_only: refuse requests whose Host header names another machine than this one.
    origins: the pages of which other origins (such as "https://example.org") may ask; none by default.
    pages: whether the web pages are served, too.
    keys: the file of the keys (`benzer keys`), of which each request must bring one; None: nobody is asked.
    rate: requests a minute of each key that has no rate of its own, and of each address without a key; None: any.

    >>> Options(origins=["https://example.org/page"])
    Traceback (most recent call last):
    benzer.errors.SettingsError: an origin is a scheme, a host and perhaps a port, such as https://example.org, got 'https://example.org/page'
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
                    "an origin is a scheme, a host and perhaps a port, such as https://example.org, "
                    f"got {origin!r}"
                )


def check_rate(rate: float | None) -> None:
    """Refuse a rate that is none.

    >>> check_rate(0)
    Traceback (most recent call last):
    benzer.errors.SettingsError: a rate must be more than 0 requests a minute, got 0
    """
    if rate is not None and not (is_number(rate) and 0 < rate < float("inf")):
        raise SettingsError(f"a rate must be more than 0 requests a minute, got {rate!r}")
