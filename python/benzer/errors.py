"""What can go wrong? One class per remedy; every message carries the number and the cure."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class BenzerError(Exception):
    """The parent of every error that Benzer raises on purpose.

    >>> issubclass(SettingsError, BenzerError)
    True
    """


class SettingsError(BenzerError, ValueError):
    """A setting is out of its range, or two settings contradict each other: change the setting."""


class InputError(BenzerError, ValueError):
    """The input cannot be read as documents: mend the input, or point at the right column or format."""


class MalformedRowError(InputError):
    """A row is malformed: mend it, or let malformed rows be set aside (`on_error="skip"`)."""


class DuplicateIdError(InputError):
    """Two documents carry the same id: make ids unique, or let Benzer make them from file and row."""


class OutputError(BenzerError, OSError):
    """The output cannot be written as asked: choose another place, or allow replacement."""


class StorageError(BenzerError):
    """An index cannot be opened or used as asked."""


class SettingsMismatchError(StorageError):
    """An index was created with other settings than those given; the message shows both."""


class StoreLockedError(StorageError):
    """Another writer holds the index: wait for it, or write through it."""


class StoreFormatError(StorageError):
    """The file is not an index of this format version, or is damaged."""


class MissingExtraError(BenzerError, ImportError):
    """An optional dependency is not installed; the message names the `pip install` that cures it."""


class ServiceError(BenzerError):
    """A service refused a request; `status`, `type` and `field` are those of its answer: do as the message says."""

    def __init__(self, status: int, type: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.type, self.message, self.field = status, type, message, field

    def __reduce__(self) -> tuple[object, ...]:
        return self.__class__, (self.status, self.type, self.message, self.field)


class UnreachableError(ServiceError, ConnectionError):
    """No answer came from the service: start it, or mend its address; its status is 0."""


class AccessError(ServiceError):
    """The service does not let this key do that: give another key."""


class NotFoundError(ServiceError):
    """The service has no such index, document or job: look at what there is."""


class BusyError(ServiceError):
    """The service could not take the request, however often it was sent: try again later."""


@contextmanager
def full_disk_named(place: str | os.PathLike[str], fix: str = "choose another place") -> Iterator[None]:
    """Turn the error of a full disk or quota into an `OutputError` that names the place.

    >>> with full_disk_named("clean"):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    benzer.errors.OutputError: cannot write clean (No space left on device): free some space, or choose another place
    """
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise OutputError(
            f"cannot write {os.fspath(place)} ({error.strerror}): free some space, or {fix}"
        ) from error
