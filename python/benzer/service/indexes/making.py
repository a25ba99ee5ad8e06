"""The request that creates an index: a name, and the settings that differ from the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields as fields_of
from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictBool

from benzer.bands import Bands
from benzer.errors import BenzerError, SettingsError
from benzer.fields import Schema
from benzer.fields.schema import DEFAULT_RECALL, FIELD_TYPES, field_from_dict
from benzer.index import IndexSettings
from benzer.minhash import ALGORITHMS, FAMILIES
from benzer.presets import PRESETS, preset
from benzer.service.errors import Refusal
from benzer.service.indexes.homes import NAME
from benzer.service.wire.choices import both_or_neither, never_both
from benzer.service.wire.documents import Body, Few

MOST_FIELDS = 64
LONGEST_NAME = 100
MOST_HASHES = 65_535
FieldSettings = dict[str, Any]


class NewIndex(Body):
    """A name, and settings as in `benzer.IndexSettings`; omitted settings have their defaults."""

    model_config = ConfigDict(
        json_schema_extra={"allOf": [never_both("fields", "preset"), both_or_neither("bands", "rows")]}
    )
    name: str = Field(pattern=f"^{NAME.pattern}$", description="The name in URLs.", examples=["news"])
    fields: Few[FieldSettings] | None = Field(
        None,
        description='Fields by name, each with its "type" (text, values, image) and its options; by default one '
        'text called "text".',
        examples=[{"title": {"type": "text", "unit": "char", "weight": 2.0}, "tags": {"type": "values"}}],
    )
    preset: str | None = Field(
        None,
        description=f"Settings for one kind of text: {', '.join(PRESETS)}.",
        examples=["web"],
        json_schema_extra={"enum": [*PRESETS, None]},
    )
    threshold: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None,
        description="The minimum similarity of near-duplicates; default 0.8, for images that of their method.",
        examples=[0.8],
    )
    recall: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        None,
        description="The minimum share of pairs at the threshold that is found; default 0.95.",
        examples=[0.95],
    )
    minhash: str = Field("fast", examples=["fast"], json_schema_extra={"enum": [*ALGORITHMS]})
    num_hashes: Annotated[int, Field(ge=1, le=MOST_HASHES)] | None = Field(None, examples=[128])
    bands: Annotated[int, Field(ge=1, le=MOST_HASHES)] | None = Field(
        None,
        description='The number of bands; requires "rows". By default chosen for the recall.',
        examples=[None],
    )
    rows: Annotated[int, Field(ge=1, le=MOST_HASHES)] | None = Field(None, examples=[None])
    seed: Annotated[int, Field(ge=0, lt=2**64)] = Field(0, examples=[0])
    family: str = Field("mixed", examples=["mixed"], json_schema_extra={"enum": [*FAMILIES]})
    passages: StrictBool | Few[int] | None = Field(
        None,
        description='Whether to index passages: true, or {"size", "window"}. Required by `containing`, `contained` and '
        "`passages`.",
        examples=[True],
    )


def both_given() -> Refusal:
    """Return the refusal of a body with fields and a preset."""
    return Refusal(422, "fields and preset cannot be combined: remove one", field="body.preset")


def settings_of(body: NewIndex) -> IndexSettings:
    """The requested settings; a refusal names the invalid part of the body. Takes milliseconds."""
    schema, threshold, recall = None, None, DEFAULT_RECALL
    if body.preset is not None:
        if body.fields is not None:
            raise both_given()
        chosen = within("body.preset", preset, body.preset)
        schema, threshold, recall = chosen.schema, chosen.threshold, chosen.recall
    elif body.fields is not None:
        schema = schema_of(body.fields)
    if (body.bands is None) != (body.rows is None):
        raise Refusal(422, "bands and rows must be given together: give both or neither", field="body.bands")
    bands = None
    if body.bands is not None and body.rows is not None:
        bands = within("body.bands", Bands, body.bands, body.rows)
    return IndexSettings(
        schema,
        threshold=threshold if body.threshold is None else body.threshold,
        recall=recall if body.recall is None else body.recall,
        minhash=body.minhash, num_hashes=body.num_hashes, bands=bands, seed=body.seed, family=body.family,
        passages=body.passages,
    )  # fmt: skip


def schema_of(fields: Mapping[str, FieldSettings], place: str = "body.fields") -> Schema:
    """The schema for field settings by name.

    >>> schema_of({"tags": {"type": "values", "size": 3}})
    Traceback (most recent call last):
    benzer.service.errors.Refusal: a field of the type "values" has no option 'size': it has weight
    """
    if not 0 < len(fields) <= MOST_FIELDS:
        raise Refusal(422, f"an index must have 1 to {MOST_FIELDS} fields, got {len(fields)}", field=place)
    for name, settings in fields.items():
        check_field(name, settings, f"{place}.{name}")
    schema: Schema = within(place, Schema.from_dict, fields)
    return schema


def check_field(name: str, settings: FieldSettings, place: str) -> None:
    """Reject ambiguous names, unknown types and options, and invalid values."""
    if not name or len(name) > LONGEST_NAME or not name.isprintable() or name in ("id", "self"):
        raise Refusal(
            422,
            f"a field name must have 1 to {LONGEST_NAME} characters and not be id, got {name!r:.80}",
            field=place,
        )
    kind = settings.get("type")
    if not isinstance(kind, str):
        types = ", ".join(FIELD_TYPES.names)
        raise Refusal(422, f'the field {name!r} needs a "type": one of {types}', field=f"{place}.type")
    options = [item.name for item in fields_of(within(f"{place}.type", FIELD_TYPES.load, kind))]
    for option in settings:
        if option != "type" and option not in options:
            raise Refusal(
                422,
                f'a field of the type "{kind}" has no option {option!r:.80}: it has {", ".join(options)}',
                field=f"{place}.{option}",
            )
    within(place, field_from_dict, settings)


def within(place: str, make: Any, *arguments: Any) -> Any:
    """The result of `make`; its errors are reported with their place in the body."""
    try:
        return make(*arguments)
    except Refusal:
        raise
    except BenzerError as error:
        kind = "SettingsError" if isinstance(error, SettingsError) else None
        raise Refusal(422, str(error), field=place, type=kind) from error
    except (TypeError, ValueError, OverflowError) as error:  # a value of an unexpected type
        raise Refusal(422, f"a value of the wrong type: {error}", field=place) from error
