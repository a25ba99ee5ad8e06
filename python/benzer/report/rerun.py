"""Code and settings to repeat a run."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benzer.candidates import LIMITS
from benzer.fields import Schema
from benzer.results import Duplicates, Reading
from benzer.wording import without_passwords

PATHS_SHOWN = 20


def command_line(command: str | Sequence[str] | None) -> str:
    """A command as typed, without passwords; "" if there is none.

    >>> command_line(["benzer", "dedupe", "my docs.jsonl"])
    "benzer dedupe 'my docs.jsonl'"
    """
    if command is None:
        return ""
    return without_passwords(command if isinstance(command, str) else shlex.join(command))


def python_code(found: Duplicates) -> str:
    """The Python call with the same result; documents without a file are named `documents`, many files `paths`.

    >>> from benzer import find_duplicates
    >>> print(python_code(find_duplicates({"a": "one two three", "b": "four"})))
    import benzer
    <BLANKLINE>
    found = benzer.find_duplicates(
        documents,
        threshold=0.8,
        recall=0.95,
        options=benzer.Options(
            bands=benzer.Bands(10, 6),
            minhash=benzer.MinHash('fast', num_hashes=60, seed=0),
        ),
    )
    """
    arguments = [given(found.reading), *(f"{name}={value}" for name, value in keywords(found))]
    return (
        f"import {found.engine}\n\nfound = {found.engine}.find_duplicates(\n"
        + "".join(f"    {one},\n" for one in arguments)
        + ")"
    )


def given(reading: Reading) -> str:
    """The input as an argument; many files are named `paths`."""
    names = [source.name if source.path is None else str(source.path) for source in reading.sources]
    if any(source.path is None for source in reading.sources):
        return "documents"
    if len(names) > PATHS_SHOWN:
        return "paths"
    return repr(names) if len(names) != 1 else repr(names[0])


def keywords(found: Duplicates) -> Iterator[tuple[str, str]]:
    """Each setting that differs from its default, as Python code."""
    settings, options = found.settings, found.reading.options
    yield "threshold", repr(settings.threshold)
    yield "recall", repr(settings.recall)
    if found.bands is None:
        yield "method", repr(found.method)
    if settings.schema != Schema():
        yield "schema", schema_code(settings.schema)
    columns = {name: column for name, column in options.fields.items() if name != column}
    if columns:
        yield "text", repr(columns if len(options.fields) > 1 else next(iter(columns.values())))
    if options.id_column is not None:
        yield "id", repr(options.id_column)
    if str(settings.keep) != "first":
        yield "keep", repr(str(settings.keep))
    if settings.against:
        opened = (
            f"benzer.Index.open({without_passwords(location)!r}, mode='read')"
            for location in settings.against
        )
        yield "against", f"[{', '.join(opened)}]"
    rare = "".join(f"        {name}={value},\n" for name, value in rare_keywords(found))
    if rare:
        yield "options", f"benzer.Options(\n{rare}    )"


def rare_keywords(found: Duplicates) -> Iterator[tuple[str, str]]:
    """Each setting of `Options` that differs from its default, as Python code."""
    settings, options = found.settings, found.reading.options
    if found.bands is not None:
        yield "bands", f"benzer.Bands({found.bands.bands}, {found.bands.rows})"
        minhash = settings.minhash
        family = "" if minhash.family == "mixed" else f", family={minhash.family!r}"
        numbers = f"num_hashes={minhash.num_hashes}, seed={minhash.seed}"
        yield "minhash", f"benzer.MinHash({minhash.algorithm!r}, {numbers}{family})"
    if settings.bucket_limit != LIMITS[1]:
        yield "bucket_limit", repr(settings.bucket_limit)
    if settings.on_error != "stop":
        yield "on_error", repr(settings.on_error)
    if options.encoding != "utf-8":
        yield "encoding", repr(options.encoding)


def schema_code(schema: Schema) -> str:
    """A schema as Python code without defaults of fields.

    >>> from benzer.fields import Text, ValueSet
    >>> schema_code(Schema(title=Text(shingle_size=2), tags=ValueSet()))
    'benzer.Schema(title=benzer.Text(shingle_size=2), tags=benzer.ValueSet())'
    """
    fields = (f"{name}={field_code(field)}" for name, field in schema.fields.items())
    return f"benzer.Schema({', '.join(fields)})"


def field_code(field: Any) -> str:
    """A field as Python code; a user-defined type as its `repr`."""
    kind = type(field)
    if not kind.__module__.startswith("benzer.") or not dataclasses.is_dataclass(field):
        return repr(field)
    usual = kind(**{one.name: getattr(field, one.name) for one in dataclasses.fields(field) if needed(one)})
    values = [
        f"{one.name}={getattr(field, one.name)!r}"
        for one in dataclasses.fields(field)
        if one.init and (needed(one) or getattr(field, one.name) != getattr(usual, one.name))
    ]
    return f"benzer.{kind.__name__}({', '.join(values)})"


def needed(field: dataclasses.Field[Any]) -> bool:
    """Whether a setting is required."""
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def flat(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Settings with their values as text; nested settings have the path of names.

    >>> list(flat({"threshold": 0.8, "schema": {"text": {"type": "text", "stop_words": []}}}))
    [('threshold', '0.8'), ('schema text type', 'text'), ('schema text stop_words', 'none')]
    """
    for name, value in settings.items():
        path = f"{before}{name}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{path} ")
        elif isinstance(value, (list, tuple)):
            yield path, without_passwords(", ".join(map(str, value))) or "none"
        else:
            yield path, "none" if value is None else without_passwords(str(value))
