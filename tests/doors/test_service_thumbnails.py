"""Of a picture that is put through the service a small copy is kept, and shown for as long as it is the document's."""

from __future__ import annotations

import io
import json
import os
import sqlite3
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import PIL.Image
import pytest

from benzer.document import Description, Document
from benzer.fields import Image, Schema, Text
from benzer.index import Index, IndexSettings
from benzer.service.pictures.copies import LONGEST_SIDE, Thumbnail, thumbnail_of
from benzer.service.pictures.thumbnails import (
    FileThumbnails,
    Kept,
    RedisThumbnails,
    Thumbnails,
    digest_of,
    stored_thumbnail,
    url_of,
)
from tests.doors.service import refused, serving
from tests.images import as_file, scene
from tests.redis_server import shared_server

PHOTOS = "/v1/indexes/photos"
SCHEMA = Schema(photo=Image(), caption=Text())


@pytest.fixture(scope="module", params=["folder", "redis"])
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """A service that makes indexes in a folder, or in Redis."""
    redis = f"{shared_server().url}?prefix=thumbnails-{os.getpid()}"
    home = redis if request.param == "redis" else str(tmp_path_factory.mktemp("thumbnails"))
    with serving("--home", home, "--max-pixels", "300000") as (client, _):
        yield client


@pytest.fixture
def client(service: httpx.Client) -> Iterator[httpx.Client]:
    """It, with an empty index of a picture and a text."""
    made = {"name": "photos", "fields": SCHEMA.to_dict(), "threshold": 0.3}
    assert service.post("/v1/indexes", json=made).status_code == 201
    yield service
    assert service.delete(PHOTOS).status_code == 204


def jpeg(seed: int, **options: Any) -> bytes:
    return as_file(scene(seed, 300, 400), "JPEG", **options)


def in_base64(data: bytes) -> dict[str, str]:
    return {"base64": b64encode(data).decode()}


def shown(client: httpx.Client, id: str | int) -> httpx.Response:
    return client.get(f"{PHOTOS}/thumbnail", params={"id": id, "field": "photo"})


def is_like(small: bytes, picture: bytes) -> bool:
    field = Image()
    return field.similarity(small, picture) > 0.5


def test_a_picture_is_shown_small_and_never_as_it_was_uploaded(client: httpx.Client) -> None:
    picture = jpeg(1, comment=b"a secret comment")
    form = {"photo": ("x.jpg", picture, "image/jpeg"), "caption": (None, "a scene")}
    assert client.put(f"{PHOTOS}/documents/a", files=form).status_code == 201
    answer = shown(client, "a")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/jpeg")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert b"secret" not in answer.content
    with PIL.Image.open(io.BytesIO(answer.content)) as small:
        assert (small.format, small.size) == ("JPEG", (LONGEST_SIDE, 192))
    assert is_like(answer.content, picture)
    held = client.get(f"{PHOTOS}/documents/a").json()
    assert held["thumbnails"] == {"photo": f"{PHOTOS}/thumbnail?id=a&field=photo"}
    assert client.get(held["thumbnails"]["photo"]).content == answer.content
    assert client.get(f"{PHOTOS}/documents").json()["documents"][0]["thumbnails"] == held["thumbnails"]


def test_a_number_and_the_text_that_reads_like_it_have_a_picture_each(client: httpx.Client) -> None:
    pictures = {"7": jpeg(1), 7: jpeg(2)}
    batch = [{"id": id, "fields": {"photo": in_base64(data)}} for id, data in pictures.items()]
    assert client.post(f"{PHOTOS}/documents", json={"documents": batch}).json()["new"] == 2
    for one in client.get(f"{PHOTOS}/documents").json()["documents"]:
        copy = client.get(one["thumbnails"]["photo"]).content
        assert [id for id, data in pictures.items() if is_like(copy, data)] == [one["id"]]


