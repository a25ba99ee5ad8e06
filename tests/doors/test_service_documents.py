"""Documents are taken as JSON, as lines that are streamed, and as forms; and they are listed page by page."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from benzer.fields import Schema, Text, ValueSet
from benzer.index import Index, IndexSettings
from tests.doors.service import JSON, refused, serving
from tests.doors.shell import FOX

LINES = {"Content-Type": "application/x-ndjson"}
SETTINGS = IndexSettings(Schema(text=Text(), tags=ValueSet()), threshold=0.5)
DOCS = "/v1/indexes/docs/documents"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service that makes indexes."""
    with serving("--home", tmp_path_factory.mktemp("documents"), "--max-body", "1") as (client, _):
        yield client


@pytest.fixture
def client(service: httpx.Client) -> Iterator[httpx.Client]:
    """It, with an empty index of a text and a value set."""
    made = {"name": "docs", "fields": SETTINGS.schema.to_dict(), "threshold": 0.5}
    assert service.post("/v1/indexes", json=made).status_code == 201
    yield service
    assert service.delete("/v1/indexes/docs").status_code == 204


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


def test_batches_are_bounded_and_nothing_is_lost_between_them(client: httpx.Client) -> None:
    body = b"".join(line(number, text=f"text {number} " + "x" * 2000) for number in range(3500))
    pieces = [body[at : at + 70_001] for at in range(0, len(body), 70_001)]
    answer = upload(client, iter(pieces)).json()
    assert (answer["read"], answer["new"], answer["documents"]) == (3500, 3500, 3500)
    again = upload(client, body).json()
    assert (again["read"], again["new"], again["documents"]) == (3500, 0, 3500)


MALFORMED: list[tuple[bytes, str]] = [
    (b'{"id": "x", "fields": {"text": "a"}', "delimiter at column"),
    (b"[1]", "not a JSON object, but a list"),
    (b"null", "not a JSON object"),
    (b'{"text": "a"}', 'no "id"'),
    (b'{"id": null, "text": "a"}', 'no "id"'),
    (b'{"id": true, "text": "a"}', "must be a str or an int, got bool"),
    (b'{"id": 1.5, "text": "a"}', "must be a str or an int, got float"),
    (b'{"id": 18446744073709551616, "text": "a"}', "beyond 64 bits"),
    (b'{"id": "\\ud800", "text": "a"}', "lone surrogate"),
    (b'{"id": "x", "text": 5}', "'text' must be a text, got a number"),
    (b'{"id": "x", "fields": {"tags": "red"}}', "'tags' must be a list"),
    (b'{"id": "x", "tags": [1.5]}', "got float"),
    (b'{"id": "x", "body": "a"}', "'body'"),
    (b'{"id": "x", "fields": {"text": "a"}, "more": 1}', "'fields'"),
    (b'{"id": "x", "text": NaN}', "NaN"),
    (b'{"id": "x", "text": "\xff"}', "invalid utf-8 at byte 21"),
    (b'{"id": "x", "text": "a\x00"}', "control character"),
    (b'{"id": "x", "text": ' + b"[" * 30_000 + b"}", "recursion"),
    (b'{"id": ' + b"9" * 5000 + b"}", "digits"),
    ("\ufeff".encode() + b'{"id": "x"}', "BOM"),
]


@pytest.mark.parametrize("wrong, reason", MALFORMED)
def test_a_malformed_line_stops_what_follows_or_is_passed_over_and_counted(
    client: httpx.Client, wrong: bytes, reason: str
) -> None:
    body = line("a") + b"\n" + line("b") + wrong + b"\n" + line("c")
    stopped = upload(client, body)
    message = refused(stopped, 422)
    assert message.startswith("row 4: ")
    assert reason in message
    assert "on_error=skip; 2 documents of this upload are durable" in message
    assert (stopped.json()["error"]["field"], ids(client)) == ("body.4", ["a", "b"])
    skipped = upload(client, body, on_error="skip").json()
    assert (skipped["read"], skipped["new"], skipped["documents"]) == (3, 1, 3)
    (malformed,) = skipped["malformed"]
    assert (malformed["row"], skipped["malformed_count"]) == (4, 1)
    assert reason in malformed["message"]


