"""A service lets in whom its keys name, for what they may do and as often as they may; no page of another site asks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from benzer.document import Document
from benzer.index import Index
from benzer.service.keys import add_key, remove_key
from tests.doors.service import JSON, refused, serving
from tests.doors.shell import FOX, OTHER, answer, one_line, run

DOCS = "/v1/indexes/docs"
FRIEND = "https://friend.example"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
HTML = {"Accept": "text/html,application/xhtml+xml"}


class Locked(NamedTuple):
    """A service that asks for keys, and its keys."""

    client: httpx.Client
    file: Path
    reader: str
    writer: str


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("security")
    with Index.open(folder / "docs.benzer") as index:
        index.add([Document("fox", {"text": FOX}), Document("other", {"text": OTHER})])
    return folder


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Locked]:
    """A service with keys on an address that any machine reaches."""
    file = folder / "service.keys"
    reader, writer = add_key(file, "reader")[1], add_key(file, "writer", "write")[1]
    with serving(folder / "docs.benzer", "--keys", file, "--host", "0.0.0.0") as (client, _):
        yield Locked(client, file, reader, writer)


@pytest.fixture(autouse=True)
def logged_out(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    for name in ("service", "open_client"):
        if name in request.fixturenames:
            held = request.getfixturevalue(name)
            (held.client if isinstance(held, Locked) else held).cookies.clear()


@pytest.fixture(scope="module")
def open_client(folder: Path) -> Iterator[httpx.Client]:
    """A service without keys, which the pages of one other origin may ask."""
    with serving(folder / "docs.benzer", "--origin", FRIEND) as (client, _):
        yield client


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
    assert "'reader' may only read" in refused(response, 403)
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
def test_the_rest_is_not_not_even_whether_it_is_there(service: Locked, path: str) -> None:
    refused(service.client.get(path), 401)


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
    folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "lost.keys"
    _, key = add_key(file, "ci")
    held = file.read_bytes()
    with serving(folder / "docs.benzer", "--keys", file) as (client, _):
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


def test_the_description_says_which_key_is_needed(service: Locked, open_client: httpx.Client) -> None:
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
    assert "security" not in open_client.get("/openapi.json").json()


# How often


def test_each_key_has_a_rate_and_a_probe_none(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "rates.keys"
    _, slow = add_key(file, "slow", rate=2)
    _, fast = add_key(file, "fast", rate=1000)
    _, plain = add_key(file, "plain")
    with serving(folder / "docs.benzer", "--keys", file, "--rate", "4") as (client, _):

        def statuses(key: str, number: int) -> list[int]:
            return [client.get(DOCS, headers=bearer(key)).status_code for _ in range(number)]

        assert statuses(slow, 4) == [200, 200, 429, 429]
        assert statuses(plain, 6) == [200] * 4 + [429] * 2
        assert statuses(fast, 20) == [200] * 20
        response = client.get(DOCS, headers=bearer(slow))
        assert "more than 2 requests a minute with the key 'slow'" in refused(response, 429)
        assert 25 <= int(response.headers["retry-after"]) <= 30
        tried = [client.post("/login", json={"key": "guess"}).status_code for _ in range(6)]
        assert tried == [401] * 4 + [429] * 2
        assert {client.get(path).status_code for path in ["/health", "/ready"] * 5} == {200}


def test_without_keys_an_address_has_the_rate(folder: Path) -> None:
    with serving(folder / "docs.benzer", "--rate", "3") as (client, _):
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
    assert "not known" in refused(script, 401)
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
    (b"[" * 9_000, JSON, 400), (b'{"key": "a", "next": 5}', JSON, 401), (b"key=a", {"Content-Type": "text/plain"}, 415),
])  # fmt: skip
def test_a_login_that_cannot_be_read_is_refused(
    service: Locked, body: bytes, headers: dict[str, str], status: int
) -> None:
    refused(service.client.post("/login", content=body, headers=headers), status)


def test_where_no_keys_are_asked_for_a_login_leads_on(open_client: httpx.Client) -> None:
    done = open_client.post("/login", data={"key": "any", "next": "/tune"})
    assert (done.status_code, done.headers["location"]) == (303, "/tune")
    assert open_client.post("/login", json={"key": "any"}).json()["scopes"] == ["read", "write"]
    assert not open_client.cookies


# Pages of other sites

EVIL = {"documents": [{"id": "evil", "fields": {"text": "a"}}]}
MULTIPART = (
    b'--x\r\nContent-Disposition: form-data; name="documents"\r\n\r\n'
    + json.dumps(EVIL).encode()
    + b"\r\n--x--"
)
SENT_UNASKED = [
    (json.dumps(EVIL).encode(), "text/plain"),
    (json.dumps(EVIL).encode(), "application/json"),
    (json.dumps(EVIL["documents"][0]).encode(), "application/x-ndjson"),
    (b"documents=evil", "application/x-www-form-urlencoded"),
    (MULTIPART, "multipart/form-data; boundary=x"),
    (b"", ""),
]
FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "http://localhost:1", "Sec-Fetch-Site": "same-site"},  # another service of this machine
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "https://friend.example.evil.example"},
    {"Origin": "https://friend.example:444"},
    {"Origin": "http://friend.example"},
]


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize("body, media", SENT_UNASKED)
def test_a_page_of_another_site_can_have_nothing_changed(
    service: Locked, open_client: httpx.Client, headers: dict[str, str], body: bytes, media: str
) -> None:
    sent = {**headers, **({"Content-Type": media} if media else {})}
    service.client.post("/login", json={"key": service.writer})
    for client in (service.client, open_client):
        for method, path in (("POST", f"{DOCS}/documents"), ("PUT", f"{DOCS}/documents/evil")):
            response = client.request(method, path, content=body, headers=sent)
            assert "may not ask" in refused(response, 403)
            assert "access-control-allow-origin" not in response.headers
        assert client.get(DOCS).json()["documents"] == 2


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_page_of_another_site_can_neither_log_in_nor_out(service: Locked, headers: dict[str, str]) -> None:
    refused(service.client.post("/login", data={"key": service.reader}, headers=headers), 403)
    assert not service.client.cookies
    service.client.post("/login", json={"key": service.reader})
    refused(service.client.post("/logout", headers=headers), 403)
    assert service.client.get(DOCS).status_code == 200


def test_a_page_of_the_service_itself_may_ask(open_client: httpx.Client) -> None:
    own = str(open_client.base_url).rstrip("/")
    port = own.rpartition(":")[2]
    for headers in (
        {"Origin": own},
        {"Origin": own, "Sec-Fetch-Site": "same-origin"},
        {"Origin": f"http://localhost:{port}", "Host": f"localhost:{port}"},
        {"Origin": "https://benzer.example", "Sec-Fetch-Site": "same-origin"},  # a proxy put another Host
        {"Sec-Fetch-Site": "none"},
    ):
        assert open_client.post(f"{DOCS}/similar", json={"id": "fox"}, headers=headers).status_code == 200


def test_another_origin_that_is_named_may_ask_and_read_the_answers(open_client: httpx.Client) -> None:
    asked = {"Origin": FRIEND, "Sec-Fetch-Site": "cross-site"}
    preflight = {
        **asked,
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "authorization, content-type",
    }
    allowed = open_client.options(f"{DOCS}/documents/x", headers=preflight)
    assert allowed.status_code == 204
    assert allowed.headers["access-control-allow-origin"] == FRIEND
    assert "PUT" in allowed.headers["access-control-allow-methods"]
    assert allowed.headers["access-control-allow-headers"] == "Authorization, Content-Type"
    for response, status in (
        (open_client.post(f"{DOCS}/similar", json={"id": "fox"}, headers=asked), 200),
        (open_client.get(f"{DOCS}/documents/none", headers=asked), 404),
        (open_client.post(f"{DOCS}/similar", json={}, headers=asked), 422),
    ):
        assert response.status_code == status
        assert response.headers["access-control-allow-origin"] == FRIEND
        assert "Origin" in response.headers["vary"]
        assert "access-control-allow-credentials" not in response.headers


def test_a_preflight_of_a_named_origin_needs_no_key(folder: Path, service: Locked) -> None:
    preflight = {"Origin": FRIEND, "Access-Control-Request-Method": "POST"}
    with serving(folder / "docs.benzer", "--keys", service.file, "--origin", FRIEND) as (client, _):
        assert client.options(DOCS, headers=preflight).status_code == 204
        unknown = client.get(DOCS, headers={"Origin": FRIEND})
        assert (unknown.status_code, unknown.headers["access-control-allow-origin"]) == (401, FRIEND)


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
@pytest.mark.parametrize("origin", ["https://evil.example", "null", FRIEND])
def test_without_the_option_no_page_of_another_origin_reads_anything(
    service: Locked, method: str, origin: str
) -> None:
    headers = {"Origin": origin, "Access-Control-Request-Method": "GET", **bearer(service.reader)}
    response = service.client.request(method, DOCS, headers=headers)
    assert response.status_code == (200 if method == "GET" else 403)  # the browser keeps the answer to itself
    assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8000", "[::1", "", "friend.example.evil"]
)
def test_a_name_that_was_made_to_resolve_to_this_machine_is_refused(
    open_client: httpx.Client, host: str
) -> None:
    for path in (DOCS, "/", "/health"):
        refused(open_client.get(path, headers={"Host": host}), 403)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:8000", "LOCALHOST", "friend.example"])
def test_this_machine_may_be_called_by_its_names_and_those_of_named_origins(
    open_client: httpx.Client, host: str
) -> None:
    assert open_client.get(DOCS, headers={"Host": host}).status_code == 200


def test_with_keys_a_service_goes_by_any_name(service: Locked) -> None:
    named = {"Host": "benzer.example", **bearer(service.reader)}
    assert service.client.get(DOCS, headers=named).status_code == 200


# What a browser is told

POLICY = {
    "default-src": "'none'", "script-src": "'self'", "style-src": "'self'",
    "connect-src": "'self'", "form-action": "'self'", "base-uri": "'none'", "frame-ancestors": "'none'",
}  # fmt: skip


@pytest.mark.parametrize("method, path, kind", [
    ("GET", DOCS, "json"), ("GET", "/health", "json"), ("GET", "/openapi.json", "json"), ("GET", "/v1/nothing", "json"),
    ("POST", f"{DOCS}/similar", "json"), ("PATCH", DOCS, "json"), ("DELETE", f"{DOCS}/documents/none", "json"),
    ("GET", "/", "html"), ("GET", "/login", "html"), ("GET", "/static/x/none.css", "json"),
    ("GET", "/metrics", "plain"), ("GET", "/%ff", "json"),
])  # fmt: skip
@pytest.mark.parametrize("known", [True, False])
def test_every_answer_says_what_a_browser_may_do_with_it(
    service: Locked, method: str, path: str, kind: str, known: bool
) -> None:
    headers = bearer(service.reader) if known else {}
    response = service.client.request(method, path, headers=headers)
    secured(response)
    if response.headers["content-type"].startswith("text/html"):
        assert kind == "html"
        assert policy(response).items() >= POLICY.items()
        assert set(policy(response)["img-src"].split()) <= {"'self'", "data:", "blob:"}
    else:
        assert policy(response)["default-src"] == "'none'"
        assert "script-src" not in policy(response)
        assert response.headers["cache-control"] == "no-store"


def secured(response: httpx.Response) -> None:
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "same-origin"
    assert response.headers["cross-origin-opener-policy"] == "same-origin"
    assert response.headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in response.headers["permissions-policy"]
    assert "server" not in response.headers


def policy(response: httpx.Response) -> dict[str, str]:
    directives = response.headers["content-security-policy"].split("; ")
    return dict(one.partition(" ")[::2] for one in directives)


def test_static_files_may_be_kept_and_are_secured(service: Locked) -> None:
    page = service.client.get("/login").text
    places = sorted(set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page)))
    assert places
    for place in places:
        response = service.client.get(place)
        assert response.status_code == 200
        assert "max-age=31536000" in response.headers["cache-control"]
        secured(response)


def test_a_page_needs_nothing_that_its_policy_forbids(service: Locked) -> None:
    service.client.post("/login", json={"key": service.writer})
    for path in ("/", "/login", "/indexes"):
        page = service.client.get(path).text
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", page), path


def test_a_refusal_by_a_guard_and_a_redirect_are_secured_too(
    service: Locked, open_client: httpx.Client
) -> None:
    for response in (
        open_client.get("/", headers={"Host": "evil.example"}),
        service.client.get("/", headers=HTML),
        service.client.post("/login", json={"key": service.reader}),
        service.client.post(
            DOCS, content=b"x" * 10, headers={"Content-Type": "text/plain", **bearer(service.writer)}
        ),
    ):
        secured(response)
        assert response.headers["cache-control"] == "no-store"


def test_no_error_names_a_place_on_the_server(service: Locked, folder: Path) -> None:
    key = bearer(service.writer)
    answers = [
        service.client.request(method, path, headers={**key, **headers}, content=body)
        for method, path, headers, body in (
            ("GET", "/v1/indexes/none", {}, None),
            ("GET", "/v1/indexes/..%2Fdocs", {}, None),
            ("GET", "/static/..%2F..%2F..%2Fapp.py", {}, None),
            ("GET", "/static/x/..%2F..%2Fapp.py", {}, None),
            ("POST", "/v1/indexes", JSON, b'{"name": "../x"}'),
            ("POST", "/v1/indexes", JSON, b'{"name": "x"}'),
            ("DELETE", DOCS, {}, None),
            ("GET", f"{DOCS}/documents/..%2F..%2Fetc%2Fpasswd", {}, None),
            ("POST", f"{DOCS}/similar", JSON, b'{"fields": {"text": 5}}'),
            ("POST", "/v1/compare", JSON, b'{"index": "/etc/passwd", "a": {"id": "a"}, "b": {"id": "b"}}'),
        )
    ]
    for response in answers:
        assert 400 <= response.status_code < 500, response.text
        assert str(folder) not in response.text
        assert "site-packages" not in response.text
        assert "Traceback" not in response.text


# How it starts


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org", ""])
def test_an_address_that_others_reach_is_refused_without_keys(folder: Path, host: str) -> None:
    said = one_line(run("serve", str(folder / "docs.benzer"), "--host", host, status=2))
    assert "--keys FILE" in said


@pytest.mark.parametrize("options, reason", [
    (["--keys", "none.keys"], "none.keys: No such file"),
    (["--keys", "broken.keys"], "holds no keys"),
    (["--origin", "*"], "such as https://example.org, got '\\*'"),
    (["--origin", "https://a.example/"], "an origin is"),
    (["--origin", "null"], "an origin is"),
    (["--rate", "0"], "--rate"),
])  # fmt: skip
def test_a_service_does_not_start_with_guards_that_cannot_work(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.keys").write_text("{}")
    Path("broken.keys").chmod(0o600)
    assert re.search(reason, one_line(run("serve", str(folder / "docs.benzer"), *options, status=2)))


# The command


def test_the_command_shows_a_key_once_and_lists_and_removes_it(tmp_path: Path) -> None:
    file = str(tmp_path / "service.keys")
    secret = run("keys", "add", file, "--name", "ci", "--scope", "write", "--rate", "90").stdout
    assert re.fullmatch(r"bz_[0-9a-f]{8}_[\w-]{43}\n", secret)
    assert re.search(r"ci +[0-9a-f]{8} +write +90 a minute +\d{4}-", run("keys", "list", file).stdout)
    (listed,) = answer("keys", "list", file)["keys"]
    assert (listed["name"], listed["scopes"], listed["rate"]) == ("ci", ["read", "write"], 90)
    assert "sha256" not in listed
    assert "already" in one_line(run("keys", "add", file, "--name", "ci", status=2))
    assert answer("keys", "remove", file, listed["id"])["removed"]["name"] == "ci"
    assert run("keys", "list", file).stdout == "no keys\n"
    assert "no key 'ci'" in one_line(run("keys", "remove", file, "ci", status=2))
    assert "No such file" in one_line(run("keys", "remove", str(tmp_path / "no" / "x"), "ci", status=2))
    assert not (tmp_path / "no").exists()


def test_a_removed_key_is_removed_for_python_too(tmp_path: Path) -> None:
    key, _ = add_key(tmp_path / "k", "a")
    assert remove_key(tmp_path / "k", "a") == key
