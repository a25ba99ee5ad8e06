"""An index file that an earlier version wrote is read, answers as it did then, and can be written on."""

from __future__ import annotations

import shutil
from datetime import datetime, timezone
from pathlib import Path

import pytest

from benzer.index import Index, restore
from tests.golden.make_index import ADDED, ADDED_LATER, DOCUMENTS, PLACES, SEEN, SETTINGS, make

FOUND = [
    ("fox", 1.0, {"title": 1.0, "body": 1.0, "tags": 1.0}),
    ("fox again", 0.7833333333333333, {"title": 0.6666666666666666, "body": 0.8, "tags": 1.0}),
    ("late", 0.6666666666666666, {"title": 1.0, "body": 0.0}),
    (7, 0.35, {"title": 0.2, "body": 1.0, "tags": 0.0}),
]


@pytest.fixture(params=[*PLACES, None], ids=["format 1", "format 2", "format 3", "made now"])
def kept(request: pytest.FixtureRequest) -> Path | None:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def path(kept: Path | None, tmp_path: Path) -> Path:
    path = tmp_path / "index.benzer"
    if kept:
        shutil.copy(kept, path)
    else:
        make(path)
    return path


def test_it_is_whole_and_has_its_settings(path: Path, kept: Path | None) -> None:
    with Index.open(path, SETTINGS, mode="read") as index:
        index.check()
        figures = index.info()
    assert figures["fingerprint"] == ("8d11fc7bd6d0a5aefc07b7feffb5a7225bc5a563e994554006fb65f8e21a5ac7")
    assert figures["format"] == (PLACES.index(kept) + 1 if kept else 3)
    assert (figures["documents"], figures["removed"], figures["runs"]) == (8, 2, 1)
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


def test_it_can_be_backed_up_and_restored(path: Path, kept: Path | None, tmp_path: Path) -> None:
    with Index.open(path) as index:
        assert index.backup(tmp_path / "copy.benzer") == 8
    if kept:
        assert path.read_bytes() == kept.read_bytes(), "a backup changes nothing"
    restore(path, tmp_path / "copy.benzer")
    with Index.open(path, mode="read") as index:
        assert list(index) == [*DOCUMENTS, "late", "old"]
        assert index.info()["format"] == (PLACES.index(kept) + 1 if kept else 3)


def test_it_knows_when_its_documents_were_seen_from_format_2_on(path: Path, kept: Path | None) -> None:
    with Index.open(path, mode="read") as index:
        seen = {one: index.last_seen(one) for one in index}
        unseen = index.unseen(since=ADDED_LATER)
    if kept == PLACES[0]:
        assert set(seen.values()) == {None}
        assert unseen == []
        return
    times = dict.fromkeys(DOCUMENTS, ADDED) | {"late": ADDED_LATER, "old": ADDED_LATER, "fox": SEEN}
    assert seen == {one: datetime.fromtimestamp(time, timezone.utc) for one, time in times.items()}
    assert unseen == [one for one in DOCUMENTS if one != "fox"]


def test_documents_of_format_1_count_as_seen_when_it_is_first_written_on(tmp_path: Path) -> None:
    path = tmp_path / "index.benzer"
    shutil.copy(PLACES[0], path)
    with Index.open(path) as index:
        assert index.evict(unseen_since=2**37) == 0
    with Index.open(path) as index:
        index.add([("new", DOCUMENTS["fox"])], seen_at=SEEN)
        index.check()
        assert index.unseen(since=SEEN) == []
        assert index.evict(unseen_since=SEEN + 1) == 9
    with Index.open(path, mode="read") as index:
        assert index.info()["format"] == 3
        index.check()


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_it_is_small(place: Path) -> None:
    assert place.stat().st_size < 100_000
