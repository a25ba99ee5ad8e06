"""Every page is sent under a strict policy, holds nothing that runs but its own files, and escapes what it is given."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import httpx
import pytest

from benzer.document import Document
from benzer.fields import Schema
from benzer.index import Index, IndexSettings
from benzer.service import ServiceOptions, create_app
from benzer.service.indexes.catalog import Catalog
from benzer.service.pages.described import Operation, operations
from benzer.service.pages.rendering import NAVIGATION
from tests.doors.report_page import Element, Page
from tests.doors.service import curl, refused, serving

SCRIPT = "<script>alert(1)</script>"
HOSTILE = [
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "' onload='alert(1)",
    "{{ 7 * 7 }}",
    "a\0b",
    "\u202egnp.exe",
    "é东🦊",
]
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
PAGES = [
    "/",
    "/duplicates",
    "/tune",
    "/indexes",
    "/indexes/hostile",
    "/indexes/demo",
    "/docs",
    "/login",
    "/?index=demo&q=fox&id=1",
]
POLICY = {
    "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
    "form-action": "'self'", "base-uri": "'none'", "frame-ancestors": "'none'",
}  # fmt: skip
STATIC = files("benzer.service.pages").joinpath("static")
SOURCES = sorted(one.name for one in STATIC.iterdir())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index `demo` of texts; and one whose fields and documents are called what no one should be called."""
    folder = tmp_path_factory.mktemp("pages")
    with Index.open(folder / "demo.benzer", IndexSettings(threshold=0.5, passages=True)) as index:
        index.add(
            [Document("1", {"text": "one two three four"}), Document("fox", {"text": "a fox jumps over"})]
        )
    fields = {SCRIPT: {"type": "text"}, '"&\u202e': {"type": "values", "weight": 2.0}}
    with Index.open(folder / "hostile.benzer", IndexSettings(Schema.from_dict(fields))) as index:
        index.add([Document(one, {SCRIPT: one}) for one in HOSTILE])
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    with serving(folder / "demo.benzer", folder / "hostile.benzer", "--home", folder / "home") as (client, _):
        yield client


@pytest.fixture(scope="module")
def guarded(folder: Path) -> Iterator[tuple[httpx.Client, dict[str, str]]]:
    """A service that asks for keys, and the keys by their scope."""
    keys = {}
    for scope in ("read", "write"):
        command = [
            sys.executable,
            "-m",
            "benzer",
            "keys",
            "add",
            str(folder / "keys"),
            "--name",
            f"<{scope}>",
            "--scope",
            scope,
        ]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        keys[scope] = said.split()[-1]
    with serving("--home", folder / "other", "--keys", folder / "keys") as (client, _):
        yield client, keys


def got(client: httpx.Client, path: str, status: int = 200, **headers: str) -> Element:
    """A page, parsed; an element that is not closed, or an attribute that stands twice, is a fault."""
    answer = client.get(path, headers={**BROWSER, **headers})
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.text.startswith("<!doctype html>")
    return Page(answer.text).root


def shown(element: Element) -> Iterator[Element]:
    """The elements of a page that a script need not fill in first."""
    for one in element.within:
        if "hidden" not in one.attributes:
            yield one
            yield from shown(one)


# What a page may hold


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_sent_under_a_policy_that_lets_its_own_files_run_and_nothing_else(
    client: httpx.Client, path: str
) -> None:
    headers = client.get(path, headers=BROWSER).headers
    policy = dict(one.split(" ", 1) for one in headers["content-security-policy"].split("; "))
    assert {name: policy[name] for name in POLICY} == POLICY
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize("path", [*PAGES, "/nothing"])
def test_a_page_has_no_script_and_no_style_of_its_own_and_asks_no_other_host(
    client: httpx.Client, path: str
) -> None:
    page = got(client, path, 404 if path == "/nothing" else 200)
    assert not page.all("style")
    for one in page.all():
        assert not [name for name in one.attributes if name.startswith("on") or name == "style"], one
        for name in ("src", "href", "action"):
            assert one.attributes.get(name, "/").startswith(("/", "#")), one
            assert not one.attributes.get(name, "/").startswith("//"), one
    scripts = page.all("script")
    assert scripts
    assert all(one.attributes["type"] == "module" and not one.words for one in scripts)


