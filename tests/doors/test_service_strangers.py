"""Clients without a key cannot keep those with one from being served.

`BENZER_IDLE_CONNECTIONS=1000 pytest -s` opens so many connections, and prints the times of the searches.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from benzer.service.running.connections import MOST_WAITING
from tests.doors.locked import DOCS, Locked, bearer, locked
from tests.doors.service import JSON, refused
from tests.doors.shell import FOX

CONNECTIONS = int(os.environ.get("BENZER_IDLE_CONNECTIONS", "200"))
SECONDS = 4.0
"""Bound on the p99 of a search in the suite, whose machine may be busy; on a quiet one it is a few milliseconds."""
HOST = "Host: 127.0.0.1\r\n"
LOGIN = f"POST /login HTTP/1.1\r\n{HOST}Content-Type: application/json\r\nContent-Length: 40\r\n\r\n"
WITHOUT_BODY = {
    "login": LOGIN,
    "search": LOGIN.replace("/login", f"{DOCS}/similar"),
    "upload": LOGIN.replace("/login", f"{DOCS}/documents").replace("json", "x-ndjson"),
    "head": f"GET /login HTTP/1.1\r\n{HOST}",
    "nothing": "",
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    with locked(tmp_path_factory.mktemp("strangers")) as service:
        yield service


@pytest.fixture
def service(running: Locked) -> Locked:
    running.client.cookies.clear()
    return running


@contextmanager
def connections(service: Locked, sent: str, count: int) -> Iterator[list[socket.socket]]:
    """Connections that send this and then wait."""
    url = service.client.base_url
    with ExitStack() as stack:
        opened = []
        for _ in range(count):
            connection = stack.enter_context(
                socket.create_connection((url.host, url.port or 80), timeout=120)
            )
            connection.sendall(sent.encode())
            opened.append(connection)
        yield opened


def status(connection: socket.socket) -> int:
    """The status of the answer to a connection."""
    return int(connection.recv(65536).split()[1])


def quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


@pytest.mark.parametrize("sent", WITHOUT_BODY.values(), ids=WITHOUT_BODY)
def test_idle_connections_without_a_key_do_not_slow_a_search_with_one(service: Locked, sent: str) -> None:
    seconds, statuses = [], []
    with connections(service, sent, CONNECTIONS):
        for _ in range(200):
            begin = time.perf_counter()
            answer = service.client.post(
                f"{DOCS}/similar", json={"fields": {"text": FOX}}, headers=bearer(service.reader)
            )
            seconds.append(time.perf_counter() - begin)
            statuses.append(answer.status_code)
        assert service.client.get("/ready").status_code == 200
    assert set(statuses) == {200}
    p99 = quantile(seconds, 0.99)
    print(f"{CONNECTIONS} idle connections: p50 {quantile(seconds, 0.5):.4f} s, p99 {p99:.4f} s")
    assert p99 < SECONDS


def test_open_connections_are_not_bounded_by_the_soft_limit_of_files(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
    with ExitStack() as stack:
        try:
            service = stack.enter_context(locked(tmp_path, forked=False))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        with connections(service, "", 200):
            assert service.client.get("/ready").status_code == 200


def test_a_crowd_of_connections_that_ask_nothing_is_closed_early(service: Locked) -> None:
    with connections(service, "", MOST_WAITING + 1) as opened:
        begin = time.monotonic()
        assert status(opened[-1]) == 408
        assert time.monotonic() - begin < 25
        opened[0].sendall(WITHOUT_BODY["head"].encode() + b"\r\n")
        assert status(opened[0]) == 200


def test_a_login_must_arrive_at_once_and_an_address_without_a_key_has_few_at_a_time(service: Locked) -> None:
    begin = time.monotonic()
    with connections(service, LOGIN, 40) as opened:
        statuses = [status(connection) for connection in opened]
    assert 4 < time.monotonic() - begin < 25
    assert set(statuses) == {408, 429}
    assert statuses.count(408) == 32
    assert service.client.post("/login", json={"key": service.reader}).status_code == 200


@pytest.mark.parametrize("length, expected", [(4096, 401), (4097, 413)])
def test_a_login_is_small(service: Locked, length: int, expected: int) -> None:
    body = json.dumps({"key": ""}).encode().replace(b'""', b'"' + b"a" * (length - 11) + b'"')
    assert len(body) == length
    refused(service.client.post("/login", content=body, headers=JSON), expected)


def test_wrong_keys_are_limited_and_right_ones_are_not(service: Locked) -> None:
    def statuses(key: str) -> list[int]:
        return [service.client.get(DOCS, headers=bearer(key)).status_code for _ in range(150)]

    begun = time.monotonic()
    guesses = statuses("bz_00000000_" + "A" * 43)
    earned = (time.monotonic() - begun) * 100 / 60
    assert guesses[:95] == [401] * 95
    assert set(guesses) == {401, 429}
    assert guesses.count(401) <= 101 + earned  # 100 at once
    guesses = [service.client.post("/login", json={"key": "guess"}).status_code for _ in range(20)]
    assert guesses.count(429) > 10
    assert set(statuses(service.reader)) == {200}
    assert service.client.post("/login", json={"key": service.reader}).status_code == 200


@pytest.mark.parametrize("hosts", ["", HOST * 2, HOST + "Host: localhost\r\n"])
def test_a_request_has_one_host(service: Locked, hosts: str) -> None:
    with connections(service, f"GET /health HTTP/1.1\r\n{hosts}\r\n", 1) as (connection,):
        assert status(connection) == 400


def test_a_proxy_may_speak_http_1_0_without_a_host(service: Locked) -> None:
    with connections(service, "GET /health HTTP/1.0\r\n\r\n", 1) as (connection,):
        assert status(connection) == 200


def test_a_second_address_is_not_counted_with_the_first(service: Locked) -> None:
    url = httpx.URL(service.client.base_url)
    with connections(service, LOGIN, 40):
        other = httpx.HTTPTransport(local_address="127.0.0.2")
        with httpx.Client(base_url=url, transport=other) as client:
            assert client.post("/login", json={"key": service.reader}).status_code == 200
