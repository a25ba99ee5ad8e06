"""From the command line an index loses documents, takes in others, travels as a file, and is asked for the nearest."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from benzer.index import Index
from tests.doors.shell import DOCUMENTS, FOX, answer, one_line, process, rows, run
from tests.redis_server import shared_server


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an index of six documents, which is where the commands run."""
    monkeypatch.chdir(tmp_path)
    Path("docs.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in [*DOCUMENTS, {"id": 7, "text": "seven"}])
    )
    run("index", "docs.benzer", "docs.jsonl")
    return tmp_path


def ids(place: str = "docs.benzer") -> list[str | int]:
    with Index.open(place, mode="read") as index:
        return list(index)


ALL = ["fox", "other", "fox-again", "fox-loud", "short", "empty", 7]


# Remove


def test_documents_are_removed_by_their_ids(folder: Path) -> None:
    result = run("remove", "docs.benzer", "fox", "7", "nowhere")
    assert "not in the index: nowhere" in result.stderr
    assert ids() == ["other", "fox-again", "fox-loud", "short", "empty"]
    found = answer("remove", "docs.benzer", "--ids", "-", "other", stdin="short\nother\nfox\n")
    assert found == {"index": "docs.benzer", "removed": 2, "not_there": ["fox"], "documents": 3}


def test_an_id_in_a_file_ends_at_the_end_of_its_line_and_nowhere_else(folder: Path) -> None:
    """What Python takes for the end of a line too, such as U+2028 or a form feed, may stand in an id."""
    Path("gone.txt").write_bytes("fox\u2028other\r\n\nshort\x0cother\nempty\n".encode())
    result = run("remove", "docs.benzer", "--ids", "gone.txt", "--json")
    assert json.loads(result.stdout)["removed"] == 1
    assert ids() == [one for one in ALL if one != "empty"]


def test_of_many_ids_that_are_not_there_some_are_named(folder: Path) -> None:
    Path("gone.txt").write_text("".join(f"nowhere-{at}\n" for at in range(1020)))
    told = run("remove", "docs.benzer", "--ids", "gone.txt").stderr
    assert "nowhere-19, and 1,000 more" in " ".join(told.split())
    assert "nowhere-20" not in told


def test_removing_nothing_is_a_mistake(folder: Path) -> None:
    assert "no ids given: list the ids to remove" in one_line(run("remove", "docs.benzer", status=2))


# Evict


@pytest.fixture
def aged(folder: Path) -> int:
    """Of the documents two are three days old, and one of these was touched an hour ago; it is now this second."""
    now = int(time.time())
    with Index.open("docs.benzer") as index:
        index.add(
            {"old": "some old text", "touched": "some old text that is still there"}, seen_at=now - 3 * 86_400
        )
        index.touch(["touched"], seen_at=now - 3600)
    return now


def test_what_was_not_seen_for_long_is_evicted(aged: int) -> None:
    going = run("evict", "docs.benzer", "--unseen", "2d", "--dry-run")
    assert going.stdout == "old\n"
    assert "would remove 1 of 9 documents" in going.stderr
    assert answer("evict", "docs.benzer", "--unseen", "2d", "--dry-run")["would_go"] == ["old"]
    assert ids() == [*ALL, "old", "touched"]
    assert "1" in run("evict", "docs.benzer", "--unseen", "48h").stdout
    assert ids() == [*ALL, "touched"]
    assert answer("evict", "docs.benzer", "--unseen", "30m")["removed"] == 1
    assert answer("evict", "docs.benzer", "--unseen", "1970-01-02")["removed"] == 0
    assert ids() == ALL


@pytest.mark.parametrize("wrong", ["30", "d", "-1d", "1y", "2026-13-01", "2026-01-31T00:00"])
def test_a_time_that_is_none_is_refused(folder: Path, wrong: str) -> None:
    assert "is neither an age nor a day" in one_line(run("evict", "docs.benzer", "--unseen", wrong, status=2))


# Merge, export, import


@pytest.fixture
def url(folder: Path) -> str:
    return f"{shared_server().url}?prefix=upkeep-{folder.name}"


