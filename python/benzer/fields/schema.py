"""The schema: the fields of a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, cast

from benzer._native import TextReader
from benzer.errors import SettingsError
from benzer.fields.base import Field, is_seen
from benzer.fields.text import Text
from benzer.fields.values import ValueSet
from benzer.registry import Registry

StoredReader = TextReader | Literal["values", "cells", "hashes"]

FIELD_TYPES = Registry(
    "field type",
    {
        "image": "benzer.fields.image:Image",
        "text": "benzer.fields.text:Text",
        "values": "benzer.fields.values:ValueSet",
    },
)


DEFAULT_THRESHOLD = 0.8
DEFAULT_RECALL = 0.95


@dataclass(frozen=True, init=False)
class Schema:
    """The fields of a document by name.

    The similarity of two documents is the weighted mean of the similarities of their fields, over the fields that both
    documents have and that are not empty in both.

    Args:
        **fields: Field types by name. Defaults to one text field named "text".

    Raises:
        SettingsError: A value is not a field type.

    >>> Schema().fields
    mappingproxy({'text': Text(unit='word', shingle_size=3, ...)})
    >>> list(Schema(title=Text(unit="char", weight=2), body=Text()).fields)
    ['title', 'body']
    """

    fields: Mapping[str, Field]

    def __init__(self, **fields: Field) -> None:
        for name, field in fields.items():
            if not hasattr(field, "sets"):
                raise SettingsError(f"field {name} must be a field type such as Text(), got {field!r}")
        object.__setattr__(self, "fields", MappingProxyType(fields or {"text": Text()}))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Schema.from_dict, (self.to_dict(),))

    def __hash__(self) -> int:
        return hash(tuple(self.fields.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and list(self.fields.items()) == list(other.fields.items())

    def readers(self) -> list[TextReader | Literal["hashes"] | None]:
        """Return the readers for a native corpus; "hashes" for fields that the native core does not read."""
        return ["hashes" if name in self.foreign else field.reader for name, field in self.fields.items()]

    def stored_readers(self) -> list[StoredReader]:
        """Return the native reader of the encoded content of each field.

        This is the reader of a text, "values", "cells" for images described as cells, and "hashes" for a field whose
        own `encoded_sets` creates its sets.
        """
        return [stored_reader(field) for field in self.fields.values()]

    @cached_property
    def foreign(self) -> Mapping[str, Field]:
        """The fields that the native core does not read; their own methods create their sets."""
        return {
            name: field
            for name, field in self.fields.items()
            if field.reader is None and not isinstance(field, ValueSet)
        }

    def band_threshold(self, threshold: float) -> float:
        """Return the Jaccard similarity for which bands must reach the recall to find pairs at the threshold.

        This is the threshold itself, unless a field has its own similarity.

        Args:
            threshold: Minimum similarity of a match.

        >>> Schema().band_threshold(0.8)
        0.8
        """
        thresholds = [field.band_threshold(threshold) for field in self.fields.values() if is_seen(field)]
        return min([threshold, *thresholds])

    @property
    def default_threshold(self) -> float:
        """The threshold of a run or an index that names none: that of the images if all fields are images, or 0.8.

        >>> from benzer.fields import Image
        >>> Schema().default_threshold, Schema(image=Image()).default_threshold
        (0.8, 0.3)
        """
        advised = [
            getattr(field, "threshold", None) for field in self.fields.values() if field.kind == "image"
        ]
        known = [threshold for threshold in advised if threshold is not None]
        return min(known) if len(known) == len(self.fields) else DEFAULT_THRESHOLD

    @property
    def weights(self) -> list[float]:
        """The weight of each field, in order."""
        return [field.weight for field in self.fields.values()]

    def to_dict(self) -> dict[str, Any]:
        """Return the settings of all fields as JSON values.

        >>> Schema.from_dict(Schema().to_dict()) == Schema()
        True
        """
        return {name: dict(field.to_dict()) for name, field in self.fields.items()}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Mapping[str, Any]]) -> Schema:
        """Return the schema that `to_dict` described.

        Args:
            settings: The settings of each field by name.

        Raises:
            SettingsError: A setting is invalid.
        """
        return cls(**{name: field_from_dict(setting) for name, setting in settings.items()})


def stored_reader(field: Field) -> StoredReader:
    """Return the native reader of the encoded content of a field; a derived type uses its own methods."""
    if type(field) is Text:
        return field.reader
    if type(field) is ValueSet:
        return "values"
    reader: StoredReader = getattr(field, "stored_as", "hashes")
    return reader


def field_from_dict(settings: Mapping[str, Any]) -> Field:
    """Return the field that its `to_dict` described."""
    arguments = dict(settings)
    return cast(Field, FIELD_TYPES.load(arguments.pop("type"))(**arguments))


def check_schema(schema: object) -> None:
    """Raise an error for anything but a schema.

    >>> check_schema({"text": "words"})
    Traceback (most recent call last):
    benzer.errors.SettingsError: schema must be a Schema, got {'text': 'words'}: use e.g. Schema(text=Text())
    """
    if not isinstance(schema, Schema):
        raise SettingsError(f"schema must be a Schema, got {schema!r}: use e.g. Schema(text=Text())")
