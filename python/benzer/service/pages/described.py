"""The operations in the OpenAPI description, in the form that the API page shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from benzer.views.rerun import JSON_HEADER

METHODS = ("get", "post", "put", "delete")
FILE = "application/octet-stream"
DEEPEST = 6
Api = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a request: its place, type and description."""

    name: str
    place: str
    type: str
    required: bool
    about: str
    sample: Any = None


@dataclass(frozen=True)
class Operation:
    """A route, with an example request and an example response."""

    method: str
    path: str
    tag: str
    about: str
    parameters: tuple[Parameter, ...]
    media: tuple[str, ...]
    body: Any
    status: str
    answer: Any
    answer_media: tuple[str, ...]
    changes: bool

    @property
    def anchor(self) -> str:
        """The anchor of the route in the page.

        >>> Operation("get", "/v1/indexes/{index}", "", "", (), (), None, "200", None, (), False).anchor
        'get-v1-indexes-index'
        """
        return f"{self.method}{re.sub(r'[^A-Za-z0-9]+', '-', self.path)}".strip("-")

    def curl(self, origin: str) -> str:
        """An example request as a curl command."""
        samples = {parameter.name: parameter.sample for parameter in self.parameters}
        path = re.sub("{([^}]+)}", lambda name: quote(str(samples.get(name[1]) or 1), safe=""), self.path)
        query = {
            parameter.name: parameter.sample
            for parameter in self.parameters
            if parameter.place == "query" and parameter.required
        }
        path += f"?{urlencode(query)}" if query else ""
        words = ["curl"] if self.method == "get" else ["curl -X", self.method.upper()]
        url = f"{origin}{path}"
        lines = [" ".join([*words, f"'{url}'" if "&" in url or "?" in url else url])]
        if self.body is not None:
            text = json.dumps(self.body, ensure_ascii=False).replace("'", "'\\''")
            lines += [f"  {JSON_HEADER}", f"  -d '{text}'"]
        elif self.media == (FILE,):
            lines += [f"  -H 'Content-Type: {FILE}'", "  --data-binary 'one two three'"]
        return " \\\n".join(lines)


def operations(api: Api) -> Iterator[Operation]:
    """All routes in the order of the description."""
    for path, methods in api["paths"].items():
        for method in METHODS:
            if method in methods:
                yield operation(api, path, method, methods[method])


def operation(api: Api, path: str, method: str, description: Api) -> Operation:
    """One route."""
    contents = description.get("requestBody", {}).get("content", {})
    schema = contents.get("application/json", {}).get("schema")
    sample = contents.get("application/json", {}).get("example")
    status, answer = next(
        (code, response) for code, response in description["responses"].items() if code.startswith("2")
    )
    answered = answer.get("content", {})
    given = answered.get("application/json", {}).get("schema")
    return Operation(
        method, path, description.get("tags", ["other"])[0],
        description.get("description") or description.get("summary", ""),
        (*parameters_of(api, description), *in_body(api, schema)), tuple(contents),
        sample if sample is not None or schema is None else example(api, schema, least=True),
        status, None if given is None else example(api, given), tuple(answered),
        method != "get" and description.get("x-benzer-scope") != "read",
    )  # fmt: skip


def parameters_of(api: Api, description: Api) -> Iterator[Parameter]:
    """The parameters of the path and of the query."""
    for item in description.get("parameters", []):
        schema = item.get("schema", {})
        about = item.get("description", schema.get("description", ""))
        needed = item.get("required", False)
        sample = example(api, schema)
        yield Parameter(
            item["name"], item["in"], type_of(api, schema), needed, about + default(schema), sample
        )


def in_body(api: Api, schema: Api | None) -> Iterator[Parameter]:
    """The keys of a JSON body."""
    body = resolved(api, schema or {})
    for name, item in body.get("properties", {}).items():
        about = item.get("description", "") or resolved(api, item).get("description", "")
        yield Parameter(
            name, "body", type_of(api, item), name in body.get("required", ()), about + default(item)
        )


def default(schema: Api) -> str:
    """A sentence with the default of a parameter; empty without one."""
    value = schema.get("default")
    return "" if value is None or value == "" else f" Default: `{json.dumps(value)}`."


def resolved(api: Api, schema: Api) -> Api:
    """A schema, or the schema that its `$ref` points to."""
    if "$ref" not in schema:
        return schema
    definition: Api = api["components"]["schemas"].get(schema["$ref"].rpartition("/")[2], {})
    return definition


def type_of(api: Api, schema: Api) -> str:
    """A short name of a type.

    >>> type_of({}, {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]})
    'list of string'
    """
    schema = resolved(api, schema)
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    if several := schema.get("anyOf") or schema.get("oneOf"):
        named = [type_of(api, item) for item in several if item.get("type") != "null"]
        return " or ".join(dict.fromkeys(named)) or "null"
    if schema.get("type") == "array":
        return f"list of {type_of(api, schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def example(api: Api, schema: Api, *, least: bool = False, depth: int = 0) -> Any:
    """An example value of a schema.

    Args:
        least: Include only the required keys of an object, or else the first key with an example.

    >>> example({}, {"type": "object", "properties": {"id": {"examples": [7]}, "text": {"type": "string"}}})
    {'id': 7, 'text': 'string'}
    """
    schema = resolved(api, schema)
    if "example" in schema or schema.get("examples"):
        return schema["example"] if "example" in schema else schema["examples"][0]
    if "const" in schema or "enum" in schema:
        return schema.get("const", next(iter(schema.get("enum", [None]))))
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return example(api, several[0], least=least, depth=depth)
    if "properties" in schema and depth < DEEPEST:
        parts = schema["properties"]
        wanted = chosen(schema, parts) if least else list(parts)
        return {name: example(api, parts[name], least=least, depth=depth + 1) for name in wanted}
    return simple(api, schema, least, depth)


def chosen(schema: Api, parts: Api) -> list[str]:
    """The keys of an object that an example request includes."""
    required = [name for name in parts if name in schema.get("required", ())]
    return required or [name for name, part in parts.items() if part.get("examples")][:1]


def simple(api: Api, schema: Api, least: bool, depth: int) -> Any:
    """A value of a type without an example."""
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items")
        return (
            [] if items is None or depth >= DEEPEST else [example(api, items, least=least, depth=depth + 1)]
        )
    if (
        kind == "object"
        and isinstance(inner := schema.get("additionalProperties"), Mapping)
        and depth < DEEPEST
    ):
        return {"text": example(api, inner, least=least, depth=depth + 1)}
    if "default" in schema:
        return schema["default"]
    values: dict[str, Any] = {"string": "string", "integer": 1, "number": 0.8, "boolean": True, "object": {}}
    return values.get(str(kind))