def test_every_way_of_adding_a_picture_keeps_a_copy(client: httpx.Client) -> None:
    pictures = [jpeg(seed) for seed in range(4)]
    client.put(f"{PHOTOS}/documents/0", json={"fields": {"photo": in_base64(pictures[0])}})
    batch = {"documents": [{"id": 1, "fields": {"photo": in_base64(pictures[1])}}]}
    assert client.post(f"{PHOTOS}/documents", json=batch).json()["new"] == 1
    lines = [json.dumps({"id": id, "photo": in_base64(pictures[at])}) for at, id in ((2, "2"), (3, "é/🦊"))]
    headers = {"Content-Type": "application/x-ndjson"}
    assert client.post(f"{PHOTOS}/documents", content="\n".join(lines), headers=headers).json()["new"] == 2
    for id, picture in zip(["0", 1, "2", "é/🦊"], pictures, strict=True):
        assert is_like(shown(client, id).content, picture)


def test_a_copy_goes_with_its_document_and_is_replaced_with_it(client: httpx.Client) -> None:
    first, second = jpeg(1), jpeg(2)
    client.put(f"{PHOTOS}/documents/a", json={"fields": {"photo": in_base64(first)}})
    client.put(f"{PHOTOS}/documents/a", json={"fields": {"photo": in_base64(second)}})
    assert is_like(shown(client, "a").content, second)
    client.put(f"{PHOTOS}/documents/a", json={"fields": {"caption": "without a picture"}})
    assert "has no thumbnail" in refused(shown(client, "a"), 404)
    client.put(f"{PHOTOS}/documents/a", json={"fields": {"photo": in_base64(first)}})
    assert shown(client, "a").status_code == 200
    assert client.delete(f"{PHOTOS}/documents/a").status_code == 204
    assert "no document has the id 'a'" in refused(shown(client, "a"), 404)


def test_no_copy_outlives_its_document(tmp_path: Path) -> None:
    pictures = {id: {"photo": in_base64(jpeg(seed))} for seed, id in enumerate("abcd")}
    with serving("--home", tmp_path) as (client, _):
        client.post("/v1/indexes", json={"name": "photos", "fields": SCHEMA.to_dict(), "threshold": 0.3})
        documents = [{"id": id, "fields": fields} for id, fields in pictures.items()]
        client.post(f"{PHOTOS}/documents", json={"documents": documents})
        with sqlite3.connect(tmp_path / "photos.benzer.thumbnails") as connection:
            kept_ids = "SELECT id FROM thumbnail ORDER BY id"
            assert [id for (id,) in connection.execute(kept_ids)] == ["sa", "sb", "sc", "sd"]
            words = {"fields": {"caption": "words"}}
            client.put(f"{PHOTOS}/documents/a", json=words)
            client.post(f"{PHOTOS}/documents", json={"documents": [{"id": "b", **words}]})
            headers = {"Content-Type": "application/x-ndjson"}
            client.post(f"{PHOTOS}/documents", content=json.dumps({"id": "c", **words}), headers=headers)
            assert [id for (id,) in connection.execute(kept_ids)] == ["sd"]
            evicted = client.post(f"{PHOTOS}/evict", json={"unseen_since": "2100-01-01T00:00:00Z"})
            assert evicted.json() == {"removed": 4, "documents": 0}
            assert list(connection.execute(kept_ids)) == []
        connection.close()


def test_what_has_no_copy_says_so(client: httpx.Client) -> None:
    client.put(f"{PHOTOS}/documents/a", json={"fields": {"caption": "no picture"}})
    for params in ({"id": "a", "field": "photo"}, {"id": "a", "field": "caption"}, {"id": "a", "field": "x"}):
        refused(client.get(f"{PHOTOS}/thumbnail", params=params), 404)
    refused(shown(client, "nobody"), 404)
    refused(client.get(f"{PHOTOS}/thumbnail", params={"id": "a"}), 422)
    assert client.get(f"{PHOTOS}/documents/a").json()["thumbnails"] == {}


WRONG: list[tuple[bytes, str]] = [
    (b"", "an image of 0 bytes"),
    (b"<svg onload='alert(1)'/>", "unknown format"),
    (jpeg(1)[:500], "not a readable image"),
    (as_file(np.zeros((600, 600), np.uint8), "PNG"), "360,000 or more pixels, the limit is 300,000"),
]  # fmt: skip


