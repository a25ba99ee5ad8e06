"""The service under load and in operation: limits, ids, logs, metrics, readiness, its end, and its death."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import PIL.Image
import pytest

from benzer.cli.serve_limits import LIMITS
from benzer.errors import StorageError
from benzer.fields import Schema, Text
from benzer.fields.image import Image
from benzer.index import Index, IndexSettings
from benzer.service import Limits, Options, create_app
from benzer.service.indexes.catalog import Catalog
from benzer.service.running.connections import MOST_HEAD_BYTES
from benzer.service.running.logs import QUEUED, Log
from tests.doors.service import JSON, refused, serving
from tests.doors.shell import FOX, FOX_AGAIN, OTHER
from tests.redis_server import shared_server

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = IndexSettings(Schema(text=Text(), photo=Image()), threshold=0.5)
NDJSON = {"Content-Type": "application/x-ndjson"}
DOCS = "/v1/indexes/docs"
SMALL = (
    "--max-body", "1", "--max-upload", "2", "--max-batch", "5", "--max-text", "1000", "--max-pixels", "10000",
    "--max-body-seconds", "0.5", "--log-format", "json",
)  # fmt: skip


def make(path: Path) -> Path:
    with Index.open(path, SETTINGS) as index:
        index.add([("fox", {"text": FOX}), ("fox/again", {"text": FOX_AGAIN}), (4711, {"text": OTHER})])
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("operation") / "docs.benzer")


@pytest.fixture(scope="module")
def client(path: Path) -> Iterator[httpx.Client]:
    with serving(path, *SMALL) as (client, _):
        yield client


# Limits


def lines(count: int, text: str = "a text") -> bytes:
    return b"".join(
        json.dumps({"id": f"line {n}", "fields": {"text": f"{text} {n}"}}).encode() + b"\n"
        for n in range(count)
    )


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
    photo = {"photo": ("a.png", picture(100, 100))}
    assert client.post(f"{DOCS}/similar", files=photo).status_code == 200


def test_each_limit_has_an_option_and_an_option_its_default() -> None:
    assert {one.field for one in LIMITS} == {one.name for one in fields(Limits)}
    told = subprocess.run(
        [sys.executable, "-m", "benzer", "serve", "--help"], check=True, capture_output=True, text=True
    ).stdout
    assert [one.option for one in LIMITS if one.option not in told] == []


def said(client: httpx.Client, sent: bytes) -> tuple[int, dict[str, str], dict[str, Any]]:
    """What a client that sends no more than this is answered before the connection is closed."""
    url = client.base_url
    with socket.create_connection((url.host, url.port or 80), timeout=20) as connection:
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


Ask = Callable[[httpx.AsyncClient], Awaitable[None]]


def within(path: Path, ask: Ask, limits: Limits | None = None, log: Log | None = None) -> None:
    """Ask an application in this process, where a test can hold its work up."""

    async def run() -> None:
        with Catalog() as catalog:
            catalog.open(path)
            app = create_app(catalog, Options(limits or Limits()), log)
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost", timeout=30
            ) as client:
                client.app = app  # type: ignore[attr-defined]
                await ask(client)

    asyncio.run(run())


@contextmanager
def held_up(monkeypatch: pytest.MonkeyPatch, name: str) -> Iterator[tuple[threading.Event, threading.Event]]:
    """A method of indexes that waits: it says that it was called, and goes on when it may."""
    called, may_go = threading.Event(), threading.Event()
    plain = getattr(Index, name)

    def wait(*arguments: Any, **options: Any) -> Any:
        called.set()
        assert may_go.wait(30)
        return plain(*arguments, **options)

    monkeypatch.setattr(Index, name, wait)
    try:
        yield called, may_go
    finally:
        may_go.set()


async def until(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 30)


QUESTION = {"fields": {"text": FOX}}


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
            assert "benzer_requests_in_flight 1.0" in (await client.get("/metrics")).text
            may_go.set()
            assert (await first).status_code == 200
            assert (await client.post(f"{DOCS}/similar", json=QUESTION)).status_code == 200

        within(path, ask, Limits(max_concurrent=1))


def test_a_request_out_of_time_is_given_up_and_its_change_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make(tmp_path / "docs.benzer")
    with held_up(monkeypatch, "add") as (_, may_go):

        async def ask(client: httpx.AsyncClient) -> None:
            begun = asyncio.ensure_future(client.put(f"{DOCS}/documents/begun", json=QUESTION))
            await asyncio.sleep(0.01)
            waits = await client.put(f"{DOCS}/documents/waits", json=QUESTION)
            for response in (await begun, waits):
                assert "--max-seconds" in refused(response, 503)
                assert (response.json()["error"]["type"], response.headers["retry-after"]) == (
                    "OutOfTimeError",
                    "5",
                )
            may_go.set()

        within(path, ask, Limits(max_seconds=0.2))
    with Index.open(path) as index:
        assert ("begun" in index, "waits" in index) == (True, False)


def test_an_answer_is_not_cut_off_by_the_end_of_its_time(path: Path) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        for _ in range(20):
            assert (await client.post(f"{DOCS}/similar", json=QUESTION)).status_code == 200
        await asyncio.sleep(0.6)  # a clock that was not stopped would strike now
        assert (await client.get("/health")).status_code == 200

    within(path, ask, Limits(max_seconds=0.5, max_body_seconds=0.5))


# Uploads


async def parts(body: bytes) -> AsyncIterator[bytes]:
    """A body as it comes over a network."""
    for start in range(0, len(body), 20_000):
        yield body[start : start + 20_000]


def test_a_long_upload_is_written_by_a_process_of_its_own(tmp_path: Path) -> None:
    path = make(tmp_path / "docs.benzer")

    async def ask(client: httpx.AsyncClient) -> None:
        served = client.app.state.shared.catalog["docs"]  # type: ignore[attr-defined]
        bad = b'{"id": "bad", "fields": {"text": 7}}\n'
        body = lines(1500) + bad + lines(3000)
        sent = await client.post(f"{DOCS}/documents?on_error=skip", content=parts(body), headers=NDJSON)
        assert sent.json()["new"] == 3000
        assert [one["row"] for one in sent.json()["malformed"]] == [1501]
        assert served._loader._process.poll() is None
        found = await client.post(f"{DOCS}/similar", json={"fields": {"text": "a text 2999"}})
        assert found.json()["matches"][0]["id"] == "line 2999"
        served._loader._process.kill()
        again = await client.post(f"{DOCS}/documents", content=parts(lines(3000, "another")), headers=NDJSON)
        assert re.search(r"; 1,\d\d\d documents of this upload are durable", refused(again, 503))
        assert (again.json()["error"]["type"], again.headers["retry-after"]) == ("LoaderError", "1")
        once_more = await client.post(
            f"{DOCS}/documents", content=parts(lines(3000, "another")), headers=NDJSON
        )
        assert (once_more.json()["read"], once_more.json()["new"]) == (3000, 0)

    within(path, ask)
    with Index.open(path) as index:
        index.check()
        assert len(index) == 3003


def test_a_locked_index_is_told_through_the_process_that_loads(tmp_path: Path) -> None:
    path = make(tmp_path / "docs.benzer")
    with Index.open(path) as other:

        async def ask(client: httpx.AsyncClient) -> None:
            served = client.app.state.shared.catalog["docs"]  # type: ignore[attr-defined]
            other.add([("theirs", {"text": FOX})])
            await asyncio.to_thread(served._loader.read, lines(3), 1, False, Limits())
            with pytest.raises(StorageError, match="is being written by another process"):
                await asyncio.to_thread(served._loader.write)
            other.commit()
            await asyncio.to_thread(served._loader.read, lines(3), 1, False, Limits())
            assert (await asyncio.to_thread(served._loader.write)).new == 3

        within(path, ask)


# Ids, logs, metrics


@pytest.mark.parametrize(
    "sent, taken", [("order-7.a", True), ("x" * 128, True), ("x" * 129, False), ("a b", False)]
)
def test_a_request_id_is_taken_where_it_is_sane_and_made_where_not(
    client: httpx.Client, sent: str, taken: bool
) -> None:
    answered = client.get("/health", headers={"X-Request-ID": sent}).headers["x-request-id"]
    assert (answered == sent) is taken
    assert re.fullmatch(r"[0-9a-f]{16}", answered) or taken


def test_refusals_have_an_id_too(client: httpx.Client) -> None:
    for response in (client.get("/no"), client.get("/health", headers={"Host": "evil.example"})):
        assert re.fullmatch(r"[0-9a-f]{16}", response.headers["x-request-id"])


def test_each_request_is_a_line_of_json_without_its_contents(path: Path) -> None:
    with serving(path, "--log-format", "json") as (client, process):
        secret = "a secret text"
        client.post(f"{DOCS}/similar", json={"fields": {"text": secret}}, headers={"X-Request-ID": "one"})
        client.get(f"{DOCS}/documents/{secret}", headers={"X-Request-ID": "two"})
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        told = process.stderr.read()
    assert secret not in told
    seen = {line["id"]: line for line in map(json.loads, told.splitlines()) if line["event"] == "request"}
    one, two = seen["one"], seen["two"]
    assert (one["method"], one["route"], one["status"]) == ("POST", "/v1/indexes/{index}/similar", 200)
    assert (two["route"], two["status"]) == ("/v1/indexes/{index}/documents/{id:any}", 404)
    assert (one["error"], two["error"], one["key"]) == (None, "NotFoundError", None)
    assert (one["received"], one["sent"]) == (
        len(b'{"fields":{"text":""}}') + len(secret),
        len(b'{"matches":[]}'),
    )
    assert 0 < one["seconds"] < 30
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", one["time"])


def test_a_bug_has_its_traceback_in_the_log_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(index: Index, *rest: Any, **options: Any) -> None:
        raise ZeroDivisionError("the reason")

    monkeypatch.setattr(Index, "find_similar_batch", fail)
    stream = io.StringIO()

    async def ask(client: httpx.AsyncClient) -> None:
        response = await client.post(f"{DOCS}/similar", json=QUESTION, headers={"X-Request-ID": "bad"})
        assert "the reason" not in refused(response, 500)
        assert response.headers["x-request-id"] == "bad"

    with Log("json", stream=stream) as log:
        within(path, ask, log=log)
    bug, request = map(json.loads, stream.getvalue().splitlines())
    assert "ZeroDivisionError: the reason" in bug["traceback"]
    assert (bug["id"], request["id"], request["level"], request["status"]) == ("bad", "bad", "error", 500)


def test_a_log_that_nobody_reads_stops_nobody(path: Path) -> None:
    with serving(path, "--log-format", "json") as (client, process):
        for _ in range(600):  # more than a pipe holds
            assert client.get("/health", headers={"X-Request-ID": "x" * 128}).status_code == 200
        process.kill()


def test_lines_beyond_the_queue_are_counted() -> None:
    read, write = os.pipe()
    total, seen, dropped = QUEUED + 20_000, 0, 0
    with os.fdopen(read) as taken, os.fdopen(write, "w") as stream, Log("json", stream=stream) as log:
        for number in range(total):  # the pipe is full long before
            log.write("info", "line", number=number)
        while seen + dropped < total:
            line = json.loads(taken.readline())
            seen, dropped = seen + (line["event"] == "line"), dropped + line.get("lines", 0)
    assert dropped > 0


def test_levels_below_the_least_are_left_out() -> None:
    stream = io.StringIO()
    with Log("text", "warning", stream) as log:
        log.write("info", "request", status=200)
        log.write("warning", "request", status=503, error="BusyError", key=None)
    assert re.fullmatch(r"[\d:.]{12} warning request status=503 error=BusyError\n", stream.getvalue())


def test_metrics_count_requests_candidates_writes_and_refusals(path: Path) -> None:
    with serving(path, "--max-text", "50") as (client, _):
        assert client.post(f"{DOCS}/similar", json={"fields": {"text": FOX[:50]}}).status_code == 200
        assert client.post(f"{DOCS}/similar", json={"id": "fox"}).status_code == 200
        client.post(f"{DOCS}/similar", json={"fields": {"text": "x" * 51}})
        client.get("/nowhere/secret")
        client.put(f"{DOCS}/documents/x", json={"fields": {"text": "one"}})
        client.put(f"{DOCS}/documents/x", json={"fields": {"no": "one"}})
        client.delete(f"{DOCS}/documents/x")
        buckets = client.get(f"{DOCS}?buckets=true").json()["buckets"]
        response = client.get("/metrics")
        assert response.headers["content-type"].startswith("text/plain")
        told = dict(line.rsplit(" ", 1) for line in response.text.splitlines() if not line.startswith("#"))
    similar = 'method="POST",route="/v1/indexes/{index}/similar"'
    assert told[f'benzer_requests_total{{{similar},status="200"}}'] == "2.0"
    assert told[f"benzer_request_seconds_count{{{similar}}}"] == "3.0"
    assert told['benzer_requests_total{method="GET",route="none",status="404"}'] == "1.0"
    assert told['benzer_refused_total{reason="TextTooLongError"}'] == "1.0"
    assert told['benzer_candidates_count{index="docs"}'] == "2.0"
    assert float(told['benzer_candidates_sum{index="docs"}']) >= 1.0
    assert told['benzer_writes_total{index="docs",outcome="done"}'] == "2.0"
    assert told['benzer_index_documents{index="docs"}'] == "3.0"
    assert float(told['benzer_index_bytes{index="docs"}']) > 0
    assert float(told['benzer_index_buckets{index="docs"}']) == buckets["buckets"] > 0
    assert float(told['benzer_index_buckets_of_size{index="docs",most="2"}']) == dict(buckets["histogram"])[2]
    assert told['benzer_jobs{state="running"}'] == "0.0"
    assert "secret" not in response.text


def test_an_index_tells_how_many_candidates_each_question_has() -> None:
    with Index.open("memory:", IndexSettings(threshold=0.5)) as index:
        index.add({"a": FOX, "b": FOX_AGAIN, "c": OTHER})
        counts: list[int] = []
        index.on_candidates = counts.append
        index.find_similar(FOX)
        index.find_similar_batch([FOX, "nothing of the kind", OTHER])
        wanted = [len(index.find_candidates(text)) for text in (FOX, FOX, "nothing of the kind", OTHER)]
    assert counts == wanted
    assert wanted[2:] == [0, 1]


# Readiness, and the end


def test_a_service_is_ready_when_its_indexes_can_be_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        assert (await client.get("/ready")).status_code == 200
        with monkeypatch.context() as patch:

            def away(index: Index) -> int:
                raise StorageError("the server is away")

            patch.setattr(Index, "__len__", away)
            response = await client.get("/ready")
            assert "docs" in refused(response, 503)
            assert response.json()["error"]["type"] == "NotReadyError"
            assert (await client.get("/health")).status_code == 200
        client.app.state.shared.life.closing = True  # type: ignore[attr-defined]
        assert "being stopped" in refused(await client.get("/ready"), 503)
        response = await client.post(f"{DOCS}/similar", json=QUESTION)
        refused(response, 503)
        assert response.json()["error"]["type"] == "ClosingError"
        assert (await client.get("/health")).status_code == 200

    within(path, ask)


@pytest.mark.parametrize("end, status", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_in_bounded_time_whatever_still_runs(path: Path, end: int, status: int) -> None:
    script = f"""
