"""What is one document? An id and named fields."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

FieldValue = str | bytes | Collection[str | int] | None


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

    def __init__(self, id: str | int, fields: Mapping[str, FieldValue] | str | bytes) -> None:
        content = {"text": fields} if isinstance(fields, (str, bytes)) else dict(fields)
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "fields", content)
