"""Each limit has an error of its own, uploads say what is durable, and questions asked together differ in nothing."""

from __future__ import annotations

import asyncio
import io
import json
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import PIL.Image
import pytest

from benzer.cli.serve_limits import LIMITS
from benzer.index import Index
from benzer.service import Limits
from benzer.service.running.connections import MOST_HEAD_BYTES
from tests.doors.operating import DOCS, NDJSON, QUESTION, SMALL, held_up, lines, make, until, within
from tests.doors.service import JSON, refused, serving
from tests.doors.shell import FOX, FOX_AGAIN, OTHER


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("operation") / "docs.benzer")


@pytest.fixture(scope="module")
def client(path: Path) -> Iterator[httpx.Client]:
    with serving(path, *SMALL) as (client, _):
        yield client


def picture(width: int, height: int) -> bytes:
    data = io.BytesIO()
    PIL.Image.new("L", (width, height)).save(data, "PNG")
    return data.getvalue()


LIMITED: list[tuple[str, Callable[[httpx.Client], httpx.Response], int, str]] = [
    ("body", lambda client: client.post(f"{DOCS}/similar", content=b" " * 1_000_001, headers=JSON), 413,
     "BodyTooLargeError"),
    ("upload", lambda client: client.post(f"{DOCS}/documents", content=b" " * 2_000_001, headers=NDJSON), 413,
     "UploadTooLargeError"),
    ("streamed upload", lambda client: client.post(
        f"{DOCS}/documents", content=iter([b"\n" * 500_000] * 5), headers=NDJSON), 413, "UploadTooLargeError"),
    ("batch", lambda client: client.post(
        f"{DOCS}/documents", json={"documents": [{"id": n, "fields": {}} for n in range(6)]}), 413,
     "BatchTooLargeError"),
    ("text", lambda client: client.post(f"{DOCS}/similar", json={"fields": {"text": "x" * 1001}}), 422,
     "TextTooLongError"),
    ("comparison", lambda client: client.post(
        "/v1/compare", json={"a": {"text": "x" * 800}, "b": {"text": "x" * 701}}), 422, "ComparisonTooLongError"),
    ("comparison of an index", lambda client: client.post(
        "/v1/compare", json={
            "index": "docs", "a": {"fields": {"text": "x" * 800}}, "b": {"fields": {"text": "x" * 701}}}),
     422, "ComparisonTooLongError"),
    ("picture", lambda client: client.post(f"{DOCS}/similar", files={"photo": ("a.png", picture(101, 100))}), 422,
     "PictureTooLargeError"),
    ("form", lambda client: client.post(f"{DOCS}/similar", content=b"text", headers={"Content-Type": "text/plain"}),
     415, "MediaTypeError"),
    ("lines for a route that keeps its body", lambda client: client.post(
        f"{DOCS}/similar", content=b"{}", headers=NDJSON), 415, "MediaTypeError"),
    ("packed", lambda client: client.post(
        f"{DOCS}/similar", content=b"{}", headers={**JSON, "Content-Encoding": "gzip"}), 415, "MediaTypeError"),
]  # fmt: skip


@pytest.mark.parametrize("ask, status, kind", [row[1:] for row in LIMITED], ids=[row[0] for row in LIMITED])
def test_each_limit_has_an_error_of_its_own(
    client: httpx.Client, ask: Callable[[httpx.Client], httpx.Response], status: int, kind: str
) -> None:
    response = ask(client)
    refused(response, status)
    assert response.json()["error"]["type"] == kind
    assert client.get(DOCS).json()["documents"] == 3


def test_what_is_just_within_the_limits_is_taken(client: httpx.Client) -> None:
    assert client.post(f"{DOCS}/similar", json={"fields": {"text": "x" * 1000}}).status_code == 200
    pair = {"a": {"text": "x" * 800}, "b": {"text": "x" * 700}}
    assert client.post("/v1/compare", json=pair).status_code == 200
    photo = {"photo": ("a.png", picture(100, 100))}
    assert client.post(f"{DOCS}/similar", files=photo).status_code == 200


