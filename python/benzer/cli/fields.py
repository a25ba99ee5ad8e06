"""Options that describe the fields: their columns and how each field is compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from benzer.cli.options import INPUT, MATCHING, TEXT, given, option, stacked
from benzer.errors import SettingsMismatchError

if TYPE_CHECKING:
    from benzer.fields import Field, Schema

DEFAULT_SHINGLE_SIZES = {"word": 3, "char": 5}
DEFAULT_METHOD = "grid"
FORMATS = ["jsonl", "json", "csv", "tsv", "parquet", "ipc", "excel", "html", "warc", "text", "images"]
NAMED_BY = {"text": "--text", "values": "--values", "image": "--image-column"}
TEXT_RULES = ("shingle", "normalize", "case", "stop_words", "frequencies", "hash_bytes", "shingle_hash")
LAYOUT = ("delimiter", "encoding", "from_html")
OPTIONS = ("text", "values", "image_column", "images", "format", *LAYOUT, *TEXT_RULES)


def parse_shingle(ctx: click.Context | None, param: click.Parameter | None, value: str) -> tuple[str, int]:
    """Parse `word:3` or `char:5` into (unit, shingle_size); a unit alone uses its default size.

    >>> parse_shingle(None, None, "char")
    ('char', 5)
    """
    unit, _, size = value.partition(":")
    number = size or str(DEFAULT_SHINGLE_SIZES.get(unit, 0))
    if unit not in DEFAULT_SHINGLE_SIZES or not number.isdecimal() or not 1 <= int(number) <= 64:
        raise click.BadParameter(f"{value!r} is not word:N or char:N with N from 1 to 64, e.g. word:3.")
    return unit, int(number)


def parse_weights(
    ctx: click.Context | None, param: click.Parameter | None, values: Sequence[str]
) -> dict[str, float]:
    """Parse `title=2` as weight 2 of the field title.

    >>> parse_weights(None, None, ["title=2", "tags=0.5"])
    {'title': 2.0, 'tags': 0.5}
    """
    weights: dict[str, float] = {}
    for value in values:
        name, _, number = value.rpartition("=")
        if not name or name in weights or not re.fullmatch(r"\d+(\.\d*)?|\.\d+", number):
            raise click.BadParameter(f"{value!r} is not FIELD=NUMBER with each field once, e.g. title=2.")
        weights[name] = float(number)
    return weights


def parse_delimiter(
    ctx: click.Context | None, param: click.Parameter | None, value: str | None
) -> str | None:
    """Check a delimiter."""
    from benzer.sources.dialects import checked_delimiter

    with usage_named():
        return checked_delimiter(value)


def parse_encoding(ctx: click.Context | None, param: click.Parameter | None, value: str | None) -> str | None:
    """Check the name of an encoding."""
    from benzer.sources.encodings import checked_encoding

    with usage_named():
        return checked_encoding(value)


@contextmanager
def usage_named() -> Iterator[None]:
    """Turn a wrong setting into a wrong option."""
    from benzer.errors import SettingsError

    try:
        yield
    except SettingsError as error:
        raise click.BadParameter(f"{error}.") from None


def parse_stop_words(
    ctx: click.Context | None, param: click.Parameter | None, value: str | None
) -> str | tuple[str, ...]:
    """Parse a value of letters only as a language, any other value as a file of words.

    >>> parse_stop_words(None, None, "en"), parse_stop_words(None, None, None)
    ('en', ())
    """
    if value is None:
        return ()
    if value.isalpha():
        return value
    try:
        return tuple(sorted(set(Path(value).read_text(encoding="utf-8-sig").split())))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise click.BadParameter(f"{value}: {reason}. Use a language (en) or a file of words.") from None


def take_preset(ctx: click.Context, param: click.Parameter, name: str | None) -> None:
    """Use the values of a preset as defaults of the options that are not given."""
    if name is None:
        return
    from benzer.errors import SettingsError
    from benzer.presets import preset

    try:
        chosen = preset(name)
    except SettingsError as error:
        raise click.BadParameter(f"{error}.") from None
    shingle = f"{chosen.text.unit}:{chosen.text.shingle_size}"
    ctx.default_map = {"shingle": shingle, "threshold": chosen.threshold, "recall": chosen.recall}


column_options = stacked(
    option(
        INPUT, "--text", metavar="COLUMN", multiple=True,
        show_default="text, unless another field is given",
        help="Text column. Repeat, or use FIELD=COLUMN, for several fields.",
    ),
    option(
        INPUT, "--values", metavar="COLUMN", multiple=True,
        help="Column of sets: lists of strings or integers, e.g. tags.",
    ),
    option(
        INPUT, "--image-column", metavar="COLUMN", multiple=True,
        help="Column of image paths, relative to the file that contains them.",
    ),
    option(
        INPUT, "--images", metavar="METHOD", type=click.Choice(["grid", "local", "seed16"]),
        help="Image method: grid (resized, retouched), local (crops, turns) or seed16.",
    ),
    option(
        INPUT, "--id", "id_column", metavar="COLUMN", show_default="id, or generated from file and row",
        help="Column of ids; none generates an id of file and row for each row.",
    ),
    option(
        INPUT, "--format", "format", type=click.Choice(FORMATS), metavar="FORMAT",
        show_default="from the file name", help=f"Format: {', '.join(FORMATS)}.",
    ),
    option(
        INPUT, "--delimiter", metavar="CHARACTER", callback=parse_delimiter, show_default="detected",
        help="Delimiter of CSV files, e.g. ; or tab.",
    ),
    option(
        INPUT, "--encoding", metavar="NAME", callback=parse_encoding, show_default="detected",
        help="Encoding of CSV and text files, e.g. cp1252 or utf-16.",
    ),
    option(
        INPUT, "--from-html", is_flag=True, help="Compare the main text of text columns that contain HTML pages.",
    ),
)  # fmt: skip

weight_option = option(
    MATCHING, "--weight", metavar="FIELD=NUMBER", multiple=True, callback=parse_weights,
    show_default="1 each", help="Weight of a field in the similarity. Repeatable.",
)  # fmt: skip

text_options = stacked(
    option(
        TEXT, "--preset", metavar="KIND", callback=take_preset, is_eager=True, expose_value=False,
        help="Defaults for a kind of document: web, record, code or ocr.",
    ),
    option(
        TEXT, "--shingle", metavar="UNIT:SIZE", default="word:3", show_default=True, callback=parse_shingle,
        help="Shingles of N words (word:N) or N characters (char:N).",
    ),
    option(
        TEXT, "--normalize", type=click.Choice(["nfkc", "nfc", "none"]), default="nfkc", show_default=True,
        help="Select the Unicode normalization.",
    ),
    option(
        TEXT, "--case", type=click.Choice(["fold", "lower", "keep"]), default="fold", show_default=True,
        help="Select the case normalization.",
    ),
    option(
        TEXT, "--stop-words", metavar="LANGUAGE|FILE", callback=parse_stop_words,
        help="Words to ignore: a language (en, tr, ...) or a file of words.",
    ),
    option(
        TEXT, "--frequencies", is_flag=True, help="Count how often a shingle occurs, not only whether it occurs.",
    ),
    option(
        TEXT, "--shingle-hash", metavar="NAME", default="benzer", show_default=True,
        help="Hash of shingles: benzer, djb2a, murmur3_32, murmur3_128 or xxh3.",
    ),
    option(
        TEXT, "--hash-bytes", type=click.Choice(["4", "8"]), default="8", show_default=True,
        help="Size of a shingle hash in bytes.",
    ),
)  # fmt: skip


class Named(NamedTuple):
    """A column named by an option, and its field; the field is None if the option does not name it."""

    kind: str
    field: str | None
    column: str


def named_columns(options: Mapping[str, Any]) -> list[Named]:
    """List the columns named by the options, texts first.

    >>> named_columns({"text": ["title", "content=body"], "values": ["tags"], "image_column": []})
    [Named(kind='text', field='title', column='title'), Named(kind='text', field='content', column='body'), ...]
    """
    named: list[Named] = []
    by_kind = {"text": options["text"], "values": options["values"], "image": options["image_column"]}
    for kind, values in by_kind.items():
        for value in values:
            field, equals, column = value.partition("=")
            named.append(Named(kind, field, column) if equals else Named(kind, None, value))
            if not field or (equals and not column):
                raise click.UsageError(f"{NAMED_BY[kind]} {value}: use COLUMN or FIELD=COLUMN.")
    if wants_images(options) and not by_kind["image"]:
        named.append(Named("image", None, "image"))
    if len(named) > 1:
        named = [entry if entry.field else entry._replace(field=entry.column) for entry in named]
    names = [entry.field for entry in named]
    for item in named:
        if names.count(item.field) > 1:
            raise click.UsageError(
                f"{names.count(item.field)} fields are named {item.field}: give each its own name, e.g. "
                f"{NAMED_BY[item.kind]} other={item.column}."
            )
    return named


def wants_images(options: Mapping[str, Any]) -> bool:
    return bool(options.get("images")) or options.get("format") == "images"


def format_of(options: Mapping[str, Any], inputs: Sequence[str]) -> str | None:
    """Return the format given by the options: folders are read as images if no image column is named."""
    folders = bool(inputs) and all(Path(name).is_dir() for name in inputs)
    images = wants_images(options) and not options["image_column"]
    named: str | None = options["format"]
    return named or ("images" if folders and images else None)


def layout_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that say how files are written."""
    return {name.removeprefix("from_"): options[name] for name in LAYOUT}


