"""An index is kept up to date: what was not seen goes, others are merged in, and it travels as a file."""

from __future__ import annotations

import gzip
import itertools
import json
import pickle
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
import zstandard

from benzer import Document, Schema, Text, ValueSet
from benzer.errors import InputError, OutputError, SettingsError, SettingsMismatchError, StoreFormatError
from benzer.index import Index, IndexSettings, Taken, exported_settings
from benzer.index import upkeep as upkeep_module
from tests.redis_server import shared_server

SETTINGS = IndexSettings(Schema(title=Text(unit="char", shingle_size=3), tags=ValueSet()), threshold=0.5)
DOCUMENTS = {
    "a": {"title": "Emma", "tags": ["novel", 1815]},
    "b": {"title": "Emma, a novel\n\u2028of “wit”", "tags": []},
    7: {"title": "", "tags": ["1815"]},
    "7": {"title": "東京の狐 \U0001f98a", "tags": None},
    -(2**63): {"title": None, "tags": ["novel", 2**70]},
}
HOMES = ["memory", "file", "redis"]
Opener = Callable[[str], Index]


@pytest.fixture
def opened(tmp_path: Path) -> Opener:
    """Opens a new index of the settings above in a home."""
    numbers = itertools.count()

    def open_in(home: str) -> Index:
        name = f"{tmp_path.name}-{next(numbers)}"
        places = {
            "memory": "memory:",
            "file": str(tmp_path / f"{name}.benzer"),
            "redis": f"{shared_server().url}?prefix=upkeep-{name}",
        }
        return Index.open(places[home], SETTINGS)

    return open_in


def state(index: Index) -> list[tuple[str | int, dict[str, object], datetime | None]]:
    return [(one.id, dict(one.fields), index.last_seen(one.id)) for one in index.documents()]


def moment(second: int) -> datetime:
    return datetime.fromtimestamp(second, timezone.utc)


# Last seen


def test_what_is_added_without_a_time_was_seen_now(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep_module.time, "time", lambda: 1234.9)
    with opened("memory") as index:
        index.add(DOCUMENTS)
        assert index.last_seen("a") == moment(1234)
        monkeypatch.setattr(upkeep_module.time, "time", lambda: 2000.0)
        assert index.touch(["b", 7, "7", "nowhere"]) == 3
        assert [index.last_seen(one) for one in ("a", "b", 7, "nowhere")] == [
            moment(1234), moment(2000), moment(2000), None,
        ]  # fmt: skip


@pytest.mark.parametrize("home", HOMES)
def test_eviction_removes_what_was_not_seen_since(opened: Opener, home: str) -> None:
    with opened(home) as index:
        index.add(DOCUMENTS, seen_at=1000)
        index.add({"new": {"title": "Emma"}}, seen_at=2000)
        index.touch(["b"], seen_at=moment(3000))
        assert index.unseen(since=moment(2000)) == ["a", 7, "7", -(2**63)]
        assert index.evict(unseen_since=1000) == 0
        assert index.evict(unseen_since=moment(2000)) == 4
        assert list(index) == ["b", "new"]
        assert [one.id for one in index.find_similar({"title": "Emma"})] == ["new"]
        index.rollback()
        assert list(index) == []


@pytest.mark.parametrize("home", HOMES)
def test_a_document_that_was_touched_is_otherwise_as_it_was(opened: Opener, home: str) -> None:
    with opened(home) as index:
        index.add(DOCUMENTS, seen_at=1000)
        before = index.find_similar({"title": "Emma"}, threshold=0.1)
        index.touch(["a"], seen_at=5000)
        assert list(index) == list(DOCUMENTS)
        assert index.find_similar({"title": "Emma"}, threshold=0.1) == before


@pytest.mark.parametrize(
    "when,message",
    [
        (datetime(2026, 1, 31), "has no time zone: give a datetime with tzinfo"),
        (-1, r"must be a datetime, or from 0 to \d+ seconds \(not milliseconds\) since 1970, got -1"),
        (float("nan"), "must be a datetime"),
        ("2026-01-31", "must be a datetime"),
    ],
)
def test_a_moment_that_is_none_is_refused(opened: Opener, when: object, message: str) -> None:
    with opened("memory") as index:
        for ask in (index.unseen, index.evict, lambda one: index.touch(["a"], one)):
            with pytest.raises(InputError, match=message):
                ask(when)  # type: ignore[arg-type]


def test_a_text_is_no_list_of_ids(opened: Opener) -> None:
    with (
        opened("memory") as index,
        pytest.raises(InputError, match="must be a list of ids, got the text 'ab'"),
    ):
        index.touch("ab")


# Merging


