"""The pages of duplicates start jobs, name them without harm, and hold what a job needs to be looked through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import httpx
import pytest

from benzer.index import Index
from tests.doors.service import serving
from tests.doors.test_pages import HOSTILE, got

TEXTS = {"a": "one two three four five", "b": "One, two three four five!", "c": "six seven eight nine ten"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service of one index, which makes more."""
    folder: Path = tmp_path_factory.mktemp("duplicates")
    with Index.open(folder / "news.benzer") as index:
        index.add(TEXTS)
    with serving("--home", folder) as (client, _):
        yield client


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service without an index."""
    with serving("--home", tmp_path_factory.mktemp("bare")) as (client, _):
        yield client


@pytest.fixture(scope="module")
def job(client: httpx.Client) -> str:
    """The id of a job that is done."""
    started = client.post("/v1/duplicates", json={"index": "news"}).json()
    ends = monotonic() + 120
    while client.get(f"/v1/duplicates/{started['id']}").json()["state"] != "done":
        assert monotonic() < ends
        sleep(0.02)
    return str(started["id"])


def test_a_job_can_be_started_over_each_index_and_over_files(client: httpx.Client) -> None:
    page = got(client, "/duplicates")
    assert [one.words for one in page.named("index").all("option")] == ["news"]
    where = {
        one.attributes["value"]: one for one in page.all("input") if one.attributes.get("name") == "where"
    }
    assert set(where) == {"index", "files"}
    assert "checked" in where["index"].attributes
    assert "multiple" in page.named("files").attributes
    against = [
        one.attributes["value"] for one in page.all("input") if one.attributes.get("name") == "against"
    ]
    assert against == ["news"]


def test_without_an_index_files_are_chosen_at_once(bare: httpx.Client) -> None:
    page = got(bare, "/duplicates")
    where = {
        one.attributes["value"]: one for one in page.all("input") if one.attributes.get("name") == "where"
    }
    assert ("disabled" in where["index"].attributes, "checked" in where["files"].attributes) == (True, True)


@pytest.mark.parametrize("path", ["/duplicates", "/tune"])
def test_each_control_has_a_name(client: httpx.Client, path: str) -> None:
    page = got(client, path)
    labelled = {one.attributes.get("for") for one in page.all("label")}
    wrapped = {id(inner) for one in page.all("label") for inner in one.all()}
    for one in page.all():
        if one.tag in ("input", "select"):
            named = one.attributes.get("id") in labelled or id(one) in wrapped
            assert named or one.attributes.get("aria-label"), one.attributes


def test_the_page_of_a_job_carries_its_id_and_links_its_twin(client: httpx.Client, job: str) -> None:
    page = got(client, f"/duplicates/{job}")
    assert page.named("job").attributes["data-job"] == job
    twin = page.named("twin").attributes["href"]
    assert client.get(twin).json()["id"] == job
    links = [one for one in page.all("a") if one.attributes.get("aria-current") == "true"]
    assert [one.words for one in links] == ["Duplicates"]


def test_the_page_of_a_job_documents_its_keys_and_announces_what_is_done(
    client: httpx.Client, job: str
) -> None:
    page = got(client, f"/duplicates/{job}")
    keys = [one.words for one in page.all("kbd")]
    assert keys == ["j", "k", "↓", "↑", "Enter", "Shift", "K", "s", "u"]
    assert page.named("said").attributes["role"] == page.named("decided-said").attributes["role"] == "status"


def test_all_that_the_page_of_a_job_refers_to_is_there(client: httpx.Client, job: str) -> None:
    page = got(client, f"/duplicates/{job}")
    ids = [one.attributes["id"] for one in page.all() if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    for one in page.all():
        for name in ("aria-labelledby", "aria-describedby", "aria-controls", "for"):
            assert set(one.attributes.get(name, "").split()) <= set(ids), (name, one)
        assert not [name for name in one.attributes if name.startswith("on") or name == "style"], one
    loaded = [one for one in page.all() if one.tag in ("script", "link")]
    for one in loaded:
        assert client.get(one.attributes.get("src", one.attributes.get("href", ""))).status_code == 200


@pytest.mark.parametrize("name", [*HOSTILE, "5d41402abc4b2a76"])
def test_a_job_that_nobody_knows_is_a_page_that_says_so(client: httpx.Client, name: str) -> None:
    quoted = "".join(f"%{byte:02X}" for byte in name.encode())
    page = got(client, f"/duplicates/{quoted}", 404)
    assert len(page.all("script")) == 1
    assert not page.all("img")[1:]  # the first is the mark beside the name
    assert " does not exist: see " in page.named("main").words