def test_indexes_are_merged_from_files_and_servers(folder: Path, url: str) -> None:
    (folder / "more.jsonl").write_text(
        '{"id": "new", "text": "a new text"}\n{"id": "fox", "text": "another fox"}\n'
    )
    run("index", url, "more.jsonl")
    assert answer("merge", "all.benzer", "docs.benzer", url) == {
        "index": "all.benzer", "added": 8, "replaced": 1, "kept": 0, "documents": 8,
    }  # fmt: skip
    assert ids("all.benzer") == [*ALL[1:], "new", "fox"]
    assert "existing documents" in run("merge", "all.benzer", url, "--on-conflict", "keep").stdout
    assert (
        answer("search", "all.benzer", "--id", "fox-again", "--threshold", "0.5")["matches"][0]["id"]
        == "fox-loud"
    )


def test_an_index_is_not_merged_into_itself_or_with_what_is_not_there(folder: Path) -> None:
    (folder / "link.benzer").symlink_to("docs.benzer")
    for source in ("docs.benzer", "./docs.benzer", "link.benzer"):
        assert "is the target of the merge" in one_line(run("merge", "docs.benzer", source, status=2))
    assert "no such index" in one_line(run("merge", "docs.benzer", "nowhere.benzer", status=2))
    run("index", "other.benzer", "docs.jsonl", "--threshold", "0.5")
    message = one_line(run("merge", "new.benzer", "docs.benzer", "other.benzer", status=2))
    assert "threshold is 0.5, got 0.8" in message
    assert not (folder / "new.benzer").exists()


@pytest.mark.parametrize("ending", ["", ".gz", ".zst", ".bz2", ".xz"])
def test_an_exported_index_is_imported_again(folder: Path, url: str, ending: str) -> None:
    file = f"docs-export.jsonl{ending}"
    written = answer("export", "docs.benzer", file)
    assert (written["documents"], written["bytes"]) == (7, (folder / file).stat().st_size)
    assert "already exists" in one_line(run("export", "docs.benzer", file, status=2))
    assert "documents" in run("export", "docs.benzer", file, "--replace").stdout
    for place in ("again.benzer", url):
        assert answer("import", place, file)["added"] == 7
        assert answer("search", place, FOX)["matches"] == answer("search", "docs.benzer", FOX)["matches"]
        assert answer("info", place)["fingerprint"] == answer("info", "docs.benzer")["fingerprint"]
    assert answer("import", "again.benzer", file, "--on-conflict", "keep")["kept"] == 7
    if not ending:
        assert [row.get("id") for row in rows(folder / file)] == [None, *ALL, None]


def test_a_file_that_was_cut_off_makes_no_index(folder: Path, url: str) -> None:
    run("export", "docs.benzer", "whole.jsonl")
    (folder / "cut.jsonl").write_bytes((folder / "whole.jsonl").read_bytes()[:-20])
    for place in ("again.benzer", url):
        one_line(run("import", place, "cut.jsonl", status=2))
        assert "no such" in one_line(run("info", place, status=2))
    assert not (folder / "again.benzer").exists()
    assert "is not an exported index" in one_line(run("import", "again.benzer", "docs.jsonl", status=2))


# Compact, and the nearest


def test_compacting_makes_a_file_smaller(folder: Path) -> None:
    with Index.open("docs.benzer") as index:
        index.add((f"x{number}", f"text {number} " * 50) for number in range(500))
    with Index.open("docs.benzer") as index:
        index.remove([f"x{number}" for number in range(500)])
    sizes = answer("compact", "docs.benzer")
    assert sizes["bytes"] < sizes["bytes_before"] / 2
    assert sizes["documents"] == 7
    assert "now" in run("compact", "docs.benzer").stdout


def test_the_nearest_are_found_below_the_threshold_and_it_is_said_how_surely(folder: Path) -> None:
    asked = " ".join(FOX.split()[:9])
    assert answer("search", "docs.benzer", asked)["matches"] == []
    found = answer("search", "docs.benzer", "--nearest", asked, "--limit", "2")
    assert [match["id"] for match in found["matches"]] == ["fox", "fox-again"]
    assert (found["documents"], found["recall"] >= 0.999) == (7, True)
    result = run("search", "docs.benzer", "--nearest", asked)
    assert "7 of 7 documents compared exactly; all true neighbours are found" in result.stderr
    assert "fox-loud" in result.stdout
    assert "exclude each other" in one_line(
        run("search", "docs.benzer", "--nearest", "--candidates", asked, status=2)
    )
    assert answer("search", "docs.benzer", "--nearest", asked, "--threshold", "1")["matches"] == []


def test_an_export_to_a_place_that_cannot_be_written_says_so(folder: Path) -> None:
    result = process("export", "docs.benzer", "docs.jsonl/x.jsonl", cwd=folder)
    assert (result.returncode, result.stderr.count(b"\n")) == (2, 1)
