"""A person lets duplicates be found, goes through the clusters, decides, and takes the result home."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect

import benzer
from benzer.index import Index, IndexSettings
from benzer.views.jobs import status_html
from tests.doors.browsing import visit
from tests.doors.service import serving
from tests.doors.stories import VIEWS, agreement, as_shown, family, lines_file, texts, tiles, words

DOCUMENTS = {
    **{key: text for seed in (1, 2, 3) for key, text in family(seed, 60).items()},
    "alone": " ".join(words(99, 60)),
    "again": family(3)["3-0"].upper(),
}
THRESHOLD = 0.7


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("stories")
    with Index.open(folder / "news.benzer", IndexSettings(threshold=0.5, recall=0.99)) as index:
        index.add(DOCUMENTS)
    with serving("--home", folder) as (client, _):
        yield client


def library() -> benzer.Duplicates:
    return benzer.find_duplicates(DOCUMENTS, threshold=THRESHOLD, recall=0.99)


def counted(page: Page) -> dict[str, int]:
    """The counts that the page of a job shows."""
    return {name: int(number) for name, number in tiles(page, "#counts").items()}


def heads(page: Page) -> list[tuple[str, str, str]]:
    """The clusters of a page: who stays, the size, how alike."""
    found = page.locator(".cluster .head")
    parts = [texts(found.locator(kind)) for kind in (".who", ".size", ".least")]
    return list(zip(*parts, strict=True))


def saved(page: Page, name: str, folder: Path) -> Path:
    """What a button hands out, as a file."""
    with page.expect_download() as coming:
        page.get_by_role("button", name=name).click()
    coming.value.save_as(folder / coming.value.suggested_filename)
    return folder / coming.value.suggested_filename


def ids(path: Path, column: str = "id") -> list[str]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [row[column] for row in csv.DictReader(lines)]


def begin(page: Page) -> None:
    """Start a job with the settings of these stories, and wait until it is done."""
    page.get_by_role("spinbutton", name="Threshold as a number").fill(str(THRESHOLD))
    page.get_by_role("spinbutton", name="Recall as a number").fill("0.99")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#about")).to_contain_text("done")


def decide_and_take_home(page: Page, folder: Path) -> None:
    """Let one member of the first cluster stay, keep the second, split the third; then download what came of it."""
    page.locator(".member:not(.stays)").first.get_by_role("checkbox", name="keep").check()
    page.locator(".cluster .head").first.focus()
    page.keyboard.press("j")
    page.keyboard.press("Shift+K")
    page.keyboard.press("s")
    expect(page.locator("#decided-said")).to_contain_text("3 of 3 decided: 1 kept, 2 split")
    page.locator("#decided summary").click()
    removed = ids(saved(page, "Removed documents (CSV)", folder))
    assert removed == ["1-2", "2-2", "2-8"]
    kept = ids(saved(page, "Kept documents (CSV)", folder))
    assert kept == [one for one in DOCUMENTS if one not in removed]
    decided = json.loads(saved(page, "Decisions (JSON)", folder).read_text(encoding="utf-8"))
    assert [(one["kept_id"], one["decision"], one["members"]) for one in decided["decisions"]] == [
        ("1-0", "split", ["1-8"]),
        ("2-0", "keep", None),
        ("3-0", "split", None),
    ]


@VIEWS
def test_an_index_is_searched_its_clusters_decided_and_the_decisions_taken_home(
    client: httpx.Client, browser: Browser, width: int, scheme: str, tmp_path: Path
) -> None:
    with visit(browser, str(client.base_url), width, scheme) as seen:
        page = seen.page
        page.goto("/duplicates?index=news")
        begin(page)
        expect(page.get_by_role("heading", name="Duplicates of news")).to_be_visible()
        found = library()
        names = ("read", "kept", "removed", "identical", "near", "short", "empty")
        told = {name: found.counts[name] for name in names}
        expect(page.locator("#counts .tile")).to_have_count(len(names))
        assert counted(page) == told
        expect(page.locator("#recall")).to_contain_text("exact: all near-duplicates")
        expect(page.locator(".cluster")).to_have_count(found.counts["clusters"])
        assert heads(page)[0][:2] == ("3-0", "4 documents")
        page.get_by_role("radio", name="Input order").check()
        expect(page.locator(".cluster .who").first).to_have_text("1-0")
        page.get_by_role("radio", name="Most doubtful").check()
        least = [float(words.split()[-1]) for _, _, words in heads(page)]
        assert least == sorted(least)

        page.get_by_role("radio", name="Input order").check()
        expect(page.locator(".cluster .who").first).to_have_text("1-0")
        page.locator(".cluster .head").first.click()
        members = page.locator(".member:not(.stays)")
        expect(members).to_have_count(2)
        pair = benzer.compare(DOCUMENTS["1-0"], DOCUMENTS["1-8"])
        assert texts(members.first.locator(".number")) == [as_shown(pair.similarity)]
        passage = page.locator("figure.passage")
        expect(passage).to_have_count(1)
        left, right = agreement(passage)
        assert (
            left == right == [word for word in DOCUMENTS["1-0"].split() if word in DOCUMENTS["1-8"].split()]
        )
        seen.check()

        decide_and_take_home(page, tmp_path)
        page.reload()
        expect(page.locator("#decided-said")).to_contain_text("3 of 3 decided")
        seen.check()


@VIEWS
def test_files_are_uploaded_their_progress_shown_and_the_result_handed_out(
    client: httpx.Client, browser: Browser, width: int, scheme: str, tmp_path: Path
) -> None:
    rows = [{"id": id, "text": text} for id, text in DOCUMENTS.items()]
    path = lines_file(tmp_path / "rows.jsonl", *rows[:5], '{"id": "broken"', *rows[5:])
    with visit(browser, str(client.base_url), width, scheme) as seen:
        page = seen.page
        page.goto("/duplicates")
        page.get_by_role("radio", name="files").check()
        page.set_input_files("#files", path)
        expect(page.locator("#chosen")).to_contain_text("rows.jsonl")
        begin(page)
        expect(page.locator("#counts .tile")).to_have_count(8)
        found = library()
        shown_now = counted(page)
        assert (shown_now["removed"], shown_now["kept"]) == (found.counts["removed"], found.counts["kept"])
        assert shown_now["malformed"] == 1

        page.get_by_text("Download tables").click()
        with page.expect_download() as coming:
            page.get_by_role("link", name="Removed documents as CSV").click()
        coming.value.save_as(tmp_path / "removed.csv")
        assert ids(tmp_path / "removed.csv") == list(found.removed)
        with page.expect_download() as coming:
            page.get_by_role("link", name="Malformed lines as NDJSON").click()
        coming.value.save_as(tmp_path / "malformed.ndjson")
        assert json.loads((tmp_path / "malformed.ndjson").read_text(encoding="utf-8"))["row"] == 6

        with page.expect_response("**/report*") as answered:
            page.get_by_role("link", name="Report").click()
        policy = answered.value.headers["content-security-policy"]
        assert "sandbox" in policy
        assert "default-src 'none'" in policy
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.go_back()
        expect(page.locator("#about")).to_contain_text("done")
        page.goto("/duplicates")
        expect(page.locator("#jobs .outcome").first).to_contain_text(f"{found.counts['removed']} of ")


def test_a_job_that_runs_shows_how_far_it_is_and_can_be_cancelled(
    client: httpx.Client, browser: Browser
) -> None:
    job = client.post("/v1/duplicates", json={"index": "news"}).json()
    running = {
        **job,
        "state": "running",
        "started": job["created"],
        "ended": None,
        "seconds": 2.5,
        "counts": None,
    }
    running["progress"] = {"stage": "verify", "done": 30, "total": 120}
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(f"{route.request.method} {route.request.url.rpartition('/')[2]}")
        over = "POST cancel" in asked
        told = {**running, "state": "cancelled", "progress": None} if over else running
        if route.request.headers["accept"] == "text/html":
            route.fulfill(body=status_html(told), content_type="text/html; charset=utf-8")
        else:
            route.fulfill(json=told)

    with visit(browser, str(client.base_url), 390, "dark") as seen:
        page = seen.page
        page.route(f"**/v1/duplicates/{job['id']}**", answer)
        page.route("**/cancel", answer)
        page.goto(f"/duplicates/{job['id']}")
        bar = page.get_by_role("progressbar")
        expect(bar).to_have_attribute("value", "30")
        expect(page.locator("#stages [aria-current=step]")).to_contain_text("Comparing exactly")
        seen.check()
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("#ended")).to_contain_text("This job was cancelled")
        assert "POST cancel" in asked
        expect(bar).to_have_count(0)