def test_many_malformed_lines_are_counted_and_the_first_thousand_told(client: httpx.Client) -> None:
    body = b"".join(line(n) + b"nonsense\n" + b'{"id": "x", "tags": [0.5]}\n' for n in range(1200))
    answer = upload(client, body, on_error="skip").json()
    assert (answer["read"], answer["malformed_count"], len(answer["malformed"])) == (1200, 2400, 1000)
    assert [one["row"] for one in answer["malformed"][:4]] == [2, 3, 5, 6]
    assert len(ids(client)) == 1000


@pytest.mark.parametrize("where", [0, 1])
@pytest.mark.parametrize("ended", [b"", b"\n"])
@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_gigantic_line_is_refused_and_what_came_before_it_is_kept(
    client: httpx.Client, where: int, ended: bytes, on_error: str
) -> None:
    long = b'{"id": "long", "text": "' + b"x" * 3_000_000 + b'"}'
    message = refused(upload(client, line("a") * where + long + ended, on_error=on_error), 413)
    assert message == (
        f"row {where + 1} is longer than 1,000,000 bytes: shorten it; {where} documents of this upload are durable"
    )
    assert ids(client) == ["a"] * where


def test_a_text_above_the_limit_is_refused_in_every_form(tmp_path: Path) -> None:
    Index.open(tmp_path / "docs.benzer", SETTINGS).close()
    with serving(tmp_path / "docs.benzer", "--max-text", "10") as (client, _):
        long = {"text": "x" * 11}
        answers = {
            "body.fields.text": client.put(f"{DOCS}/a", json={"fields": long}),
            "body.documents.1.fields.text": client.post(
                DOCS, json={"documents": [{"id": 1, "fields": {"text": "é" * 10}}, {"id": 2, "fields": long}]}
            ),
            "body.text": client.put(f"{DOCS}/a", files={"text": (None, "x" * 11)}),
            "body.1": upload(client, line("a", **long)),
        }
        for field, answer in answers.items():
            assert "11 characters, the limit is 10" in refused(answer, 422)
            assert answer.json()["error"]["field"] == field
        assert ids(client) == []


def cut(client: httpx.Client, body: bytes) -> None:
    """Begin an upload of twice as many bytes, and cut the connection when something of it is held."""
    address = (client.base_url.host, client.base_url.port or 0)
    head = f"POST {DOCS} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\n"
    with socket.create_connection(address) as connection:
        connection.sendall(f"{head}Content-Length: {2 * len(body)}\r\n\r\n".encode() + body)
        while not client.get("/v1/indexes/docs").json()["documents"]:
            time.sleep(0.02)


def test_of_a_connection_that_is_cut_whole_batches_are_kept_and_no_line_by_half(client: httpx.Client) -> None:
    lines = [line(number, text=f"text {number} " + "x" * 500) for number in range(2500)]
    cut(client, b"".join(lines)[:-30])
    held = client.get(DOCS, params={"limit": 1000}).json()
    count = client.get("/v1/indexes/docs").json()["documents"]
    assert 1000 <= count < 2500  # by batches, and not the last line
    assert [one["id"] for one in held["documents"]] == list(range(1000))
    with_all = upload(client, b"".join(lines)).json()  # a client sends it once more
    assert (with_all["read"], with_all["documents"]) == (2500, 2500)


