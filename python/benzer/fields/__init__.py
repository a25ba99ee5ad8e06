"""Field types and the schema of a document.

| module | contents |
|---|---|
| `base` | the interface of field types |
| `text` | texts as sets of shingles |
| `values` | sets of values |
| `image` | images as sets |
| `schema` | the fields of a document; `FIELD_TYPES`, the registry of field types |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benzer.fields.base import Field
from benzer.fields.schema import FIELD_TYPES, Schema
from benzer.fields.text import Text
from benzer.fields.values import ValueSet

if TYPE_CHECKING:
    from benzer.fields.image import Image

__all__ = ["FIELD_TYPES", "Field", "Image", "Schema", "Text", "ValueSet"]


def __getattr__(name: str) -> Any:
    if name != "Image":
        raise AttributeError(f"module 'benzer.fields' has no attribute {name!r}")
    from benzer.fields.image import Image  # thread pools and all: not for those who compare texts

    globals()[name] = Image
    return Image
