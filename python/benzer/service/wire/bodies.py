"""Reads bodies that may be JSON or a form, by their Content-Type."""

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
"""Minimum bytes of a body that is parsed off the event loop, because parsing would block all requests. While 14 MB of
380,000 tiny documents are parsed, a search waits at most 2.3 s on the loop and 0.1 s off it; for 1,000 documents of
15 kB, 0.06 s and 0.02 to 0.06 s. A thread alone changes little, because the JSON parser holds the interpreter lock: see
`interruptible`. A list of 1.7 million numbers calls no Python code, so the wait is 0.2 s in both cases."""


async def model_of(
    request: Request, model: type[Model], check: Callable[[Any], object] | None = None
) -> Model:
    """The JSON body of a request as a model; errors are reported as by any other route.

    check: rejects a parsed value because of its size before it is validated.
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
    """Return the same object. The JSON parser is written in C and lets other threads run only when it calls Python."""
    return value


def check_listed(limits: Limits, what: str, value: Any) -> None:
    """Reject a list with too many elements as soon as it is parsed, without validating them."""
    listed = value.get(what) if isinstance(value, dict) else None
    if isinstance(listed, list):
        check_batch(limits, len(listed), what)


def validated(model: type[Model], value: Any) -> Model:
    """A value as a model."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = [{**error, "loc": ("body", *error["loc"])} for error in error.errors()]
        raise RequestValidationError(faults) from error


@asynccontextmanager
async def form_of(request: Request, limits: Limits) -> AsyncIterator[FormData]:
    """The parts of a form; large files are stored on disk until the block ends.

    Only UTF-8 is accepted: other encoding names could select slow codecs or codecs that are not text encodings.
    """
    _, options = parse_options_header(request.headers.get("content-type", ""))
    if options.get(b"charset", b"utf-8").lower() not in (b"utf-8", b"utf8"):
        raise Refusal(415, "the names and texts of a form must be UTF-8: remove charset")
    form = request.form(
        max_files=MOST_PARTS, max_fields=MOST_PARTS, max_part_size=limits.max_body_bytes
    )  # the guard limits the total size
    async with form as parts:
        yield parts


async def contents_of_form(request: Request, schema: Schema, limits: Limits) -> dict[str, FieldValue]:
    """The parts of a form as contents of the fields, one part per field.

    An image is a file. A text is a file or a plain part in UTF-8. A value set is a plain part with a JSON list.
    """
    async with form_of(request, limits) as form:
        names = [name for name, _ in form.multi_items()]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise Refusal(
                422,
                f"the part {twice!r} occurs more than once: send one part per field",
                field=f"body.{twice}",
            )
        parts = {
            name: await value.read() if isinstance(value, UploadFile) else value
            for name, value in form.items()
        }
    return contents_of_parts(parts, schema, limits)


def contents_of_parts(
    parts: Mapping[str, str | bytes], schema: Schema, limits: Limits
) -> dict[str, FieldValue]:
    """Parsed parts of a form as field contents.

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
                422, f"the field {name!r} must be a file: give its part a filename", field=f"body.{name}"
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
            f"the field {name!r} must be UTF-8 text: byte {error.start} is invalid",
            field=f"body.{name}",
        ) from error
    except (ValueError, RecursionError) as error:
        raise Refusal(
            422, f'the field {name!r} must be a JSON list such as ["red", 7]: {error}', field=f"body.{name}"
        ) from error


def described_body(
    model: type[BaseModel] | None = None, *, form: bool = False, lines: bool = False
) -> dict[str, Any]:
    """`openapi_extra` of a route that reads its body with these functions."""
    content: dict[str, Any] = {}
    if model is not None:
        schema = model.model_json_schema()
        content[JSON] = {"schema": whole(schema, schema.pop("$defs", {}))}
    if form:
        content[FORM] = {
            "schema": {
                "type": "object",
                "description": "One part per field: an image as a file, a text as plain text, values as a JSON list.",
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
    """A schema with its references inlined, because `openapi_extra` cannot add definitions.

    >>> whole({"items": {"$ref": "#/$defs/One"}}, {"One": {"type": "string"}})
    {'items': {'type': 'string'}}
    """
    if isinstance(schema, list):
        return [whole(item, parts) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return whole(parts[schema["$ref"].rpartition("/")[2]], parts)
    return {name: whole(value, parts) for name, value in schema.items()}
