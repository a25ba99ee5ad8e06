"""What was once wrong, each by name, through the public doors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import benzer
from benzer import Document, Index
from benzer.errors import DuplicateIdError, InputError, SettingsError

TEXT = "one two three four five six seven"


def lines(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))
    return path


def row(name: object, **more: object) -> dict[str, object]:
    return {"id": name, "text": f"{TEXT} {name}", **more}


def written(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "kept").iterdir())


def test_two_files_of_one_name_are_copied_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines(tmp_path / "a/b.jsonl", row(1))
    lines(tmp_path / "sub/a/b.jsonl", row(2))
    monkeypatch.chdir(tmp_path / "sub")
    found = benzer.find_duplicates([Path("a/b.jsonl"), Path("../a/b.jsonl")], threshold=1.0)
    found.write(tmp_path / "out")
    assert written(tmp_path / "out") == ["1-b.jsonl", "2-b.jsonl"]


def test_a_name_that_gets_an_ending_does_not_clash_with_one_that_has_it(tmp_path: Path) -> None:
    paths = [lines(tmp_path / "x", row(1)), lines(tmp_path / "x.jsonl", row(2))]
    benzer.find_duplicates(paths, threshold=1.0, options=benzer.Options(format="jsonl")).write(
        tmp_path / "out"
    )
    assert len(written(tmp_path / "out")) == 2


def test_a_folder_and_files_that_bear_its_name_do_not_clash(tmp_path: Path) -> None:
    for name in ("p/x/b.txt", "x/b.txt", "y/b.txt"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(f"{TEXT} {name}")
    inputs = [tmp_path / "p/x", tmp_path / "x/b.txt", tmp_path / "y/b.txt"]
    benzer.find_duplicates(inputs, threshold=1.0).write(tmp_path / "out")
    assert written(tmp_path / "out") == ["2-b.txt", "3-b.txt", "x"]


@pytest.mark.parametrize(
    "strange", ["1" * 5000, "[" * 100_000 + "]" * 100_000], ids=["5000 digits", "nested 100,000 deep"]
)
def test_a_value_that_nothing_can_be_ranked_by_comes_last(tmp_path: Path, strange: str) -> None:
    path = lines(
        tmp_path / "a.jsonl",
        f'{{"id": 1, "text": "{TEXT}", "score": {strange}}}\n',
        {"id": 2, "text": TEXT, "score": 5},
    )
    assert benzer.find_duplicates(path, keep="largest:score").kept == [2]


def test_minus_zero_is_the_id_zero(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "a.jsonl", f'{{"id": 0, "text": "{TEXT}"}}\n', f'{{"id": -0, "text": "{TEXT}"}}\n'
    )
    with pytest.raises(DuplicateIdError, match="the id 0 occurs in"):
        benzer.find_duplicates(path, options=benzer.Options(on_duplicate_id="stop"))


@pytest.mark.parametrize("name", [2**70, -(2**70), "a\ud800"])
def test_an_index_refuses_ids_that_its_own_duplicates_could_not_carry(name: Any) -> None:
    with Index.open("memory:") as index, pytest.raises(InputError, match="the id"):
        index.add([(name, TEXT)])


@pytest.mark.parametrize("query", [{"text": "nothing like it", "zz": "x"}, {"zz": "x"}, {}, Document(1, {})])
def test_an_unknown_field_is_told_whether_or_not_something_is_found(query: Any) -> None:
    with Index.open("memory:") as index:
        index.add([(1, TEXT)])
        with pytest.raises(InputError, match="field"):
            index.find_similar(query)


def test_a_limit_that_is_no_whole_number_is_refused_without_matches_too() -> None:
    limit: Any = 1.5
    with Index.open("memory:") as index, pytest.raises(SettingsError, match=r"limit must be .* got 1.5"):
        index.find_similar(TEXT, limit=limit)


def test_a_link_to_nothing_in_a_folder_is_a_row_that_can_be_set_aside(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/a.txt").write_text(TEXT)
    (tmp_path / "d/b.txt").symlink_to(tmp_path / "nowhere")
    found = benzer.find_duplicates(tmp_path / "d", options=benzer.Options(on_error="skip"))
    assert (found.counts["read"], found.counts["documents"], found.counts["malformed"]) == (2, 1, 1)
    found.write(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out/kept").iterdir()] == ["a.txt"]
    with pytest.raises(InputError, match="broken link"):
        benzer.find_duplicates(tmp_path / "d")


def test_an_empty_list_is_an_input_without_documents() -> None:
    assert benzer.find_duplicates([]).counts["documents"] == 0