@pytest.mark.parametrize("target", HOMES)
@pytest.mark.parametrize("source", HOMES)
def test_merging_takes_over_documents_and_times_between_all_homes(
    opened: Opener, source: str, target: str
) -> None:
    with opened(source) as other, opened(target) as index:
        other.add(DOCUMENTS, seen_at=1000)
        other.touch(["b"], seen_at=4000)
        index.add({"own": {"title": "Own"}, "a": {"title": "Another Emma"}}, seen_at=3000)
        assert index.merge(other, batch_size=2) == Taken(added=4, replaced=1, kept=0)
        wanted = dict.fromkeys(DOCUMENTS, 1000) | {"b": 4000, "a": 3000}
        assert [(one, when) for one, _, when in state(index)] == [
            ("own", moment(3000)), *((one, moment(second)) for one, second in wanted.items()),
        ]  # fmt: skip
        assert [one[1] for one in state(index)[1:]] == [one[1] for one in state(other)]
        for document in DOCUMENTS.values():
            held = {match.id for match in index.find_similar(document, limit=None)} - {"own"}
            assert held == {match.id for match in other.find_similar(document, limit=None)}


def test_merging_can_keep_what_is_there(opened: Opener) -> None:
    with opened("memory") as other, opened("memory") as index:
        other.add(DOCUMENTS, seen_at=4000)
        index.add({"a": {"title": "Another Emma", "tags": None}}, seen_at=3000)
        assert index.merge(other, on_conflict="keep") == Taken(added=4, replaced=0, kept=1)
        assert state(index)[0] == ("a", {"title": "Another Emma", "tags": None}, moment(4000))
        assert index.merge(other, on_conflict="keep") == Taken(added=0, replaced=0, kept=5)


def test_an_index_of_other_settings_is_not_merged(opened: Opener) -> None:
    with Index.open("memory:") as other, opened("memory") as index:
        with pytest.raises(SettingsMismatchError, match=r"different settings: .*threshold is 0.8, got 0.5"):
            index.merge(other)
        with pytest.raises(SettingsError, match="cannot be merged into itself"):
            index.merge(index)
    with opened("memory") as one, opened("memory") as index:
        one.add(DOCUMENTS)
        with pytest.raises(SettingsError, match='on_conflict must be "replace" or "keep", got \'ask\''):
            index.merge(one, on_conflict="ask")
        assert len(index) == 0


def test_an_index_with_passages_files_them_for_what_is_merged_in() -> None:
    settings = IndexSettings(passages=True)
    quote = "the cat sat on the mat and looked at me for a long time"
    with Index.open("memory:", settings) as other, Index.open("memory:", settings) as index:
        other.add({"page": f"home about news {quote} login or register now"})
        index.merge(other)
        assert [match.id for match in index.find_containing(quote)] == ["page"]


# Export and import


@pytest.mark.parametrize("ending", ["", ".gz", ".zst", ".bz2", ".xz"])
@pytest.mark.parametrize("source,target", [("memory", "file"), ("file", "redis"), ("redis", "memory")])
def test_an_export_is_imported_as_it_was(
    opened: Opener, tmp_path: Path, source: str, target: str, ending: str
) -> None:
    path = tmp_path / f"books.jsonl{ending}"
    with opened(source) as index, opened(target) as again:
        index.add(DOCUMENTS, seen_at=1000)
        index.touch(["b"], seen_at=2000)
        assert index.export(path) == len(DOCUMENTS)
        assert exported_settings(path) == SETTINGS
        assert again.import_(path) == Taken(added=len(DOCUMENTS), replaced=0, kept=0)
        assert state(again) == state(index)
        assert again.import_(path, on_conflict="keep") == Taken(0, 0, len(DOCUMENTS))


def test_an_export_is_the_jsonl_that_is_documented(opened: Opener, tmp_path: Path) -> None:
    with opened("memory") as index:
        index.add({"a": DOCUMENTS["a"]}, seen_at=1769860800)
        index.export(tmp_path / "books.jsonl")
        with pytest.raises(OutputError, match="already exists"):
            index.export(tmp_path / "books.jsonl")
        index.export(tmp_path / "books.jsonl", replace=True)
        index.export(tmp_path / "books.jsonl.gz")
        index.export(tmp_path / "books.jsonl.zst")
    plain = (tmp_path / "books.jsonl").read_bytes()
    assert gzip.decompress((tmp_path / "books.jsonl.gz").read_bytes()) == plain
    packed = (tmp_path / "books.jsonl.zst").read_bytes()
    assert zstandard.ZstdDecompressor().decompressobj().decompress(packed) == plain
    head, row, end = map(json.loads, plain.splitlines())
    assert head == {
        "benzer_export": 1, "settings": SETTINGS.to_dict(), "fingerprint": SETTINGS.fingerprint(),
    }  # fmt: skip
    assert row == {"id": "a", "last_seen": "2026-01-31T12:00:00Z", "fields": DOCUMENTS["a"]}
    assert end == {"documents": 1}


