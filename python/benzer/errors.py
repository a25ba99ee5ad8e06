"""Error classes, one per remedy. Messages state the value and the fix."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class BenzerError(Exception):
    """The base class of all errors that Benzer raises.

    >>> issubclass(SettingsError, BenzerError)
    True
    """


class SettingsError(BenzerError, ValueError):
    """A setting is out of its range, or two settings contradict each other: change the setting."""


class InputError(BenzerError, ValueError):
    """The input cannot be read as documents: correct the input, or name the right column or format."""


class MalformedRowError(InputError):
    """A row is malformed: correct it, or skip malformed rows (`on_error="skip"`)."""


class DuplicateIdError(InputError):
    """Two documents have the same id: make ids unique, or let Benzer generate them from file and row."""


class OutputError(BenzerError, OSError):
    """The output cannot be written: choose another path, or allow replacement."""


class StorageError(BenzerError):
    """An index cannot be opened or used."""


class SettingsMismatchError(StorageError):
    """An index was created with other settings than those given; the message shows both."""


class StoreLockedError(StorageError):
    """Another process is writing to the index: wait for it, or write through it."""


class StoreFormatError(StorageError):
    """The file is not an index of this format version, or is damaged."""


class MissingExtraError(BenzerError, ImportError):
    """An optional dependency is not installed; the message names the `pip install` command."""


class ServiceError(BenzerError):
    """A service rejected a request; `status`, `type` and `field` are those of the response."""

    def __init__(self, status: int, type: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.type, self.message, self.field = status, type, message, field

    def __reduce__(self) -> tuple[object, ...]:
        return self.__class__, (self.status, self.type, self.message, self.field)


class UnreachableError(ServiceError, ConnectionError):
    """The service did not respond: start it, or correct its address. The status is 0."""


class AccessError(ServiceError):
    """The service does not allow this request with this key: use another key."""


class NotFoundError(ServiceError):
    """The service has no such index, document or job: list the existing ones."""


class BusyError(ServiceError):
    """The service was too busy for the request, also after retries: try again later."""


@contextmanager
def full_disk_named(place: str | os.PathLike[str], fix: str = "choose another path") -> Iterator[None]:
    """Turn the error of a full disk or quota into an `OutputError` that names the place.

    >>> with full_disk_named("clean"):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    benzer.errors.OutputError: cannot write clean (No space left on device): free some space, or choose another path
    """
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise OutputError(
            f"cannot write {os.fspath(place)} ({error.strerror}): free some space, or {fix}"
        ) from error
