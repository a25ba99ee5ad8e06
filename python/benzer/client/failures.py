"""Which error does an answer stand for? The library's own, where it names one; else one for what helps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benzer import errors
from benzer.client.steps import STRANGE
from benzer.errors import (
    AccessError,
    BenzerError,
    BusyError,
    NotFoundError,
    ServiceError,
    UnreachableError,
)

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
    """The error that an answer describes.

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
    """Whether nothing was done, where a service asks to try again: work that ran out of time may go on to its end.

    >>> is_refused(BusyError(503, "BusyError", "full")), is_refused(BusyError(503, "OutOfTimeError", "30 s"))
    (True, False)
    """
    return not (isinstance(error, ServiceError) and error.type in BROKEN_OFF)


def fault_of(body: bytes) -> Mapping[str, Any] | None:
    """What stands under "error"; None where the answer has another shape, as that of a proxy."""
    try:
        fault = json.loads(body)["error"]
        return fault if isinstance(fault["message"], str) else None
    except (ValueError, KeyError, TypeError):
        return None


def unreachable(address: str, error: Exception) -> UnreachableError:
    """Nobody is there, or does not speak HTTP, or not in time."""
    why = str(error) or type(error).__name__
    return UnreachableError(
        0,
        "UnreachableError",
        f"nobody answers at {address} ({why}): start benzer serve there, or mend the address",
    )


def silent(address: str, seconds: float) -> UnreachableError:
    """Somebody is there, and has not answered in time."""
    return UnreachableError(
        0,
        "UnreachableError",
        f"{address} did not answer within {seconds:g} s: ask for less, or raise timeout",
    )


def lost(address: str, error: Exception) -> UnreachableError:
    """The connection broke; what was asked may have been done."""
    why = str(error) or type(error).__name__
    return UnreachableError(0, "UnreachableError", f"the connection to {address} was lost ({why}): try again")