def described(options: Mapping[str, Any], weights: Mapping[str, float]) -> tuple[Schema, dict[str, str]]:
    """Build the schema from the options, and the column of each field."""
    from benzer.errors import SettingsError
    from benzer.fields import Schema

    named = named_columns(options) or [Named("text", "text", "text")]
    names = [item.field or ("text" if item.kind == "text" else item.column) for item in named]
    refuse_rules_without_texts({item.kind for item in named})
    unknown = [name for name in weights if name not in names]
    if unknown:
        raise click.UsageError(f"--weight {unknown[0]}: no such field; use one of: {', '.join(names)}.")
    kinds = {item.kind: field_of(item.kind, options) for item in named}
    fields = {name: kinds[item.kind] for name, item in zip(names, named, strict=True)}
    try:
        weighted = {name: reweighted(field, weights.get(name)) for name, field in fields.items()}
    except SettingsError as error:
        raise click.UsageError(f"--weight: {error}.") from None
    return Schema(**weighted), dict(zip(names, (item.column for item in named), strict=True))


def field_of(kind: str, options: Mapping[str, Any]) -> Field:
    """Make the field for all columns of a kind."""
    from benzer.fields import Text, ValueSet

    if kind == "values":
        return ValueSet()
    if kind == "image":
        from benzer.fields import Image

        return Image(method=options["images"] or DEFAULT_METHOD)
    rules: dict[str, Any] = {}
    for name in TEXT_RULES:
        rules |= rule(name, options[name])
    return Text(**rules)


