"""Documents as JSON: an id, and fields with a text, a list of values, or a file in base64."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from benzer.document import Description, Document, FieldValue
from benzer.errors import InputError
from benzer.fields import Schema
from benzer.service.errors import Refusal
from benzer.service.settings import Limits
from benzer.service.wire.bounds import check_picture, check_text
from benzer.storage.base import checked_id
from benzer.wording import count

DEFAULTS = Limits()
_CONTENTS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
    {"type": "object", "properties": {"base64": {"type": "string"}}, "required": ["base64"]},
    {"type": "null"},
]
Id = Annotated[
    str | int,
    PlainValidator(checked_id),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer"}], "examples": ["fox"]}),
]
"""The id of a document; 1 and "1" are different ids."""

Content = Annotated[Any, WithJsonSchema({"anyOf": _CONTENTS})]
"""The content of a field; the schema of the index determines the type."""


Item = TypeVar("Item")
Many = Annotated[list[Item], Field(fail_fast=True)]
"""A list in a request. Validation stops at the first fault: collecting a million faults takes half a minute."""

MOST_KEYS = 100
"""Maximum keys of an object in a body, except the fields of a document."""


def few(value: Any) -> Any:
    """Reject an object with many keys, because each would be a separate error; see `Many`."""
    if isinstance(value, dict) and len(value) > MOST_KEYS:
        raise ValueError(f"an object has {count(len(value))} keys: use at most {MOST_KEYS}")
    return value


Few = Annotated[dict[str, Item], BeforeValidator(few)]


class Body(BaseModel):
    """A request body: unknown keys are errors, and nothing is converted (`true` is not a number)."""

    model_config = ConfigDict(strict=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def is_small(cls, value: Any) -> Any:
        """Reject objects with many keys."""
        return few(value)


class Contents(Body):
    """The fields of a document by name."""

    fields: dict[str, Content] = Field(examples=[{"text": "one two three"}])


class IdentifiedDocument(Contents):
    """A document in requests and responses."""

    id: Id


FieldReader = Callable[[Mapping[str, Any], str], dict[str, FieldValue]]


def reader_of(schema: Schema, limits: Limits) -> FieldReader:
    """A function that reads the fields in a request as contents of the schema; `place` is their place in the body."""
    readers = {name: READERS[field.kind] for name, field in schema.fields.items()}

    def read(fields: Mapping[str, Any], place: str) -> dict[str, FieldValue]:
        return {
            name: None if value is None else content(name, value, place) for name, value in fields.items()
        }

    def content(name: str, value: Any, place: str) -> FieldValue:
        if name not in readers:
            return cast(FieldValue, value)  # the index rejects unknown fields
        try:
            return readers[name](name, value, limits)
        except InputError as error:
            raise Refusal(422, str(error), field=f"{place}.{name}") from error
        except Refusal as error:
            raise Refusal(error.status, error.message, field=f"{place}.{name}", type=error.type) from error

    return read


def contents_of(
    fields: Mapping[str, Any], schema: Schema, limits: Limits = DEFAULTS, place: str = "body.fields"
) -> dict[str, FieldValue]:
    """The content of a request as contents of the schema's fields; the index rejects unknown fields.

    >>> from benzer.fields import ValueSet
    >>> contents_of({"tags": "red"}, Schema(tags=ValueSet()))
    Traceback (most recent call last):
    benzer.service.errors.Refusal: the field 'tags' must be a list of texts and integers, got a text
    """
    return reader_of(schema, limits)(fields, place)


def text_of(name: str, value: Any, limits: Limits) -> FieldValue:
    if isinstance(value, str):
        check_text(limits, name, value)
        return value
    raise wrong(name, "a text", value)


def values_of(name: str, value: Any, limits: Limits) -> FieldValue:
    if isinstance(value, list):
        return value  # its elements are checked when they are hashed
    raise wrong(name, "a list of texts and integers", value)


def file_of(name: str, value: Any, limits: Limits) -> FieldValue:
    """The content of a file. A text is rejected, because it would be read as a path on the server."""
    data = (
        value if isinstance(value, bytes) else from_base64(name, value)
    )  # bytes come from a form; JSON has none
    check_picture(limits, name, data)
    return data


def from_base64(name: str, value: Any) -> bytes:
    wanted = 'a file as {"base64": …}'
    if not isinstance(value, dict) or list(value) != ["base64"] or not isinstance(value["base64"], str):
        raise wrong(name, wanted, value)
    try:
        return b64decode(value["base64"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(f"the field {name!r} must be {wanted}, got invalid base64: {error}") from error


READERS: dict[str, Callable[[str, Any, Limits], FieldValue]] = {
    "text": text_of,
    "values": values_of,
    "image": file_of,
}
JSON_NAMES = {str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list"}


def wrong(name: str, wanted: str, value: Any) -> InputError:
    return InputError(f"the field {name!r} must be {wanted}, got {JSON_NAMES.get(type(value), 'an object')}")


def as_json(document: Document) -> dict[str, Any]:
    """A document as a response. For a file the index stores only a description, which is returned in base64.

    >>> as_json(Document(7, {"text": "one", "photo": Description(b"seen")}))
    {'id': 7, 'fields': {'text': 'one', 'photo': {'description': 'c2Vlbg=='}}}
    """
    return {"id": document.id, "fields": {name: excerpt(value) for name, value in document.fields.items()}}


def excerpt(value: Any) -> Any:
    if isinstance(value, Description):
        return {"description": b64encode(value.data).decode()}
    return value
