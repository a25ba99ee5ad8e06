"""A service lets in whom its keys name, for what they may do, as often as they may, and by a session from pages."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from benzer.service import ServiceOptions
from benzer.service.app import create_app
from benzer.service.indexes.catalog import Catalog
from benzer.service.keys import add_key, remove_key
from benzer.service.telemetry.logs import Log
from tests.doors.locked import DOCS, HTML, Locked, ask, bearer, locked
from tests.doors.service import JSON, refused, serving
from tests.doors.shell import answer, one_line, run

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    with locked(tmp_path_factory.mktemp("keys")) as running:
        yield running


@pytest.fixture
def service(running: Locked) -> Locked:
    """A service with keys, and a client that has not logged in."""
    running.client.cookies.clear()
    return running


@pytest.fixture(scope="module")
def path(running: Locked) -> Path:
    """The index that it serves, for other services of it."""
    return running.file.with_name("docs.benzer")


# Who is let in

READING = [
    ("GET", DOCS, None), ("GET", "/v1/indexes", None), ("GET", f"{DOCS}/documents/fox", None),
    ("POST", f"{DOCS}/similar", {"id": "fox"}), ("POST", f"{DOCS}/similar/batch", {"questions": [{"id": "fox"}]}),
    ("POST", f"{DOCS}/nearest", {"id": "fox"}), ("POST", "/v1/compare", {"a": {"text": "a"}, "b": {"text": "b"}}),
]  # fmt: skip
WRITING = [
    ("POST", f"{DOCS}/documents", {"documents": []}),
    ("PUT", f"{DOCS}/documents/new", {"fields": {"text": "new"}}),
    ("DELETE", f"{DOCS}/documents/new", None),
]


@pytest.mark.parametrize("method, path, body", [*READING, *WRITING])
@pytest.mark.parametrize("key", [None, "x", "bz_00000000_" + "A" * 43, "é"])
def test_without_a_known_key_nothing_is_answered(
    service: Locked, method: str, path: str, body: Any, key: str | None
) -> None:
    headers = {} if key is None else {"Authorization": f"Bearer {key}".encode()}
    response = service.client.request(method, path, json=body, headers=headers)
    assert "key" in refused(response, 401)
    assert response.headers["www-authenticate"] == "Bearer"


def test_an_unknown_key_is_told_the_same_whatever_it_looks_like(service: Locked) -> None:
    known_id = service.reader.rpartition("_")[0]
    sent = [
        "nonsense", "bz_00000000_" + "A" * 43, service.reader[:-1], service.reader + "A", f"{known_id}_{'A' * 43}",
        service.writer.replace(service.writer[3:11], service.reader[3:11]), "A" * 10_000,
    ]  # fmt: skip
    answers = [service.client.get(DOCS, headers=bearer(key)) for key in sent]
    assert {(one.status_code, one.text, one.headers["www-authenticate"]) for one in answers} == {
        (401, answers[0].text, "Bearer")
    }
    basic = service.client.get(DOCS, headers={"Authorization": f"Basic {service.reader}"})
    assert (basic.status_code, basic.text) == (401, answers[0].text)


@pytest.mark.parametrize("method, path, body", READING)
def test_a_key_that_may_read_may_ask_also_by_post(service: Locked, method: str, path: str, body: Any) -> None:
    for key in (service.reader, service.writer):
        assert service.client.request(method, path, json=body, headers=bearer(key)).status_code == 200


@pytest.mark.parametrize("method, path, body", [
    *WRITING, ("POST", "/v1/indexes", {"name": "x"}), ("DELETE", DOCS, None), ("POST", "/nothing", {}),
    ("PATCH", DOCS, {}), ("POST", f"{DOCS}/similar/", {"id": "fox"}), ("PUT", f"{DOCS}/similar", {"id": "fox"}),
])  # fmt: skip
def test_a_key_that_may_only_read_changes_nothing(service: Locked, method: str, path: str, body: Any) -> None:
    response = service.client.request(method, path, json=body, headers=bearer(service.reader))
    assert "'reader' is read-only" in refused(response, 403)
    assert service.client.get(DOCS, headers=bearer(service.reader)).json()["documents"] == 2


def test_a_key_that_may_write_changes_documents(service: Locked) -> None:
    for method, path, body in WRITING:
        response = service.client.request(method, path, json=body, headers=bearer(service.writer))
        assert response.status_code in (200, 201, 204), response.text


@pytest.mark.parametrize("path", ["/health", "/ready", "/openapi.json", "/login"])
def test_what_says_nothing_of_the_documents_is_answered_to_all(service: Locked, path: str) -> None:
    assert service.client.get(path).status_code == 200
    assert service.client.get(path, headers=bearer("unknown")).status_code == 200


@pytest.mark.parametrize(
    "path", ["/metrics", "/nothing", "/v1", "/health/", "/healthy", "/login/x", "//health"]
)
def test_of_the_rest_nobody_learns_even_whether_it_is_there(service: Locked, path: str) -> None:
    refused(service.client.get(path), 401)


def test_a_job_is_seen_by_the_key_that_started_it_and_by_those_that_may_write(service: Locked) -> None:
    other = bearer(add_key(service.file, "another")[1])
    mine, writer = bearer(service.reader), bearer(service.writer)
    asked = {"documents": [{"id": "secret", "fields": {"text": "one two three four"}}]}
    job = service.client.post("/v1/duplicates", json=asked, headers=mine).json()["id"]
    for path in (f"/v1/duplicates/{job}", f"/v1/duplicates/{job}/kept", f"/v1/duplicates/{job}/summary"):
        assert "see GET /v1/duplicates for all jobs" in refused(service.client.get(path, headers=other), 404)
    for method, path in (("POST", f"/v1/duplicates/{job}/cancel"), ("DELETE", f"/v1/duplicates/{job}")):
        assert "see GET /v1/duplicates for all jobs" in refused(
            service.client.request(method, path, headers=other), 404
        )
    assert service.client.get("/v1/duplicates", headers=other).json() == {"jobs": []}
    for headers in (mine, writer):
        assert [
            one["id"] for one in service.client.get("/v1/duplicates", headers=headers).json()["jobs"]
        ] == [job]
    assert service.client.post(f"/v1/duplicates/{job}/cancel", headers=writer).status_code == 200
    assert service.client.delete(f"/v1/duplicates/{job}", headers=mine).status_code == 204
    remove_key(service.file, "another")


def test_a_key_works_as_soon_as_it_is_made_and_no_longer_than_it_is_there(service: Locked) -> None:
    made = answer("keys", "add", str(service.file), "--name", "guest", "--scope", "write")
    assert service.client.get(DOCS, headers=bearer(made["key"])).status_code == 200
    login = service.client.post("/login", json={"key": made["key"]})
    assert login.json() == {"name": "guest", "scopes": ["read", "write"]}
    assert service.client.get(DOCS).status_code == 200
    run("keys", "remove", str(service.file), "guest")
    refused(service.client.get(DOCS, headers=bearer(made["key"])), 401)
    refused(service.client.get(DOCS), 401)  # its session has ended, too


def test_while_its_keys_cannot_be_read_a_service_lets_nobody_in_and_does_not_say_where_they_lie(
    path: Path, tmp_path: Path
) -> None:
    file = tmp_path / "lost.keys"
    _, key = add_key(file, "ci")
    held = file.read_bytes()
    with serving(path, "--keys", file) as (client, _):
        assert client.get(DOCS, headers=bearer(key)).status_code == 200
        for break_it in (file.unlink, lambda: file.write_text("{")):
            break_it()
            response = client.get(DOCS, headers=bearer(key))
            assert str(tmp_path) not in refused(response, 503)
            assert response.headers["retry-after"]
            assert str(tmp_path) not in refused(client.post("/login", json={"key": key}), 503)
            assert client.get("/health").status_code == 200
        file.write_bytes(held)
        assert client.get(DOCS, headers=bearer(key)).status_code == 200


def test_the_log_says_once_why_nobody_is_let_in(
    path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "lost.keys"
    _, key = add_key(file, "ci")
    with Catalog() as catalog:
        app = create_app(catalog, ServiceOptions(keys=file))
        file.unlink()
        answers = [ask(app, "/v1/indexes", bearer(key)) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [503] * 3
    assert [str(file) in record.getMessage() for record in caplog.records] == [True]


def test_the_log_names_the_key_of_each_request_and_gives_none_away(tmp_path: Path) -> None:
    file, lines = tmp_path / "service.keys", io.StringIO()
    _, key = add_key(file, "ci")
    with Catalog() as catalog, Log("json", stream=lines) as log:
        app = create_app(catalog, ServiceOptions(keys=file), log)
        for sent in (bearer(key), bearer(key + "x"), {"Cookie": f"benzer_session={key}"}):
            ask(app, f"/v1/indexes?key={key}", sent)
    requests = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [(one["status"], one["key"], one["error"]) for one in requests] == [
        (200, "ci", None),
        (401, None, "KeyError"),
        (401, None, "KeyError"),
    ]
    assert key not in lines.getvalue()


def test_the_description_says_which_key_is_needed(service: Locked) -> None:
    described = service.client.get("/openapi.json").json()
    assert described["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert described["security"] == [{"key": []}]
    scopes = {
        (path, method): one.get("x-benzer-scope")
        for path, operations in described["paths"].items()
        for method, one in operations.items()
    }
    assert scopes["/health", "get"] is None
    assert described["paths"]["/health"]["get"]["security"] == []
    assert scopes["/v1/indexes/{index}/similar", "post"] == "read"
    assert scopes["/v1/indexes/{index}/documents", "post"] == "write"
    assert scopes["/v1/indexes/{index}", "get"] == "read"
    with Catalog() as catalog:
        assert "security" not in ask(create_app(catalog), "/openapi.json").json()


# How often


def test_each_key_has_a_rate_and_a_probe_none(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "rates.keys"
    _, slow = add_key(file, "slow", rate=2)
    _, fast = add_key(file, "fast", rate=1000)
    _, plain = add_key(file, "plain")
    with serving(path, "--keys", file, "--rate", "4") as (client, _):

        def statuses(key: str, number: int) -> list[int]:
            return [client.get(DOCS, headers=bearer(key)).status_code for _ in range(number)]

        assert statuses(slow, 4) == [200, 200, 429, 429]
        assert statuses(plain, 6) == [200] * 4 + [429] * 2
        assert statuses(fast, 20) == [200] * 20
        response = client.get(DOCS, headers=bearer(slow))
        assert "more than 2 requests per minute with the key 'slow'" in refused(response, 429)
        assert 25 <= int(response.headers["retry-after"]) <= 30
        tried = [client.post("/login", json={"key": "guess"}).status_code for _ in range(6)]
        assert tried == [401] * 4 + [429] * 2
        assert {client.get(path).status_code for path in ["/health", "/ready"] * 5} == {200}


def test_without_keys_an_address_has_the_rate(path: Path) -> None:
    with serving(path, "--rate", "3") as (client, _):
        answers = [client.get(DOCS) for _ in range(5)]
        assert [one.status_code for one in answers] == [200] * 3 + [429] * 2
        assert 15 <= int(answers[-1].headers["retry-after"]) <= 20


# Sessions


def test_a_page_without_a_session_leads_to_the_login_and_back(service: Locked) -> None:
    sent = service.client.get("/?index=docs&q=a%20b", headers=HTML)
    assert sent.status_code == 303
    assert sent.headers["location"] == "/login?next=/%3Findex%3Ddocs%26q%3Da%2520b"
    back = httpx.URL(sent.headers["location"]).params["next"]
    done = service.client.post("/login", data={"key": f" {service.reader}\n", "next": back})
    assert (done.status_code, done.headers["location"]) == (303, "/?index=docs&q=a%20b")
    page = service.client.get(done.headers["location"], headers=HTML)
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    refused(service.client.get("/v1/indexes", headers={**HTML, "Cookie": "benzer_session=no"}), 401)


def test_a_session_may_do_what_its_key_may_and_a_key_that_is_sent_goes_first(service: Locked) -> None:
    service.client.post("/login", json={"key": service.reader})
    assert service.client.post(f"{DOCS}/similar", json={"id": "fox"}).status_code == 200
    refused(service.client.post(f"{DOCS}/documents", json={"documents": []}), 403)
    sent = service.client.post(f"{DOCS}/documents", json={"documents": []}, headers=bearer(service.writer))
    assert sent.status_code == 200
    refused(service.client.get(DOCS, headers=bearer("unknown")), 401)


def test_the_cookie_is_for_this_site_and_no_script(service: Locked) -> None:
    cookie = service.client.post("/login", json={"key": service.reader}).headers["set-cookie"]
    value, *flags = cookie.split("; ")
    assert re.fullmatch(r"benzer_session=[\w-]{43}", value)
    assert service.reader not in cookie
    assert {flag.lower() for flag in flags} == {"httponly", "samesite=strict", "path=/", "max-age=43200"}
    by_tls = service.client.post(
        "/login", json={"key": service.reader}, headers={"X-Forwarded-Proto": "https"}
    )
    assert "; secure" in by_tls.headers["set-cookie"].lower()


def test_a_logout_ends_the_session_and_not_only_the_cookie(service: Locked) -> None:
    service.client.post("/login", json={"key": service.reader})
    cookie = f"benzer_session={service.client.cookies['benzer_session']}"
    out = service.client.post("/logout")
    assert (out.status_code, out.headers["location"]) == (303, "/login")
    assert "benzer_session" not in service.client.cookies
    refused(service.client.get(DOCS, headers={"Cookie": cookie}), 401)


def test_a_new_login_ends_the_session_before_it(service: Locked) -> None:
    service.client.post("/login", json={"key": service.reader})
    cookie = f"benzer_session={service.client.cookies['benzer_session']}"
    service.client.post("/login", json={"key": service.writer})
    assert service.client.get(DOCS).status_code == 200
    service.client.cookies.clear()
    refused(service.client.get(DOCS, headers={"Cookie": cookie}), 401)


def test_a_wrong_key_is_told_by_the_page_or_in_json(service: Locked) -> None:
    form = service.client.post("/login", data={"key": "wrong", "next": "/tune"})
    assert (form.status_code, form.headers["location"]) == (303, "/login?failed=1&next=%2Ftune")
    script = service.client.post("/login", json={"key": "wrong"})
    assert "unknown key" in refused(script, 401)
    assert not service.client.cookies


@pytest.mark.parametrize("place", [
    "//evil.example", "/\\evil.example", "https://evil.example", "evil", "", "/\t/evil.example", "/a\r\nX: y", "\\",
    "/é",
])  # fmt: skip
def test_a_login_leads_nowhere_but_into_the_service(service: Locked, place: str) -> None:
    done = service.client.post("/login", data={"key": service.reader, "next": place})
    assert (done.status_code, done.headers["location"]) == (303, "/")
    assert "x" not in done.headers


@pytest.mark.parametrize("body, headers, status", [
    (b"", FORM, 422), (b"next=/", FORM, 422), (b"\xff", FORM, 400), (b"key=" + b"a" * 20_000, FORM, 413),
    (b"&".join([b"key=a"] * 50), FORM, 400), (b"{", JSON, 400), (b"[]", JSON, 422), (b'{"key": 5}', JSON, 422),
    (b"[" * 4_000, JSON, 400), (b'{"key": "a", "next": 5}', JSON, 401), (b"key=a", {"Content-Type": "text/plain"}, 415),
])  # fmt: skip
def test_a_login_that_cannot_be_read_is_refused(
    service: Locked, body: bytes, headers: dict[str, str], status: int
) -> None:
    refused(service.client.post("/login", content=body, headers=headers), status)


# How it starts


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org", ""])
def test_an_address_that_others_reach_is_refused_without_keys(path: Path, host: str) -> None:
    said = one_line(run("serve", str(path), "--host", host, status=2))
    assert "--keys FILE" in said


@pytest.mark.parametrize("options, reason", [
    (["--keys", "none.keys"], "create it with benzer keys add none.keys"),
    (["--keys", "broken.keys"], "is not a valid key file"),
    (["--origin", "*"], "e.g. https://example.org, got '\\*'"),
    (["--origin", "https://a.example/"], "an origin must be"),
    (["--origin", "null"], "an origin must be"),
    (["--rate", "0"], "--rate"),
])  # fmt: skip
def test_a_service_does_not_start_with_guards_that_cannot_work(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.keys").write_text("{}")
    Path("broken.keys").chmod(0o600)
    assert re.search(reason, one_line(run("serve", str(path), *options, status=2)))


# The command


def test_the_command_shows_a_key_once_and_lists_and_removes_it(tmp_path: Path) -> None:
    file = str(tmp_path / "service.keys")
    secret = run("keys", "add", file, "--name", "ci", "--scope", "write", "--rate", "90").stdout
    assert re.fullmatch(r"bz_[0-9a-f]{8}_[\w-]{43}\n", secret)
    assert re.search(r"ci +[0-9a-f]{8} +write +90 per minute +\d{4}-", run("keys", "list", file).stdout)
    (listed,) = answer("keys", "list", file)["keys"]
    assert (listed["name"], listed["scopes"], listed["rate"]) == ("ci", ["read", "write"], 90)
    assert "sha256" not in listed
    assert "already" in one_line(run("keys", "add", file, "--name", "ci", status=2))
    assert answer("keys", "remove", file, listed["id"])["removed"]["name"] == "ci"
    assert run("keys", "list", file).stdout == "no keys\n"
    assert "key 'ci' does not exist" in one_line(run("keys", "remove", file, "ci", status=2))
    assert "No such file" in one_line(run("keys", "remove", str(tmp_path / "no" / "x"), "ci", status=2))
    assert not (tmp_path / "no").exists()


def test_a_removed_key_is_removed_for_python_too(tmp_path: Path) -> None:
    key, _ = add_key(tmp_path / "k", "a")
    assert remove_key(tmp_path / "k", "a") == key
