"""What scripts of pages work out: decisions as files, and lines of files with other columns."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benzer.index import Index
from tests.doors.browsing import chromium
from tests.doors.service import serving

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Call a function that a script exports: `run("clusters.js", "asCsv", [])`."""
    folder: Path = tmp_path_factory.mktemp("modules")
    Index.open(folder / "demo.benzer").close()
    with serving("--home", folder) as (client, _), chromium() as browser:
        page = browser.new_page()
        page.goto(f"{client.base_url}/tune")

        def called(script: str, name: str, *arguments: Any) -> Any:
            source = (
                "([script, name, args]) => import(`/static/0/${script}`).then((all) => all[name](...args))"
            )
            return page.evaluate(source, [script, name, list(arguments)])

        yield called


def test_decisions_as_csv_keep_every_id_and_start_no_formula(run: Run) -> None:
    ids = ["=1+1", "a,b", 'say "x"', "two\nlines", "@me", 7]
    made = [
        {"cluster": 0, "kept_id": "=k", "decision": "split", "members": ids},
        {"cluster": 3, "kept_id": 9, "decision": "keep", "members": None},
    ]
    rows = list(csv.reader(io.StringIO(run("clusters.js", "asCsv", made), newline="")))
    assert rows[0] == ["cluster", "kept_id", "decision", "member"]
    assert [row[3] for row in rows[1:-1]] == ["'=1+1", "a,b", 'say "x"', "two\nlines", "'@me", "7"]
    assert rows[1][1] == "'=k"
    assert rows[-1] == ["3", "9", "keep", ""]


def test_a_line_of_a_file_is_renamed_and_what_cannot_be_is_sent_as_it_is(run: Run) -> None:
    columns = {"id": "key", "text": "body", "field": "text"}

    def renamed(line: str, **more: str) -> str:
        return str(run("files.js", "renamedLine", line, {**columns, **more}, "a.jsonl:7"))

    assert json.loads(renamed('{"key": 4, "body": "one"}')) == {"id": 4, "text": "one"}
    assert json.loads(renamed('{"body": "one"}', id="")) == {"id": "a.jsonl:7", "text": "one"}
    for kept in ("no json", "[1]", "null", '{"key": 9007199254740993, "body": "one"}'):
        assert renamed(kept) == kept
