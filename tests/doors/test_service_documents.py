"""Documents are taken as JSON, as lines that are streamed, and as forms; and they are listed page by page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from benzer.fields import Schema, Text, ValueSet
from benzer.index import Index, IndexSettings
from tests.doors.service import serving

LINES = {"Content-Type": "application/x-ndjson"}
SETTINGS = IndexSettings(Schema(text=Text(), tags=ValueSet()), threshold=0.5)
DOCS = "/v1/indexes/docs/documents"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service of one index; each test leaves it empty."""
    path = tmp_path_factory.mktemp("documents") / "docs.benzer"
    Index.open(path, SETTINGS).close()
    with serving(path, "--max-body", "1") as (client, _):
        yield client


@pytest.fixture(autouse=True)
def empty(client: httpx.Client) -> Iterator[None]:
    yield
    while held := client.get(DOCS, params={"limit": 1000}).json()["documents"]:
        for one in held:
            assert client.delete(f"{DOCS}/{quote(str(one['id']), safe='')}").status_code == 204


def ids(client: httpx.Client) -> list[str | int]:
    return [one["id"] for one in client.get(DOCS, params={"limit": 1000}).json()["documents"]]


def line(id: str | int, **fields: Any) -> bytes:
    return json.dumps({"id": id, "fields": fields or {"text": f"text {id}"}}).encode() + b"\n"


def upload(client: httpx.Client, body: Any, **params: str) -> httpx.Response:
    return client.post(DOCS, content=body, headers=LINES, params=params)


# Lines


def test_lines_are_taken_nested_and_flat_and_blank_ones_are_no_rows(client: httpx.Client) -> None:
    body = (
        b"\xef\xbb\xbf"
        + line("a", text="one")
        + b"\r\n \t\n"
        + b'{"id": 7, "text": "two", "tags": ["x", 1]}\r\n'
    )
    body += b'{"id": "7", "tags": null, "text": "no newline at the end"}'
    answer = upload(client, body)
    assert answer.json() == {"read": 3, "new": 3, "documents": 3, "malformed": [], "malformed_count": 0}
    assert ids(client) == ["a", 7, "7"]
    assert client.get(f"{DOCS}/a").json() == {"id": "a", "fields": {"text": "one", "tags": None}}


def test_an_upload_may_be_cut_anywhere_into_chunks(client: httpx.Client) -> None:
    body = line("naïve 🦊", text="東京 ünd") + b"\r\n" + line(2) + b"\n" + line(3)
    for at in range(1, len(body)):
        answer = upload(client, iter([body[:at], body[at:]])).json()
        assert (answer["read"], answer["documents"]) == (3, 3)
    assert ids(client) == ["naïve 🦊", 2, 3]