import sys, time
from benzer.cli.group import exit_status
from benzer.index import Index
from benzer.service import Limits, serve
Index.find_similar_batch = lambda *given, **options: print("asked", flush=True) or time.sleep(600)
def run():
    serve([{str(path)!r}], port=0, limits=Limits(grace_seconds=0.2), started=lambda _, url: print(url, flush=True))
sys.exit(exit_status(run))
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            answers: list[httpx.Response] = []
            asking = threading.Thread(
                target=lambda: answers.append(httpx.post(f"{url}{DOCS}/similar", json=QUESTION, timeout=30))
            )
            asking.start()
            assert process.stdout.readline() == "asked\n"
            process.send_signal(end)
            assert process.wait(30) == status
            asking.join()
            refused(answers[0], 503)
            assert answers[0].json()["error"]["type"] == "ClosingError"
        finally:
            process.kill()


# Death


class Writer(threading.Thread):
    """Writes until the service is gone, and keeps what was acknowledged."""

    def __init__(self, url: str, name: str, write: Callable[[httpx.Client, str, int], list[str]]) -> None:
        super().__init__()
        self.url, self.prefix, self.write = url, name, write
        self.acknowledged: list[str] = []

    def run(self) -> None:
        number = 0
        with httpx.Client(base_url=self.url, timeout=30, trust_env=False) as client:
            try:
                while True:
                    self.acknowledged += self.write(client, f"{self.prefix}-{number}", number)
                    number += 1
            except httpx.HTTPError:
                return


