"""Checks of settings and arguments: each setting is checked in one place, with one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import TypeVar

from benzer.errors import InputError, SettingsError

Item = TypeVar("Item")
MOST_SEED = 2**64 - 1
MOST_THREADS = 4096
ON_DUPLICATE_ID = ("number", "skip", "stop")
ID_SCOPES = ("all", "file")
BUCKET_LIMIT = "bucket_limit", 2, 2**32 - 1, "1000"
"""Name, range and example of the most documents of a bucket whose pairs are listed."""


def is_number(value: object) -> bool:
    """Whether a setting is a real number, NumPy's included; truth values are not.

    >>> is_number(0.5), is_number(1), is_number(True), is_number("0.5")
    (True, True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def no_similarity(given: object) -> SettingsError:
    """Return the error for similarities outside [0, 1]."""
    return SettingsError(f"similarity must be in [0, 1], got {given}: use a Jaccard similarity")


def check_documents(documents: object) -> None:
    """Raise an error if a list of documents is a single text."""
    if isinstance(documents, str | bytes):
        raise InputError(f"documents must be a list, got the text {documents!r:.80}: put it into a list")


def listed_ids(ids: Iterable[Item]) -> list[Item]:
    """Return ids as a list; raise an error if they are a single text."""
    if isinstance(ids, str):
        raise InputError(f"ids must be a list of ids, got the text {ids!r}: put it into a list")
    return list(ids)


def check_time(when: object) -> None:
    """Raise an error if a time is missing: with the current time as default, all documents would be selected."""
    if when is None:
        raise InputError("the time since which documents were not seen is required, got None")


def is_whole(value: object) -> bool:
    """Whether a setting is an integer, NumPy's included; truth values are not.

    >>> is_whole(1), is_whole(1.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_whole(name: str, value: object, least: int, most: int, cure: str = "") -> None:
    """Raise an error unless a setting is an integer in a range; `cure` is a value to try.

    >>> check_whole("num_hashes", 0, 1, 65_535, "128")
    Traceback (most recent call last):
    benzer.errors.SettingsError: num_hashes must be a whole number from 1 to 65535, got 0: try 128
    """
    if not (is_whole(value) and least <= value <= most):  # type: ignore[operator]
        end = f": try {cure}" if cure else ""
        raise SettingsError(f"{name} must be a whole number from {least} to {most}, got {value}{end}")


def keep_whole(made: object, name: str, least: int, most: int, cure: str) -> None:
    """Check an integer of a frozen object, and store it as Python's own `int`."""
    value = getattr(made, name)
    check_whole(name, value, least, most, cure)
    object.__setattr__(made, name, int(value))


def check_threshold(threshold: object, zero: bool = False) -> None:
    """Raise an error unless a minimum similarity is in (0, 1], or in [0, 1] if it may be 0.

    >>> check_threshold(1.4)
    Traceback (most recent call last):
    benzer.errors.SettingsError: threshold must be in (0, 1], got 1.4: try 0.8
    """
    if not is_number(threshold) or not 0 <= threshold <= 1 or (threshold == 0 and not zero):  # type: ignore[operator]
        raise SettingsError(f"threshold must be in {'[' if zero else '('}0, 1], got {threshold}: try 0.8")


def check_recall(recall: object, allow_one: bool = True) -> None:
    """Raise an error unless a recall is in (0, 1], or in (0, 1) if it must not be 1.

    >>> check_recall(1, allow_one=False)
    Traceback (most recent call last):
    benzer.errors.SettingsError: recall must be in (0, 1), got 1: use e.g. 0.95
    """
    if not is_number(recall) or not 0 < recall <= 1 or (recall == 1 and not allow_one):  # type: ignore[operator]
        interval = f"(0, 1{']' if allow_one else ')'}"
        raise SettingsError(f"recall must be in {interval}, got {recall}: use e.g. 0.95")


def check_seed(seed: object) -> None:
    """Raise an error unless a seed is an integer of 64 bits."""
    check_whole("seed", seed, 0, MOST_SEED, "0")


def check_threads(threads: object) -> None:
    """Raise an error unless a number of threads is an integer from 0, which stands for all cores."""
    if not isinstance(threads, int) or not 0 <= threads <= MOST_THREADS:
        raise SettingsError(f"threads must be from 0 (all cores) to {MOST_THREADS}, got {threads}")


def check_on_error(on_error: object) -> None:
    """Raise an error unless malformed rows are to stop the run or to be skipped."""
    if on_error not in ("stop", "skip"):
        raise SettingsError(f'on_error must be "stop" or "skip", got "{on_error}"')


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise an error unless a setting is one of some words.

    >>> check_choice("id_scope", "files", ID_SCOPES)
    Traceback (most recent call last):
    benzer.errors.SettingsError: id_scope must be one of all, file, got 'files'
    """
    if value not in choices:
        raise SettingsError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