def test_each_limit_has_an_option_and_an_option_its_default() -> None:
    assert {one.field for one in LIMITS} == {one.name for one in fields(Limits)}
    told = subprocess.run(
        [sys.executable, "-m", "benzer", "serve", "--help-all"], check=True, capture_output=True, text=True
    ).stdout
    assert [one.option for one in LIMITS if one.option not in told] == []


def said(client: httpx.Client, sent: bytes) -> tuple[int, dict[str, str], dict[str, Any]]:
    """What a client that sends no more than this is answered before the connection is closed."""
    url = client.base_url
    with socket.create_connection((url.host, url.port or 80), timeout=120) as connection:
        connection.sendall(sent)
        answer = b""
        while data := connection.recv(65536):
            answer += data
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in rest)
    return int(first.split()[1]), headers, json.loads(body)["error"]


HEAD = f"POST {DOCS}/similar HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize("sent, status, kind", [
    (f"{HEAD}Content-Length: 100\r\n\r\n" + "{", 408, "SlowBodyError"),
    (f"{HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n" + "{\r\n", 408, "SlowBodyError"),
    (HEAD, 408, "SlowBodyError"),
    ("", 408, "SlowBodyError"),
    ("no HTTP\r\n\r\n", 400, "RequestError"),
    ("GET /".ljust(MOST_HEAD_BYTES + 1, "a"), 431, "HeadTooLargeError"),
    (f"{HEAD}X-Long: ".ljust(MOST_HEAD_BYTES + 1, "a"), 431, "HeadTooLargeError"),
    (HEAD + ("X: y\r\n" * MOST_HEAD_BYTES)[: MOST_HEAD_BYTES + 1 - len(HEAD)], 431, "HeadTooLargeError"),
])  # fmt: skip
def test_a_client_that_does_not_go_on_is_told_so_and_left(
    client: httpx.Client, sent: str, status: int, kind: str
) -> None:
    answered, headers, error = said(client, sent.encode())
    assert (answered, error["type"], headers["connection"]) == (status, kind, "close")
    assert client.get("/health").status_code == 200


def test_an_upload_that_stops_says_how_much_of_it_is_durable(tmp_path: Path) -> None:
    with serving(make(tmp_path / "docs.benzer"), *SMALL) as (client, _):
        head = f"POST {DOCS}/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\n"
        sent = lines(2500)
        answered, _, error = said(client, f"{head}Content-Length: {len(sent) + 1}\r\n\r\n".encode() + sent)
        assert (answered, error["type"]) == (408, "SlowBodyError")
        durable = int(
            re.findall(r"([\d,]+) documents of this upload are durable", error["message"])[0].replace(",", "")
        )
        assert 1000 <= durable <= 2500
        assert client.get(DOCS).json()["documents"] == 3 + durable


def test_more_requests_than_are_taken_at_a_time_are_refused_at_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_up(monkeypatch, "find_similar_batch") as (called, may_go):

        async def ask(client: httpx.AsyncClient) -> None:
            first = asyncio.ensure_future(client.post(f"{DOCS}/similar", json=QUESTION))
            await until(called)
            second = await client.post(f"{DOCS}/similar", json=QUESTION)
            assert "--max-concurrent" in refused(second, 503)
            assert (second.json()["error"]["type"], second.headers["retry-after"]) == ("BusyError", "1")
            assert (await client.get("/health")).status_code == 200
            assert "at its limit of" in refused(await client.get("/ready"), 503)
            assert "benzer_requests_in_flight 1.0" in (await client.get("/metrics")).text
            may_go.set()
            assert (await first).status_code == 200
            assert (await client.post(f"{DOCS}/similar", json=QUESTION)).status_code == 200
            assert (await client.get("/ready")).status_code == 200

        within(path, ask, Limits(max_concurrent=1))


