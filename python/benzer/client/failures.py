"""Converts error responses to exceptions: the error of the library if it is named, otherwise one per remedy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benzer import errors
from benzer.client.requests import STRANGE
from benzer.errors import (
    AccessError,
    BenzerError,
    BusyError,
    NotFoundError,
    ServiceError,
    UnreachableError,
)
from benzer.wording import decimal

OF_LIBRARY: dict[str, type[BenzerError]] = {
    kind.__name__: kind
    for kind in (
        errors.InputError, errors.MalformedRowError, errors.DuplicateIdError, errors.SettingsError,
        errors.StorageError, errors.SettingsMismatchError, errors.StoreLockedError, errors.StoreFormatError,
    )
}  # fmt: skip
OF_STATUS: dict[int, type[ServiceError]] = {
    401: AccessError, 403: AccessError, 404: NotFoundError, 429: BusyError, 503: BusyError,
}  # fmt: skip


BROKEN_OFF = ("OutOfTimeError", "ClosingError")


def error_of(status: int, body: bytes) -> BenzerError:
    """The exception for an error response.

    >>> error_of(422, b'{"error": {"type": "SettingsError", "message": "limit must be 1 or more"}}')
    SettingsError('limit must be 1 or more')
    >>> error_of(502, b"<h1>Bad gateway</h1>").status
    502
    """
    fault = fault_of(body)
    if fault is None:
        return ServiceError(status, "ServerError", f"status {status}: {STRANGE}")
    kind, message, field = fault.get("type", ""), fault["message"], fault.get("field")
    if kind in OF_LIBRARY:
        return OF_LIBRARY[kind](message)
    return OF_STATUS.get(status, ServiceError)(status, kind, message, field)


def is_refused(error: BenzerError) -> bool:
    """Whether a rejected request had no effect; a request that ran out of time may still be completed.

    >>> is_refused(BusyError(503, "BusyError", "full")), is_refused(BusyError(503, "OutOfTimeError", "30 s"))
    (True, False)
    """
    return not (isinstance(error, ServiceError) and error.type in BROKEN_OFF)


def fault_of(body: bytes) -> Mapping[str, Any] | None:
    """The value of "error"; None if the response has another shape, e.g. from a proxy."""
    try:
        fault = json.loads(body)["error"]
        return fault if isinstance(fault["message"], str) else None
    except (ValueError, KeyError, TypeError):
        return None


def unreachable(address: str, error: Exception) -> UnreachableError:
    """The error for an address without a service, or one that does not respond in HTTP or in time."""
    why = str(error) or type(error).__name__
    return UnreachableError(
        0,
        "UnreachableError",
        f"no service responds at {address} ({why}): start benzer serve there, or correct the address",
    )


def silent(address: str, seconds: float) -> UnreachableError:
    """The error for a service that did not respond in time."""
    return UnreachableError(
        0,
        "UnreachableError",
        f"{address} did not respond within {decimal(seconds)} s: request less, or increase timeout",
    )


def lost(address: str, error: Exception) -> UnreachableError:
    """The error for a lost connection; the request may have been completed."""
    why = str(error) or type(error).__name__
    return UnreachableError(0, "UnreachableError", f"the connection to {address} was lost ({why}): retry")