def test_a_write_of_another_process_stops_an_upload_and_what_is_durable_is_told(tmp_path: Path) -> None:
    path = tmp_path / "docs.benzer"
    Index.open(path, SETTINGS).close()
    with serving(path) as (client, _), Index.open(path) as other:

        def body() -> Iterator[bytes]:
            for number in range(1000):
                yield line(number)
            while client.get("/v1/indexes/docs").json()["documents"] < 1000:
                time.sleep(0.02)
            other.add([("theirs", {"text": FOX})])
            for number in range(1000, 2000):
                yield line(number)

        answer = upload(client, body())
        message = refused(answer, 503)
        assert "1,000 documents of this upload are durable" in message
        assert (answer.json()["error"]["type"], answer.headers["retry-after"]) == ("StoreLockedError", "1")
        assert "docs.benzer" not in message
        other.rollback()
        assert upload(client, line("last")).json()["documents"] == 1001


def test_others_write_and_read_while_an_upload_goes_on(client: httpx.Client) -> None:
    def body() -> Iterator[bytes]:
        for number in range(3000):
            if number in (1500, 2500):
                put = client.put(f"{DOCS}/mine-{number}", json={"fields": {"text": FOX}})
                assert put.status_code == 201
                found = client.post("/v1/indexes/docs/similar", json={"fields": {"text": FOX}})
                assert f"mine-{number}" in {one["id"] for one in found.json()["matches"]}
            yield line(number)

    answer = upload(client, body()).json()
    assert (answer["read"], answer["new"], answer["documents"]) == (3000, 3000, 3002)


def test_lines_are_taken_where_they_belong_only(client: httpx.Client) -> None:
    for url in (f"{DOCS}/a", "/v1/indexes", "/v1/indexes/docs/similar"):
        method = "PUT" if url.endswith("/a") else "POST"
        refused(client.request(method, url, content=line("a"), headers=LINES), 415)
    assert "on_error" in refused(upload(client, b"", on_error="ignore"), 422)
    assert upload(client, b"").json()["read"] == 0


# Forms


def test_a_form_brings_a_part_for_each_field(client: httpx.Client) -> None:
    parts: dict[str, Any] = {"text": (None, "naïve 🦊"), "tags": (None, '["a", 7]')}
    assert client.put(f"{DOCS}/a", files=parts).json() == {"id": "a", "replaced": False}
    assert client.get(f"{DOCS}/a").json()["fields"] == {"text": "naïve 🦊", "tags": ["a", 7]}
    parts = {"text": ("x.txt", b"a file\n", "text/plain")}
    assert client.put(f"{DOCS}/a", files=parts).json() == {"id": "a", "replaced": True}
    assert client.get(f"{DOCS}/a").json()["fields"] == {"text": "a file\n", "tags": None}


WRONG_FORMS: list[tuple[Any, int, str, str | None]] = [
    ([("text", (None, "a")), ("text", (None, "b"))], 422, "more than once", "body.text"),
    ([("body", (None, "a"))], 422, "'body'", None),
    ([("tags", (None, "red"))], 422, "must be a JSON list", "body.tags"),
    ([("tags", (None, '"red"'))], 422, "'tags' must be a list", "body.tags"),
    ([("tags", (None, "[1.5]"))], 422, "got float", None),
    ([("text", ("x.txt", b"\xff"))], 422, "must be UTF-8 text: byte 0 is invalid", "body.text"),
    ([(f"f{n}", (None, "a")) for n in range(101)], 400, "Too many", None),
]  # fmt: skip


@pytest.mark.parametrize("parts, status, reason, field", WRONG_FORMS)
def test_a_wrong_form_is_refused(
    client: httpx.Client, parts: Any, status: int, reason: str, field: str | None
) -> None:
    answer = client.put(f"{DOCS}/a", files=parts)
    assert reason in refused(answer, status)
    assert field is None or answer.json()["error"]["field"] == field
    assert ids(client) == []


@pytest.mark.parametrize(
    "body", [b"", b"--x", b"--x\r\nContent-Disposition: nonsense\r\n\r\n--x--", b"\xff" * 100]
)
def test_a_form_that_cannot_be_read_is_refused(client: httpx.Client, body: bytes) -> None:
    for kind in ("multipart/form-data; boundary=x", "multipart/form-data"):
        answer = client.put(f"{DOCS}/a", content=body, headers={"Content-Type": kind})
        assert 400 <= answer.status_code < 500
        refused(answer, answer.status_code)
    assert ids(client) == []


