"""Field type for sets of values: each value is an element."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from benzer._native import Contents, TextReader, value_sets
from benzer.document import Description, FieldValue
from benzer.errors import InputError
from benzer.fields.base import Kind, Sets
from benzer.fields.text import checked_weight

_JSON = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


@dataclass(frozen=True)
class ValueSet:
    """A field of strings or integers (tags, column values, products in a basket), compared without normalization.

    Repeated values count once. The string "1" and the integer 1 are different values. Other types raise an error.

    Args:
        weight: Weight of this field in the similarity, > 0.

    >>> offsets, hashes = ValueSet().sets([["red", "round"], ["round", "red", "red"], []])
    >>> offsets.tolist(), bool((hashes[:2] == hashes[2:]).all())
    ([0, 2, 4, 4], True)
    """

    weight: float = 1.0

    kind: ClassVar[Kind] = "values"

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", checked_weight(self.weight))

    @property
    def reader(self) -> TextReader | None:
        """None: values are not read as text."""
        return None

    def sets(self, contents: Sequence[FieldValue], threads: int = 1) -> Sets:
        """See `Field`."""
        return value_sets([values(content) for content in contents])

    def encode(self, content: FieldValue) -> bytes:
        """See `Field`."""
        given = list(values(content))
        for kind in set(map(type, given)) - {str, int}:
            if issubclass(kind, bool) or not issubclass(kind, (str, int)):
                value = next(value for value in given if type(value) is kind)
                raise InputError(f"a value must be str or int, got {kind.__name__}: {value}")
        try:
            return _JSON.encode(given).encode()
        except ValueError as error:  # Python writes no integer of more than some 4,300 digits
            raise InputError("an integer has too many digits: pass it as text") from error

    def decode(self, data: bytes) -> FieldValue:
        """See `Field`."""
        decoded: list[str | int] = json.loads(data)
        return decoded

    def encoded_sets(self, contents: Sequence[bytes | None]) -> Sets:
        """See `Field`."""
        return Contents(["values"], [contents]).sets(0)

    def shared(self, a: FieldValue, b: FieldValue) -> list[str]:
        """See `Field`."""
        there = {(type(value), value) for value in values(b)}
        return [str(value) for value in dict.fromkeys(values(a)) if (type(value), value) in there]

    def to_dict(self) -> dict[str, Any]:
        """See `Field`."""
        return {"type": "values", **asdict(self)}


def values(content: FieldValue) -> Collection[str | int]:
    """Return the values of a content; none for a missing one. An integer is a set of one.

    >>> values(7)
    (7,)
    >>> values(iter(["red"]))
    Traceback (most recent call last):
    benzer.errors.InputError: a value set takes a collection of str or int, got a list_iterator: put it in a list
    """
    if content is None:
        return ()
    if isinstance(content, np.ndarray) and content.ndim == 1:
        listed: list[str | int] = content.tolist()
        return listed
    if isinstance(content, (str, bytes, os.PathLike, Description)):
        raise InputError(f"a value set takes a collection of str or int, got {content!r}: put it in a list")
    given: object = content  # callers without a type checker may give anything
    if isinstance(given, int) and not isinstance(given, bool):
        return (given,)
    if isinstance(given, (Mapping, np.ndarray)) or not isinstance(given, Collection):
        kind = type(content).__name__
        raise InputError(f"a value set takes a collection of str or int, got a {kind}: put it in a list")
    return given
