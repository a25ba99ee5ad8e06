"""A client sends again what may be sent again, for so long as it is asked to wait, and no longer than it was told."""

from __future__ import annotations

import asyncio
import json
import pickle
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benzer import AsyncClient, Client, IndexSettings
from benzer.errors import (
    AccessError,
    BenzerError,
    BusyError,
    InputError,
    MissingExtraError,
    NotFoundError,
    ServiceError,
    SettingsError,
    StoreLockedError,
    UnreachableError,
)

OK = (200, {"status": "ok", "version": "1"}, {})
BUSY = (503, {"error": {"type": "BusyError", "message": "busy", "field": None}}, {})
LOCKED = (
    503,
    {"error": {"type": "StoreLockedError", "message": "another process writes", "field": None}},
    {},
)
INFORMATION = (200, {"settings": IndexSettings().to_dict(), "documents": 0}, {})
RESET, SILENCE = "reset", "silence"
Turn = Any


class Scripted:
    """A server of this test: it answers the requests that come by a script, and keeps what was sent."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns, self.seen = list(turns), list[tuple[str, bytes]]()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as stream:
                while self.answer(connection, stream):
                    pass

    def answer(self, connection: socket.socket, stream: Any) -> bool:
        """Answer one request; gives whether the connection stays open."""
        try:
            head = stream.readline().decode()
        except ConnectionError:
            return False
        if not head:
            return False
        length, chunked = 0, False
        while line := stream.readline().strip():
            name, _, value = line.decode().partition(": ")
            length = int(value) if name.lower() == "content-length" else length
            chunked |= name.lower() == "transfer-encoding"
        body = b"".join(chunks(stream)) if chunked else stream.read(length)
        self.seen.append((head.rsplit(" ", 1)[0], body))
        turn = self.turns.pop(0) if self.turns else OK
        if turn == RESET:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if turn == SILENCE:
            return True
        status, content, headers = turn
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        lines = [
            f"HTTP/1.1 {status} X",
            f"Content-Length: {len(data)}",
            *(f"{k}: {v}" for k, v in headers.items()),
        ]
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + data)
        return True

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def chunks(stream: Any) -> Iterator[bytes]:
    while size := int(stream.readline(), 16):
        yield stream.read(size)
        stream.readline()
    stream.readline()


@contextmanager
def scripted(*turns: Turn) -> Iterator[Scripted]:
    server = Scripted(turns)
    try:
        yield server
    finally:
        server.close()


def blocking(url: str, work: Callable[[Any], Any], **options: Any) -> tuple[Any, list[float]]:
    """What some work gives with the client that blocks, and how long it would have slept."""
    slept: list[float] = []
    with Client(url, sleep=slept.append, **options) as client:
        return work(client), slept


def awaiting(url: str, work: Callable[[Any], Any], **options: Any) -> tuple[Any, list[float]]:
    """The same with the one that is awaited."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def run() -> Any:
        async with AsyncClient(url, sleep=sleep, **options) as client:
            return await work(client)

    return asyncio.run(run()), slept


BOTH = pytest.mark.parametrize("ask", [blocking, awaiting])


@BOTH
@pytest.mark.parametrize(
    "turns", [[BUSY, BUSY], [RESET, BUSY], [LOCKED, (429, {"error": {"message": "slower"}}, {}), RESET]]
)
def test_what_may_be_repeated_is_sent_until_it_is_served(ask: Any, turns: list[Turn]) -> None:
    with scripted(*turns) as server:
        answer, slept = ask(server.url, lambda client: client.health())
        assert answer == OK[1]
        assert [head for head, _ in server.seen] == ["GET /health"] * (len(turns) + 1)
    assert len(slept) == len(turns)
    assert all(0 <= seconds <= 0.25 * 2**at for at, seconds in enumerate(slept))  # they grow, at random


@BOTH
def test_a_client_waits_at_least_as_long_as_it_is_asked_to(ask: Any) -> None:
    turns = [(status, BUSY[1], {"Retry-After": after}) for status, after in ((503, "3"), (429, "7"))]
    with scripted(*turns) as server:
        _, slept = ask(server.url, lambda client: client.health())
    assert 3 <= slept[0] <= 3.25
    assert 7 <= slept[1] <= 7.5


