"""What is sent to harm a service is refused as all else is, at once, and the next request is served."""

from __future__ import annotations

import asyncio
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import PIL.Image
import pydantic
import pytest

from benzer.errors import InputError
from benzer.fields import Schema, Text
from benzer.fields.image import Image
from benzer.index import Index, IndexSettings
from benzer.service import Limits, ServiceOptions, create_app
from benzer.service.indexes.catalog import Catalog
from benzer.service.pictures.copies import thumbnail_of
from benzer.service.resources.documents import Batch
from benzer.service.resources.seen import Touch
from benzer.service.resources.similar import Questions
from benzer.service.wire.documents import MOST_KEYS
from tests.doors.service import JSON, refused, serving

NDJSON = {"Content-Type": "application/x-ndjson"}
SIMILAR = "/v1/indexes/docs/similar"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("hostile")
    settings = IndexSettings(Schema(text=Text(), photo=Image()), threshold=0.5)
    with Index.open(folder / "docs.benzer", settings) as index:
        index.add({"a": {"text": "one two three four"}})
    with serving(folder / "docs.benzer", "--home", folder / "home", "--max-batch", "10") as (client, _):
        yield client


MANY_KEYS = {f"key {number}": 1 for number in range(MOST_KEYS + 1)}


@pytest.mark.parametrize("model, body", [
    (Batch, {"documents": [1] * 1000}), (Touch, {"ids": [None] * 1000}), (Questions, {"questions": [{}] * 1000}),
    (Questions, MANY_KEYS),
])  # fmt: skip
def test_of_many_faults_the_first_is_noted(model: type[pydantic.BaseModel], body: object) -> None:
    with pytest.raises(pydantic.ValidationError) as raised:
        model.model_validate(body)
    assert raised.value.error_count() <= 2


@pytest.mark.parametrize("path, body, status, field", [
    (SIMILAR, MANY_KEYS, 422, "body"),
    ("/v1/compare", {"a": {"text": "a"}, "b": {"text": "b"}, "fields": MANY_KEYS}, 422, "body.fields"),
    ("/v1/indexes", {"name": "new", "fields": MANY_KEYS}, 422, "body.fields"),
    ("/v1/indexes", {"name": "new", "threshold": 5e-324}, 422, None),
    ("/v1/indexes/docs/documents", {"documents": [1] * 11}, 413, "body.documents"),
    (f"{SIMILAR}/batch", {"questions": [1] * 11}, 413, "body.questions"),
    ("/v1/duplicates", {"documents": [1] * 11}, 413, "body.documents"),
    ("/v1/duplicates", {"index": "docs", "threshold": 5e-324}, 422, None),
    ("/v1/indexes/docs/tune", {"threshold": 5e-324}, 422, None),
])  # fmt: skip
def test_a_body_that_would_take_long_is_refused(
    client: httpx.Client, path: str, body: object, status: int, field: str | None
) -> None:
    response = client.post(path, content=json.dumps(body), headers=JSON)
    refused(response, status)
    assert response.json()["error"]["field"] == field


def test_a_query_may_not_be_nested_without_end(client: httpx.Client) -> None:
    response = client.post(f"/v1/duplicates?fields={'[' * 50_000}", content=b"{}\n", headers=NDJSON)
    assert "nested too deeply" in refused(response, 422)


@pytest.mark.parametrize("charset", ["punycode", "idna", "undefined", "hex", "utf-16"])
def test_a_form_is_utf_8_whatever_its_head_says(client: httpx.Client, charset: str) -> None:
    part = b'--b\r\nContent-Disposition: form-data; name="text"\r\n\r\nxn--aaa-z9z9\r\n--b--\r\n'
    kind = f"multipart/form-data; boundary=b; charset={charset}"
    assert "UTF-8" in refused(client.post(SIMILAR, content=part, headers={"Content-Type": kind}), 415)
    kind = "multipart/form-data; boundary=b; charset=UTF-8"
    assert client.post(SIMILAR, content=part, headers={"Content-Type": kind}).status_code == 200


def test_a_picture_that_is_a_program_is_never_run(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = io.BytesIO()
    PIL.Image.new("L", (32, 32)).save(data, "EPS")
    message = refused(client.post(SIMILAR, files={"photo": ("a.png", data.getvalue())}), 422)
    assert "a format that is not supported (EPS)" in message

    def run(*arguments: object, **options: object) -> None:
        raise AssertionError("the program was run")

    monkeypatch.setattr("PIL.EpsImagePlugin.Ghostscript", run)
    assert thumbnail_of(data.getvalue()) is None
    with pytest.raises(InputError, match="a format that is not supported"):
        Image().encode(data.getvalue())


def test_nothing_is_counted_of_an_index_that_was_deleted(client: httpx.Client) -> None:
    client.post("/v1/indexes", json={"name": "brief"}).raise_for_status()
    client.put("/v1/indexes/brief/documents/a", json={"fields": {"text": "one two three"}}).raise_for_status()
    client.post("/v1/indexes/brief/similar", json={"text": "one two three"}).raise_for_status()
    assert 'index="brief"' in client.get("/metrics").text
    client.delete("/v1/indexes/brief").raise_for_status()
    assert 'index="brief"' not in client.get("/metrics").text


def test_a_batch_that_is_given_up_occupies_no_thread_for_long(tmp_path: Path) -> None:
    def reads(index: Index) -> int:
        return len(index)

    async def run() -> int:
        asked = 0
        with Catalog(tmp_path / "home") as catalog:
            served = await catalog.create("docs", IndexSettings())
            find = served._reader.find_similar_batch

            def slow(*arguments: Any, **options: Any) -> Any:
                nonlocal asked
                asked += 1
                time.sleep(0.2)
                return find(*arguments, **options)

            served._reader.find_similar_batch = slow  # type: ignore[method-assign]
            app = create_app(catalog, ServiceOptions(Limits(max_seconds=0.3)))
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                body = {"questions": [{"text": "one two three"}] * 5000}
                refused(await client.post(f"{SIMILAR}/batch", json=body), 503)
                await served.read(reads)
        return asked

    assert asyncio.run(run()) < 10  # of 50 parts
