"""The page on the service names every route with its scope, and its examples are answered as they say."""

from __future__ import annotations

import json
import re
from pathlib import Path

from benzer.service import create_app
from benzer.service.guards.access import UNCOUNTED
from benzer.service.indexes.catalog import Catalog
from tests.doors.service import ROOT, curl, serving
from tests.doors.shell import run

PAGE = (ROOT / "docs" / "reference" / "http.md").read_text(encoding="utf-8")


def scope_of(method: str, path: str, told: str | None) -> str:
    return "–" if path in UNCOUNTED else "read" if method == "GET" else told or "write"


def test_every_route_stands_in_the_page_with_its_scope() -> None:
    with Catalog() as catalog:
        paths = create_app(catalog).openapi()["paths"]
    served = {
        (method.upper(), path, scope_of(method.upper(), path, one.get("x-benzer-scope")))
        for path, methods in paths.items()
        for method, one in methods.items()
    }
    rows = re.findall(r"^\| ([A-Z]+) \| `([^`]+)` \| (\S+) \|", PAGE, re.MULTILINE)
    assert set(rows) == served
    assert len(rows) == len(set(rows))


def test_the_examples_are_answered_as_the_page_says(tmp_path: Path) -> None:
    path = tmp_path / "documents.benzer"
    run("index", str(path), str(ROOT / "examples" / "data" / "documents.jsonl"))
    examples = re.findall(r"^```sh\n(curl .*?)^```\n\n```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(examples) == 4
    with serving(path) as (client, _):
        for request, expected in examples:
            assert curl(client, request).json() == json.loads(expected)