@pytest.mark.parametrize("path", PAGES)
def test_each_file_that_a_page_loads_is_there_and_can_be_kept(client: httpx.Client, path: str) -> None:
    page = got(client, path)
    files = [one for one in page.all() if one.tag in ("script", "link", "img")]
    loaded = [one.attributes.get("src", one.attributes.get("href", "")) for one in files]
    assert len(loaded) >= 3
    for one in loaded:
        answer = client.get(one)
        assert (answer.status_code, "immutable" in answer.headers["cache-control"]) == (200, True)


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith(".js")])
def test_a_script_imports_what_is_there_and_makes_no_markup_of_texts(name: str) -> None:
    text = STATIC.joinpath(name).read_text(encoding="utf-8")
    for imported, of in re.findall(r"import \{([^}]+)\} from \"\./([^\"]+)\"", text):
        exported = STATIC.joinpath(of).read_text(encoding="utf-8")
        for one in imported.split(","):
            assert re.search(rf"export (async )?(function|class|const|let) {one.strip()}\b", exported), (
                of,
                one,
            )
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\"style\"", text
    )
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith(".css")])
def test_a_style_sheet_asks_for_nothing(name: str) -> None:
    assert not re.search(r"url\(|@import", STATIC.joinpath(name).read_text(encoding="utf-8"))


def test_a_file_of_another_version_is_asked_for_again_and_an_unknown_one_is_not_there(
    client: httpx.Client,
) -> None:
    assert client.get("/static/0123/base.css").headers["cache-control"] == "no-cache"
    assert "other.css" in refused(client.get("/static/0123/other.css"), 404)
    assert client.get("/static/0123/..%2Frendering.py").status_code == 404


# What is easy to use


