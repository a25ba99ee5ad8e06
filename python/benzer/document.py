"""A document: an id and named fields."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Description:
    """The encoded content of a field: all data that the field needs to compare it.

    An index stores the description of an image, not the image.

    >>> Description(b"what was seen").data
    b'what was seen'
    """

    data: bytes


FieldValue: TypeAlias = (
    "str | bytes | os.PathLike[str] | NDArray[Any] | Collection[str | int] | Description | None"
)
"""The content of a field: a text, a set of values, an image (path, file content or array), or None."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document: an id and the content of its fields by name.

    Args:
        id: A text or a 64-bit integer.
        fields: The content of each field, or a text as the content of the field "text". Bytes must be UTF-8. None
            means that the document lacks the field: missing fields are not compared, empty ones are.

    >>> Document("a", "one two three").fields
    {'text': 'one two three'}
    >>> Document(7, {"title": "One", "tags": ["x", "y"]}).id
    7
    """

    id: str | int
    fields: Mapping[str, FieldValue]

    def __init__(self, id: str | int, fields: Mapping[str, Any] | str | bytes) -> None:
        content = {"text": fields} if isinstance(fields, (str, bytes)) else dict(fields)
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "fields", content)
