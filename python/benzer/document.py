"""What is one document? An id and named fields."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Description:
    """What is kept of a content in its place: all that its field needs to compare it, as bytes.

    An index keeps the description of a picture, not the picture.

    >>> Description(b"what was seen").data
    b'what was seen'
    """

    data: bytes


FieldValue: TypeAlias = (
    "str | bytes | os.PathLike[str] | NDArray[Any] | Collection[str | int] | Description | None"
)
"""The content of a field: a text, a set of values, a picture (path, file content or array), or none."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document: an id (text or an integer of 64 bits) and the content of its fields by name.

    A text stands for a document whose one field is called "text". Bytes must be UTF-8. `None` says that the
    document does not hold the field; a missing field takes no part in comparisons, an empty one does.

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