# Pages


def test_documents_are_listed_in_order_of_arrival_page_by_page(client: httpx.Client) -> None:
    upload(client, b"".join(line(number) for number in range(25)))
    client.delete(f"{DOCS}/7")
    client.put(f"{DOCS}/3", json={"fields": {"text": "again"}})
    expected = [number for number in range(25) if number not in (3, 7)] + [3]
    seen: list[Any] = []
    after: str | None = None
    while True:
        page = client.get(DOCS, params={"limit": 10, **({"after": after} if after else {})}).json()
        seen += [one["id"] for one in page["documents"]]
        after = page["next"]
        if after is None:
            break
        assert len(page["documents"]) == 10
    assert seen == expected
    assert client.get(DOCS, params={"limit": 24}).json()["next"] is None
    first = client.get(DOCS, params={"limit": 1}).json()["documents"][0]
    assert first == {"id": 0, "fields": {"text": "text 0", "tags": None}}


@pytest.mark.parametrize(
    "query", [{"limit": 0}, {"limit": 1001}, {"after": "x"}, {"after": ""}, {"after": "é"}, {"after": "LTE"}]
)
def test_a_page_that_is_none_is_refused(client: httpx.Client, query: dict[str, Any]) -> None:
    assert "query." in refused(client.get(DOCS, params=query), 422)


def test_a_page_of_long_texts_is_shorter(client: httpx.Client) -> None:
    text = "x" * 900_000
    for number in range(12):
        assert client.put(f"{DOCS}/{number}", json={"fields": {"text": text}}).status_code == 201
    page = client.get(DOCS, params={"limit": 100}).json()
    assert 2 <= len(page["documents"]) < 12
    rest = client.get(DOCS, params={"after": page["next"]}).json()["documents"]
    assert page["documents"][-1]["id"] != rest[0]["id"]
    assert len(page["documents"]) + len(rest) == 12


# Ids


@pytest.mark.parametrize(
    "id",
    [
        "a/b",
        "/",
        "//",
        ".",
        "..",
        "../x",
        "%2F",
        "%",
        "?",
        "#",
        " ",
        "\n",
        "a\nb\n",
        "\0",
        "🦊",
        "é",
        "7",
        "-7",
    ],
)
def test_any_id_is_put_found_and_removed(client: httpx.Client, id: str) -> None:
    url = f"{DOCS}/{quote(id, safe='').replace('.', '%2E')}"
    upload(client, line(7) + line(-7))
    assert client.put(url, json={"fields": {"text": "by path"}}).status_code in (200, 201)
    assert client.get(url).json()["fields"]["text"] == "by path"
    upload(client, line(id, text="by line"))
    assert client.get(url).json() == {"id": id, "fields": {"text": "by line", "tags": None}}
    assert client.delete(url).status_code == 204


def test_a_number_and_its_text_are_two_documents(client: httpx.Client) -> None:
    assert upload(client, line(7, text="number") + line("7", text="text")).json()["new"] == 2
    assert client.get(f"{DOCS}/7").json()["id"] == "7"
    assert client.delete(f"{DOCS}/7").status_code == 204
    assert client.get(f"{DOCS}/7").json() == {"id": 7, "fields": {"text": "number", "tags": None}}


def test_a_text_with_a_lone_surrogate_is_treated_alike_in_every_form(client: httpx.Client) -> None:
    fields = {"text": "a \ud800 b"}
    body = json.dumps({"fields": fields})
    by_json = client.put(f"{DOCS}/a", content=body, headers=JSON)
    by_line = upload(client, line("b", **fields))
    assert by_json.status_code // 100 == by_line.status_code // 100
    assert by_json.status_code < 500
    if by_line.status_code == 200:
        held = [json.loads(client.get(f"{DOCS}/{id}").content)["fields"] for id in "ab"]
        assert held[0] == held[1]
