"""Files of all kinds, dropped on the pages: each is read as the documents that it holds, or refused with the reason.

The pages send a file to `/v1/files/format` and `/v1/files/rows`, and the lines on to an index or a job.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from benzer.index import Index, IndexSettings
from benzer.sources.records import TABLES
from tests.doors.browsing import visit
from tests.doors.service import serving
from tests.doors.stories import tiles
from tests.unit.test_formats import PARQUET, READ, REFUSED, ROWS, Case, image, table

FILE = {"Content-Type": "application/octet-stream"}
LINES = {"Content-Type": "application/x-ndjson"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("dropped")
    with Index.open(folder / "news.benzer", IndexSettings()) as index:
        index.add({"first": "a text that stands there already"})
    with serving("--home", folder) as (client, _):
        yield client


def ask(client: httpx.Client, what: str, case: Case, **query: Any) -> httpx.Response:
    return client.post(
        f"/v1/files/{what}", params={"name": case.name, **query}, content=case.content, headers=FILE
    )


def job(client: httpx.Client, lines: bytes) -> dict[str, Any]:
    answer = client.post("/v1/duplicates", content=lines, headers=LINES, params={"on_error": "skip"})
    assert answer.status_code == 202, answer.text
    address = answer.headers["Location"]
    for _ in range(6000):
        told: dict[str, Any] = client.get(address).json()
        if told["state"] not in ("waiting", "running"):
            return told
        time.sleep(0.02)
    raise AssertionError(told)


@pytest.mark.parametrize("case", READ, ids=lambda case: case.name)
def test_a_file_that_can_be_read_becomes_its_documents(client: httpx.Client, case: Case) -> None:
    told = ask(client, "format", case).json()
    assert told["refusal"] is None
    assert (told["format"] in TABLES) == (case.documents == 5)
    lines = ask(client, "rows", case)
    assert lines.status_code == 200, lines.text
    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert len(rows) == case.documents
    assert job(client, lines.content)["counts"]["documents"] == case.documents
    if told["format"] in TABLES:
        assert [{"id": row["id"], "text": row["text"]} for row in rows] == ROWS
    added = client.post("/v1/indexes/news/documents", content=lines.content, headers=LINES).json()
    assert (added["read"], added["malformed_count"]) == (case.documents, 0)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_a_file_that_cannot_be_read_is_refused_at_every_route(client: httpx.Client, case: Case) -> None:
    told = ask(client, "format", case).json()
    assert told["format"] is None
    assert told["refusal"].startswith(f"{case.name} is {case.documents}")
    refused = ask(client, "rows", case)
    assert refused.status_code == 422
    assert refused.json()["error"]["message"] == told["refusal"]
    for path in ("/v1/indexes/news/documents", "/v1/duplicates"):
        answer = client.post(path, content=case.content, headers=LINES, params={"on_error": "skip"})
        assert answer.status_code == 415, (path, answer.text)
        assert "not JSON lines" in answer.json()["error"]["message"]


@pytest.mark.parametrize("content", [table(","), PARQUET, b"%PDF-1.7"], ids=["csv", "parquet", "pdf"])
def test_a_form_takes_no_such_file_for_a_text(client: httpx.Client, content: bytes) -> None:
    answer = client.put("/v1/indexes/news/documents/form", files={"text": ("a.txt", content)})
    if content == table(","):
        assert answer.status_code == 201  # a text, whatever it means
    else:
        assert answer.status_code == 422
        assert "the file of the field 'text' is" in answer.json()["error"]["message"]


def test_only_the_fields_of_an_index_are_sent_on(client: httpx.Client) -> None:
    case = Case("more.csv", b"id,text,source\n,one,web\nb,two,web\n", 2)
    rows = ask(client, "rows", case, field="text").text.splitlines()
    assert [json.loads(row) for row in rows] == [
        {"id": "more.csv:1", "text": "one"}, {"id": "b", "text": "two"},
    ]  # fmt: skip
    answer = ask(client, "rows", case, field="body")
    assert answer.status_code == 422
    assert "none of the fields of the index (body); its columns are id, text, source" in answer.text


def test_a_row_that_cannot_be_read_is_counted_as_malformed(client: httpx.Client) -> None:
    case = Case("cut.csv", b"id,text\na,one two three\nb,four,five\nc,six seven eight\n", 2)
    told = job(client, ask(client, "rows", Case("cut.csv", case.content, 2)).content)
    assert (told["counts"]["documents"], told["counts"]["malformed"]) == (2, 1)


def test_a_file_of_another_content_type_is_refused(client: httpx.Client) -> None:
    answer = client.post("/v1/files/rows", params={"name": "a.csv"}, json={"text": "one"})
    assert answer.status_code == 415
    assert "application/octet-stream" in answer.text


def files_in(folder: Path, *names: str) -> list[Path]:
    for case in (*READ, *REFUSED, Case("photo.txt", image("PNG"), "")):
        (folder / case.name).write_bytes(case.content)
    return [folder / name for name in names]


def drop(page: Page, *paths: Path) -> None:
    """Drop files on a page, as the browser hands them over."""
    page.evaluate(
        """(files) => {
          const moved = new DataTransfer();
          for (const [name, bytes] of files) moved.items.add(new File([new Uint8Array(bytes)], name));
          dispatchEvent(new DragEvent("drop", { dataTransfer: moved, cancelable: true }));
        }""",
        [[path.name, list(path.read_bytes())] for path in paths],
    )


def test_files_dropped_on_the_page_of_duplicates(
    client: httpx.Client, browser: Browser, tmp_path: Path
) -> None:
    paths = files_in(tmp_path, "columns.bin", "a.txt", "report.txt", "photo.txt")
    with visit(browser, str(client.base_url), 1280, "light") as seen:
        page = seen.page
        page.goto("/duplicates")
        drop(page, *paths)
        chosen = page.locator("#chosen")
        expect(chosen).to_contain_text("a Parquet file, one document per row")
        expect(chosen).to_contain_text("one document")
        expect(chosen).to_contain_text("is a PDF file, which Benzer does not read: convert it")
        expect(chosen).to_contain_text("is an image")
        expect(page.locator("#failed")).to_contain_text("report.txt is a PDF file")
        seen.check()
        page.get_by_role("button", name="Start").click()
        expect(page.locator("#about")).to_contain_text("done")
        expect(page.locator("#counts .tile")).not_to_have_count(0)
        counts = tiles(page, "#counts")
        assert int(counts["removed"]) + int(counts["kept"]) == 6


def test_files_dropped_on_the_page_of_an_index(
    client: httpx.Client, browser: Browser, tmp_path: Path
) -> None:
    client.post("/v1/indexes", json={"name": "dropped"})
    paths = files_in(tmp_path, "packed.csv", "columns.csv", "a.txt", "files.zip", "memory.txt")
    with visit(browser, str(client.base_url), 390, "dark") as seen:
        page = seen.page
        page.goto("/indexes/dropped")
        expect(page.locator("#documents")).to_contain_text("No documents yet")
        drop(page, *paths)
        uploads = page.locator("#uploads")
        expect(uploads).to_contain_text("files.zip is a zip archive, which Benzer does not read: unpack it")
        expect(uploads).to_contain_text("memory.txt is a binary file")
        expect(page.locator("#figures .tile").first).to_have_text("documents6")
    assert client.get("/v1/indexes/dropped").json()["documents"] == 6


def test_files_dropped_on_the_page_of_search(client: httpx.Client, browser: Browser, tmp_path: Path) -> None:
    paths = {path.name: path for path in files_in(tmp_path, "notes.log", "a.csv", "wide.txt")}
    with visit(browser, str(client.base_url), 1280, "dark") as seen:
        page = seen.page
        page.goto("/?index=news")
        text = page.get_by_role("textbox", name="Text")
        for name, reason in {
            "a.csv": "a.csv is a CSV file, with one document per row; a search takes a single text",
        }.items():
            drop(page, paths[name])
            expect(page.locator("#failed")).to_contain_text(reason)
            expect(text).to_have_value("")
        drop(page, paths["wide.txt"])
        expect(text).to_have_value("some words")
        drop(page, paths["notes.log"])
        expect(text).to_have_value("Dear Sir, thank you\nfor this, and that\n")


def test_a_file_dropped_before_the_index_is_known_is_not_lost(
    client: httpx.Client, browser: Browser, tmp_path: Path
) -> None:
    paths = {path.name: path for path in files_in(tmp_path, "notes.log")}
    with visit(browser, str(client.base_url), 1280, "dark") as seen:
        page = seen.page
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route("**/v1/indexes/news", hold, times=1)
        page.goto("/?index=news")
        drop(page, paths["notes.log"])
        expect(page.get_by_role("textbox", name="Text")).to_have_count(0)
        for route in held:
            route.continue_()
        text = page.get_by_role("textbox", name="Text")
        expect(text).to_have_value("Dear Sir, thank you\nfor this, and that\n")
