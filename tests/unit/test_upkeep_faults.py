"""While an index is kept up to date others write, changes fail, files are damaged: nothing is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from benzer import Schema, ValueSet
from benzer.errors import InputError, OutputError
from benzer.index import Index, IndexSettings, Taken, exported_settings
from tests.redis_server import shared_server

SETTINGS = IndexSettings(Schema(tags=ValueSet()), threshold=0.5)
HOMES = ["memory", "file", "redis"]


def place(home: str, folder: Path, name: str = "index") -> str:
    return {
        "memory": "memory:",
        "file": str(folder / f"{name}.benzer"),
        "redis": f"{shared_server().url}?prefix=faults-{folder.name}-{name}",
    }[home]


# Others write meanwhile


@pytest.mark.parametrize("home", ["file", "redis"])
def test_a_document_that_is_replaced_in_the_source_while_it_is_merged_is_not_lost(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        Index.open(place(home, tmp_path), SETTINGS) as writer,
        Index.open("memory:", SETTINGS) as index,
    ):
        writer.add({number: {"tags": [number]} for number in range(100)})
        writer.commit()
        reader = Index.open(place(home, tmp_path), mode="read")
        file = index._file
        written: list[bool] = []

        def file_while_another_writes(*given: object) -> None:
            if not written:
                writer.add({number: {"tags": ["new"]} for number in (0, 99)})
                writer.remove([50])
                writer.commit()
                written.append(True)
            file(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(index, "_file", file_while_another_writes)
        assert index.merge(reader, batch_size=10) == Taken(added=100, replaced=0, kept=0)
        assert [one.fields["tags"] for one in index.documents()] == [[number] for number in range(100)]
        reader.close()


# Changes that fail, or are undone


@pytest.mark.parametrize("home", ["file", "redis"])
@pytest.mark.parametrize("failing", ["touch", "remove", "commit"])
def test_the_nearest_are_right_after_a_change_that_failed_and_undid_all(
    home: str, failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"tags": [1, 2, 3]}
    index = Index.open(place(home, tmp_path), SETTINGS)
    index.add({"old": asked})
    index.commit()
    index.remove(["old"])
    index.add({"new": asked})
    assert [match.id for match in index.find_nearest(asked)] == ["new"]
    session = index._storage._session  # type: ignore[attr-defined]

    def full(*given: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        if home == "redis":
            broken.setattr(session, "write", full)
        else:
            broken.setattr("benzer.storage.file_seen.touch", full)
            broken.setattr("benzer.storage.file_seen.forget", full)
            broken.setattr(session, "_finish", full)
        change = {
            "touch": lambda: index.touch(["new"]),
            "remove": lambda: index.remove(["new"]),
            "commit": index.commit,
        }
        with pytest.raises(OSError, match="No space left"):
            change[failing]()
    assert [match.id for match in index.find_nearest(asked)] == ["old"]
    index.close()


@pytest.mark.parametrize("home", HOMES)
def test_the_nearest_are_those_of_brute_force_whatever_is_added_removed_and_undone(
    home: str, tmp_path: Path
) -> None:
    random = np.random.default_rng(20)
    with Index.open(place(home, tmp_path), SETTINGS) as index:
        for _ in range(60):
            what = random.choice(["add", "add", "remove", "commit", "rollback", "touch", "compact"], p=None)
            some = random.integers(0, 12, 3).tolist()
            if what == "add":
                index.add({number: {"tags": random.integers(0, 6, 4).tolist()} for number in some})
            elif what == "remove":
                index.remove(some)
            elif what == "touch":
                index.touch(some)
            else:
                getattr(index, str(what))()
            held = {one.id: set(one.fields["tags"]) for one in index.documents()}  # type: ignore[arg-type]
            alike = {one: len(tags & {0, 1, 2}) / len(tags | {0, 1, 2}) for one, tags in held.items()}
            order = {one: at for at, one in enumerate(held)}
            wanted = sorted((one for one in alike if alike[one]), key=lambda one: (-alike[one], order[one]))
            found = index.find_nearest({"tags": [0, 1, 2]}, limit=None, threshold=0.0)
            assert [match.id for match in found] == wanted, what


# Times


@pytest.mark.parametrize("milliseconds", [1_795_286_691_140, 253_402_300_800])
def test_a_time_that_no_calendar_has_is_refused_when_it_is_given(tmp_path: Path, milliseconds: int) -> None:
    with Index.open("memory:", SETTINGS) as index:
        with pytest.raises(InputError, match=r"seconds \(not milliseconds\) since 1970, got "):
            index.add({"a": {"tags": [1]}}, seen_at=milliseconds)
        index.add({"a": {"tags": [1]}}, seen_at=253_402_300_799)
        assert str(index.last_seen("a")) == "9999-12-31 23:59:59+00:00"
        assert index.export(tmp_path / "far.jsonl") == 1


def test_what_was_seen_at_the_beginning_of_time_was_seen_long_ago_and_not_at_an_unknown_time() -> None:
    with Index.open("memory:", SETTINGS) as index:
        index.add({"a": {"tags": [1]}}, seen_at=0)
        index.add({"b": {"tags": [1]}}, seen_at=1000)
        assert index.unseen(since=500) == ["a"]
        assert index.evict(unseen_since=500) == 1


def test_a_moment_that_was_left_out_does_not_empty_the_index() -> None:
    with Index.open("memory:", SETTINGS) as index:
        index.add({"a": {"tags": [1]}}, seen_at=1000)
        for ask in (index.unseen, index.evict):
            with pytest.raises(
                InputError, match="the time since which documents were not seen is required, got None"
            ):
                ask(None)  # type: ignore[arg-type]
        assert list(index) == ["a"]


def test_a_path_is_no_index_to_merge() -> None:
    with (
        Index.open("memory:", SETTINGS) as index,
        pytest.raises(
            InputError,
            match=r"the source must be an open index, e.g. Index.open\(path, mode='read'\), got 'a'",
        ),
    ):
        index.merge("a")  # type: ignore[arg-type]


# Files


def exported(folder: Path, ending: str = "") -> Path:
    path = folder / f"tags.jsonl{ending}"
    random = np.random.default_rng(1)
    with Index.open("memory:", SETTINGS) as index:
        index.add({at: {"tags": [random.bytes(20).hex()]} for at in range(50)}, seen_at=1000)
        index.export(path)
    return path


@pytest.mark.parametrize(
    "setting,other", [('"seed":0', '"seed":1'), ('"weight":1.0', '"weight":2.0'), ("weight", "peight")]
)
def test_settings_that_were_changed_on_the_way_are_not_taken_for_those_of_the_index(
    tmp_path: Path, setting: str, other: str
) -> None:
    path = exported(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace(setting, other, 1), encoding="utf-8")
    with pytest.raises(InputError, match="the settings in line 1 do not fit their fingerprint"):
        exported_settings(path)


@pytest.mark.parametrize("ending", [".gz", ".zst", ".bz2", ".xz"])
def test_a_compressed_export_that_was_damaged_anywhere_is_not_imported_as_something_else(
    tmp_path: Path, ending: str
) -> None:
    path = exported(tmp_path, ending)
    whole = path.read_bytes()
    refused = 0
    with Index.open("memory:", SETTINGS) as index:
        index.import_(path)
        wanted = list(index.documents())
        for at in range(0, len(whole), 41):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            try:
                index.import_(path)
            except InputError:
                refused += 1
                index.rollback()
            else:  # a byte of the header that says how much memory is needed, or when the file was made
                assert list(index.documents()) == wanted
                index.rollback()
    assert refused >= len(whole) // 41 - 2


def test_a_folder_or_a_pipe_is_refused_before_anything_is_read_from_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(InputError, match="is not a regular file"):
            exported_settings(path)


def test_a_file_that_nests_too_deep_is_no_export(tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_bytes(b"[" * 200_000)
    with (
        Index.open("memory:", SETTINGS) as index,
        pytest.raises(InputError, match="is not an exported index"),
    ):
        index.import_(path)


@pytest.mark.parametrize(
    "conflict,taken,tags",
    [("replace", Taken(1, 1, 0), [2]), ("keep", Taken(1, 0, 1), [1])],
)
def test_of_an_id_that_a_changed_file_has_twice_the_counts_are_right(
    tmp_path: Path, conflict: str, taken: Taken, tags: list[int]
) -> None:
    path = exported(tmp_path)
    head = path.read_text(encoding="utf-8").split("\n")[0]
    rows = [{"id": "a", "last_seen": None, "fields": {"tags": [at]}} for at in (1, 2)]
    lines = [head, *map(json.dumps, rows), '{"documents":2}', ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    with Index.open("memory:", SETTINGS) as index:
        assert index.import_(path, conflict) == taken
        assert [one.fields["tags"] for one in index.documents()] == [tags]


def test_an_index_is_not_exported_over_itself(tmp_path: Path) -> None:
    home = place("file", tmp_path)
    with Index.open(home, SETTINGS) as index:
        index.add({"a": {"tags": [1]}})
        index.commit()
        other = tmp_path / "linked.jsonl"
        os.link(home, other)
        for path in (home, other):
            with pytest.raises(OutputError, match="is the index itself: choose another path"):
                index.export(path, replace=True)
    with Index.open(home, mode="read") as index:
        assert list(index) == ["a"]