@BOTH
def test_the_number_of_attempts_and_their_time_are_bounded(ask: Any) -> None:
    with scripted(*[BUSY] * 10) as server:
        with pytest.raises(BusyError, match="busy") as caught:
            ask(server.url, lambda client: client.health(), retries=2)
        assert (caught.value.status, len(server.seen)) == (503, 3)
        with pytest.raises(BusyError):
            ask(server.url, lambda client: client.health(), retries=0)
        assert len(server.seen) == 4
    with scripted((503, BUSY[1], {"Retry-After": "3600"})) as server:
        with pytest.raises(BusyError):  # it does not wait an hour to find its patience gone
            ask(server.url, lambda client: client.health(), patience=60)
        assert len(server.seen) == 1


@BOTH
def test_the_error_of_the_library_comes_back_when_nothing_helped(ask: Any) -> None:
    with scripted(LOCKED, LOCKED) as server, pytest.raises(StoreLockedError, match="another process writes"):
        ask(server.url, lambda client: client.health(), retries=1)


@BOTH
@pytest.mark.parametrize("kind", ["OutOfTimeError", "ClosingError"])
def test_what_may_not_be_repeated_is_not_sent_again_where_it_may_have_begun(ask: Any, kind: str) -> None:
    broken_off = (503, {"error": {"type": kind, "message": "given up", "field": None}}, {})
    with scripted(broken_off, OK) as server:
        with pytest.raises(BusyError, match="given up"):
            ask(server.url, lambda client: client.create_index("a"))
        assert len(server.seen) == 1
    with scripted(broken_off, OK) as server:
        assert ask(server.url, lambda client: client.health())[0] == OK[1]


@BOTH
def test_what_may_not_be_repeated_is_sent_again_only_where_it_was_refused(ask: Any) -> None:
    with scripted(BUSY, (201, {}, {})) as server:
        ask(server.url, lambda client: client.create_index("a"))
        assert len(server.seen) == 2
    with scripted(RESET) as server, pytest.raises(UnreachableError, match="was lost"):
        ask(server.url, lambda client: client.create_index("a"))
    assert len(server.seen) == 1


@BOTH
def test_a_part_of_an_upload_whose_answer_was_lost_is_sent_again_as_it_was(ask: Any) -> None:
    added = (200, {"read": 2, "new": 2, "documents": 2, "malformed": [], "malformed_count": 0}, {})
    with scripted(INFORMATION, added, RESET, BUSY, added) as server:
        documents = ((number, f"text {number}") for number in range(4))
        answer, _ = ask(server.url, lambda client: client.index("a").add(documents, batch_size=2))
        bodies = [body for _, body in server.seen[1:]]
    assert (answer, len(bodies)) == (4, 4)
    assert bodies[1] == bodies[2] == bodies[3]
    assert [json.loads(line)["id"] for line in bodies[3].splitlines()] == [2, 3]


@BOTH
def test_an_upload_that_ends_in_the_midst_says_how_much_is_durable(ask: Any) -> None:
    added = (200, {"read": 2, "new": 2, "documents": 2, "malformed": [], "malformed_count": 0}, {})
    wrong = {"type": "MalformedRowError", "message": "row 2: no text; 1 documents of this upload are durable"}
    documents = [(number, f"text {number}") for number in range(4)]
    with (
        scripted(INFORMATION, added, (422, {"error": wrong}, {})) as server,
        pytest.raises(InputError, match=r"^row 4: no text; 3 documents are durable$"),
    ):
        ask(server.url, lambda client: client.index("a").add(documents, batch_size=2))
    with (
        scripted(INFORMATION, added, RESET) as server,
        pytest.raises(UnreachableError, match=r"; 2 documents are durable$"),
    ):
        ask(server.url, lambda client: client.index("a").add(documents, batch_size=2), retries=0)


@BOTH
def test_a_job_is_started_again_with_its_whole_upload_where_there_was_no_room(ask: Any) -> None:
    with scripted(BUSY, (202, {"id": "j1"}, {})) as server:
        job, _ = ask(server.url, lambda client: client.find_duplicates([("a", "one"), ("b", "two")]))
        (_, first), (_, second) = server.seen
    assert (job.id, first, first.count(b"\n")) == ("j1", second, 2)


@BOTH
def test_waiting_for_a_job_looks_less_and_less_often(ask: Any) -> None:
    told = {"id": "j", "state": "running", "created": "", "source": {}, "settings": {}, "seconds": 0.0}
    turns = [(200, told, {})] * 12
    with scripted(*turns, (200, {**told, "state": "cancelled"}, {})) as server:
        with pytest.raises(ServiceError, match="the job j was cancelled"):
            ask(server.url, lambda client: client.job("j").wait())
        server.turns = [*turns, (200, {**told, "state": "done"}, {})]
        status, slept = ask(server.url, lambda client: client.job("j").wait())
    assert status.state == "done"
    assert slept == sorted(slept)
    assert (len(slept), slept[0], slept[-1]) == (12, 0.05, 1.0)


