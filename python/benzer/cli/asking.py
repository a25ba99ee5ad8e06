"""How does a command line say for which document others are sought?"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console
from benzer.errors import InputError

if TYPE_CHECKING:
    from benzer.document import Document
    from benzer.fields import Schema
    from benzer.index import Index


def refuse_unless_one(question: Mapping[str, str | None]) -> None:
    """Refuse no question, and two."""
    if sum(given is not None for given in question.values()) != 1:
        raise click.UsageError("give one of TEXT, --file, --json-document, --id, or - for stdin.")


def document(index: Index, question: Mapping[str, str | None]) -> Any:
    """Make what is asked for of TEXT, a file, a JSON object, or the id of a document of the index."""
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
    """Say of which kind the only field is; of several fields, or of sets, a text alone says too little."""
    kinds = [field.kind for field in schema.fields.values()]
    if len(kinds) > 1 or kinds[0] == "values":
        example = "{" + ", ".join(f'"{name}": ...' for name in schema.fields) + "}"
        raise InputError(
            f"the index has documents of the form {example}: ask by --json-document FILE or --id"
        )
    return kinds[0]


def file_text(name: str) -> str:
    """Read a text from a file, or from stdin."""
    if name == "-":
        return utf8("stdin", sys.stdin.buffer.read())
    from benzer.sources.special import kind_of, open_pipe

    path = Path(name)
    with open_pipe(name, path) if kind_of(name, path) == "pipe" else path.open("rb") as stream:
        return utf8(name, stream.read())


def utf8(name: str, data: bytes) -> str:
    """Decode, or say what the content is instead, or at which byte it fails."""
    from benzer.sources.formats import text_fault

    fault = text_fault(data)
    if fault is not None:
        raise InputError(f"{name} is {fault}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: byte {error.start:,} is not UTF-8: convert the file, with iconv for example"
        ) from None


def from_json(schema: Schema, name: str) -> Any:
    """Read a document from a JSON object, whose keys are the fields; keys that are none are passed over, aloud.

    One with an "id" is not offered as like itself. Paths of images are seen from the folder of the file.
    """
    from benzer.document import Document

    label = "stdin" if name == "-" else name
    found = json_object(label, file_text(name))
    fields = {key: value for key, value in found.items() if key in schema.fields}
    if not fields:
        raise InputError(f"{label} has none of the fields of the index: {', '.join(schema.fields)}")
    others = [key for key in found if key not in schema.fields and key != "id"]
    if others:
        console.note(f"passed over, for the index has no such field: {console.printable(', '.join(others))}")
    folder = Path() if name == "-" else Path(name).parent
    for key, value in fields.items():
        kind = schema.fields[key].kind
        refuse_other_kind(label, key, kind, value)
        fields[key] = folder / value if kind == "image" and value is not None else value
    id = found.get("id") if "id" not in schema.fields else None
    return Document(id, fields) if isinstance(id, (str, int)) and not isinstance(id, bool) else fields


def refuse_other_kind(label: str, key: str, kind: str, value: object) -> None:
    """Refuse what the field does not take; null stands for a field that the document does not hold."""
    listed = value if isinstance(value, list) else [None]
    fits = {
        "text": isinstance(value, str),
        "image": isinstance(value, str),
        "values": all(isinstance(one, (str, int)) and not isinstance(one, bool) for one in listed),
    }
    wanted = {"text": "a text", "image": "the path of an image", "values": "a list of strings or integers"}
    if value is not None and not fits[kind]:
        raise InputError(f"{label}: {key} is {json.dumps(value):.40}, but the field takes {wanted[kind]}")


def json_object(label: str, text: str) -> dict[str, Any]:
    """Parse one JSON object, or say what is there instead."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:  # a RecursionError says that it nests too deep
        raise InputError(
            f"{label} is not JSON ({error}): give one object, such as a row of a JSONL file"
        ) from None
    if not isinstance(found, dict):
        raise InputError(f'{label} holds no JSON object: give the fields by name, as in {{"text": "..."}}')
    return found


def stored(index: Index, id: str) -> Document:
    """Fetch a document of the index by its id, which may be a number there."""
    key = held_id(index, id)
    document = None if key is None else index.get(key)
    if document is not None:
        return document
    raise InputError(f"no document has the id {id!r:.60} in this index of {len(index):,} documents")


def held_id(index: Index, id: str) -> str | int | None:
    """Tell which id of the index a text means: itself, or the number that is written so; None where neither is."""
    from benzer.index.given import ids_of

    return next((key for key in ids_of(id) if key in index), None)
