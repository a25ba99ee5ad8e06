"""Places inside of columns: `meta.body`, `messages[].content`, in every format that has nested rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from benzer import find_duplicates
from benzer.cli import main
from benzer.errors import InputError
from benzer.sources import ReadOptions, open_sources
from tests.contracts.recorded_corpus import RecordedCorpus
from tests.contracts.source_inputs import as_file, ipc_file, jsonl_bytes, read, texts

ROWS = [
    {
        "meta": {"id": f"m{n}", "body": f"the body {n}", "year": 2000 + n, "tags": ["a", f"t{n}"]},
        "messages": [{"role": "user", "content": f"question {n}"}, {"role": "bot", "content": f"answer {n}"}],
        "lines": [f"line {n}", "and more"],
    }
    for n in range(20)
]


def parquet(folder: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), folder / "a.parquet")
    return folder / "a.parquet"


NESTED: dict[str, Callable[[Path, list[dict[str, Any]]], Any]] = {
    "jsonl": as_file("a.jsonl", jsonl_bytes),
    "json": as_file("a.json", lambda rows: json.dumps(rows).encode()),
    "parquet": parquet,
    "arrow file": ipc_file("a.arrow"),
    "arrow table": lambda folder, rows: pa.Table.from_pylist(rows),
    "mappings": lambda folder, rows: rows,
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize(
    "column, expected",
    [
        ("meta.body", "the body 7"),
        ("messages[].content", "question 7\nanswer 7"),
        ("lines[]", "line 7\nand more"),
        ("meta.tags[]", "a\nt7"),
    ],
)
def test_texts_come_from_places_inside_of_columns(
    name: str, column: str, expected: str, tmp_path: Path
) -> None:
    source, corpus, report = read(NESTED[name](tmp_path, ROWS), fields={"text": column}, id_column="meta.id")
    assert (corpus.ids()[7], corpus.text(7, 0), report.malformed) == ("m7", expected, [])
    source.write_rows(np.arange(20) == 7, tmp_path / f"copy{source.suffix}")
    _, copied, _ = read(tmp_path / f"copy{source.suffix}", fields={"text": column}, id_column="meta.id")
    assert (copied.ids(), texts(copied)) == (["m7"], [expected])


@pytest.mark.parametrize("name", NESTED)
def test_values_and_numbers_come_from_there_too(name: str, tmp_path: Path) -> None:
    corpus = RecordedCorpus()
    fields = {"tags": "meta.tags", "year": "meta.year", "roles": "messages[].role"}
    options = ReadOptions(fields, dict.fromkeys(fields, "values"), extra_column="meta.year")
    (source,) = open_sources(NESTED[name](tmp_path, ROWS))
    source.read_into(corpus, 0, options)
    assert corpus.documents[3][3] == (["a", "t3"], [2003], ["user", "bot"])


@pytest.mark.parametrize("name", NESTED)
def test_a_column_of_that_very_name_comes_first(name: str, tmp_path: Path) -> None:
    rows = [{"meta.body": f"flat {n}", "meta": {"body": "nested"}} for n in range(20)]
    _, corpus, _ = read(NESTED[name](tmp_path, rows), fields={"text": "meta.body"})
    assert corpus.text(5, 0) == "flat 5"


def test_a_place_that_a_row_lacks_makes_it_malformed(tmp_path: Path) -> None:
    rows = [*ROWS[:1], {"meta": {"title": "x"}}, {"meta": 7}, {"meta": {"body": None}}, {"other": 1}]
    _, corpus, report = read(NESTED["jsonl"](tmp_path, rows), fields={"text": "meta.body"}, on_error="skip")
    assert [(row.row, row.reason) for row in report.malformed] == [
        (row, 'no column "meta.body"') for row in (2, 3, 5)
    ]
    assert texts(corpus) == ["the body 0", None]


@pytest.mark.parametrize("name", ["parquet", "arrow table"])
def test_a_place_that_a_schema_lacks_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r'column "meta" of .* contains struct<.*>, which has no "meta.text"'
    ):
        read(NESTED[name](tmp_path, ROWS), fields={"text": "meta.text"})
    with pytest.raises(InputError, match=r'has no column "mta\.body": use one of'):
        read(NESTED[name](tmp_path, ROWS), fields={"text": "mta.body"})


def test_a_list_of_texts_is_joined_only_on_request(tmp_path: Path) -> None:
    _, _, report = read(
        NESTED["jsonl"](tmp_path, ROWS[:1]), fields={"t": "lines", "b": "meta.body"}, on_error="skip"
    )
    assert report.malformed[0].reason == 'column "lines" is a list of texts: use "lines[]" to join them'


def test_all_interfaces_take_places(tmp_path: Path) -> None:
    rows = [
        {"meta": {"body": text}}
        for text in ("one two three four", "other words here now", "one two three four")
    ]
    path = NESTED["jsonl"](tmp_path, rows)
    assert find_duplicates(path, text="meta.body").counts["removed"] == 1
    words = ["dedupe", str(path), "--text", "meta.body", "--output", str(tmp_path / "out"), "--json"]
    assert json.loads(CliRunner().invoke(main, words).stdout)["counts"]["removed"] == 1
    info = CliRunner().invoke(main, ["index", str(tmp_path / "i.benzer"), str(path), "--text", "meta.body"])
    assert info.exit_code == 0, info.output