@pytest.mark.parametrize("data, reason", WRONG)
def test_a_picture_that_cannot_be_read_is_refused_in_every_form(
    client: httpx.Client, data: bytes, reason: str
) -> None:
    lines = (
        json.dumps({"id": "a", "caption": "sound"}) + "\n" + json.dumps({"id": "b", "photo": in_base64(data)})
    )
    documents = [{"id": "a", "fields": {"caption": "x"}}, {"id": "b", "fields": {"photo": in_base64(data)}}]
    answers = {
        "body.fields": client.put(f"{PHOTOS}/documents/b", json={"fields": {"photo": in_base64(data)}}),
        "body.documents.1.fields": client.post(f"{PHOTOS}/documents", json={"documents": documents}),
        "body": client.put(f"{PHOTOS}/documents/b", files={"photo": ("x.png", data)}),
        "body.2": client.post(
            f"{PHOTOS}/documents", content=lines, headers={"Content-Type": "application/x-ndjson"}
        ),
    }
    for place, answer in answers.items():
        assert reason in refused(answer, 422)
        assert answer.json()["error"]["field"].startswith(place)
    assert [one["id"] for one in client.get(f"{PHOTOS}/documents").json()["documents"]] == ["a"]


def test_a_picture_that_cannot_be_read_is_passed_over_among_others(client: httpx.Client) -> None:
    pictures = [jpeg(1), b"nonsense", jpeg(2), jpeg(3)[:300], jpeg(4)]
    lines = "\n".join(json.dumps({"id": at, "photo": in_base64(one)}) for at, one in enumerate(pictures))
    headers = {"Content-Type": "application/x-ndjson"}
    url = f"{PHOTOS}/documents"
    answer = client.post(url, content=lines, headers=headers, params={"on_error": "skip"}).json()
    assert (answer["read"], [one["row"] for one in answer["malformed"]]) == (3, [2, 4])
    assert [shown(client, at).status_code for at in range(5)] == [200, 404, 200, 404, 200]
    client.delete(f"{url}/0")
    stopped = client.post(url, content=lines, headers=headers)
    assert "row 2" in refused(stopped, 422)
    assert "1 documents of this upload are durable" in stopped.json()["error"]["message"]


def test_pictures_of_an_index_that_was_made_elsewhere_have_no_copies(tmp_path: Path) -> None:
    path = tmp_path / "photos.benzer"
    with Index.open(path, IndexSettings(SCHEMA, threshold=0.3)) as index:
        index.add([Document("a", {"photo": jpeg(1)})])
    with serving(path) as (client, _):
        assert "not added through the service" in refused(shown(client, "a"), 404)
        assert not (tmp_path / "photos.benzer.thumbnails").exists()
        client.put(f"{PHOTOS}/documents/b", json={"fields": {"photo": in_base64(jpeg(2))}})
        assert shown(client, "b").status_code == 200
    with serving(path) as (client, _):  # it is kept beside the index
        assert shown(client, "b").status_code == 200


# The copies


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_copy_is_upright_and_carries_nothing_else(orientation: int) -> None:
    exif = PIL.Image.Exif()
    exif[0x0112] = orientation
    exif[0x010E] = "a secret place"
    picture = as_file(scene(5, 200, 320), "JPEG", exif=exif, comment=b"a secret comment")
    copy = thumbnail_of(picture)
    assert copy is not None
    assert b"secret" not in copy.data
    with PIL.Image.open(io.BytesIO(copy.data)) as small:
        assert small.size == ((160, 256) if orientation > 4 else (256, 160))
        assert not small.getexif()
    assert is_like(copy.data, picture)


