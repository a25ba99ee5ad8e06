"""A run that is killed goes on where it stopped, and answers as if nothing had been."""

from __future__ import annotations

import errno
import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benzer import Index, Options, find_duplicates
from benzer.errors import InputError, OutputError, SettingsError
from benzer.pipeline.checkpoint import Checkpoint
from tests.corpora import collection
from tests.doors.resume_child import make_index, plain, texts
from tests.results import all_of

ROOT = Path(__file__).resolve().parents[2]
KILLS = min(int(os.environ.get("BENZER_FAULTS", "8")), 100)
KILLED = -9


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the older index."""
    place = tmp_path_factory.mktemp("resume")
    make_index(place)
    return place


@pytest.fixture(scope="module")
def uninterrupted(folder: Path) -> str:
    """What the run answers when nothing happens to it, and no part is kept."""
    with Index.open(folder / "old.benzer", mode="read") as index:
        return plain(
            find_duplicates(texts(), threshold=0.4, recall=0.99, options=Options(seed=3), against=index)
        )


def run(folder: Path, how: str = "never", when: float = 0) -> int:
    """One process; its exit status."""
    command = [sys.executable, "-m", "tests.doors.resume_child", str(folder), how, str(when)]
    return subprocess.run(command, cwd=ROOT, check=False, timeout=120).returncode


def finish(folder: Path) -> tuple[str, list[str]]:
    """Let it end; what it answers, and the parts that this last process made."""
    assert run(folder) == 0
    assert not (folder / "saved").exists(), "the parts are removed at success"
    answer = (folder / "answer.json").read_text(encoding="utf-8")
    return answer, json.loads((folder / "made.json").read_text(encoding="utf-8"))


def test_killed_at_any_step_of_keeping_a_part_it_goes_on(folder: Path, uninterrupted: str) -> None:
    """Each process goes on from the one before and dies at a random step; the parts made never become fewer."""
    chance = random.Random(1)
    held = 0
    killed = 0
    while killed < KILLS and run(folder, "at", chance.randrange(8)) == KILLED:
        killed += 1
        parts = len(list((folder / "saved").glob("*.npz")))
        assert parts >= held
        held = parts
    answer, made = finish(folder)
    assert killed == KILLS
    assert answer == uninterrupted
    assert len(made) == len(set(made))


def test_killed_at_any_moment_it_goes_on(folder: Path, uninterrupted: str) -> None:
    chance = random.Random(2)
    statuses = [run(folder, "in", chance.uniform(0.0, 0.25)) for _ in range(KILLS // 2)]
    assert set(statuses) <= {KILLED, 0}
    assert statuses.count(KILLED) >= 2
    assert finish(folder)[0] == uninterrupted


def test_what_was_done_is_not_done_again(folder: Path, uninterrupted: str) -> None:
    assert run(folder, "at", 45) == KILLED
    kept = {path.stem for path in (folder / "saved").glob("*.npz")}
    answer, made = finish(folder)
    assert len(kept) >= 10
    assert not kept & set(made)
    assert answer == uninterrupted


def saved(place: Path, documents: Any, **settings: Any) -> Any:
    """A run whose parts stay, as if it had been killed at the end."""
    with Checkpoint(place) as checkpoint:
        return find_duplicates(documents, options=Options(checkpoint=checkpoint), **settings)


def test_a_second_run_over_all_parts_gives_the_same(tmp_path: Path) -> None:
    documents = collection(3, 200)
    first = saved(tmp_path / "saved", documents, threshold=0.5)
    assert (tmp_path / "saved" / "run.json").exists()
    again = find_duplicates(
        documents, threshold=0.5, options=Options(checkpoint=tmp_path / "saved"), threads=1, memory="1GB"
    )
    assert all_of(again) == all_of(first) == all_of(find_duplicates(documents, threshold=0.5))
    assert not (tmp_path / "saved").exists()


def test_the_exact_method_goes_on_too(tmp_path: Path) -> None:
    documents = collection(4, 200)
    first = saved(tmp_path / "saved", documents, threshold=0.5, method="exact")
    again = find_duplicates(
        documents, threshold=0.5, method="exact", options=Options(checkpoint=tmp_path / "saved")
    )
    assert all_of(again) == all_of(first)


@pytest.mark.parametrize(
    "settings, told",
    [
        ({"threshold": 0.6}, "settings.threshold was 0.5, now 0.6"),
        ({"threshold": 0.5, "options": Options(seed=1)}, "settings.seed was 0, now 1"),
        ({"threshold": 0.5, "method": "exact"}, "settings.method was 'lsh', now 'exact'"),
        ({"threshold": 0.5, "keep": "last"}, "settings.keep was 'first', now 'last'"),
    ],
)
def test_other_settings_are_refused_with_what_differs(
    tmp_path: Path, settings: dict[str, Any], told: str
) -> None:
    documents = collection(5, 50)
    saved(tmp_path / "saved", documents, threshold=0.5)
    options = replace(settings.get("options", Options()), checkpoint=tmp_path / "saved")
    with pytest.raises(SettingsError, match="belongs to another run") as refused:
        find_duplicates(documents, **{**settings, "options": options})
    assert told in str(refused.value)
    assert "remove the folder to start again" in str(refused.value)
    assert (tmp_path / "saved" / "run.json").exists()


@pytest.mark.parametrize("change", ["a letter", "an id", "the order", "one more", "the file's name"])
def test_other_documents_are_refused(tmp_path: Path, change: str) -> None:
    documents = [{"text": text} for text in collection(6, 50).values()]

    def written(name: str, rows: list[dict[str, str]]) -> str:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return os.path.relpath(path)

    path = written("new.jsonl", documents)
    saved(tmp_path / "saved", path)
    changed = [dict(row) for row in documents]
    if change == "a letter":
        changed[7]["text"] += "s"
    elif change == "an id":
        changed[7]["id"] = "seven"
        changed[0]["id"] = "new.jsonl:1"
    elif change == "the order":
        changed.reverse()
    elif change == "one more":
        changed.append({"text": "one more"})
    again = written("other.jsonl" if change == "the file's name" else "new.jsonl", changed)
    with pytest.raises(SettingsError, match=r"documents\.(digest|count) was"):
        find_duplicates(again, options=Options(checkpoint=tmp_path / "saved"))
    find_duplicates(written("new.jsonl", documents), options=Options(checkpoint=tmp_path / "saved"))


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(OutputError, match="holds other files"):
        find_duplicates({"a": "b"}, options=Options(checkpoint=tmp_path))
    with pytest.raises(OutputError, match="is a file"):
        find_duplicates({"a": "b"}, options=Options(checkpoint=tmp_path / "thesis.txt"))
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "years of work"


def test_two_runs_do_not_share_a_checkpoint(tmp_path: Path) -> None:
    with Checkpoint(tmp_path / "saved"), pytest.raises(OutputError, match="another run is using"):
        find_duplicates({"a": "b"}, options=Options(checkpoint=tmp_path / "saved"))
    find_duplicates({"a": "b"}, options=Options(checkpoint=tmp_path / "saved"))


def test_a_checkpoint_on_a_full_disk_is_told_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: Any, **arrays: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    told = (
        r"cannot write the checkpoint .*saved \(No space left on device\): free some space, or choose another"
    )
    with pytest.raises(OutputError, match=told):
        find_duplicates({"a": "b"}, options=Options(checkpoint=tmp_path / "saved"))
    monkeypatch.undo()
    find_duplicates({"a": "b"}, options=Options(checkpoint=tmp_path / "saved"))


def test_files_that_others_put_beside_the_parts_outlive_the_run(tmp_path: Path) -> None:
    documents = collection(7, 60)
    saved(tmp_path / "saved", documents)
    (tmp_path / "saved" / "notes.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "saved" / "plots").mkdir()
    find_duplicates(documents, options=Options(checkpoint=tmp_path / "saved"))
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == ["notes.txt", "plots"]


@pytest.mark.parametrize("there", ["hello", "[1]", '{"epochs": 3}'])
def test_a_folder_whose_run_is_none_of_ours_is_left_alone(tmp_path: Path, there: str) -> None:
    (tmp_path / "run.json").write_text(there, encoding="utf-8")
    with pytest.raises(OutputError, match=r"run\.json is not a checkpoint file"):
        find_duplicates({"a": "b"}, options=Options(checkpoint=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize("damage", [b"", b"PK", None])
def test_a_damaged_part_is_made_again(tmp_path: Path, damage: bytes | None) -> None:
    documents = collection(8, 60)
    first = saved(tmp_path / "saved", documents)
    for part in (tmp_path / "saved").glob("*.npz"):
        part.write_bytes(part.read_bytes()[:-30] if damage is None else damage)
    assert all_of(find_duplicates(documents, options=Options(checkpoint=tmp_path / "saved"))) == all_of(first)


def test_an_older_index_of_other_documents_is_refused_though_as_large(tmp_path: Path) -> None:
    """The new document was like the old one when its matches were kept; that is replaced by another of its size."""
    path, old, other = tmp_path / "old.benzer", "one two three four five six", "red blue cyan grey pink teal"

    def fill(text: str) -> None:
        with Index.open(path) as index:
            index.add([{"id": 1, "text": text}])
            index.compact()

    fill(old)
    with Index.open(path, mode="read") as index:
        assert saved(tmp_path / "saved", {"new": old}, against=index).removed
        find_duplicates({"new": old}, against=index, options=Options(checkpoint=tmp_path / "saved"))
        saved(tmp_path / "saved", {"new": old}, against=index)
    fill(other)
    with Index.open(path, mode="read") as index:
        with pytest.raises(SettingsError, match=r"against was .* now "):
            find_duplicates({"new": old}, against=index, options=Options(checkpoint=tmp_path / "saved"))
        assert not find_duplicates({"new": old}, against=index).removed


@pytest.mark.parametrize("was_there", [False, True])
def test_a_run_that_never_began_leaves_no_folder_behind(tmp_path: Path, was_there: bool) -> None:
    place = tmp_path / "saved"
    if was_there:
        place.mkdir()
    with pytest.raises(InputError):
        find_duplicates([{"id": "a", "body": "b"}], options=Options(checkpoint=place))
    assert place.exists() == was_there
