"""The service in operation: ids, logs, metrics, readiness, and its end."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from benzer.errors import StorageError
from benzer.index import Index, IndexSettings
from benzer.service.telemetry.logs import QUEUED, Log
from tests.doors.operating import DOCS, QUESTION, SMALL, make, within
from tests.doors.service import refused, serving
from tests.doors.shell import FOX, FOX_AGAIN, OTHER


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("operation") / "docs.benzer")


@pytest.fixture(scope="module")
def client(path: Path) -> Iterator[httpx.Client]:
    with serving(path, *SMALL) as (client, _):
        yield client


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
        assert "shutting down" in refused(await client.get("/ready"), 503)
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
                target=lambda: answers.append(httpx.post(f"{url}{DOCS}/similar", json=QUESTION, timeout=120))
            )
            asking.start()
            assert process.stdout.readline() == "asked\n"
            process.send_signal(end)
            assert process.wait(120) == status
            asking.join()
            refused(answers[0], 503)
            assert answers[0].json()["error"]["type"] == "ClosingError"
        finally:
            process.kill()