@pytest.mark.parametrize("mode, media_type", [
    ("RGB", "image/jpeg"), ("L", "image/jpeg"), ("1", "image/jpeg"), ("P", "image/jpeg"), ("I;16", "image/jpeg"),
    ("RGBA", "image/png"), ("LA", "image/png"), ("I", "image/jpeg"),
])  # fmt: skip
def test_a_copy_is_made_of_every_kind_of_picture(mode: str, media_type: str) -> None:
    image = PIL.Image.fromarray(scene(3)).convert("L" if mode.startswith("I") else mode)
    if mode.startswith("I"):
        image = PIL.Image.fromarray(np.asarray(image).astype(np.uint16) << 8)
    copy = thumbnail_of(as_file(image, "TIFF" if mode == "I" else "PNG"))
    assert copy is not None
    assert copy.media_type == media_type
    with PIL.Image.open(io.BytesIO(copy.data)) as small:
        assert small.size == (128, 96)
        assert np.asarray(small.convert("L")).std() > 10


@pytest.mark.parametrize("data", [b"", b"nonsense", jpeg(1)[:400]])
def test_of_what_is_no_picture_there_is_no_copy(data: bytes) -> None:
    assert thumbnail_of(data) is None


def test_a_text_in_the_profile_of_a_picture_is_not_in_its_copy() -> None:
    info = PIL.Image.PngImagePlugin.PngInfo() if hasattr(PIL.Image, "PngImagePlugin") else None
    picture = as_file(scene(1), "PNG", icc_profile=b"a secret profile", pnginfo=info)
    copy = thumbnail_of(picture)
    assert copy is not None
    assert b"secret" not in copy.data


@pytest.fixture(params=["file", "redis"])
def thumbnails(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Thumbnails]:
    if request.param == "file":
        home: Thumbnails = FileThumbnails(tmp_path / "x.thumbnails")
    else:
        home = RedisThumbnails(f"{shared_server().url}?prefix=kept-{os.getpid()}-{tmp_path.name}")
    yield home
    home.close()


def kept(id: str | int, field: str = "photo", data: bytes = b"small") -> Kept:
    return Kept(id, field, digest_of(b"described"), Thumbnail("image/png", data))


def test_copies_are_kept_by_id_and_field(thumbnails: Thumbnails) -> None:
    assert thumbnails.find("1", "photo") is None
    thumbnails.remove(["1"])
    thumbnails.put([kept("1", data=b"text"), kept(1, data=b"number"), kept("1", "other", b"other")])
    assert thumbnails.find("1", "photo") == (digest_of(b"described"), Thumbnail("image/png", b"text"))
    assert thumbnails.find(1, "photo") == (digest_of(b"described"), Thumbnail("image/png", b"number"))
    thumbnails.put([kept("1", data=b"new")])
    assert thumbnails.find("1", "photo") == (digest_of(b"described"), Thumbnail("image/png", b"new"))
    thumbnails.remove(["1", "nobody"])
    assert thumbnails.find("1", "photo") is thumbnails.find("1", "other") is None
    assert thumbnails.find(1, "photo") is not None
    assert thumbnails.find("\ud800", "photo") is None


def test_a_copy_of_another_picture_is_never_shown(thumbnails: Thumbnails) -> None:
    thumbnails.put([kept("a")])  # and then the write failed, or another process has replaced the document
    assert (
        stored_thumbnail(thumbnails, Document("a", {"photo": Description(b"described")}), "photo") is not None
    )
    for fields in ({"photo": Description(b"another")}, {"photo": None}, {}):
        assert stored_thumbnail(thumbnails, Document("a", fields), "photo") is None


def test_a_home_of_copies_that_fails_loses_copies_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "x.thumbnails"
    path.write_bytes(b"no database" * 100)
    broken = FileThumbnails(path)
    broken.put([kept("a")])
    assert broken.find("a", "photo") is None
    broken.remove(["a"])
    broken.close()
    assert "1 thumbnails cannot be changed" in caplog.text
    locked = FileThumbnails(tmp_path / "y.thumbnails")
    locked.put([kept("a")])
    with sqlite3.connect(locked.path, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        locked.put([kept("b")])
        other.execute("ROLLBACK")
    other.close()
    assert locked.find("a", "photo") is not None
    locked.close()


def test_the_address_of_a_copy_holds_any_id() -> None:
    assert (
        url_of("a", "x&y=é/ 🦊", "f g")
        == "/v1/indexes/a/thumbnail?id=x%26y%3D%C3%A9%2F+%F0%9F%A6%8A&field=f+g"
    )
