"""How is a body read that may come as JSON or as a form? By its Content-Type, into one model or its parts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from benzer.document import FieldValue
from benzer.fields import Schema
from benzer.service.errors import UNREADABLE, Refusal
from benzer.service.media import FORM, JSON, NDJSON
from benzer.service.settings import Limits
from benzer.service.wire.bounds import check_batch
from benzer.service.wire.documents import reader_of
from benzer.sources.formats import text_fault

Model = TypeVar("Model", bound=BaseModel)
MOST_PARTS = 100
LARGE = 65_536
"""Bytes of a body that is read off the event loop, as it would stop all requests. While 14 MB of 380,000 tiny documents
are read, a search waits 2.3 s at most on the loop, 0.1 s off it; of 1,000 documents of 15 kB 0.06 s, and 0.02 to 0.06.
A thread alone changes little, for the reader of JSON keeps the interpreter to itself: see `interruptible`. A list of
1.7 million numbers calls no Python, and is waited for 0.2 s in either case."""


async def model_of(
    request: Request, model: type[Model], check: Callable[[Any], object] | None = None
) -> Model:
    """The JSON body of a request as a model; what is wrong with it is refused as for any other route.

    check: refuses what was read for its size, before it is validated.
    """
    body = await request.body()
    if len(body) > LARGE:
        return await asyncio.to_thread(read_model, body, model, check, interruptible)
    return read_model(body, model, check)


def read_model(
    body: bytes, model: type[Model], check: Callable[[Any], object] | None = None,
    hook: Callable[[dict[str, Any]], Any] | None = None,
) -> Model:  # fmt: skip
    """A body as a model."""
    if not body:
        raise RequestValidationError([{"type": "missing", "loc": ("body",), "msg": "Field required"}])
    try:
        value = json.loads(body, object_hook=hook)
    except json.JSONDecodeError as error:
        fault = {"type": "json_invalid", "loc": ("body", error.pos), "ctx": {"error": error.msg}}
        raise RequestValidationError([fault]) from error
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, UNREADABLE) from error
    if check is not None:
        check(value)
    return validated(model, value)


def interruptible(value: dict[str, Any]) -> dict[str, Any]:
    """The same object. What reads JSON is written in C, and lets no other thread run but where it calls Python."""
    return value


def check_listed(limits: Limits, what: str, value: Any) -> None:
    """Refuse a list of too many things as soon as it is read; what it holds is not looked at."""
    listed = value.get(what) if isinstance(value, dict) else None
    if isinstance(listed, list):
        check_batch(limits, len(listed), what)


def validated(model: type[Model], value: Any) -> Model:
    """A value as a model."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        raise RequestValidationError(faults) from error


@asynccontextmanager
async def form_of(request: Request, limits: Limits) -> AsyncIterator[FormData]:
    """The parts of a form; large files lie on the disk until the block ends.

    In UTF-8: a parser that took any name of an encoding would run what is no encoding of text, too, and slow ones.
    """
    _, options = parse_options_header(request.headers.get("content-type", ""))
    if options.get(b"charset", b"utf-8").lower() not in (b"utf-8", b"utf8"):
        raise Refusal(415, "the names and texts of a form must be UTF-8: leave charset out")
    form = request.form(
        max_files=MOST_PARTS, max_fields=MOST_PARTS, max_part_size=limits.max_body_bytes
    )  # the guard has bounded the whole
    async with form as parts:
        yield parts


async def contents_of_form(request: Request, schema: Schema, limits: Limits) -> dict[str, FieldValue]:
    """The parts of a form as contents of the schema's fields, one part each.

    An image is a file; a text a file or a plain part, in UTF-8; a value set a plain part that holds its JSON list.
    """
    async with form_of(request, limits) as form:
        names = [name for name, _ in form.multi_items()]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise Refusal(
                422, f"the part {twice!r} comes more than once: give one a field", field=f"body.{twice}"
            )
        parts = {
            name: await value.read() if isinstance(value, UploadFile) else value
            for name, value in form.items()
        }
    return contents_of_parts(parts, schema, limits)


def contents_of_parts(
    parts: Mapping[str, str | bytes], schema: Schema, limits: Limits
) -> dict[str, FieldValue]:
    """The parts of a form, as they were read, as contents.

    >>> from benzer.fields import Text, ValueSet
    >>> contents_of_parts({"text": b"one", "tags": '["red"]'}, Schema(text=Text(), tags=ValueSet()), Limits())
    {'text': 'one', 'tags': ['red']}
    """
    kinds = {name: field.kind for name, field in schema.fields.items()}
    fields = {name: _content(name, kinds.get(name), part) for name, part in parts.items()}
    return reader_of(schema, limits)(fields, "body")


def _content(name: str, kind: str | None, part: str | bytes) -> Any:
    if kind == "image":
        if isinstance(part, str):
            raise Refusal(
                422, f"the field {name!r} takes a file: give its part a filename", field=f"body.{name}"
            )
        return part
    fault = text_fault(part) if isinstance(part, bytes) else None
    if fault is not None:
        raise Refusal(422, f"the file of the field {name!r} is {fault}", field=f"body.{name}")
    try:
        text = part if isinstance(part, str) else part.decode()
        return json.loads(text) if kind == "values" else text
    except UnicodeDecodeError as error:
        raise Refusal(
            422,
            f"the field {name!r} takes text in UTF-8, and byte {error.start} is none",
            field=f"body.{name}",
        ) from error
    except (ValueError, RecursionError) as error:
        raise Refusal(
            422, f'the field {name!r} takes a JSON list such as ["red", 7]: {error}', field=f"body.{name}"
        ) from error


def described_body(
    model: type[BaseModel] | None = None, *, form: bool = False, lines: bool = False
) -> dict[str, Any]:
    """`openapi_extra` of a route that reads its body by these functions."""
    content: dict[str, Any] = {}
    if model is not None:
        schema = model.model_json_schema()
        content[JSON] = {"schema": whole(schema, schema.pop("$defs", {}))}
    if form:
        content[FORM] = {
            "schema": {
                "type": "object",
                "description": "A part a field: an image as a file, a text plainly, a value set as its JSON list.",
                "additionalProperties": {"type": "string"},
            }
        }
    if lines:
        content[NDJSON] = {
            "schema": {"type": "string"},
            "example": '{"id": "a", "fields": {"text": "one two three"}}\n{"id": 7, "text": "four five"}\n',
        }
    return {"requestBody": {"required": True, "content": content}}


def whole(schema: Any, parts: Mapping[str, Any]) -> Any:
    """A schema with its parts in their places: what a route adds to the description can name none beside it.

    >>> whole({"items": {"$ref": "#/$defs/One"}}, {"One": {"type": "string"}})
    {'items': {'type': 'string'}}
    """
    if isinstance(schema, list):
        return [whole(one, parts) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return whole(parts[schema["$ref"].rpartition("/")[2]], parts)
    return {name: whole(value, parts) for name, value in schema.items()}
