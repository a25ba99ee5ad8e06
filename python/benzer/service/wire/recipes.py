"""Field settings as JSON, in the format of `Schema.to_dict`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benzer.errors import SettingsError
from benzer.fields import Schema
from benzer.fields.base import Field
from benzer.fields.schema import field_from_dict
from benzer.service.errors import Refusal


def schema_from(fields: Mapping[str, Mapping[str, Any]], place: str = "body.fields") -> Schema:
    """The schema for field settings in a request; a refusal names the invalid field.

    >>> schema_from({"text": {"type": "text", "shingle_size": 2}}).fields["text"].shingle_size
    2
    >>> schema_from({"text": {"type": "text", "shingles": 2}})
    Traceback (most recent call last):
    benzer.service.errors.Refusal: the field 'text' is invalid: Text.__init__() got an unexpected keyword ...
    """
    if not fields:
        raise Refusal(422, 'no fields: give at least one, as in {"text": {"type": "text"}}', field=place)
    if "self" in fields:
        raise Refusal(422, "a field cannot be named 'self': choose another name", field=f"{place}.self")
    return Schema(**{name: _field(name, item, f"{place}.{name}") for name, item in fields.items()})


def _field(name: str, settings: Mapping[str, Any], place: str) -> Field:
    if "type" not in settings:
        raise Refusal(422, f'the field {name!r} has no type: give "text", "values" or "image"', field=place)
    try:
        return field_from_dict(settings)
    except SettingsError as error:
        raise Refusal(422, f"the field {name!r}: {error}", field=place, type="SettingsError") from error
    except (
        TypeError,
        ValueError,
        AttributeError,
        KeyError,
    ) as error:  # other names, or values of other types
        raise Refusal(422, f"the field {name!r} is invalid: {error}", field=place) from error
