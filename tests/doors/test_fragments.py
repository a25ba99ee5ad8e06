"""A route answers JSON, or the HTML fragment to a request that accepts HTML but not JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest

from benzer.document import Document
from benzer.index import Index, IndexSettings
from tests.doors.report_page import Page
from tests.doors.service import serving
from tests.doors.stories import family
from tests.doors.test_pages import BROWSER, HOSTILE

TEXTS = family(5)
HTML = {"Accept": "text/html"}
Ask = tuple[str, str, Any]
ASKED: list[Ask] = [
    ("GET", "/v1/indexes", None),
    ("GET", "/v1/indexes/news", None),
    ("GET", "/v1/indexes/news?buckets=true", None),
    ("GET", "/v1/indexes/news/documents", None),
    ("GET", "/v1/indexes/news/documents/5-0", None),
    ("POST", "/v1/indexes/news/lookup", {"ids": ["5-0"]}),
    ("POST", "/v1/indexes/news/similar", {"id": "5-0", "contents": True}),
    ("POST", "/v1/indexes/news/similar", {"text": "nothing like it", "contents": True}),
    ("POST", "/v1/indexes/news/nearest", {"id": "5-0", "contents": True}),
    ("POST", "/v1/compare", {"index": "news", "a": {"id": "5-0"}, "b": {"id": "5-2"}}),
    ("POST", "/v1/indexes/news/tune", {"threshold": 0.7, "recall": 0.95}),
    ("GET", "/v1/duplicates", None),
    ("GET", "/v1/duplicates/JOB", None),
    ("GET", "/v1/duplicates/JOB/summary", None),
    ("GET", "/v1/duplicates/JOB/clusters", None),
    ("GET", "/v1/duplicates/JOB/clusters/0", None),
    ("GET", "/v1/duplicates/JOB/evidence?left=5-0&right=5-2", None),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder: Path = tmp_path_factory.mktemp("fragments")
    with Index.open(folder / "news.benzer", IndexSettings(threshold=0.6)) as index:
        index.add([Document(id, {"text": text}) for id, text in TEXTS.items()])
        index.add([Document(one, {"text": f"{one} {TEXTS['5-0']}"}) for one in HOSTILE])
    with serving("--home", folder) as (client, _):
        yield client


@pytest.fixture(scope="module")
def job(client: httpx.Client) -> str:
    """The id of a job that is done."""
    id = str(client.post("/v1/duplicates", json={"index": "news", "measure": True}).json()["id"])
    ends = monotonic() + 120
    while client.get(f"/v1/duplicates/{id}").json()["state"] != "done":
        assert monotonic() < ends
        sleep(0.02)
    return id


@pytest.mark.parametrize("method, path, body", ASKED)
def test_html_alone_is_answered_with_the_fragment_and_everything_else_with_json(
    client: httpx.Client, job: str, method: str, path: str, body: Any
) -> None:
    path = path.replace("JOB", job)
    answer = client.request(method, path, json=body, headers=HTML)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    page = Page(answer.text)
    for one in page.root.all():
        assert one.tag not in ("script", "style", "iframe")
        assert not [name for name in one.attributes if name.startswith("on") or name == "style"], one
        assert "alert(1)" not in one.attributes.get("src", "")
    assert page.comments == []
    for headers in ({}, {"Accept": "application/json"}, BROWSER, {"Accept": "text/html, application/json"}):
        told = client.request(method, path, json=body, headers=headers)
        assert (told.status_code, told.headers["content-type"]) == (200, "application/json")


def test_an_error_is_json_for_a_request_that_accepts_only_html(client: httpx.Client) -> None:
    answer = client.get("/v1/indexes/none", headers=HTML)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")


def test_a_table_without_a_fragment_is_json(client: httpx.Client, job: str) -> None:
    answer = client.get(f"/v1/duplicates/{job}/pairs", headers=HTML)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")


def test_an_upload_is_answered_with_its_counts_and_skipped_lines(client: httpx.Client) -> None:
    lines = b'{"id": "x", "text": "some new text"}\n{"id": \n'
    answer = client.post(
        "/v1/indexes/news/documents?on_error=skip",
        content=lines,
        headers={**HTML, "Content-Type": "application/x-ndjson"},
    )
    page = Page(answer.text).root
    assert "1 document read, 1 new; the index now has" in page.all("span")[0].words
    assert [one.attributes["value"] for one in page.all("li")] == ["2"]
    client.request("DELETE", "/v1/indexes/news/documents/x")


@pytest.mark.parametrize(
    "query", ["", "?threshold=0.6&recall=0.99&unit=char&size=7", "?threshold=x&size=-1&recall=2"]
)
def test_the_tune_page_answers_with_the_parts_of_its_settings(client: httpx.Client, query: str) -> None:
    answer = client.get(f"/tune{query}", headers=HTML)
    page = Page(answer.text).root
    assert answer.status_code == 200
    ids = {one.attributes.get("id") for one in page.within}
    assert {"promise", "curve", "curve-table", "readings", "cost", "command-line", "python", "request"} <= ids
    assert ("--shingle char:7" in page.named("command-line").words) == ("char" in query)
