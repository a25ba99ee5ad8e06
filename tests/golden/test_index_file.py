"""An index file that an earlier version wrote is read, answers as it did then, and can be written on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benzer.index import Index
from tests.golden.make_index import DOCUMENTS, PLACE, SETTINGS, make

FOUND = [
    ("fox", 1.0, {"title": 1.0, "body": 1.0, "tags": 1.0}),
    ("fox again", 0.7833333333333333, {"title": 0.6666666666666666, "body": 0.8, "tags": 1.0}),
    ("late", 0.6666666666666666, {"title": 1.0, "body": 0.0}),
    (7, 0.35, {"title": 0.2, "body": 1.0, "tags": 0.0}),
]


@pytest.fixture(params=["kept", "made now"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / PLACE.name
    if request.param == "kept":
        shutil.copy(PLACE, path)
    else:
        make(path)
    return path


def test_it_is_whole_and_has_its_settings(path: Path) -> None:
    with Index.open(path, SETTINGS, mode="read") as index:
        index.check()
        figures = index.info()
    assert figures["fingerprint"] == ("8d11fc7bd6d0a5aefc07b7feffb5a7225bc5a563e994554006fb65f8e21a5ac7")
    assert (figures["format"], figures["documents"], figures["removed"], figures["runs"]) == (1, 8, 2, 1)
    assert figures["delta"] > 0


def test_it_holds_its_documents(path: Path) -> None:
    with Index.open(path, mode="read") as index:
        assert list(index) == [*DOCUMENTS, "late", "old"]
        for one, fields in DOCUMENTS.items():
            held = index.get(one)
            assert held is not None
            assert {name: _plain(value) for name, value in held.fields.items()} == {
                name: _plain(fields.get(name)) for name in ("title", "body", "tags")
            }


def _plain(value: object) -> object:
    return set(value) if isinstance(value, list | tuple | set | frozenset) else value


def test_it_answers_as_it_did(path: Path) -> None:
    with Index.open(path, mode="read") as index:
        asked = dict(DOCUMENTS["fox"])
        assert [tuple(match) for match in index.find_similar(asked, threshold=0.2)] == FOUND


def test_it_can_be_written_on(path: Path) -> None:
    with Index.open(path) as index:
        index.add([("new", DOCUMENTS["fox"])])
        index.remove(["late"])
        index.compact()
        index.check()
        found = index.find_similar(dict(DOCUMENTS["fox"]), threshold=0.2)
        assert [match.id for match in found] == ["fox", "new", "fox again", 7]


def test_it_is_small() -> None:
    assert PLACE.stat().st_size < 100_000
