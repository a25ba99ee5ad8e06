"""Which parts of a document count, and how is each read?

| room | answers |
|---|---|
| `base` | what a field type is |
| `text` | how a text becomes shingles |
| `values` | how a set of values is taken |
| `image` | how a picture becomes a set |
| `schema` | which fields a document has; `FIELD_TYPES`, the registry of field types |
"""

from __future__ import annotations

from benzer.fields.base import Field
from benzer.fields.image import Image
from benzer.fields.schema import FIELD_TYPES, Schema
from benzer.fields.text import Text
from benzer.fields.values import ValueSet

__all__ = ["FIELD_TYPES", "Field", "Image", "Schema", "Text", "ValueSet"]
