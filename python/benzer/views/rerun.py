"""Code and settings to repeat a run."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from benzer.candidates import LIMITS
from benzer.fields import Schema, Text
from benzer.pipeline.options import Options
from benzer.results import Duplicates, Reading
from benzer.sources.base import NO_IDS
from benzer.wording import setting, without_passwords

PATHS_SHOWN = 20
DATA = "docs.jsonl"
JSON_HEADER = "-H 'Content-Type: application/json'"
LONGEST_BODY = 4000


def command_line(command: str | Sequence[str] | None) -> str:
    """A command as typed, without passwords; "" if there is none.

    >>> command_line(["benzer", "dedupe", "my docs.jsonl"])
    "benzer dedupe 'my docs.jsonl'"
    """
    if command is None:
        return ""
    return without_passwords(command if isinstance(command, str) else shlex.join(command))


def curl(address: str, body: Mapping[str, Any]) -> str:
    """A request as a curl command; empty if it is longer than a page or has files.

    >>> print(curl("http://localhost:8000/v1/compare", {"id": "it's"}))
    curl http://localhost:8000/v1/compare \\
      -H 'Content-Type: application/json' \\
      -d '{"id": "it'"'"'s"}'
    """
    try:
        text = json.dumps(body, ensure_ascii=False)
    except TypeError:
        return ""
    if len(text) > LONGEST_BODY:
        return ""
    return " \\\n  ".join((f"curl {address}", JSON_HEADER, f"-d {shlex.quote(text)}"))


def python_code(result: Duplicates) -> str:
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
    arguments = [given(result.reading), *(f"{name}={value}" for name, value in keywords(result))]
    modules = [result.engine, *(["pathlib"] if "pathlib." in arguments[0] else [])]
    imports = "\n".join(f"import {name}" for name in modules)
    return (
        f"{imports}\n\nfound = {result.engine}.find_duplicates(\n"
        + "".join(f"    {argument},\n" for argument in arguments)
        + ")"
    )


def given(reading: Reading) -> str:
    """The input as an argument; many files are named `paths`."""
    names = [source.name if source.path is None else str(source.path) for source in reading.sources]
    if any(source.path is None for source in reading.sources):
        return "documents"
    if len(names) > PATHS_SHOWN:
        return "paths"
    return (
        f"[{', '.join(f'pathlib.Path({name!r})' for name in names)}]" if len(names) != 1 else repr(names[0])
    )


def keywords(result: Duplicates) -> Iterator[tuple[str, str]]:
    """Each setting that differs from its default, as Python code."""
    settings, options = result.settings, result.reading.options
    yield "threshold", repr(settings.threshold)
    yield "recall", repr(settings.recall)
    if result.bands is None:
        yield "method", repr(result.method)
    if settings.schema != Schema():
        yield "schema", schema_code(settings.schema)
    columns = {name: column for name, column in options.fields.items() if name != column}
    if columns:
        yield "text", repr(columns if len(options.fields) > 1 else next(iter(columns.values())))
    if options.id_column is not None or options.id_plan == (None, False):
        yield "id", repr(options.id_column or NO_IDS)
    if str(settings.keep) != "first":
        yield "keep", repr(str(settings.keep))
    if settings.against:
        opened = (
            f"benzer.Index.open({without_passwords(location)!r}, mode='read')"
            for location in settings.against
        )
        yield "against", f"[{', '.join(opened)}]"
    rare = "".join(f"        {name}={value},\n" for name, value in rare_keywords(result))
    if rare:
        yield "options", f"benzer.Options(\n{rare}    )"


def rare_keywords(result: Duplicates) -> Iterator[tuple[str, str]]:
    """Each setting of `Options` that differs from its default, as Python code."""
    settings, options = result.settings, result.reading.options
    if result.bands is not None:
        yield "bands", f"benzer.Bands({result.bands.bands}, {result.bands.rows})"
        minhash = settings.minhash
        family = "" if minhash.family == "mixed" else f", family={minhash.family!r}"
        numbers = f"num_hashes={minhash.num_hashes}, seed={minhash.seed}"
        yield "minhash", f"benzer.MinHash({minhash.algorithm!r}, {numbers}{family})"
    if settings.bucket_limit != LIMITS[1]:
        yield "bucket_limit", repr(settings.bucket_limit)
    if settings.on_error != "stop":
        yield "on_error", repr(settings.on_error)
    for name, value in (("on_duplicate_id", settings.on_duplicate_id), ("id_scope", settings.id_scope)):
        if value != getattr(Options, name):
            yield name, repr(value)
    if options.encoding is not None:
        yield "encoding", repr(options.encoding)
    if options.delimiter is not None:
        yield "delimiter", repr(options.delimiter)
    if options.html:
        yield "html", "True"


def schema_code(schema: Schema) -> str:
    """A schema as Python code without defaults of fields.

    >>> from benzer.fields import Text, ValueSet
    >>> schema_code(Schema(title=Text(shingle_size=2), tags=ValueSet()))
    'benzer.Schema(title=benzer.Text(shingle_size=2), tags=benzer.ValueSet())'
    """
    if not all(name.isidentifier() for name in schema.fields):
        named = (f"{name!r}: {field_code(field)}" for name, field in schema.fields.items())
        return f"benzer.Schema(**{{{', '.join(named)}}})"
    fields = (f"{name}={field_code(field)}" for name, field in schema.fields.items())
    return f"benzer.Schema({', '.join(fields)})"


def field_code(field: Any) -> str:
    """A field as Python code; a user-defined type as its `repr`.

    >>> from benzer.fields import Text
    >>> field_code(Text(unit="char", shingle_size=3))
    "benzer.Text(unit='char', shingle_size=3)"
    """
    kind = type(field)
    if not kind.__module__.startswith("benzer.") or not dataclasses.is_dataclass(field):
        return repr(field)
    values = {item.name: getattr(field, item.name) for item in dataclasses.fields(field) if item.init}
    given = {item.name: values[item.name] for item in dataclasses.fields(field) if needed(item)}
    while others := [name for name, value in values.items() if getattr(kind(**given), name) != value]:
        given[others[0]] = values[others[0]]  # a value can change the defaults of others
    return (
        f"benzer.{kind.__name__}({', '.join(f'{name}={given[name]!r}' for name in values if name in given)})"
    )


def needed(field: dataclasses.Field[Any]) -> bool:
    """Whether a setting is required."""
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def plain_text(schema: Schema) -> tuple[str, Text] | None:
    """The name and the field of a schema that is one text with default settings except its shingles.

    >>> plain_text(Schema(body=Text(unit="char")))[0], plain_text(Schema(body=Text(case="keep")))
    ('body', None)
    """
    if len(schema.fields) != 1:
        return None
    ((name, field),) = schema.fields.items()
    if not isinstance(field, Text) or field != Text(unit=field.unit, shingle_size=field.shingle_size):
        return None
    return name, field


def search_command(threshold: float, recall: float, schema: Schema) -> str:
    """The command line that removes the near-duplicates of a file.

    >>> print(search_command(0.8, 0.95, Schema(body=Text(shingle_size=5))))
    benzer dedupe docs.jsonl \\
      --text body \\
      --shingle word:5 \\
      --threshold 0.80 \\
      --recall 0.95 \\
      --output clean
    """
    parts, text = [f"benzer dedupe {DATA}"], plain_text(schema)
    if text is not None:
        name, field = text
        parts += [f"--text {shlex.quote(name)}"] * (name != "text")
        parts += [f"--shingle {field.unit}:{field.shingle_size}"] * (field != Text())
    parts += [f"--threshold {setting(threshold)}", f"--recall {setting(recall)}", "--output clean"]
    incomplete = "" if text else "# this command line does not show all field settings: see Python\n"
    return incomplete + " \\\n  ".join(parts)


def search_code(threshold: float, recall: float, schema: Schema) -> str:
    """The same in Python.

    >>> print(search_code(0.8, 0.95, Schema()))
    import benzer
    <BLANKLINE>
    found = benzer.find_duplicates(
        'docs.jsonl',
        threshold=0.80,
        recall=0.95,
    )
    """
    arguments = [repr(DATA)]
    if schema != Schema():
        arguments.append(f"schema={schema_code(schema)}")
    arguments += [f"threshold={setting(threshold)}", f"recall={setting(recall)}"]
    return (
        "import benzer\n\nfound = benzer.find_duplicates(\n"
        + "".join(f"    {argument},\n" for argument in arguments)
        + ")"
    )


def search_request(threshold: float, recall: float, schema: Schema, index: str, origin: str) -> str:
    """The same as a request, for an index or for a file."""
    if index:
        return curl(f"{origin}/v1/duplicates", {"index": index, "threshold": threshold, "recall": recall})
    query: dict[str, Any] = {"threshold": threshold, "recall": recall}
    if schema != Schema():
        query["fields"] = json.dumps(schema.to_dict())
    address = shlex.quote(f"{origin}/v1/duplicates?{urlencode(query)}")
    return " \\\n  ".join(
        (f"curl {address}", "-H 'Content-Type: application/x-ndjson'", f"--data-binary @{DATA}")
    )
