"""A bad id in the first row costs that row, never the ids of all others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benzer import Options, Schema, ValueSet, find_duplicates
from benzer.errors import MalformedRowError

Rows = list[dict[str, Any]]


def as_jsonl(path: Path, rows: Rows) -> Any:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def as_parquet(path: Path, rows: Rows) -> Any:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return str(path)


def as_rows(path: Path, rows: Rows) -> Any:
    return rows


FORMS = [("jsonl", as_jsonl), ("parquet", as_parquet), ("rows", as_rows)]


def rows_with(*ids: Any) -> Rows:
    return [{"id": one, "text": f"the text of number {i}"} for i, one in enumerate(ids)]


@pytest.mark.parametrize("bad", [1.5, True, [1], {"a": 1}])
@pytest.mark.parametrize("form, write", [FORMS[0], FORMS[2]])
def test_a_bad_id_in_the_first_row_is_told(
    form: str, write: Callable[[Path, Rows], Any], bad: Any, tmp_path: Path
) -> None:
    source = write(tmp_path / f"docs.{form}", rows_with(bad, "b", "c"))
    with pytest.raises(MalformedRowError, match=r"1: .*neither text nor an integer"):
        find_duplicates(source)
    found = find_duplicates(source, options=Options(on_error="skip"))
    assert found.kept == ["b", "c"]
    assert [row.row for row in found.malformed] == [1]


def test_ids_that_are_all_numbers_with_a_fraction_are_told(tmp_path: Path) -> None:
    with pytest.raises(MalformedRowError, match=r"row 1: the id 1\.5 is neither text nor an integer"):
        find_duplicates(as_parquet(tmp_path / "docs.parquet", rows_with(1.5, 2.5)))


@pytest.mark.parametrize("form, write", FORMS)
def test_a_first_row_without_an_id_leaves_those_of_the_others(
    form: str, write: Callable[[Path, Rows], Any], tmp_path: Path
) -> None:
    found = find_duplicates(write(tmp_path / f"docs.{form}", rows_with(None, "b", "c")))
    assert found.kept[1:] == ["b", "c"]
    assert str(found.kept[0]).endswith(":1")


@pytest.mark.parametrize("form, write", FORMS)
def test_a_column_of_ids_without_any_is_made(
    form: str, write: Callable[[Path, Rows], Any], tmp_path: Path
) -> None:
    found = find_duplicates(write(tmp_path / f"docs.{form}", rows_with(None, None)))
    assert [str(one).rsplit(":", 1)[-1] for one in found.kept] == ["1", "2"]


@pytest.mark.parametrize("form, write", FORMS)
def test_a_field_of_the_name_id_is_no_bad_id(
    form: str, write: Callable[[Path, Rows], Any], tmp_path: Path
) -> None:
    source = write(tmp_path / f"docs.{form}", [{"id": ["a", "b"]}, {"id": ["c", "d"]}])
    assert len(find_duplicates(source, schema=Schema(id=ValueSet())).kept) == 2
