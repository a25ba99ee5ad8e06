"""Results appear whole or not at all, never in the place of an input, and read back as they were."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benzer.errors import MissingExtraError, OutputError, SettingsError
from benzer.tables import (
    OutputFolder,
    atomic_write,
    check_destination,
    to_arrow,
    write_summary,
    write_table,
)
from benzer.tables import partial as partial_module

PAIRS = {
    "left_id": ["a", 'quote " and \\', "çok 中文 \U0001f600"],
    "right_id": [1, -(2**63), 2**63 - 1],
    "similarity": np.array([1.0, 0.1 + 0.2, 5e-324]),
    "representative": np.array([True, False, True]),
    "row": np.array([1, 2, 3], dtype=np.uint64),
    "file": ["100%.jsonl", None, "b\n.csv"],
}


def rows_of(columns: dict[str, Any]) -> list[dict[str, Any]]:
    lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()]
    return [dict(zip(columns, values, strict=True)) for values in zip(*lists, strict=True)]


def test_json_lines_read_back_equal(tmp_path: Path) -> None:
    assert write_table(tmp_path / "pairs.jsonl", PAIRS) == 3
    lines = (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").split("\n")
    assert [json.loads(line) for line in lines[:-1]] == rows_of(PAIRS)
    assert lines[-1] == ""
    assert lines[0].startswith('{"left_id": "a", "right_id": 1, "similarity": 1.0, "representative": true')


def test_parquet_reads_back_equal(tmp_path: Path) -> None:
    assert write_table(tmp_path / "pairs.parquet", PAIRS, "parquet") == 3
    assert pq.read_table(tmp_path / "pairs.parquet").to_pylist() == rows_of(PAIRS)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8")) | st.integers() | st.none(),
            st.floats(allow_nan=False, allow_infinity=False),
        )
    )
)
def test_any_ids_and_floats_survive_json_lines(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Any, float]]
) -> None:
    path = tmp_path_factory.mktemp("table") / "table.jsonl"
    write_table(path, {"id %s": [row[0] for row in rows], "similarity": [row[1] for row in rows]})
    read = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [(row["id %s"], row["similarity"]) for row in read] == rows


def test_tables_are_written_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benzer.tables.writing.BATCH_ROWS", 7)
    columns = {"id": np.arange(100), "name": np.array([f"n{i}" for i in range(100)])}
    assert write_table(tmp_path / "table.jsonl", columns) == 100
    read = [json.loads(line) for line in (tmp_path / "table.jsonl").read_text().splitlines()]
    assert read == [{"id": i, "name": f"n{i}"} for i in range(100)]


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
@pytest.mark.parametrize("columns", [{}, {"id": [], "similarity": np.zeros(0)}])
def test_an_empty_table_is_a_table(format: Any, columns: dict[str, Any], tmp_path: Path) -> None:
    assert write_table(tmp_path / "table", columns, format) == 0
    if format == "parquet":
        assert pq.read_table(tmp_path / "table").column_names == list(columns)
    else:
        assert (tmp_path / "table").read_bytes() == b""


def test_what_json_has_no_words_for_is_null(tmp_path: Path) -> None:
    values = [math.nan, math.inf, 0.5, np.float32(0.25), np.int8(3), np.bool_(True)]
    write_table(tmp_path / "table.jsonl", {"value": values})
    read = [json.loads(line)["value"] for line in (tmp_path / "table.jsonl").read_text().splitlines()]
    assert read == [None, None, 0.5, 0.25, 3, True]


def test_half_a_surrogate_pair_is_written_all_the_same(tmp_path: Path) -> None:
    write_table(tmp_path / "table.jsonl", {"id": ["ç", "\ud800"]})
    lines = (tmp_path / "table.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["ç", "\ud800"]
    assert to_arrow({"id": ["ç", "\ud800"]}).to_pylist() == [{"id": "ç"}, {"id": "\ufffd"}]


@pytest.mark.parametrize(
    "values, kind",
    [
        ([1, 2, None], "int64"),
        ([1, "a"], "large_string"),
        ([2**63, 1], "large_string"),
        ([], "large_string"),
        ([None], "large_string"),
        ([True, None], "bool"),
        ([0.5, 1, None], "double"),
        (np.array([1], dtype=np.uint32), "uint32"),
        (np.array([0.5], dtype=np.float32), "float"),
        (np.array(["a"]), "large_string"),
        (np.array([1, "a"], dtype=object), "large_string"),
    ],
)
def test_arrow_types_follow_the_values(values: Any, kind: str) -> None:
    table = to_arrow({"value": values})
    assert str(table.schema.field("value").type) == kind
    expected = values.tolist() if isinstance(values, np.ndarray) else values
    if kind == "large_string":
        expected = [value if value is None else str(value) for value in expected]
    assert table.column("value").to_pylist() == expected


def test_columns_of_different_length_are_refused(tmp_path: Path) -> None:
    for format in ("jsonl", "parquet"):
        with pytest.raises(OutputError, match=r"columns differ in length \(a 1, b 2\)"):
            write_table(tmp_path / "table", {"a": [1], "b": [1, 2]}, format)
    assert not (tmp_path / "table").exists()


def test_an_unknown_table_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match='tables must be "jsonl" or "parquet", got "xml"'):
        write_table(tmp_path / "table", {}, "xml")  # type: ignore[arg-type]


def test_parquet_without_pyarrow_names_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    with pytest.raises(MissingExtraError, match=r"need pyarrow, .* pip install 'benzer\[parquet\]'"):
        write_table(tmp_path / "table", {"id": [1]}, "parquet")


def test_a_summary_is_sorted_and_indented(tmp_path: Path) -> None:
    summary = {
        "z": np.float64(0.5),
        "a": {"path": Path("x"), "ids": {"b", "a"}},
        "mean": math.nan,
        "counts": np.arange(2),
        "text": "çok",
    }
    write_summary(tmp_path / "summary.json", summary)
    text = (tmp_path / "summary.json").read_text(encoding="utf-8")
    assert text.startswith('{\n  "a": {\n    "ids": [\n')
    assert text.endswith("}\n")
    assert "çok" in text
    assert json.loads(text) == {
        "a": {"ids": ["a", "b"], "path": "x"},
        "counts": [0, 1],
        "mean": None,
        "text": "çok",
        "z": 0.5,
    }


def fill(place: AbstractContextManager[Path], write: Callable[[Path], Any]) -> None:
    with place as partial:
        write(partial)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_appears_when_it_is_complete(tmp_path: Path) -> None:
    place = tmp_path / "new" / "results"
    with OutputFolder(place) as folder:
        (folder / "pairs.jsonl").write_text("{}")
        assert not place.exists()
        assert names(tmp_path / "new") == [f".results.partial-{os.getpid()}"]
    assert names(tmp_path / "new") == ["results"]
    assert names(place) == ["pairs.jsonl"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_after_an_error(error: type[BaseException], tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "old").touch()

    def stop(folder: Path) -> None:
        (folder / "new").touch()
        raise error

    with pytest.raises(error):
        fill(OutputFolder(tmp_path / "results", replace=True), stop)
    assert names(tmp_path) == ["results"]
    assert names(tmp_path / "results") == ["old"]


def test_an_old_folder_is_replaced_only_on_request(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "old").touch()
    with pytest.raises(OutputError, match="results already exists: choose another path, or allow replace"):
        OutputFolder(tmp_path / "results").__enter__()
    with OutputFolder(tmp_path / "results", replace=True) as folder:
        (folder / "new").touch()
        assert names(tmp_path / "results") == ["old"]
    assert names(tmp_path) == ["results"]
    assert names(tmp_path / "results") == ["new"]


@pytest.mark.parametrize("in_one_step", [True, False])
def test_the_old_folder_comes_back_if_the_new_one_cannot_take_its_place(
    in_one_step: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "old").touch()
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise PermissionError("no")
        return rename(self, target)

    def refuse_exchange(path: Path, other: Path) -> bool:
        if in_one_step:
            raise PermissionError("no")
        return False

    monkeypatch.setattr(Path, "rename", refuse)
    monkeypatch.setattr(partial_module, "exchange", refuse_exchange)
    with pytest.raises(PermissionError):
        fill(OutputFolder(tmp_path / "results", replace=True), lambda folder: (folder / "new").touch())
    assert names(tmp_path) == ["results"]
    assert names(tmp_path / "results") == ["old"]


def test_a_folder_that_appeared_meanwhile_is_not_replaced(tmp_path: Path) -> None:

    def meanwhile(_: Path) -> None:
        (tmp_path / "results").mkdir()
        (tmp_path / "results" / "theirs").touch()

    with pytest.raises(OutputError, match="already exists"):
        fill(OutputFolder(tmp_path / "results"), meanwhile)
    assert names(tmp_path / "results") == ["theirs"]
    assert names(tmp_path) == ["results"]


def test_a_file_is_no_place_for_a_folder_nor_the_other_way_round(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="is a file, not a folder"):
        OutputFolder(tmp_path / "file", replace=True).__enter__()
    with pytest.raises(OutputError, match="is a folder, not a file"):
        atomic_write(tmp_path / "folder", replace=True).__enter__()


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "new" / "pairs.jsonl") as partial:
        partial.write_text("new")
        assert not (tmp_path / "new" / "pairs.jsonl").exists()
    assert names(tmp_path / "new") == ["pairs.jsonl"]
    with pytest.raises(OutputError, match="already exists"):
        atomic_write(tmp_path / "new" / "pairs.jsonl").__enter__()

    def stop(partial: Path) -> None:
        partial.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill(atomic_write(tmp_path / "new" / "pairs.jsonl", replace=True), stop)
    assert (tmp_path / "new" / "pairs.jsonl").read_text() == "new"
    with atomic_write(tmp_path / "new" / "pairs.jsonl", replace=True) as partial:
        partial.write_text("newer")
    assert (tmp_path / "new" / "pairs.jsonl").read_text() == "newer"
    assert names(tmp_path / "new") == ["pairs.jsonl"]


@pytest.mark.parametrize(
    "given, output",
    [
        ("a.jsonl", "a.jsonl"),
        ("a.jsonl", "folder/../a.jsonl"),
        ("a.jsonl", "link.jsonl"),
        ("a.jsonl", "hard.jsonl"),
        ("folder/b.jsonl", "folder"),
        ("folder", "folder"),
        ("folder", "."),
        ("folder/deep", "folder"),
        ("link.jsonl", "a.jsonl"),
    ],
)
def test_an_input_is_never_the_destination(
    given: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(tmp_path, monkeypatch)
    with pytest.raises(
        OutputError, match=f"output {output} would replace the input {given}: choose another path"
    ):
        check_destination(["/other.jsonl", given], output)


@pytest.mark.parametrize(
    "given, output",
    [
        ("a.jsonl", "results"),
        ("folder", "folder/results"),
        ("folder/b.jsonl", "folder/c.jsonl"),
        ("a.jsonl", "a"),
    ],
)
def test_other_destinations_are_allowed(
    given: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(tmp_path, monkeypatch)
    check_destination([given, Path(given)], Path(output))


def lay_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "folder" / "deep").mkdir(parents=True)
    for name in ("a.jsonl", "folder/b.jsonl"):
        (folder / name).touch()
    (folder / "link.jsonl").symlink_to("a.jsonl")
    (folder / "hard.jsonl").hardlink_to("a.jsonl")


def test_arrow_tables_are_pyarrow_tables() -> None:
    assert isinstance(to_arrow({"id": [1]}), pa.Table)


def test_two_who_write_one_file_under_one_process_number_each_write_it_whole(tmp_path: Path) -> None:
    """As two containers do that share a folder."""
    path = tmp_path / "pairs.jsonl"
    with atomic_write(path, replace=True) as first:
        first.write_text("half of ")
        with atomic_write(path, replace=True) as second:
            second.write_text("another whole")
        assert path.read_text() == "another whole"
        with first.open("a") as more:
            more.write("a whole")
    assert path.read_text() == "half of a whole"
    assert names(tmp_path) == ["pairs.jsonl"]
