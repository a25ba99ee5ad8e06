"""Without an index and without a home, sample documents are served, to try it; and nothing of them is left."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from benzer.fields import Image
from benzer.service.samples import sample_rows
from benzer.service.samples.pictures import landscape
from tests.doors.service import ROOT, serving


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where temporary files are made."""
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        with serving(forked=False) as (client, process):
            yield client
        assert process.wait(120) == 143
    finally:
        os.environ.pop("TMPDIR")
        if before is not None:
            os.environ["TMPDIR"] = before
    assert list(folder.iterdir()) == []  # deleted at the end


def test_sample_texts_and_pictures_are_served(client: httpx.Client, folder: Path) -> None:
    indexes = client.get("/v1/indexes")
    assert [(one["name"], one["documents"]) for one in indexes.json()["indexes"]] == [
        ("demo", 1764),
        ("pictures", 40),
    ]
    assert str(folder) not in indexes.text
    assert [path.name.startswith("benzer-demo-") for path in folder.iterdir()] == [True]


def test_a_question_finds_a_range_of_similar_texts(client: httpx.Client) -> None:
    page = "django/howto/static-files/deployment@1.7.11"
    found = client.post("/v1/indexes/demo/similar", json={"id": page}).json()["matches"]
    assert len(found) == 10
    assert found[0]["similarity"] > 0.9 > 0.7 > found[-1]["similarity"]


def test_each_picture_is_found_by_its_versions_and_has_a_small_copy(client: httpx.Client) -> None:
    original = "landscape-3/original"
    found = client.post("/v1/indexes/pictures/similar", json={"id": original}).json()["matches"]
    versions = {f"landscape-3/{version}" for version in ("recompressed", "half-size", "cropped", "grey")}
    assert {one["id"] for one in found} == versions
    held = client.get("/v1/indexes/pictures/documents/landscape-3%2Foriginal").json()
    copy = client.get(held["thumbnails"]["picture"])
    assert (copy.status_code, copy.headers["content-type"]) == (200, "image/jpeg")


def test_indexes_of_ones_own_can_be_made_beside_it(client: httpx.Client) -> None:
    assert client.post("/v1/indexes", json={"name": "mine"}).json()["deletable"] is True
    assert client.delete("/v1/indexes/mine").status_code == 204


def test_the_packed_samples_are_those_of_the_examples() -> None:
    lines = (ROOT / "examples" / "data" / "documents.jsonl").read_text(encoding="utf-8").split("\n")
    assert list(sample_rows()) == [json.loads(line) for line in lines if line]


def test_the_licences_of_the_samples_are_beside_them() -> None:
    samples = ROOT / "python" / "benzer" / "service" / "samples"
    told = (ROOT / "examples" / "data" / "README.md").read_text(encoding="utf-8")
    shipped = (samples / "README.md").read_text(encoding="utf-8")
    assert shipped.endswith(told[told.index("## Attribution") :])
    assert (samples / "documents.jsonl.gz").stat().st_size < 300_000


def test_no_two_landscapes_are_alike() -> None:
    field = Image()
    pictures = [
        one for one in field.describe([landscape(seed) for seed in range(8)]) if isinstance(one, bytes)
    ]
    assert len(pictures) == 8
    for at, one in enumerate(pictures):
        assert (field.compare(one, pictures[at + 1 :]) < field.threshold).all()
