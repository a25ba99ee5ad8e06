"""Checks of argument types, for callers without a type checker."""

from __future__ import annotations

from numbers import Real


def is_number(value: object) -> bool:
    """Whether a setting is a real number, NumPy's included; truth values are not.

    >>> is_number(0.5), is_number(1), is_number(True), is_number("0.5")
    (True, True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool)
