"""From the command line an index is checked, backed up and restored."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from benzer.index import Index
from tests.doors.shell import DOCUMENTS, answer, one_line, run
from tests.redis_server import shared_server


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with an index of six documents, which is where the commands run."""
    monkeypatch.chdir(tmp_path)
    Path("docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in DOCUMENTS))
    run("index", "docs.benzer", "docs.jsonl")


def damage(place: str) -> None:
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("UPDATE document SET id = 'wolf' WHERE id = 'fox'")
        connection.commit()


def test_a_whole_index_passes() -> None:
    assert answer("check", "docs.benzer") == {
        "index": "docs.benzer", "whole": True, "documents": 6, "fault": None
    }  # fmt: skip
    assert run("check", "docs.benzer").stdout.split() == ["intact", "6", "documents"]


def test_a_damaged_index_does_not_pass() -> None:
    damage("docs.benzer")
    result = run("check", "docs.benzer", status=1)
    assert result.stdout == ""
    assert "document 0 of docs.benzer is damaged (its id has another checksum): restore" in one_line(result)
    found = answer("check", "docs.benzer", status=1)
    assert (found["whole"], found["documents"]) == (False, 0)
    assert "document 0 of docs.benzer is damaged" in found["fault"]


def test_an_index_in_a_server_is_checked_and_not_copied() -> None:
    url = f"{shared_server().url}?prefix=copies"
    run("merge", url, "docs.benzer")
    assert answer("check", url)["whole"] is True
    assert "export this one instead" in one_line(run("backup", url, "copy.benzer", status=2))
    assert "use benzer import" in one_line(run("restore", url, "docs.benzer", status=2))


def test_a_backup_is_put_back() -> None:
    found = answer("backup", "docs.benzer", "copy.benzer")
    assert found == {
        "index": "docs.benzer", "copy": "copy.benzer", "documents": 6, "bytes": Path("copy.benzer").stat().st_size
    }  # fmt: skip
    run("remove", "docs.benzer", "fox")
    assert "already exists" in one_line(run("backup", "docs.benzer", "copy.benzer", status=2))
    damage("docs.benzer")
    assert run("restore", "docs.benzer", "copy.benzer").stdout.split() == ["restored", "6", "documents"]
    with Index.open("docs.benzer", mode="read") as index:
        assert list(index) == [row["id"] for row in DOCUMENTS]
    run("backup", "docs.benzer", "copy.benzer", "--replace")
    assert answer("restore", "new.benzer", "copy.benzer")["documents"] == 6


def test_the_version_of_sqlite_is_shown() -> None:
    assert answer("info", "docs.benzer")["sqlite"] == sqlite3.sqlite_version
    assert f"3, SQLite {sqlite3.sqlite_version}" in run("info", "docs.benzer").stdout