@BOTH
def test_no_service_at_an_address_is_told_in_one_sentence(ask: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(
        UnreachableError, match=f"^no service responds at {url} .*: start benzer serve there"
    ) as caught:
        ask(url, lambda client: client.health(), retries=1)
    assert (caught.value.status, isinstance(caught.value, ConnectionError)) == (0, True)


@BOTH
def test_a_service_that_says_nothing_is_given_up(ask: Any) -> None:
    with scripted(SILENCE) as server, pytest.raises(UnreachableError, match=r"did not respond within 0.2 s"):
        ask(server.url, lambda client: client.health(), retries=0, timeout=0.2)


ERRORS: list[tuple[int, Any, type[BenzerError], str]] = [
    (401, {"error": {"type": "KeyError", "message": "no key", "field": None}}, AccessError, "no key"),
    (403, {"error": {"type": "ForbiddenError", "message": "only reads"}}, AccessError, "only reads"),
    (404, {"error": {"type": "NotFoundError", "message": "no index"}}, NotFoundError, "no index"),
    (409, {"error": {"type": "ConflictError", "message": "there is one"}}, ServiceError, "there is one"),
    (413, {"error": {"type": "TooLargeError", "message": "too large"}}, ServiceError, "too large"),
    (422, {"error": {"type": "SettingsError", "message": "limit"}}, SettingsError, "limit"),
    (422, {"error": {"type": "OddError", "message": "odd", "field": "body.a"}}, ServiceError, "odd"),
    (500, {"error": {"type": "ServerError", "message": "a bug"}}, ServiceError, "a bug"),
    (502, b"<h1>Bad gateway</h1>", ServiceError, "status 502"),
    (404, {"error": "no"}, ServiceError, "status 404"),
    (307, b"", ServiceError, "status 307"),
    (200, b"<h1>Welcome</h1>", ServiceError, "the response is not from a Benzer service"),
]


@BOTH
@pytest.mark.parametrize("status, content, kind, message", ERRORS)
def test_an_error_of_the_service_is_one_of_the_library(
    ask: Any, status: int, content: Any, kind: type[BenzerError], message: str
) -> None:
    with scripted((status, content, {})) as server, pytest.raises(kind, match=message) as caught:
        ask(server.url, lambda client: client.health())
    if isinstance(caught.value, ServiceError):
        assert caught.value.status == status
        again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 (as processes hand errors on)
        assert (type(again), str(again), again.status) == (type(caught.value), str(caught.value), status)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize(
    "url, options, error, message",
    [
        ("localhost:8000", {}, InputError, "is not the address of a service"),
        ("", {}, InputError, "is not the address of a service"),
        ("redis://localhost", {}, InputError, "is not the address of a service"),
        ("http://localhost:8000", {"retries": -1}, SettingsError, "retries must be 0 or more, got -1"),
        (
            "http://localhost:8000",
            {"timeout": 0},
            SettingsError,
            "timeout must be > 0 seconds, got 0",
        ),
        ("http://localhost:8000", {"patience": None}, SettingsError, "patience must be > 0"),
        ("http://localhost:8000", {"key": "a\nb"}, InputError, "the key"),
    ],
)
def test_a_client_is_refused_what_it_cannot_be_made_with(
    kind: Any, url: str, options: dict[str, Any], error: type[BenzerError], message: str
) -> None:
    with pytest.raises(error, match=message):
        kind(url, **options)


def test_a_missing_extra_names_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    from benzer import registry

    def missing(module: str) -> Any:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr(registry, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"pip install 'benzer\[client\]'"):
        Client("http://127.0.0.1:8000")


def test_the_key_is_never_shown() -> None:
    with Client("http://127.0.0.1:8000", "secret") as client:
        shown = [
            repr(client),
            repr(client.index("a")),
            repr(client.job("j")),
            repr(client._connection.address),
        ]
    assert not any("secret" in one for one in shown)


def test_the_body_of_a_job_is_sent_from_the_disk(tmp_path: Path) -> None:
    line = "word " * 20_000
    with scripted((202, {"id": "j"}, {})) as server, Client(server.url) as client:
        client.find_duplicates({"id": number, "text": line} for number in range(100))
        ((head, body),) = server.seen
    assert head.startswith("POST /v1/duplicates")
    assert (body.count(b"\n"), len(body) > 9_000_000) == (100, True)
