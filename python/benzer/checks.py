"""Checks of arguments, for callers without a type checker."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any, TypeVar

from benzer.errors import InputError, SettingsError

Item = TypeVar("Item")


def is_number(value: object) -> bool:
    """Whether a setting is a real number, NumPy's included; truth values are not.

    >>> is_number(0.5), is_number(1), is_number(True), is_number("0.5")
    (True, True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def check_threshold(threshold: Any) -> None:
    """Refuse a threshold outside (0, 1]."""
    if not is_number(threshold) or not 0 < threshold <= 1:
        raise SettingsError(f"threshold must be in (0, 1], got {threshold}: try 0.8")


def no_similarity(given: object) -> SettingsError:
    """Return the error for similarities outside [0, 1]."""
    return SettingsError(f"similarity must be in [0, 1], got {given}: use a Jaccard similarity")


def check_documents(documents: object) -> None:
    """Refuse one text in place of a list of documents."""
    if isinstance(documents, str | bytes):
        raise InputError(f"documents must be a list, got the text {documents!r:.80}: put it into a list")


def listed_ids(ids: Iterable[Item]) -> list[Item]:
    """Ids as a list; one text in place of a list is refused."""
    if isinstance(ids, str):
        raise InputError(f"ids must be a list of ids, got the text {ids!r}: put it into a list")
    return list(ids)


def check_time(when: object) -> None:
    """Refuse a missing time: taken as the current time it would select all documents."""
    if when is None:
        raise InputError("the time since which documents were not seen is required, got None")
