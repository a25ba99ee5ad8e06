"""Reads the query document of a search from the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console
from benzer.errors import InputError
from benzer.views.outputs import ignored, read_as
from benzer.wording import count

if TYPE_CHECKING:
    from benzer.document import Document
    from benzer.fields import Schema
    from benzer.index import Index


def refuse_unless_one(question: Mapping[str, str | None]) -> None:
    """Raise an error unless exactly one query is given."""
    if sum(given is not None for given in question.values()) != 1:
        raise click.UsageError("give one of TEXT, --file, --json-document, --id, or - for stdin.")


def document(index: Index, question: Mapping[str, str | None]) -> Any:
    """Read the query from TEXT, a file, a JSON object, or a document of the index by its id."""
    id, given, file = question["id"], question["json_document"], question["file"]
    if id is not None:
        return stored(index, id)
    if given is not None:
        return from_json(index.settings.schema, given)
    schema = index.settings.schema
    kind = only_kind(schema)
    if file is not None:
        return Path(file) if kind == "image" else file_text(file)
    text = question["text"] or ""
    if text != "-":
        return text
    return sys.stdin.buffer.read() if kind == "image" else file_text("-")


def only_kind(schema: Schema) -> str:
    """Return the kind of the only field; raise an error for several fields or sets, which need a JSON object."""
    kinds = [field.kind for field in schema.fields.values()]
    if len(kinds) > 1 or kinds[0] == "values":
        example = "{" + ", ".join(f'"{name}": ...' for name in schema.fields) + "}"
        raise InputError(f"the index has documents of the form {example}: use --json-document FILE or --id")
    return kinds[0]


def file_text(name: str) -> str:
    """Read a text from a file or stdin."""
    if name == "-":
        return text_of("stdin", sys.stdin.buffer.read())
    from benzer.sources.special import kind_of, open_pipe

    path = Path(name)
    with open_pipe(name, path) if kind_of(name, path) == "pipe" else path.open("rb") as stream:
        return text_of(name, stream.read())


def text_of(name: str, data: bytes) -> str:
    """Decode a text as in a folder of texts; raise an error that names the actual format or the first invalid byte."""
    from benzer.sources.encodings import decoded
    from benzer.sources.formats import text_fault

    fault = text_fault(data)
    if fault is not None:
        raise InputError(f"{name} is {fault}")
    try:
        text, encoding = decoded(data, None)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: byte {count(error.start)} is not {error.encoding.upper()}: convert the file, e.g. with iconv"
        ) from None
    if encoding != "utf-8":
        console.note(read_as(name, encoding))
    return text.removeprefix("\ufeff")


def from_json(schema: Schema, name: str) -> Any:
    """Read a document from a JSON object with the fields as keys; other keys are ignored with a note.

    A document with an "id" does not match itself. Image paths are relative to the folder of the file.
    """
    from benzer.document import Document

    label = "stdin" if name == "-" else name
    content = json_object(label, file_text(name))
    fields = {key: value for key, value in content.items() if key in schema.fields}
    if not fields:
        raise InputError(f"{label} has none of the fields of the index: {', '.join(schema.fields)}")
    others = [key for key in content if key not in schema.fields and key != "id"]
    if others:
        console.note(ignored(others))
    folder = Path() if name == "-" else Path(name).parent
    for key, value in fields.items():
        kind = schema.fields[key].kind
        refuse_other_kind(label, key, kind, value)
        fields[key] = folder / value if kind == "image" and value is not None else value
    id = content.get("id") if "id" not in schema.fields else None
    return Document(id, fields) if isinstance(id, (str, int)) and not isinstance(id, bool) else fields


def refuse_other_kind(label: str, key: str, kind: str, value: object) -> None:
    """Raise an error if the value does not fit the field; null means that the document lacks the field."""
    listed = value if isinstance(value, list) else [None]
    fits = {
        "text": isinstance(value, str),
        "image": isinstance(value, str),
        "values": all(isinstance(item, (str, int)) and not isinstance(item, bool) for item in listed),
    }
    wanted = {"text": "a text", "image": "the path of an image", "values": "a list of strings or integers"}
    if value is not None and not fits[kind]:
        raise InputError(f"{label}: {key} is {json.dumps(value):.40}: use {wanted[kind]}")


def json_object(label: str, text: str) -> dict[str, Any]:
    """Parse one JSON object; raise an error for other content."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:  # a RecursionError means that it is nested too deeply
        raise InputError(
            f"{label} is not JSON ({error}): use one object, e.g. a row of a JSONL file"
        ) from None
    if not isinstance(content, dict):
        raise InputError(f'{label} is not a JSON object: use the fields as keys, e.g. {{"text": "..."}}')
    return content


def stored(index: Index, id: str) -> Document:
    """Return a document of the index by its id, as text or number."""
    key = held_id(index, id)
    document = None if key is None else index.get(key)
    if document is not None:
        return document
    raise InputError(f"no document has the id {id!r:.60} in this index of {count(len(index))} documents")


def held_id(index: Index, id: str) -> str | int | None:
    """Return the id in the index for a text: the text itself, the number it denotes, or None."""
    from benzer.index.documents import ids_of

    return next((key for key in ids_of(id) if key in index), None)
