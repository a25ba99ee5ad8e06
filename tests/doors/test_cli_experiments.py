"""`benzer experiments` lists, runs, prints and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doors.shell import answer, one_line, run


def test_the_list_names_all_eight() -> None:
    lines = run("experiments", "--list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [f"E{number}" for number in range(1, 9)]
    assert [found["name"] for found in answer("experiments", "--list")["experiments"]] == [
        line.split()[0] for line in lines
    ]


def test_an_experiment_is_printed_with_what_was_published() -> None:
    printed = run("experiments", "e4").stdout
    assert printed.startswith("E4  How does the similarity of texts fall")
    assert "Published: The similarity falls with k" in printed
    assert "shingle_size" in printed


def test_an_experiment_that_is_named_twice_is_run_once() -> None:
    assert [found["name"] for found in answer("experiments", "e4", "E8", "E4")["experiments"]] == ["E4", "E8"]


def test_a_program_gets_all_tables() -> None:
    (found,) = answer("experiments", "E4", "--seed", "7")["experiments"]
    assert found["name"] == "E4"
    assert found["tables"]["similarities"]["columns"][:2] == ["unit", "shingle_size"]
    assert len(found["tables"]["similarities"]["rows"]) == 38


def test_tables_and_figures_are_written_into_a_new_folder(tmp_path: Path) -> None:
    place = tmp_path / "out"
    result = run("experiments", "E4", "--output", str(place))
    assert "4 files written to" in result.stderr
    assert sorted(path.suffix for path in place.iterdir()) == [".csv", ".csv", ".png", ".svg"]
    assert "already exists" in one_line(run("experiments", "E4", "--output", str(place), status=2))
    run("experiments", "E4", "--output", str(place), "--replace")


def test_documents_of_a_file_are_taken_for_e7(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    texts = ["one two three four five six", "one two three four five six", "nothing of that sort at all"]
    file.write_text("".join(json.dumps({"body": text}) + "\n" for text in texts), encoding="utf-8")
    (found,) = answer("experiments", "--documents", str(file), "--text", "body")["experiments"]
    assert found["name"] == "E7"
    assert found["settings"].startswith("3 documents")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["E9"], 'there is no experiment "E9"'),
        (["E4", "--documents", "docs.jsonl"], "--documents applies to experiment E7 only"),
        (["E4", "--scale", "huge"], "'huge' is not one of 'small', 'full'"),
    ],
)
def test_what_makes_no_experiment_is_refused(arguments: list[str], message: str) -> None:
    assert message in one_line(run("experiments", *arguments, status=2))
