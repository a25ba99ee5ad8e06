"""/openapi.json tells the whole truth: every request that it shows is accepted, and every answer is as it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import jsonschema
import pytest

from benzer import Document, Index, IndexSettings
from tests.doors.service import serving
from tests.doors.shell import FOX, FOX_AGAIN, OTHER

JSON, NDJSON = "application/json", "application/x-ndjson"
METHODS = ("get", "put", "post", "delete")
FILES = {"multipart/form-data"}
"""Bodies of files are tested where these are."""

UNEXAMPLED = {
    ("get", "/v1/indexes/{index}/thumbnail"),  # of an index with pictures
    ("post", "/v1/indexes/{index}/tune"),  # its example is of another index
}


class Described(NamedTuple):
    """A running service, its description, and the id of a job that is done."""

    client: httpx.Client
    document: dict[str, Any]
    job: str


class Operation(NamedTuple):
    """One operation of the description."""

    method: str
    path: str
    told: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Described]:
    folder = tmp_path_factory.mktemp("openapi")
    (folder / "home").mkdir()
    with Index.open(folder / "home" / "demo.benzer", IndexSettings(threshold=0.5, passages=True)) as index:
        index.add([
            Document("fox", {"text": FOX}), Document("fox/again", {"text": FOX_AGAIN}), Document(4711, {"text": OTHER}),
            Document("debian/nbd-client", {"text": FOX}), Document("a", {"text": OTHER}), Document("b", {"text": FOX}),
        ])  # fmt: skip
    with serving("--home", folder / "home") as (client, _):
        job = client.post("/v1/duplicates", json={"index": "demo"}).json()["id"]
        while client.get(f"/v1/duplicates/{job}").json()["state"] != "done":
            pass
        yield Described(client, client.get("/openapi.json").json(), job)


def operations(document: dict[str, Any]) -> list[Operation]:
    return [
        Operation(method, path, told)
        for path, methods in document["paths"].items()
        for method, told in methods.items()
        if method in METHODS
    ]


def resolved(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def example(schema: dict[str, Any], document: dict[str, Any]) -> Any:
    """The example that a description gives of a value; what it must hold is made of the examples of its parts."""
    schema = resolved(schema, document)
    for key in ("examples", "example", "const", "default", "enum"):
        if key in schema:
            return schema[key][0] if key in ("examples", "enum") else schema[key]
    if "anyOf" in schema:
        return example(schema["anyOf"][0], document)
    if schema.get("type") == "array":
        return [example(schema["items"], document)]
    assert schema.get("type") == "object", schema
    return {name: example(schema["properties"][name], document) for name in schema.get("required", [])}


def leaves(
    name: str, schema: dict[str, Any], document: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parts of a schema that hold no others, each with its place."""
    for one, part in schema.get("properties", {}).items():
        kinds = [kind for kind in part.get("anyOf", [part]) if kind.get("type") != "null"]
        kinds = [kind.get("items", kind) if kind.get("type") == "array" else kind for kind in kinds]
        if not any("$ref" in kind or "$ref" in str(kind.get("additionalProperties")) for kind in kinds):
            yield f"{name}.{one}", part


def test_every_operation_says_what_it_does_and_how_it_fails(described: Described) -> None:
    for operation in operations(described.document):
        told = operation.told
        assert told["summary"], operation
        assert told["description"].endswith("."), operation
        assert told["tags"], operation
        for status in ("4XX", "5XX"):
            schema = told["responses"][status]["content"][JSON]["schema"]
            assert schema == {"$ref": "#/components/schemas/ErrorAnswer"}, operation


def test_every_parameter_has_an_example_or_a_default(described: Described) -> None:
    bare = [
        f"{operation}: {parameter['name']}"
        for operation in operations(described.document)
        for parameter in operation.told.get("parameters", [])
        if not {"example", "examples"} & {*parameter, *parameter["schema"]}
        and "default" not in parameter["schema"]
        and "enum" not in parameter["schema"]
    ]
    assert bare == []


