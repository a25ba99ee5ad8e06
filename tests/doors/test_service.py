"""The service does by HTTP what an index does, durably, and refuses in one shape what it cannot do."""

from __future__ import annotations

import asyncio
import io
import json
import re
import signal
import socket
import sys
import time
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np
import PIL.Image
import pytest

from benzer.cli.serve import command
from benzer.document import Document
from benzer.errors import InputError
from benzer.fields import Schema, Text, ValueSet
from benzer.fields.image import Image
from benzer.index import Index, IndexSettings
from benzer.service import Limits, create_app
from benzer.service.indexes.catalog import Catalog
from benzer.service.resources.documents import Added, Put
from benzer.service.resources.health import Health
from benzer.service.resources.indexes import Information
from benzer.service.resources.similar import Matches
from benzer.service.wire.documents import IdentifiedDocument, file_of
from tests.doors.service import JSON, ROOT, curl, refused, serving
from tests.doors.shell import FOX, FOX_AGAIN, OTHER, one_line, run

PAGE = ROOT / "docs" / "how-to" / "serve-an-index.md"
SETTINGS = IndexSettings(Schema(text=Text(), tags=ValueSet()), threshold=0.5)
DOCS, FRESH = "/v1/indexes/docs", "/v1/indexes/fresh"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of a text and a value set, with three documents that every test leaves as they are."""
    path = tmp_path_factory.mktemp("service") / "docs.benzer"
    with Index.open(path, SETTINGS) as index:
        index.add([
            Document("fox", {"text": FOX, "tags": ["animal", 1]}),
            Document("fox/again", {"text": FOX_AGAIN, "tags": ["animal", 2]}),
            Document(4711, {"text": OTHER}),
        ])  # fmt: skip
    return path


@pytest.fixture(scope="module")
def client(path: Path) -> Iterator[httpx.Client]:
    with serving(path, "--max-body", "1", forked=False) as (client, _):
        yield client


# What it does


def test_a_document_is_put_looked_up_replaced_and_removed(client: httpx.Client) -> None:
    fields = {"text": "naïve Ærø 東京 🦊", "tags": ["a", 7]}
    put = client.put(f"{DOCS}/documents/new", json={"fields": fields})
    assert (put.status_code, put.json()) == (201, {"id": "new", "replaced": False})
    Put.model_validate(put.json())
    got = client.get(f"{DOCS}/documents/new")
    assert (got.status_code, got.json()) == (200, {"id": "new", "fields": fields})
    IdentifiedDocument.model_validate(got.json())
    again = client.put(f"{DOCS}/documents/new", json={"fields": {"text": "another"}})
    assert (again.status_code, again.json()) == (200, {"id": "new", "replaced": True})
    assert client.get(f"{DOCS}/documents/new").json()["fields"] == {"text": "another", "tags": None}
    assert (
        client.delete(f"{DOCS}/documents/new").status_code,
        client.delete(f"{DOCS}/documents/new").status_code,
    ) == (
        204,
        404,
    )
    assert "'new'" in refused(client.get(f"{DOCS}/documents/new"), 404)


def test_a_batch_adds_new_documents_and_replaces_old_ones(client: httpx.Client) -> None:
    held = client.get(DOCS).json()["documents"]
    batch = {"documents": [{"id": id, "fields": {"text": f"text {id}"}} for id in ("a", "b", "a", 12)]}
    first = client.post(f"{DOCS}/documents", json=batch)
    assert first.json() == {"read": 4, "new": 3, "documents": held + 3}
    Added.model_validate(first.json())
    assert client.post(f"{DOCS}/documents", json=batch).json() == {"read": 4, "new": 0, "documents": held + 3}
    assert [client.delete(f"{DOCS}/documents/{id}").status_code for id in ("a", "b", "12")] == [204] * 3


def test_similar_answers_as_the_index_does(client: httpx.Client, path: Path) -> None:
    fields = {"text": FOX, "tags": ["animal", 3]}
    with Index.open(path, mode="read") as index:
        by_fields = index.find_similar(fields)
        by_id = index.find_similar(index.get("fox"), threshold=0.1)
    assert [match.id for match in by_fields] == ["fox", "fox/again"]
    for question, matches in (({"fields": fields}, by_fields), ({"id": "fox", "threshold": 0.1}, by_id)):
        answer = client.post(f"{DOCS}/similar", json=question).json()
        assert answer == {"matches": [match._asdict() for match in matches]}
        Matches.model_validate(answer)
    assert len(client.post(f"{DOCS}/similar", json={"fields": fields, "limit": 1}).json()["matches"]) == 1
    assert client.post(f"{DOCS}/similar", json={"fields": {"text": ""}}).json() == {"matches": []}


def test_the_number_of_an_id_is_found_by_its_path_and_the_text_goes_first(client: httpx.Client) -> None:
    assert client.get(f"{DOCS}/documents/4711").json()["id"] == 4711
    assert client.get(f"{DOCS}/documents/04711").status_code == 404
    batch = {"documents": [{"id": id, "fields": {"text": "seven"}} for id in ("7", 7)]}
    client.post(f"{DOCS}/documents", json=batch)
    for id in ("7", 7):
        assert client.get(f"{DOCS}/documents/7").json()["id"] == id
        put = client.put(f"{DOCS}/documents/7", json={"fields": {"text": "eight"}})
        assert (put.status_code, put.json()) == (200, {"id": id, "replaced": True})
        assert client.delete(f"{DOCS}/documents/7").status_code == 204
    assert client.delete(f"{DOCS}/documents/7").status_code == 404


@pytest.mark.parametrize("id", ["fox/again", "a b", "50%", "?x=1#y", "é東🦊", "..%2f", "-7", "9" * 30, "'\""])
def test_any_id_can_be_asked_for_by_a_path(client: httpx.Client, id: str) -> None:
    url = f"{DOCS}/documents/{quote(id, safe='')}"
    contents = {"fields": {"text": FOX_AGAIN, "tags": ["animal", 2]}}
    held = client.get(url).status_code == 200
    assert client.put(url, json=contents).json() == {"id": id, "replaced": held}
    assert client.get(url).json() == {"id": id, **contents}
    assert held == (id == "fox/again")
    assert held or client.delete(url).status_code == 204


def test_index_and_health_describe_what_is_served(client: httpx.Client, path: Path) -> None:
    told = client.get(DOCS).json()
    assert Information.model_validate(told, extra="forbid").fingerprint == SETTINGS.fingerprint()
    assert str(path.parent) not in json.dumps(told)
    assert Health.model_validate(client.get("/health").json()).status == "ok"


def test_no_answer_is_held_back_until_its_head_is_acknowledged(client: httpx.Client) -> None:
    def seconds() -> float:
        begin = time.perf_counter()
        client.get("/health")
        return time.perf_counter() - begin

    assert any(seconds() < 0.035 for _ in range(500))  # a delayed acknowledgement takes 40 ms or more


def test_the_description_has_every_path_and_the_shape_of_errors(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()
    assert {"/v1/indexes", "/v1/indexes/{index}", "/health"} <= set(described["paths"])
    assert {f"/v1/indexes/{{index}}/{one}" for one in ("documents", "documents/{id}", "similar")} <= set(
        described["paths"]
    )
    for methods in described["paths"].values():
        for one in methods.values():
            (wrong,) = one["responses"]["4XX"]["content"].values()
            assert wrong["schema"]["$ref"] == "#/components/schemas/ErrorAnswer"


# What it refuses

WRONG: list[tuple[str, str, Any, int, str]] = [
    ("POST", f"{DOCS}/similar", {}, 422, 'one of "id", "text" and "fields"'),
    ("POST", f"{DOCS}/similar", {"id": "fox", "fields": {"text": ""}}, 422, 'one of "id", "text" and "fields"'),
    ("POST", f"{DOCS}/similar", {"id": "nobody"}, 404, "'nobody'"),
    ("POST", f"{DOCS}/similar", {"id": 0}, 404, "the id 0"),
    ("POST", f"{DOCS}/similar", {"id": ""}, 404, "the id ''"),
    ("POST", f"{DOCS}/similar", {"id": True}, 422, "must be a str or an int, got bool"),
    ("POST", f"{DOCS}/similar", {"id": 1.5}, 422, "must be a str or an int, got float"),
    ("POST", f"{DOCS}/similar", {"id": "\ud800"}, 404, "'\\ud800'"),
    ("POST", f"{DOCS}/similar", {"id": "fox", "limit": 0}, 422, "limit"),
    ("POST", f"{DOCS}/similar", {"id": "fox", "limit": True}, 422, "limit"),
    ("POST", f"{DOCS}/similar", {"id": "fox", "limit": 10**9}, 422, "limit"),
    ("POST", f"{DOCS}/similar", {"id": "fox", "threshold": 1.1}, 422, "threshold"),
    ("POST", f"{DOCS}/similar", {"id": "fox", "threshold": float("nan")}, 422, "threshold"),
    ("POST", f"{DOCS}/similar", {"id": "fox", "best": 3}, 422, "best"),
    ("POST", f"{DOCS}/similar", {"fields": "a text"}, 422, "fields"),
    ("POST", f"{DOCS}/similar", {"fields": {}}, 422, "the query has no field: the fields are text, tags"),
    ("POST", f"{DOCS}/similar", {"fields": {"body": "a"}}, 422, "'body'"),
    ("POST", f"{DOCS}/similar", {"fields": {"text": 5}}, 422, "'text' must be a text, got a number"),
    ("POST", f"{DOCS}/similar", {"fields": {"tags": "red"}}, 422, "'tags' must be a list"),
    ("POST", f"{DOCS}/similar", {"fields": {"tags": {"red": 1}}}, 422, "'tags' must be a list"),
    ("PUT", f"{DOCS}/documents/x", {"fields": {"tags": [1.5]}}, 422, "got float"),
    ("PUT", f"{DOCS}/documents/x", {"id": "x", "fields": {"text": "a"}}, 422, "id"),
    ("PUT", f"{DOCS}/documents/", {"fields": {"text": "a"}}, 422, "path.id"),
    ("PUT", f"{DOCS}/documents/%ff", {"fields": {"text": "a"}}, 400, "UTF-8"),
    ("POST", f"{DOCS}/documents", {"documents": [{"id": 2**64, "fields": {"text": "a"}}]}, 422, "beyond 64 bits"),
    ("POST", f"{DOCS}/documents", {"documents": [{"id": "\ud800", "fields": {"text": "a"}}]}, 422, "surrogate"),
    ("POST", f"{DOCS}/documents", [], 422, "body"),
    ("PATCH", f"{DOCS}/documents/fox", {}, 405, "DELETE, GET, PUT, got PATCH"),
    ("PUT", "/health", {}, 405, "supports GET"),
    ("POST", "/nothing", {}, 404, "path /nothing does not exist"),
]  # fmt: skip


@pytest.mark.parametrize("method, url, body, status, reason", WRONG)
def test_a_wrong_request_is_refused_with_its_reason(
    client: httpx.Client, method: str, url: str, body: Any, status: int, reason: str
) -> None:
    held = client.get(DOCS).json()["documents"]
    response = client.request(method, url, content=json.dumps(body), headers=JSON)
    assert reason in refused(response, status)
    assert client.get(DOCS).json()["documents"] == held


@pytest.mark.parametrize("body, status, reason", [
    (b"", 422, "Field required"),
    (b'{"id": ', 422, "not valid JSON: Expecting value, at character 7"),
    (b'{"id": "\xff"}', 400, "UTF-8"),
    (b"[" * 100_000, 400, "nesting"),
    (b'{"id": ' + b"9" * 10_000 + b"}", 400, "cannot be read"),
])  # fmt: skip
def test_a_body_that_is_no_json_is_refused(
    client: httpx.Client, body: bytes, status: int, reason: str
) -> None:
    assert reason in refused(client.post(f"{DOCS}/similar", content=body, headers=JSON), status)


def test_a_method_that_a_path_lacks_is_answered_with_all_that_it_has(client: httpx.Client) -> None:
    response = client.request("PATCH", f"{DOCS}/documents/fox", headers=JSON)
    assert response.headers["allow"] == "DELETE, GET, PUT"


@pytest.mark.parametrize("size", [10**6 + 1, 3 * 10**6])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_refused_whatever_its_head_says(
    client: httpx.Client, size: int, chunked: bool
) -> None:
    body = (b" " * 10_000 for _ in range(size // 10_000 + 1)) if chunked else b" " * size
    assert "1,000,000 bytes" in refused(client.post(f"{DOCS}/similar", content=body, headers=JSON), 413)


def test_a_body_of_just_the_limit_is_read(client: httpx.Client) -> None:
    body = json.dumps({"fields": {"text": ""}}).encode()
    response = client.post(f"{DOCS}/similar", content=body.ljust(10**6), headers=JSON)
    assert response.json() == {"matches": []}


def test_a_text_that_is_not_answered_in_full_is_cut(client: httpx.Client) -> None:
    assert len(refused(client.post(f"{DOCS}/similar", json={"id": "x" * 10_000}), 404)) == 1000


@pytest.mark.parametrize("headers, status", [
    ({"Host": "evil.example"}, 403),
    ({"Host": "127.0.0.1.evil.example:8000"}, 403),
    ({"Host": "[::1"}, 403),
    ({"Content-Type": "text/plain"}, 415),
    ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
])  # fmt: skip
def test_what_a_page_of_another_site_can_make_a_browser_send_is_refused(
    client: httpx.Client, headers: dict[str, str], status: int
) -> None:
    body = json.dumps({"documents": [{"id": "evil", "fields": {"text": "a"}}]})
    refused(client.post(f"{DOCS}/documents", content=body, headers={**JSON, **headers}), status)
    assert client.get(f"{DOCS}/documents/evil").status_code == 404


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:8000", "LOCALHOST"])
def test_this_machine_may_be_called_by_any_of_its_names(client: httpx.Client, host: str) -> None:
    assert client.get("/health", headers={"Host": host}).status_code == 200


def test_a_file_comes_in_base64() -> None:
    assert file_of("photo", {"base64": "iVBORw0KGgo="}, Limits()) == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("value", [
    "/etc/hostname", "iVBORw0KGgo=", {"path": "/etc/hostname"}, {"base64": 5}, {"base64": "/etc/host\n"},
    {"base64": "AA==", "path": "x"}, ["AA=="], 7, True, {},
])  # fmt: skip
def test_a_request_cannot_name_a_file_of_the_server(value: Any) -> None:
    with pytest.raises(InputError, match="the field 'photo' must be a file as"):
        file_of("photo", value, Limits())


class Panic(BaseException):
    """As the native core raises them: no Exception."""


@pytest.mark.parametrize("kind", [ZeroDivisionError, OSError, MemoryError, Panic])
def test_what_nobody_foresaw_is_answered_without_details(
    path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]
) -> None:
    def fail(index: Index) -> None:
        raise kind("a secret")

    async def ask(catalog: Catalog) -> httpx.Response:
        transport = httpx.ASGITransport(create_app(catalog), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(DOCS)

    monkeypatch.setattr(Index, "info", fail)
    with Catalog() as catalog:
        catalog.open(path)
        message = refused(asyncio.run(ask(catalog)), 500)
    assert "bug in Benzer" in message
    assert "secret" not in message


# What it promises


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    path = tmp_path / "fresh.benzer"
    Index.open(path, SETTINGS).close()
    return path


def test_what_is_acknowledged_survives_a_kill(fresh: Path) -> None:
    with serving(fresh, end=signal.SIGKILL) as (client, process):
        for number in range(20):
            assert (
                client.put(f"{FRESH}/documents/{number}", json={"fields": {"text": FOX}}).status_code == 201
            )
        assert client.delete(f"{FRESH}/documents/3").status_code == 204
        process.kill()
    with Index.open(fresh) as index:
        assert list(index) == [str(number) for number in range(20) if number != 3]
        index.check()


def test_a_batch_with_a_fault_leaves_nothing_of_itself(fresh: Path) -> None:
    documents: list[dict[str, Any]] = [
        {"id": number, "fields": {"text": f"text {number}"}} for number in range(3000)
    ]  # more than the index takes at once
    with serving(fresh) as (client, _):
        faulty = [*documents, {"id": "last", "fields": {"tags": "red"}}]
        assert "'tags'" in refused(client.post(f"{FRESH}/documents", json={"documents": faulty}), 422)
        assert client.get(FRESH).json()["documents"] == 0
        assert client.post(f"{FRESH}/documents", json={"documents": documents}).json()["new"] == 3000


def test_a_batch_is_all_or_nothing_beside_other_writers(fresh: Path) -> None:
    documents: list[dict[str, Any]] = [{"id": f"batch {n}", "fields": {"text": f"{n}"}} for n in range(5000)]
    faulty = {"documents": [*documents, {"id": "last", "fields": {"tags": [1.5]}}]}
    with serving(fresh) as (client, _), ThreadPoolExecutor(1) as threads:
        posted = threads.submit(client.post, f"{FRESH}/documents", json=faulty)
        count = 0
        while not posted.done() or count < 10:
            assert client.put(f"{FRESH}/documents/{count}", json={"fields": {"text": FOX}}).status_code == 201
            count += 1
        assert "got float" in refused(posted.result(), 422)
        assert client.get(FRESH).json()["documents"] == count


def picture(seed: int) -> dict[str, str]:
    """Coloured patches as a PNG, in base64."""
    patches = np.random.default_rng(seed).integers(0, 255, (12, 12, 3), dtype=np.uint8)
    data = io.BytesIO()
    PIL.Image.fromarray(patches).resize((200, 200)).save(data, "PNG")
    return {"base64": b64encode(data.getvalue()).decode()}


def test_pictures_are_sent_as_files_and_found(tmp_path: Path) -> None:
    path = tmp_path / "photos.benzer"
    Index.open(path, IndexSettings(Schema(photo=Image()), threshold=0.3)).close()
    with serving(path) as (client, _):
        for seed in range(3):
            put = client.put(
                f"/v1/indexes/photos/documents/{seed}", json={"fields": {"photo": picture(seed)}}
            )
            assert put.status_code == 201
        found = client.post("/v1/indexes/photos/similar", json={"fields": {"photo": picture(1)}}).json()[
            "matches"
        ]
        assert found == [{"id": "1", "similarity": 1.0, "fields": {"photo": 1.0}}]
        assert list(client.get("/v1/indexes/photos/documents/1").json()["fields"]["photo"]) == ["description"]
        broken = client.put("/v1/indexes/photos/documents/x", json={"fields": {"photo": {"base64": "AAAA"}}})
        assert "field photo" in refused(broken, 422)
        named = client.put(
            "/v1/indexes/photos/documents/x", json={"fields": {"photo": str(ROOT / "docs" / "x.png")}}
        )
        assert "must be a file as" in refused(named, 422)


def test_writes_take_turns_and_readers_see_each_that_is_acknowledged(fresh: Path) -> None:
    with serving(fresh) as (client, _):

        def work(writer: int) -> None:
            for number in range(10):
                url, text = f"{FRESH}/documents/{writer}-{number}", f"{FOX} number {writer} {number}"
                assert client.put(url, json={"fields": {"text": text}}).status_code == 201
                assert client.get(url).json()["fields"]["text"] == text
                found = client.post(f"{FRESH}/similar", json={"fields": {"text": text}}).json()["matches"]
                assert (found[0]["id"], found[0]["similarity"]) == (f"{writer}-{number}", 1.0)

        with ThreadPoolExecutor(8) as threads:
            assert list(threads.map(work, range(8))) == [None] * 8
        assert client.get(FRESH).json()["documents"] == 80


def test_while_another_process_writes_readers_go_on_and_writers_are_told(fresh: Path) -> None:
    with serving(fresh) as (client, _), Index.open(fresh) as other:
        other.add([Document("theirs", {"text": FOX})])
        response = client.put(f"{FRESH}/documents/ours", json={"fields": {"text": OTHER}})
        assert refused(response, 503)
        assert response.json()["error"]["type"] == "StoreLockedError"
        assert response.headers["retry-after"] == "1"
        assert client.get(FRESH).json()["documents"] == 0
        other.commit()
        assert client.put(f"{FRESH}/documents/ours", json={"fields": {"text": OTHER}}).status_code == 201
        assert client.get(FRESH).json()["documents"] == 2


@pytest.mark.parametrize("end, status", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_when_what_has_begun_is_answered(fresh: Path, end: int, status: int) -> None:
    with Index.open(fresh) as other, ThreadPoolExecutor(1) as threads:
        with serving(fresh, end=0) as (client, process):
            other.add([Document("theirs", {"text": FOX})])
            waiting = threads.submit(client.put, f"{FRESH}/documents/ours", json={"fields": {"text": OTHER}})
            while "benzer_requests_in_flight 1.0" not in client.get("/metrics").text:
                assert not waiting.done()  # it waits for the other writer
            process.send_signal(end)
            other.rollback()
            assert waiting.result(120).status_code == 201
        assert process.wait(120) == status
        assert list(other) == ["ours"]


# How it starts


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org", ""])
def test_an_address_that_others_reach_is_refused(fresh: Path, host: str) -> None:
    assert "other machines" in one_line(run("serve", str(fresh), "--host", host, status=2))


def test_what_cannot_be_served_is_said_in_one_line(fresh: Path, tmp_path: Path) -> None:
    assert "there is no index" in one_line(run("serve", str(tmp_path / "no.benzer"), status=2))
    assert not (tmp_path / "no.benzer").exists()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = one_line(run("serve", str(fresh), "--port", port, status=2))
    assert f"cannot listen on 127.0.0.1 port {port} (Address already in use): choose another" in told


@pytest.mark.parametrize(
    "arguments, cure",
    [
        (["none.benzer"], "create one with benzer index"),
        (["folder"], "serve the indexes in it with --home folder"),
        (["--home", "file.txt"], "give --home a folder"),
        (["--keys", "none.keys"], "create it with benzer keys add none.keys"),
    ],
)
def test_what_is_named_wrongly_is_told_with_its_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], cure: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.txt").write_text("a text")
    assert cure in run("serve", *arguments, status=2).stderr


def test_without_the_extra_the_cure_is_named(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "pip install 'benzer[service]'" in one_line(run("serve", str(fresh), status=2))
    assert command.name == "serve"


def test_the_page_on_serving_shows_what_is_answered(tmp_path: Path) -> None:
    path = tmp_path / "documents.benzer"
    run("index", str(path), str(ROOT / "examples" / "data" / "documents.jsonl"))
    examples = re.findall(r"^```sh\n(curl .*?)^```(?:\n\n```json\n(.*?)^```)?", PAGE.read_text(), re.M | re.S)
    assert len(examples) == 16
    with serving(path, "--home", tmp_path / "home") as (client, _):
        for request, expected in examples:
            response = curl(client, request)
            told = json.loads(expected) if expected else None
            assert shortened(response.json() if response.content else None, told) == told


def shortened(answer: Any, told: Any) -> Any:
    """An answer without what a page leaves out by "...": "..."."""
    if not isinstance(told, dict) or not isinstance(answer, dict):
        return answer
    kept = {name: shortened(value, told.get(name)) for name, value in answer.items() if name in told}
    return kept | {"...": "..."} if "..." in told else {**answer, **kept}
