"""Indexes are made whole or not at all, described without their places, and deleted with all that they have."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis import Redis

from benzer.errors import StorageError
from benzer.fields import Image, Schema, Text, ValueSet
from benzer.index import Index, IndexSettings
from benzer.presets import preset
from benzer.service.indexes.catalog import Catalog, places_of
from benzer.service.indexes.homes import FolderHome, RedisHome
from benzer.service.resources.indexes import Information
from tests.doors.service import refused, serving
from tests.doors.shell import FOX, FOX_AGAIN, OTHER, one_line, run
from tests.redis_server import shared_server

INDEXES = "/v1/indexes"


@pytest.fixture(scope="module", params=["folder", "redis"])
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where a service makes indexes."""
    if request.param == "folder":
        return str(tmp_path_factory.mktemp("service") / "home")
    return f"{shared_server().url}?prefix=home-{os.getpid()}"


@pytest.fixture(scope="module")
def client(home: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service of a home, and of an index that is not in it."""
    path = tmp_path_factory.mktemp("elsewhere") / "named.benzer"
    with Index.open(path, IndexSettings(threshold=0.5)) as index:
        index.add({"fox": FOX, "again": FOX_AGAIN, "other": OTHER})
    with serving(f"given={path}", "--home", home) as (client, _):
        yield client


def names(client: httpx.Client) -> list[str]:
    return [one["name"] for one in client.get(INDEXES).json()["indexes"]]


def test_an_index_is_made_filled_described_and_deleted(client: httpx.Client, home: str) -> None:
    fields = {"title": {"type": "text", "unit": "char", "weight": 2.0}, "tags": {"type": "values"}}
    made = client.post(INDEXES, json={"name": "news", "fields": fields, "threshold": 0.6, "recall": 0.9})
    assert (made.status_code, made.headers["location"]) == (201, f"{INDEXES}/news")
    schema = Schema(title=Text(unit="char", weight=2.0), tags=ValueSet())
    settings = IndexSettings(schema, threshold=0.6, recall=0.9)
    assert Information.model_validate(made.json(), extra="forbid").fingerprint == settings.fingerprint()
    assert made.json()["settings"] == settings.to_dict()
    assert (made.json()["documents"], made.json()["deletable"], made.json()["buckets"]) == (0, True, None)
    assert names(client) == ["given", "news"]
    document = {"fields": {"title": "a fox", "tags": ["x"]}}
    assert client.put(f"{INDEXES}/news/documents/1", json=document).status_code == 201
    assert client.get(f"{INDEXES}/news").json()["documents"] == 1
    assert "index 'news' already exists" in refused(client.post(INDEXES, json={"name": "news"}), 409)
    assert client.delete(f"{INDEXES}/news").status_code == 204
    assert "index 'news' does not exist" in refused(client.get(f"{INDEXES}/news"), 404)
    assert "index 'news' does not exist" in refused(client.get(f"{INDEXES}/news/documents/1"), 404)
    assert "index 'news' does not exist" in refused(client.delete(f"{INDEXES}/news"), 404)
    assert names(client) == ["given"]
    again = client.post(INDEXES, json={"name": "news"})
    assert (again.status_code, again.json()["documents"]) == (201, 0)  # nothing of the old one
    assert client.delete(f"{INDEXES}/news").status_code == 204


MADE: list[tuple[dict[str, Any], IndexSettings]] = [
    ({}, IndexSettings()),
    ({"preset": "ocr"}, IndexSettings(preset("ocr").schema, threshold=0.36)),
    ({"preset": "ocr", "threshold": 0.5}, IndexSettings(preset("ocr").schema, threshold=0.5)),
    ({"fields": {"photo": {"type": "image"}}, "threshold": 0.3}, IndexSettings(Schema(photo=Image()), threshold=0.3)),
    ({"num_hashes": 64, "seed": 7}, IndexSettings(num_hashes=64, seed=7)),
    ({"minhash": "kmins", "family": "universal"}, IndexSettings(minhash="kmins", family="universal")),
    ({"passages": True, "threshold": 0.7}, IndexSettings(passages=True, threshold=0.7)),
    ({"passages": {"size": 5, "window": 8}}, IndexSettings(passages={"size": 5, "window": 8})),
]  # fmt: skip


@pytest.mark.parametrize("asked, settings", MADE)
def test_all_settings_of_the_library_can_be_asked_for(
    client: httpx.Client, asked: dict[str, Any], settings: IndexSettings
) -> None:
    made = client.post(INDEXES, json={"name": "one", **asked}).json()
    assert (made["settings"], made["fingerprint"]) == (settings.to_dict(), settings.fingerprint())
    assert client.delete(f"{INDEXES}/one").status_code == 204


def test_bands_and_rows_are_taken_together(client: httpx.Client) -> None:
    made = client.post(INDEXES, json={"name": "one", "bands": 10, "rows": 3}).json()["settings"]
    assert (made["bands"], made["rows"], made["num_hashes"]) == (10, 3, 30)
    assert client.delete(f"{INDEXES}/one").status_code == 204


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"name": "../x"}, "body.name", "pattern"),
    ({"name": ""}, "body.name", "pattern"),
    ({"name": "x/y"}, "body.name", "pattern"),
    ({"name": "x\n"}, "body.name", "pattern"),
    ({"name": ".making"}, "body.name", "pattern"),
    ({"name": "a" * 65}, "body.name", "pattern"),
    ({"name": "x", "location": "/etc"}, "body.location", "Extra"),
    ({"name": "x", "threshold": 0}, "body.threshold", "greater than 0"),
    ({"name": "x", "threshold": True}, "body.threshold", "number"),
    ({"name": "x", "recall": 1}, "body.recall", "less than 1"),
    ({"name": "x", "preset": "books"}, "body.preset", "choose one of web"),
    (
        {"name": "x", "preset": "web", "fields": {"a": {"type": "text"}}},
        "body.preset",
        "fields and preset cannot be combined",
    ),
    ({"name": "x", "fields": {}}, "body.fields", "1 to 64 fields, got 0"),
    ({"name": "x", "fields": {f"f{n}": {"type": "text"} for n in range(65)}}, "body.fields", "got 65"),
    ({"name": "x", "fields": {"a": {}}}, "body.fields.a.type", "image, text, values"),
    ({"name": "x", "fields": {"a": {"type": "texts"}}}, "body.fields.a.type", 'no field type "texts"'),
    ({"name": "x", "fields": {"a": {"type": ["text"]}}}, "body.fields.a.type", 'needs a "type"'),
    ({"name": "x", "fields": {"a": {"type": "text", "size": 3}}}, "body.fields.a.size", "no option 'size'"),
    ({"name": "x", "fields": {"a": {"type": "text", "shingle_size": 0}}}, "body.fields.a", "1..64, got 0"),
    ({"name": "x", "fields": {"a": {"type": "text", "unit": "line"}}}, "body.fields.a", "'word' or 'char'"),
    ({"name": "x", "fields": {"a": {"type": "image", "max_pixels": "1"}}}, "body.fields.a", "wrong type"),
    ({"name": "x", "fields": {"id": {"type": "text"}}}, "body.fields.id", "not be id"),
    ({"name": "x", "fields": {"self": {"type": "text"}}}, "body.fields.self", "name"),
    ({"name": "x", "fields": {"": {"type": "text"}}}, "body.fields.", "name"),
    ({"name": "x", "fields": {"a": "text"}}, "body.fields.a", "dictionary"),
    ({"name": "x", "bands": 5}, "body.bands", "together"),
    ({"name": "x", "num_hashes": 10**6}, "body.num_hashes", "65535"),
    ({"name": "x", "passages": {"size": 0}}, "", "1 to 64, got 0"),
    ({"name": "x", "passages": 1}, "body.passages.bool", "boolean"),
    ({"name": "x", "minhash": "best"}, "", 'no minhash algorithm "best"'),
    ({"name": "x", "family": "best"}, "", 'no hash family "best"'),
]  # fmt: skip


@pytest.mark.parametrize("body, field, reason", WRONG)
def test_wrong_settings_are_refused_with_their_place(
    client: httpx.Client, body: dict[str, Any], field: str, reason: str
) -> None:
    response = client.post(INDEXES, json=body)
    assert reason in refused(response, 422)
    assert (response.json()["error"]["field"] or "") == field
    assert names(client) == ["given"]


def test_an_index_that_was_named_at_the_start_is_the_keepers_to_delete(client: httpx.Client) -> None:
    assert client.get(f"{INDEXES}/given").json()["deletable"] is False
    assert "only the operator" in refused(client.delete(f"{INDEXES}/given"), 403)
    assert client.get(f"{INDEXES}/given").json()["documents"] == 3


def test_buckets_are_counted_and_kept_until_the_index_changes(client: httpx.Client) -> None:
    url = f"{INDEXES}/one"
    client.post(INDEXES, json={"name": "one", "threshold": 0.5, "num_hashes": 60, "bands": 20, "rows": 3})

    def buckets() -> dict[str, Any]:
        known: dict[str, Any] = client.get(url, params={"buckets": True}).json()["buckets"]
        return known

    assert {**buckets(), "as_of": ""} == {"buckets": 0, "largest": 0, "histogram": [], "as_of": ""}
    for id in "abc":
        client.put(f"{url}/documents/{id}", json={"fields": {"text": FOX}})
    counted = buckets()
    assert (counted["buckets"], counted["largest"], counted["histogram"]) == (20, 3, [[3, 20]])
    assert buckets() == counted
    client.delete(f"{url}/documents/a")
    assert buckets()["histogram"] == [[2, 20]]
    assert client.get(url).json()["buckets"] is None
    client.delete(url)


def test_of_many_who_make_one_name_one_succeeds_and_deletes_wait_for_work(client: httpx.Client) -> None:
    with ThreadPoolExecutor(8) as threads:

        def make(_: int) -> int:
            return client.post(INDEXES, json={"name": "race"}).status_code

        assert sorted(threads.map(make, range(8))) == [201, *[409] * 7]

        def put(number: int) -> int:
            document = {"fields": {"text": f"text {number}"}}
            return client.put(f"{INDEXES}/race/documents/{number}", json=document).status_code

        putting = [threads.submit(put, number) for number in range(40)]
        assert client.delete(f"{INDEXES}/race").status_code == 204
        assert {one.result() for one in putting} <= {201, 404}
    assert names(client) == ["given"]


# Where they lie


def open_catalog(home: str | None, **named: Path) -> Catalog:
    catalog = Catalog(home)
    for name, path in named.items():
        catalog.open(path, name)
    return catalog


def test_what_is_in_the_home_is_served_again_after_a_restart(home: str) -> None:
    async def make() -> None:
        await catalog.create("kept", IndexSettings(threshold=0.7))
        await catalog["kept"].write(lambda index: index.add({"a": "one two three"}))

    with Catalog(home) as catalog:
        asyncio.run(make())
    with Catalog(home) as catalog:
        assert list(catalog) == ["kept"]
        assert len(catalog["kept"]) == 1
        assert catalog["kept"].settings == IndexSettings(threshold=0.7)
        assert catalog.deletable("kept")
        asyncio.run(catalog.delete("kept"))
    with Catalog(home) as catalog:
        assert list(catalog) == []


def test_nothing_is_left_of_a_deleted_index(tmp_path: Path) -> None:
    async def story() -> None:
        for name in ("news", "news.benzer2", "newsletter"):
            await catalog.create(name, IndexSettings())
            await catalog[name].write(lambda index: index.add({"a": "one two three"}))
        await catalog.delete("news")

    with Catalog(tmp_path) as catalog:
        asyncio.run(story())
        assert list(catalog) == ["news.benzer2", "newsletter"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["news.benzer2.benzer", "newsletter.benzer"]


def test_nothing_is_left_of_a_deleted_index_in_redis() -> None:
    client: Redis = shared_server().client()
    with Catalog(f"{shared_server().url}?prefix=gone-{os.getpid()}") as catalog:

        async def story() -> None:
            for name in ("a", "ab"):
                await catalog.create(name, IndexSettings())
                await catalog[name].write(lambda index: index.add({str(n): f"text {n}" for n in range(50)}))
            await catalog.delete("a")

        asyncio.run(story())
        left = list(client.scan_iter(match=f"*gone-{os.getpid()}*"))
        assert left
        assert all(key.startswith(b"{gone-%d:ab}:" % os.getpid()) for key in left)
        asyncio.run(catalog.delete("ab"))
    assert list(client.scan_iter(match=f"*gone-{os.getpid()}*")) == []


def test_what_an_interrupted_removal_left_does_not_come_back(tmp_path: Path) -> None:
    home = RedisHome(f"{shared_server().url}?prefix=cut-{os.getpid()}")
    home.make("a", IndexSettings())
    with Index.open(home.location("a")) as index:
        index.add({str(n): f"text {n}" for n in range(50)})
    shared_server().client().delete(f"{{cut-{os.getpid()}:a}}:m")  # and then the service was killed
    assert list(home.existing()) == []
    home.make("a", IndexSettings())
    with Index.open(home.location("a")) as index:
        assert list(index) == []
        index.add({"1": "text 1"})
        index.check()
    home.remove("a")


def test_an_index_that_another_service_makes_meanwhile_is_not_cleared_away() -> None:
    home = RedisHome(f"{shared_server().url}?prefix=both-{os.getpid()}")
    home.make("a", IndexSettings())
    with Index.open(home.location("a")) as index:
        index.add({"1": "one two three"})
    assert not home._clear("a")
    with Index.open(home.location("a")) as index:
        assert list(index) == ["1"]
        index.check()
    home.remove("a")


def test_where_there_are_no_hard_links_an_index_is_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_link(source: Any, target: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_link)
    home = FolderHome(tmp_path)
    home.make("news", IndexSettings())
    with pytest.raises(Exception, match="index 'news' already exists"):
        home.make("news", IndexSettings())
    assert [path.name for path in tmp_path.iterdir()] == ["news.benzer"]


@pytest.mark.parametrize("mark", ["making", "deleting"])
def test_what_was_half_made_or_half_deleted_is_cleared_away(tmp_path: Path, mark: str) -> None:
    half = tmp_path / f".news.benzer.{mark}-0123"
    Index.open(half, IndexSettings()).close()
    (tmp_path / f"{half.name}-wal").touch()
    with Catalog(tmp_path) as catalog:
        assert list(catalog) == []
    assert list(tmp_path.iterdir()) == []


def test_an_index_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_link(source: Any, target: Any) -> None:
        raise OSError(28, "No space left on device")

    with Catalog(tmp_path) as catalog:
        monkeypatch.setattr(os, "link", no_link)
        with pytest.raises(StorageError, match="'news' cannot be created: No space left on device"):
            asyncio.run(catalog.create("news", IndexSettings()))
        assert list(catalog) == []
        assert list(tmp_path.iterdir()) == []
        monkeypatch.undo()
        asyncio.run(catalog.create("news", IndexSettings()))
        assert list(catalog) == ["news"]


def test_a_file_that_was_put_there_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    home = FolderHome(tmp_path)
    with Index.open(tmp_path / "news.benzer", IndexSettings()) as index:
        index.add({"a": "one"})
    with pytest.raises(Exception, match="index 'news' already exists"):
        home.make("news", IndexSettings())
    with Index.open(tmp_path / "news.benzer") as index:
        assert list(index) == ["a"]


def test_a_request_that_is_given_up_is_brought_to_its_end(tmp_path: Path) -> None:
    async def story() -> None:
        making = asyncio.create_task(catalog.create("news", IndexSettings()))
        await asyncio.sleep(0)
        making.cancel()
        with pytest.raises(asyncio.CancelledError):
            await making
        while "news" not in catalog:
            await asyncio.sleep(0.01)

    with Catalog(tmp_path) as catalog:
        asyncio.run(story())
        assert len(catalog["news"]) == 0


def test_without_a_home_none_is_made(tmp_path: Path) -> None:
    path = tmp_path / "docs.benzer"
    Index.open(path, IndexSettings()).close()
    with serving(path) as (client, _):
        assert "--home" in refused(client.post(INDEXES, json={"name": "news"}), 403)
        assert "--home" in refused(client.delete(f"{INDEXES}/docs"), 403)


# Names and places


def test_two_indexes_of_one_name_are_refused_and_one_that_is_named_twice_is_served_once(
    tmp_path: Path,
) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        Index.open(tmp_path / folder / "docs.benzer", IndexSettings()).close()
    both = [str(tmp_path / folder / "docs.benzer") for folder in ("a", "b")]
    assert "'docs': rename one, as in benzer serve other=" in one_line(run("serve", *both, status=2))
    with serving(both[0], f"other={both[1]}", "--home", str(tmp_path / "a")) as (client, _):
        assert names(client) == ["docs", "other"]


def test_an_index_whose_file_has_no_name_for_a_url_needs_one(tmp_path: Path) -> None:
    path = tmp_path / "my documents.benzer"
    Index.open(path, IndexSettings()).close()
    assert "'my documents'" in one_line(run("serve", str(path), status=2))
    with serving(f"mine={path}") as (client, _):
        assert names(client) == ["mine"]


def test_no_answer_and_no_error_says_where_an_index_lies(tmp_path: Path) -> None:
    path, home = tmp_path / "elsewhere" / "named.benzer", tmp_path / "home"
    path.parent.mkdir()
    with Index.open(path, IndexSettings()) as index:
        index.add({"a": "one two three"})
    answers: list[httpx.Response] = []
    with serving(path, "--home", home) as (client, _):
        answers.append(client.post(INDEXES, json={"name": "made"}))
        answers.append(client.get(INDEXES))
        for name, file in (("named", path), ("made", home / "made.benzer")):
            with Index.open(file) as other:
                other.add({"theirs": "a text"})
                locked = client.put(f"{INDEXES}/{name}/documents/b", json={"fields": {"text": "ours"}})
                assert f"the index '{name}'" in refused(locked, 503)
                answers.append(locked)
                other.rollback()
            with sqlite3.connect(file) as connection:
                connection.execute("UPDATE meta SET value = 'nonsense' WHERE name = 'settings'")
                connection.execute("UPDATE document SET checksum = checksum + 1")
            connection.close()
        broken = client.get(f"{INDEXES}/named/documents/a")
        assert "of the index 'named' is damaged" in refused(broken, 500)
        answers.append(broken)
    for answer in answers:
        assert str(tmp_path) not in answer.text
        assert "elsewhere" not in answer.text


@pytest.mark.parametrize("location, message, told", [
    ("d/news.benzer", "d/news.benzer is locked", "HERE is locked"),
    ("news", "the newspaper of news, news", "the newspaper of HERE, HERE"),
    ("redis://me:secret@host/0?prefix=news", "redis://host/0?prefix=news is damaged", "HERE is damaged"),
])  # fmt: skip
def test_a_place_is_known_as_messages_write_it(location: str, message: str, told: str) -> None:
    for place in places_of(location):
        message = place.sub("HERE", message)
    assert message == told
    if "redis" not in location:
        absolute = str(Path(location).absolute())
        assert places_of(location)[0].sub("HERE", f"{absolute}-wal is large") == "HERE-wal is large"