def rule(name: str, value: Any) -> dict[str, Any]:
    """Convert an option to arguments of its field.

    >>> rule("shingle", ("char", 5)), rule("hash_bytes", "4")
    ({'unit': 'char', 'shingle_size': 5}, {'hash_bytes': 4})
    """
    if name == "shingle":
        return {"unit": value[0], "shingle_size": value[1]}
    if name == "images":
        return {"method": value}
    return {name: int(value) if name == "hash_bytes" else value}


def reweighted(field: Any, weight: float | None) -> Field:
    changed: Field = field if weight is None else replace(field, weight=weight)
    return changed


def refuse_rules_without_texts(kinds: set[str]) -> None:
    rules = given("preset", *TEXT_RULES)
    if rules and "text" not in kinds:
        raise click.UsageError(
            f"--{hyphened(rules[0])} applies to texts only: name a text column with --text."
        )


def hyphened(name: str) -> str:
    return name.replace("_", "-")


def columns_of(location: str, schema: Schema, options: Mapping[str, Any]) -> dict[str, str]:
    """Return the column of each field of an index that the options name."""
    columns: dict[str, str] = {}
    for kind, field, column in named_columns(options):
        fields = [name for name, item in schema.fields.items() if item.kind == kind]
        name = fields[0] if field is None and len(schema.fields) == len(fields) == 1 else field or column
        if name not in fields:
            known = ", ".join(f"{name} ({item.kind})" for name, item in schema.fields.items())
            raise SettingsMismatchError(
                f"{location} has no {kind} field {name}, only {known}: use FIELD=COLUMN "
                "or create another index"
            )
        columns[name] = column
    return columns


def refuse_other_rules(location: str, schema: Schema, options: Mapping[str, Any]) -> None:
    """Raise an error if a given option differs from the settings of the index."""
    for name in given(*TEXT_RULES, "images") or (["shingle"] if given("preset") else []):
        kind = "image" if name == "images" else "text"
        for field in schema.fields.values():
            if field.kind == kind:
                changed: Any = replace(field, **rule(name, options[name]))  # type: ignore[type-var]
                if changed != field:
                    raise other_setting(location, name, rule_of(field, name), rule_of(changed, name))
    for name, weight in options["weight"].items():
        stored = schema.fields[name].weight if name in schema.fields else "no such field"
        if weight != stored:
            raise other_setting(location, "weight", f"{name}={stored}", f"{name}={weight}")


def rule_of(field: Any, name: str) -> str:
    """Format a setting of a field as its option is written."""
    if name == "shingle":
        return f"{field.unit}:{field.shingle_size}"
    if name == "stop_words":
        return f"{len(field.stop_words)} words"
    return str(field.method if name == "images" else getattr(field, name))


def other_setting(location: str, name: str, stored: object, given: object) -> SettingsMismatchError:
    return SettingsMismatchError(
        f"{location} was created with --{hyphened(name)} {stored}, got {given}: "
        "omit the option or create another index"
    )
