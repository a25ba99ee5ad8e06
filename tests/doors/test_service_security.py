"""No page of another site has a service do anything, and every answer says what a browser may do with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from benzer.service import create_app
from benzer.service.indexes.catalog import Catalog
from tests.doors.locked import DOCS, FRIEND, HTML, Locked, ask, bearer, locked
from tests.doors.service import JSON, refused, serving


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    with locked(tmp_path_factory.mktemp("security")) as running:
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


@pytest.fixture(scope="module")
def open_client(path: Path) -> Iterator[httpx.Client]:
    """A service without keys, which the pages of one other origin may ask."""
    with serving(path, "--origin", FRIEND) as (client, _):
        yield client


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
            assert "may not send requests" in refused(response, 403)
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
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == FRIEND
    assert "PUT" in allowed.headers["access-control-allow-methods"]
    listed = allowed.headers["access-control-allow-headers"].split(", ")
    assert {"Authorization", "Content-Type", "X-Request-ID"} <= set(listed)
    for response, status in (
        (open_client.post(f"{DOCS}/similar", json={"id": "fox"}, headers=asked), 200),
        (open_client.get(f"{DOCS}/documents/none", headers=asked), 404),
        (open_client.post(f"{DOCS}/similar", json={}, headers=asked), 422),
    ):
        assert response.status_code == status
        assert response.headers["access-control-allow-origin"] == FRIEND
        assert "Origin" in response.headers["vary"]
        assert "access-control-allow-credentials" not in response.headers


def test_a_preflight_of_another_origin_is_refused(open_client: httpx.Client) -> None:
    preflight = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    response = open_client.options(DOCS, headers=preflight)
    assert "may not send requests" in refused(response, 403)
    assert "access-control-allow-origin" not in response.headers


def test_a_preflight_of_a_named_origin_needs_no_key(path: Path, service: Locked) -> None:
    preflight = {"Origin": FRIEND, "Access-Control-Request-Method": "POST"}
    with serving(path, "--keys", service.file, "--origin", FRIEND) as (client, _):
        assert client.options(DOCS, headers=preflight).status_code == 200
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
        assert set(policy(response)["img-src"].split()) <= {"'self'", "blob:"}
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


def test_an_error_that_nobody_foresaw_is_secured_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Catalog) -> Iterator[str]:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(Catalog, "__iter__", fail)
    with Catalog() as catalog:
        response = ask(create_app(catalog), "/v1/indexes")
    assert "secret" not in refused(response, 500)
    secured(response)


def test_no_error_names_a_place_on_the_server(service: Locked) -> None:
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
        assert str(service.file.parent) not in response.text
        assert "site-packages" not in response.text
        assert "Traceback" not in response.text


def test_where_no_keys_are_asked_for_a_login_leads_on(open_client: httpx.Client) -> None:
    done = open_client.post("/login", data={"key": "any", "next": "/tune"})
    assert (done.status_code, done.headers["location"]) == (303, "/tune")
    assert open_client.post("/login", json={"key": "any"}).json()["scopes"] == ["read", "write"]
    assert not open_client.cookies