def test_every_part_of_a_model_has_an_example_or_needs_none(described: Described) -> None:
    document = described.document
    bare = [
        place
        for name, schema in document["components"]["schemas"].items()
        if "examples" not in schema
        for place, part in leaves(name, schema, document)
        if not {"examples", "example", "default", "enum", "const"} & set(part)
        and part.get("type") != "boolean"
    ]
    assert bare == []


def test_every_example_is_one_of_its_schema(described: Described) -> None:
    document = described.document
    resolver = {"components": document["components"]}
    for name, schema in document["components"]["schemas"].items():
        for place, part in {"": schema, **schema.get("properties", {})}.items():
            check = jsonschema.Draft202012Validator({**resolver, **part})
            wrong = [shown for shown in part.get("examples", []) if not check.is_valid(shown)]
            assert wrong == [], f"{name}.{place}"


def requested(operation: Operation, described: Described) -> Iterator[dict[str, Any]]:
    """The requests that the description of an operation shows, one for each kind of body."""
    values = {"index": "demo", "job": described.job}
    url, query = operation.path, dict[str, Any]()
    for parameter in operation.told.get("parameters", []):
        name, schema = parameter["name"], parameter["schema"]
        if parameter["in"] == "path":
            shown = values.get(name, parameter.get("example", example(schema, described.document)))
            url = url.replace(
                f"{{{name}}}", httpx.URL("/x", params={"x": shown}).query.decode()[2:].replace("+", "%20")
            )
        elif parameter["required"]:
            query[name] = parameter.get("example") or example(schema, described.document)
    request = {"method": operation.method, "url": url, "params": query}
    bodies = operation.told.get("requestBody", {}).get("content", {None: {}})
    for media, body in bodies.items():
        if media is None:
            yield request
        elif media not in FILES:
            shown = body["example"] if "example" in body else example(body["schema"], described.document)
            content = shown if media == NDJSON else json.dumps(shown)
            yield {**request, "content": content.encode(), "headers": {"Content-Type": media}}


def removes(operation: Operation) -> tuple[bool, int]:
    """What takes away what others ask for goes last, the whole behind its parts."""
    takes = operation.method == "delete" or operation.path.endswith(("/evict", "/remove"))
    return takes, -operation.path.count("/")


def test_every_request_that_is_shown_is_accepted_and_answered_as_described(described: Described) -> None:
    document, asked = described.document, 0
    for operation in sorted(operations(document), key=removes):
        if operation[:2] in UNEXAMPLED:
            continue
        for request in requested(operation, described):
            response = described.client.request(**request)
            place = f"{operation} {request.get('content')!r}: {response.text[:500]}"
            assert response.status_code < 300, place
            answers = operation.told["responses"]
            assert str(response.status_code) in answers, place
            kind = response.headers.get("content-type", "").partition(";")[0]
            schema = answers[str(response.status_code)].get("content", {}).get(kind, {}).get("schema")
            if kind == JSON:
                assert schema is not None, place
                jsonschema.validate(
                    response.json(),
                    {"components": document["components"], **schema},
                    cls=jsonschema.Draft202012Validator,
                )
            asked += 1
    assert asked >= len(operations(document)) - len(UNEXAMPLED)


@pytest.mark.parametrize("method", ["TRACE", "PATCH", "OPTIONS"])
def test_a_method_that_a_path_has_not_is_refused_with_those_it_has(described: Described, method: str) -> None:
    for path, methods in described.document["paths"].items():
        url = path.replace("{index}", "demo").replace("{job}", described.job).replace("{table}", "pairs")
        response = described.client.request(
            method, url.replace("{id}", "fox").replace("{number}", "0"), json={}
        )
        assert response.status_code == 405, (path, response.text)
        allowed = set(response.headers["allow"].lower().split(", "))
        assert {one for one in methods if one in METHODS} <= allowed, path


def test_options_of_a_job_that_nobody_would_read_are_refused(described: Described) -> None:
    response = described.client.post("/v1/duplicates?threshold=0.9", json={"index": "demo"})
    assert (response.status_code, response.json()["error"]["field"]) == (422, "query.threshold")