def test_what_is_no_text_is_exported_by_its_bytes(tmp_path: Path) -> None:
    import numpy as np

    from benzer import Image

    settings = IndexSettings(Schema(photo=Image()), threshold=0.3)
    picture = np.random.default_rng(5).integers(0, 256, (40, 40), np.uint8)
    with Index.open("memory:", settings) as index, Index.open("memory:", settings) as again:
        index.add([("p", picture)])
        index.export(tmp_path / "photos.jsonl.zst")
        again.import_(tmp_path / "photos.jsonl.zst")
        assert [tuple(match)[:2] for match in again.find_similar(picture)] == [("p", 1.0)]


def test_a_failed_export_leaves_no_file(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened("memory") as index:
        index.add(DOCUMENTS)

        def broken(batch_size: int = 1) -> object:
            raise OSError(28, "No space left on device")
            yield

        monkeypatch.setattr(index, "_departing", broken)
        with pytest.raises(OSError, match="No space left"):
            index.export(tmp_path / "books.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == []


@pytest.mark.parametrize("ending", ["", ".gz", ".zst", ".bz2", ".xz"])
def test_an_export_that_was_cut_off_anywhere_is_not_imported(
    opened: Opener, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"books.jsonl{ending}"
    with opened("memory") as index:
        index.add(DOCUMENTS)
        index.export(path)
    whole = path.read_bytes()
    lengths = {*range(0, len(whole) - 1, 37), *(at for at, byte in enumerate(whole) if byte == 10)}
    for length in sorted(lengths - {len(whole) - 1}):
        path.write_bytes(whole[:length])
        place = tmp_path / "new.benzer"
        with (
            pytest.raises(InputError, match=r"cut off|not an exported|not JSON"),
            Index.open(place, SETTINGS) as new,
        ):
            new.import_(path)
        with Index.open(place) as new:
            assert len(new) == 0, length


@pytest.mark.parametrize(
    "line,wrong,error,message",
    [
        (0, '{"id": 1}', InputError, "not an exported index"),
        (0, "[]", InputError, "not an exported index"),
        (
            0,
            '{"benzer_export": 2, "settings": {}}',
            StoreFormatError,
            "has export format 2, .* up to 1: upgrade",
        ),
        (1, "[1]", InputError, "line 2 is not a JSON object"),
        (1, "{", InputError, "line 2 is not JSON"),
        (
            1,
            '{"id": 1.5, "last_seen": null, "fields": {"title": "x"}}',
            InputError,
            "must be a str or an int",
        ),
        (
            1,
            '{"id": 1, "last_seen": "today", "fields": {"title": "x"}}',
            InputError,
            "line 2 is not a valid document",
        ),
        (
            1,
            '{"id": 1, "last_seen": null, "fields": {"body": "x"}}',
            InputError,
            "line 2 is not a valid document",
        ),
        (1, '{"id": 1, "last_seen": null, "fields": {"title": 5}}', InputError, "str"),
        (3, '{"documents": 3}', InputError, "does not contain the documents that its last line states"),
    ],
)
def test_an_export_with_a_fault_says_where_it_is(
    opened: Opener, tmp_path: Path, line: int, wrong: str, error: type[Exception], message: str
) -> None:
    path = tmp_path / "books.jsonl"
    with opened("memory") as index:
        index.add({"a": DOCUMENTS["a"], "b": DOCUMENTS["b"]})
        index.export(path)
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    lines[line] = wrong
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with opened("memory") as again, pytest.raises(error, match=message):
        again.import_(path)


def test_an_export_is_not_imported_into_an_index_of_other_settings(opened: Opener, tmp_path: Path) -> None:
    with opened("memory") as index:
        index.export(tmp_path / "books.jsonl")
    with (
        Index.open("memory:") as other,
        pytest.raises(SettingsMismatchError, match=r"threshold is 0\.5, got 0\.8"),
    ):
        other.import_(tmp_path / "books.jsonl")


def test_an_index_with_a_scan_can_be_pickled(opened: Opener) -> None:
    with opened("file") as index:
        index.add(DOCUMENTS)
        index.commit()
        found = index.find_nearest({"title": "Emma"}, threshold=0.0)
        assert (
            pickle.loads(pickle.dumps(index)).find_nearest(  # noqa: S301
                {"title": "Emma"}, threshold=0.0
            )
            == found
        )
        assert found[0].id == "a"
        assert isinstance(index.get("a"), Document)
        assert timedelta(0) <= datetime.now(timezone.utc) - (index.last_seen("a") or moment(0))
