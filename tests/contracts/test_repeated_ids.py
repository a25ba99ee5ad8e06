"""Repeated ids: numbered, skipped or an error; ids of one file; generated ids. No document is lost silently."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import benzer
from benzer.errors import DuplicateIdError, SettingsError
from benzer.fields import Image, Schema, ValueSet
from tests.doors.shell import run

ROWS = [
    {"id": "a", "text": "one two three four"},
    {"id": "b", "text": "five six seven eight"},
    {"id": "a", "text": "one two three four"},
    {"id": "a", "text": "something else entirely here"},
]


def jsonl(folder: Path, rows: list[dict[str, Any]]) -> Any:
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "rows.jsonl"


def parquet(folder: Path, rows: list[dict[str, Any]]) -> Any:
    pq.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet")
    return folder / "rows.parquet"


def csv(folder: Path, rows: list[dict[str, Any]]) -> Any:
    (folder / "rows.csv").write_text("id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in rows))
    return folder / "rows.csv"


KINDS: dict[str, Callable[[Path, list[dict[str, Any]]], Any]] = {
    "jsonl": jsonl,
    "parquet": parquet,
    "csv": csv,
    "mappings": lambda folder, rows: rows,
    "table": lambda folder, rows: pa.Table.from_pylist(rows),
}


@pytest.mark.parametrize("kind", KINDS)
def test_later_documents_with_an_id_are_numbered_and_counted(kind: str, tmp_path: Path) -> None:
    found = benzer.find_duplicates(KINDS[kind](tmp_path, ROWS))
    name = found.reading.sources[0].name
    assert (found.kept, found.removed) == (["a", "b", f"{name}:4"], {f"{name}:3": ("a", 1.0)})
    assert (found.counts["repeated_ids"], found.counts["repeated_identical"]) == (2, 1)
    assert found.counts["read"] == found.counts["documents"] == 4
    assert found.write(tmp_path / "out")["kept"].exists()


@pytest.mark.parametrize("kind", KINDS)
def test_skipped_documents_are_listed_with_the_place_of_the_first(kind: str, tmp_path: Path) -> None:
    options = benzer.Options(on_duplicate_id="skip")
    found = benzer.find_duplicates(KINDS[kind](tmp_path, ROWS), options=options)
    name = found.reading.sources[0].name
    assert (found.kept, found.removed) == (["a", "b"], {})
    assert [(row.row, row.reason) for row in found.malformed] == [
        (3, f"the id 'a' is that of {name} row 1, which has the same content"),
        (4, f"the id 'a' is that of {name} row 1, which has another content"),
    ]
    assert (found.counts["read"], found.counts["documents"], found.counts["repeated_ids"]) == (4, 2, 2)
    kept = found.write(tmp_path / "out")["kept"]
    rows = pq.read_table(kept).num_rows if kept.suffix == ".parquet" else len(kept.read_text().split("\n"))
    assert (
        rows == {".parquet": 2, ".jsonl": 3, ".csv": 4}[kept.suffix]
    )  # with a header and an empty last line


def test_stop_names_both_places(tmp_path: Path) -> None:
    with pytest.raises(DuplicateIdError) as error:
        benzer.find_duplicates(jsonl(tmp_path, ROWS), options=benzer.Options(on_duplicate_id="stop"))
    path = tmp_path / "rows.jsonl"
    assert str(error.value) == (
        f"the id 'a' occurs in {path} row 1 and {path} row 3: make ids unique, or use --on-duplicate-id number or skip "
        "(on_duplicate_id), or --id none"
    )


def test_ids_of_one_file_begin_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("x", "y"):
        rows = [
            {"id": 1, "text": "one two three four"},
            {"id": 2, "text": f"another text of the file {name}"},
        ]
        (tmp_path / name).mkdir()
        jsonl(tmp_path / name, rows)
    found = benzer.find_duplicates("*/rows.jsonl", options=benzer.Options(id_scope="file"))
    assert found.kept == ["x/rows.jsonl:1", "x/rows.jsonl:2", "y/rows.jsonl:2"]
    assert found.removed == {"y/rows.jsonl:1": ("x/rows.jsonl:1", 1.0)}
    assert "repeated_ids" not in found.counts


def test_no_ids(tmp_path: Path) -> None:
    path = jsonl(tmp_path, ROWS)
    for given, name in ((path, str(path)), (ROWS, "documents"), (pa.Table.from_pylist(ROWS), "table")):
        found = benzer.find_duplicates(given, id="none")
        assert (found.kept[0], list(found.removed)) == (f"{name}:1", [f"{name}:3"])
        assert "repeated_ids" not in found.counts
    pairs = [("a", "one two three"), ("a", "four five six")]
    assert benzer.find_duplicates(pairs, id="none").kept == ["documents:1", "documents:2"]


def test_a_generated_id_that_is_also_given_is_an_error(tmp_path: Path) -> None:
    rows = [("a", "one two three"), ("a", "four five six"), ("documents:2", "seven eight nine")]
    with pytest.raises(
        DuplicateIdError, match=r"the id 'documents:2' occurs in documents row 2 and documents row 3"
    ):
        benzer.find_duplicates(rows)


@pytest.mark.parametrize("action", ["number", "skip"])
def test_value_sets_and_images(action: Literal["number", "skip"]) -> None:
    options = benzer.Options(on_duplicate_id=action)
    image = np.random.default_rng(0).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    sets = [{"id": 1, "values": ["a", "b"]}, {"id": 1, "values": ["b", "a"]}, {"id": 2, "values": ["c"]}]
    images = [{"id": 1, "image": image}, {"id": 1, "image": image}, {"id": 2, "image": image[::-1]}]
    for rows, field in ((sets, {"values": ValueSet()}), (images, {"image": Image()})):
        found = benzer.find_duplicates(rows, schema=Schema(**field), options=options)  # type: ignore[arg-type]
        assert found.kept == [1, 2]
        assert found.counts["removed"] == (action == "number")
        assert found.counts["repeated_identical"] == 1


def test_the_keep_rule_and_extra_columns_follow_skipped_documents() -> None:
    rows = [{**row, "year": year} for row, year in zip(ROWS, (2, 1, 9, 3), strict=True)]
    rows.append({"id": "c", "text": "one two three four", "year": 5})
    found = benzer.find_duplicates(rows, keep="largest:year", options=benzer.Options(on_duplicate_id="skip"))
    assert (found.kept, found.removed) == (["b", "c"], {"a": ("c", 1.0)})


def test_unknown_words_are_refused() -> None:
    with pytest.raises(SettingsError, match="on_duplicate_id must be one of number, skip, stop, got 'drop'"):
        benzer.Options(on_duplicate_id="drop")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="id_scope must be one of all, file, got 'row'"):
        benzer.Options(id_scope="row")  # type: ignore[arg-type]


# The command line


def test_dedupe_tells_what_was_repeated(tmp_path: Path) -> None:
    path = jsonl(tmp_path, ROWS)
    done = run("dedupe", str(path), "--output", str(tmp_path / "out"))
    assert done.exit_code == 0
    assert "repeated ids" in done.stdout
    assert "rows with the id of an earlier row: 1 with its content, 1 with another" in done.stdout
    counts = json.loads((tmp_path / "out/summary.json").read_text())["counts"]
    assert (counts["repeated_ids"], counts["repeated_identical"]) == (2, 1)
    done = run("dedupe", str(path), "--output", str(tmp_path / "stop"), "--on-duplicate-id", "stop", status=2)
    assert "the id 'a' occurs in" in done.stderr
    done = run("dedupe", str(path), "--output", str(tmp_path / "none"), "--id", "none", "--json")
    assert "repeated_ids" not in json.loads(done.stdout)["counts"]


@pytest.mark.parametrize("values", [False, True])
def test_an_index_takes_numbered_documents(tmp_path: Path, values: bool) -> None:
    rows = [{"id": row["id"], "tags": row["text"].split()} for row in ROWS] if values else ROWS
    path, target = jsonl(tmp_path, rows), str(tmp_path / "a.benzer")
    field = ["--values", "tags"] if values else []
    done = run("index", target, str(path), *field, "--json")
    report = json.loads(done.stdout)
    assert (report["read"], report["documents"], report["repeated_ids"]) == (4, 4, 2)
    with benzer.Index.open(target) as index:
        assert sorted(map(str, index)) == sorted(["a", "b", f"{path}:3", f"{path}:4"])
    done = run(
        "index",
        str(tmp_path / "b.benzer"),
        str(path),
        *field,
        "--on-duplicate-id",
        "skip",
        "--json",
        status=1,
    )
    assert (json.loads(done.stdout)["documents"], json.loads(done.stdout)["malformed"]) == (2, 2)