@pytest.mark.parametrize("path", PAGES)
def test_all_controls_have_names_and_all_that_is_referred_to_is_there(
    client: httpx.Client, path: str
) -> None:
    page = got(client, path)
    ids = [one.attributes["id"] for one in page.all() if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    labelled = {one.attributes.get("for") for one in page.all("label")}
    wrapped = {id(inner) for one in page.all("label") for inner in one.all()}
    for one in shown(page):
        if one.tag in ("input", "select", "textarea") and one.attributes.get("type") != "hidden":
            named = "aria-label" in one.attributes or id(one) in wrapped
            assert named or one.attributes.get("id") in labelled, one
        if one.tag in ("button", "a"):
            assert one.words.strip() or one.attributes.get("aria-label"), one
        for name in ("aria-labelledby", "aria-describedby", "aria-controls", "for"):
            assert set(one.attributes.get(name, "").split()) <= set(ids), (name, one)
        if one.attributes.get("href", "").startswith("#"):
            assert one.attributes["href"][1:] in ids, one
    assert len(page.all("h1")) == 1
    assert page.all("html")[0].attributes["lang"] == "en"
    assert page.all("a")[0].attributes["href"] == "#main"


@pytest.mark.parametrize("path", PAGES)
def test_a_page_links_what_tells_the_same_in_json(client: httpx.Client, path: str) -> None:
    twin = got(client, path).named("twin")
    answer = client.get(twin.attributes["href"], headers=BROWSER)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")


def test_the_page_that_is_shown_is_marked_among_those_there_are(client: httpx.Client) -> None:
    for path, name in NAVIGATION:
        answer = client.get(path, headers=BROWSER)
        if answer.status_code == 200:
            links = [one for one in Page(answer.text).root.all("a") if "aria-current" in one.attributes]
            assert [one.words for one in links] == [name]


# What is escaped


def test_names_of_fields_are_shown_as_they_are(client: httpx.Client) -> None:
    page = got(client, "/indexes/hostile")
    (words,) = page.all(kind="words")
    assert (
        f"The field “{SCRIPT}” is compared as a text, by shingles of 3 words, with a weight of 1."
        in words.words
    )
    assert 'The field “"&\u202e” is compared as a set of values, with a weight of 2.' in words.words
    assert SCRIPT not in client.get("/indexes/hostile").text


@pytest.mark.parametrize("text", HOSTILE)
def test_an_address_that_nothing_stands_at_is_repeated_without_harm(client: httpx.Client, text: str) -> None:
    quoted = "".join(f"%{byte:02X}" for byte in text.encode())
    for path in (f"/{quoted}", f"/indexes/{quoted}"):
        page = got(client, path, 404)
        assert not page.all("img")[1:]  # the first is the mark beside the name
        assert len(page.all("script")) == 1
        assert "alert" not in text or "alert(1)" in page.named("main").words


@pytest.mark.parametrize("text", HOSTILE)
def test_where_to_go_on_after_the_login_is_carried_as_it_is(
    guarded: tuple[httpx.Client, dict[str, str]], text: str
) -> None:
    client, _ = guarded
    answer = client.get("/login", params={"next": text, "failed": "1"}, headers=BROWSER)
    page = Page(answer.text).root
    (carried,) = (one for one in page.all("input") if one.attributes["name"] == "next")
    assert carried.attributes["value"] == text.replace("\0", "\ufffd")
    assert SCRIPT not in answer.text


# Errors


def test_a_person_is_shown_an_error_as_a_page_and_a_program_is_answered_json(client: httpx.Client) -> None:
    page = got(client, "/nothing", 404)
    assert page.all("h1")[0].words == "Not found"
    assert "/nothing" in page.named("main").words
    assert "/nothing" in refused(client.get("/nothing", headers={"Accept": "*/*"}), 404)
    assert "'none'" in refused(client.get("/indexes/none", headers={"Accept": "application/json"}), 404)
    assert "'none'" in got(client, "/indexes/none", 404).named("main").words
    assert "'none'" in refused(client.get("/v1/indexes/none", headers=BROWSER), 404)


def test_a_service_without_pages_has_none(folder: Path) -> None:
    async def asked() -> list[int]:
        with Catalog() as catalog:
            catalog.open(folder / "demo.benzer")
            transport = httpx.ASGITransport(create_app(catalog, ServiceOptions(pages=False)))
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                answers = [
                    await client.get(path, headers=BROWSER)
                    for path in ("/", "/indexes", "/docs", "/v1/indexes")
                ]
        assert all(one.headers["content-type"] == "application/json" for one in answers)
        return [one.status_code for one in answers]

    assert asyncio.run(asked()) == [404, 404, 404, 200]


# Keys


def test_who_has_no_key_is_sent_to_the_page_that_asks_for_it_and_comes_back(
    guarded: tuple[httpx.Client, dict[str, str]],
) -> None:
    client, keys = guarded
    with httpx.Client(base_url=client.base_url, trust_env=False) as browser:
        sent = browser.get("/indexes?a=1", headers=BROWSER)
        assert sent.status_code == 303
        page = Page(browser.get(sent.headers["location"]).text).root
        form = page.named("login")
        values = {one.attributes["name"]: one.attributes.get("value", "") for one in form.all("input")}
        assert values == {"next": "/indexes?a=1", "key": ""}
        wrong = browser.post(form.attributes["action"], data={**values, "key": "wrong"})
        assert (
            Page(browser.get(wrong.headers["location"]).text).root.named("wrong").attributes["role"]
            == "alert"
        )
        right = browser.post(form.attributes["action"], data={**values, "key": keys["write"]})
        assert (right.status_code, right.headers["location"]) == (303, "/indexes?a=1")
        page = got(browser, "/indexes")
        assert "<write>" in page.all(kind="who")[0].words
        assert page.named("make").tag == "form"
        assert browser.post("/logout").status_code == 303
        assert browser.get("/indexes", headers=BROWSER).status_code == 303


def test_a_key_that_may_only_read_is_shown_no_control_that_writes(
    guarded: tuple[httpx.Client, dict[str, str]],
) -> None:
    client, keys = guarded
    assert (
        client.post(
            "/v1/indexes", json={"name": "made"}, headers={"Authorization": f"Bearer {keys['write']}"}
        ).status_code
        == 201
    )
    read = {"Authorization": f"Bearer {keys['read']}"}
    listed, one = got(client, "/indexes", **read), got(client, "/indexes/made", **read)
    assert not listed.all("form")[1:]  # the first ends the session
    assert "log in with a key that has write access" in listed.named("new").words
    assert "log in with a key that has write access" in one.named("main").words
    assert "files" not in [each.attributes.get("id") for each in one.all("input")]
    assert one.all("body")[0].attributes["data-scopes"] == "read"


def test_without_keys_the_login_page_says_that_none_is_needed(client: httpx.Client) -> None:
    page = got(client, "/login")
    assert not page.all("form")
    assert "requires no key" in page.named("main").words


# The description


def found(client: httpx.Client) -> list[Operation]:
    return list(operations(client.get("/openapi.json").json()))


def test_the_page_of_the_api_tells_every_route_and_every_parameter(client: httpx.Client) -> None:
    page = got(client, "/docs")
    for one in found(client):
        article = next(
            each for each in page.all("article") if each.attributes["aria-labelledby"] == one.anchor
        )
        assert one.path in article.words
        for parameter in one.parameters:
            assert parameter.name in [code.words for code in article.all("code")]


def test_each_reference_of_the_description_leads_somewhere(client: httpx.Client) -> None:
    api = client.get("/openapi.json").json()
    named = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(api)))
    assert named <= set(api["components"]["schemas"])
    assert '"#/$defs' not in json.dumps(api)


def test_each_example_of_the_page_is_understood(client: httpx.Client) -> None:
    asked = [one for one in found(client) if one.method != "delete"]
    assert len(asked) > 10
    for one in asked:
        answer = curl(client, one.curl("http://127.0.0.1:8000"))
        assert answer.status_code in (200, 201, 202, 404, 409), (one.curl(""), answer.text)