@pytest.mark.parametrize("route", ["similar", "documents"])
def test_a_body_that_is_on_its_way_takes_no_place_of_another_request(path: Path, route: str) -> None:
    kind = "x-ndjson" if route == "documents" else "json"
    head = f"POST {DOCS}/{route} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/{kind}\r\n"
    with serving(path, "--max-concurrent", "1") as (client, _), ExitStack() as stack:
        for _ in range(5):
            address = (client.base_url.host, client.base_url.port or 80)
            connection = stack.enter_context(socket.create_connection(address, timeout=120))
            connection.sendall(f"{head}Content-Length: 10\r\n\r\n".encode() + b"{")
        assert client.post(f"{DOCS}/similar", json=QUESTION).status_code == 200
        assert client.get("/ready").status_code == 200


def test_the_bodies_that_are_arriving_are_bounded_together(path: Path) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        async def slow() -> AsyncIterator[bytes]:
            yield b" " * 900
            await asyncio.sleep(1)
            yield b" "

        many = [client.post(f"{DOCS}/similar", content=slow(), headers=JSON) for _ in range(5)]
        statuses = [answer.status_code for answer in await asyncio.gather(*many)]
        assert sorted(statuses) == [422, 422, 503, 503, 503]  # 2 x 900 of 2,000 bytes
        assert (await client.post(f"{DOCS}/similar", json=QUESTION)).status_code == 200

    within(path, ask, Limits(max_concurrent=2, max_body_bytes=1000))


def test_a_request_out_of_time_is_given_up_and_its_change_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make(tmp_path / "docs.benzer")
    with held_up(monkeypatch, "add") as (called, may_go):

        async def ask(client: httpx.AsyncClient) -> None:
            begun = asyncio.ensure_future(client.put(f"{DOCS}/documents/begun", json=QUESTION))
            await until(called)
            waits = await client.put(f"{DOCS}/documents/waits", json=QUESTION)
            for response in (await begun, waits):
                assert "--max-seconds" in refused(response, 503)
                assert (response.json()["error"]["type"], response.headers["retry-after"]) == (
                    "OutOfTimeError",
                    "5",
                )
            may_go.set()

        within(path, ask, Limits(max_seconds=2))
    with Index.open(path) as index:
        assert ("begun" in index, "waits" in index) == (True, False)


def test_an_answer_is_not_cut_off_by_the_end_of_its_time(path: Path) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        for _ in range(20):
            assert (await client.post(f"{DOCS}/similar", json=QUESTION)).status_code == 200
        await asyncio.sleep(2.1)  # a clock that was not stopped would strike now
        assert (await client.get("/health")).status_code == 200

    within(path, ask, Limits(max_seconds=2, max_body_seconds=2))


# Uploads


async def parts(body: bytes) -> AsyncIterator[bytes]:
    """A body as it comes over a network."""
    for start in range(0, len(body), 20_000):
        yield body[start : start + 20_000]


# Together


def test_questions_that_are_asked_together_are_answered_as_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = [
        {"fields": {"text": FOX}}, {"id": "fox"}, {"fields": {"text": OTHER}, "limit": 1},
        {"fields": {"text": FOX}, "threshold": 0.95}, {"id": "nobody"}, {"fields": {"no": "such"}},
        {"fields": {"text": FOX_AGAIN}}, {"id": 4711}, {"fields": {"text": "nothing of the kind"}},
    ]  # fmt: skip
    sizes: list[int] = []
    plain = Index.find_similar_batch

    def counted(index: Index, documents: Any, *rest: Any, **options: Any) -> Any:
        documents = list(documents)
        sizes.append(len(documents))
        return plain(index, documents, *rest, **options)

    async def ask(client: httpx.AsyncClient) -> None:
        async def answer(question: dict[str, Any]) -> tuple[int, Any]:
            response = await client.post(f"{DOCS}/similar", json=question)
            return response.status_code, response.json()

        alone = [await answer(question) for question in asked]
        assert [status for status, _ in alone] == [200, 200, 200, 200, 404, 422, 200, 200, 200]
        monkeypatch.setattr(Index, "find_similar_batch", counted)
        assert await asyncio.gather(*map(answer, asked * 3)) == alone * 3
        assert max(sizes) > 1

    within(path, ask)