def text_of(id: str) -> str:
    return f"{FOX} {id}"


def put(client: httpx.Client, id: str, number: int) -> list[str]:
    response = client.put(f"{DOCS}/documents/{id}", json={"fields": {"text": text_of(id)}})
    assert response.status_code == 201, response.text
    return [id]


def post(client: httpx.Client, id: str, number: int) -> list[str]:
    ids = [f"{id}-{at}" for at in range(20)]
    batch = [{"id": one, "fields": {"text": text_of(one)}} for one in ids]
    response = client.post(f"{DOCS}/documents", json={"documents": batch})
    assert response.status_code == 200, response.text
    return ids


def upload(client: httpx.Client, id: str, number: int) -> list[str]:
    ids = [f"{id}-{at}" for at in range(1300)]  # more than a block
    body = "".join(json.dumps({"id": one, "fields": {"text": text_of(one)}}) + "\n" for one in ids)
    response = client.post(f"{DOCS}/documents", content=body.encode(), headers=NDJSON)
    assert response.status_code == 200, response.text
    return ids


def killed_in_the_midst(location: str | Path, seed: int) -> list[str]:
    """What a service had acknowledged that was killed in the midst of many writes of all kinds."""
    with serving(location, "--log-format", "off", end=signal.SIGKILL) as (client, process):
        url = str(client.base_url)
        writers = [
            Writer(url, f"{seed}-{kind.__name__}-{number}", kind)
            for kind in (put, post, upload)
            for number in (1, 2)
        ]
        for writer in writers:
            writer.start()
        deadline = time.monotonic() + 20
        kinds: set[str] = set()
        while len(kinds) < 3 and time.monotonic() < deadline:
            time.sleep(0.05 + 0.03 * seed)
            kinds = {writer.write.__name__ for writer in writers if writer.acknowledged}
        process.kill()
        for writer in writers:
            writer.join()
    assert kinds == {"put", "post", "upload"}
    return [id for writer in writers for id in writer.acknowledged]


def test_what_is_acknowledged_survives_the_death_of_the_service(tmp_path: Path) -> None:
    path = tmp_path / "docs.benzer"
    Index.open(path, IndexSettings(threshold=0.5)).close()
    acknowledged: list[str] = []
    for seed in range(3):
        acknowledged += killed_in_the_midst(path, seed)
        with Index.open(path, timeout=30) as index:
            index.check()
            assert [id for id in acknowledged if id not in index] == []
            document = index.get(acknowledged[-1])
            assert document is not None
            assert document.fields == {"text": text_of(acknowledged[-1])}


def test_what_is_acknowledged_in_redis_survives_the_death_of_the_service() -> None:
    location = f"{shared_server().url}?prefix=docs"
    Index.open(location, IndexSettings(threshold=0.5)).close()
    acknowledged = killed_in_the_midst(location, 0)
    with Index.open(location, timeout=30) as index:
        index.check()
        assert [id for id in acknowledged if id not in index] == []


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
