"""What is particular to a format: quotes, schemas, damage, encodings, types; and what no source ever does."""

from __future__ import annotations

import csv
import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benzer.errors import InputError, OutputError
from benzer.sources import ReadOptions, json_array, open_sources
from tests.contracts.recorded_corpus import RecordedCorpus
from tests.contracts.source_inputs import (
    INPUTS,
    MANY,
    ROWS,
    as_file,
    csv_bytes,
    jsonl_bytes,
    native_corpus,
    read,
    texts,
)


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(
        st.tuples(
            st.text(st.sampled_from('a,"\t\r\n é\u2028\x85')),
            st.text(st.characters(codec="utf-8"), max_size=5),
        ),
        min_size=1,
        max_size=8,
    ),
    style=st.sampled_from([("\n", csv.QUOTE_ALL), ("\r\n", csv.QUOTE_MINIMAL)]),
    delimiter=st.sampled_from([",", "\t"]),
    choice=st.integers(0, 255),
)
def test_csv_survives_quotes_and_newlines(
    cells: list[tuple[str, str]],
    style: tuple[str, int],
    delimiter: str,
    choice: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("csv") / ("corpus.csv" if delimiter == "," else "corpus.tsv")
    rows = [{"text": text, "other": other, "last": "z"} for text, other in cells]
    path.write_bytes(csv_bytes(rows, delimiter, *style))
    source, corpus, _ = read(path, fields={"text": "text", "other": "other"})
    assert [(corpus.text(i, 0), corpus.text(i, 1)) for i in range(len(corpus))] == cells
    keep = np.array([choice >> i & 1 for i in range(len(rows))], dtype=np.bool_)
    source.write_rows(keep, path.with_stem("copy"))
    kept = [row for row, wanted in zip(rows, keep, strict=True) if wanted]
    expected = csv_bytes(kept, delimiter, *style) if kept else path.read_bytes().splitlines(keepends=True)[0]
    assert path.with_stem("copy").read_bytes() == expected


def test_parquet_keeps_schema_metadata_and_compression(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            pa.field("text", pa.large_string(), metadata={"about": "the text"}),
            pa.field("when", pa.timestamp("ms")),
            pa.field("tags", pa.list_(pa.string())),
            pa.field("kind", pa.dictionary(pa.int8(), pa.string())),
        ],
        metadata={"made by": "a test"},
    )
    table = pa.table([["a", "b", "c"], [1, None, 3], [["x"], None, []], ["k", "k", None]], schema=schema)
    pq.write_table(
        table,
        tmp_path / "in.parquet",
        compression={"text": "gzip", "when": "none", "tags.list.element": "zstd"},
        row_group_size=2,
    )
    source, _, _ = read(tmp_path / "in.parquet")
    source.write_rows(np.array([True, False, True]), tmp_path / "out.parquet")
    before, after = (pq.ParquetFile(tmp_path / name) for name in ("in.parquet", "out.parquet"))
    assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)
    assert after.read() == table.take([0, 2])
    assert after.num_row_groups == 2
    for column in range(4):
        codecs = {file.metadata.row_group(0).column(column).compression for file in (before, after)}
        assert len(codecs) == 1


def test_parquet_without_rows_is_copied(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "in.parquet")
    source, corpus, report = read(tmp_path / "in.parquet")
    assert (len(corpus), report.rows_read) == (0, 0)
    assert source.write_rows(np.zeros(0, np.bool_), tmp_path / "out.parquet") == 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


@pytest.mark.parametrize(
    "name, data", [("a.jsonl", b""), ("a.jsonl", b"\n \r\n"), ("a.csv", b""), ("a.csv", b"id,text\r\n")]
)
def test_a_file_without_rows_gives_no_documents(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    source, corpus, report = read(tmp_path / name)
    assert (len(corpus), report.rows_read, report.malformed) == (0, 0, [])
    assert source.write_rows(np.zeros(0, np.bool_), tmp_path / f"copy{source.suffix}") == 0


def test_a_cell_may_be_longer_than_the_parser_expects(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    _, corpus, _ = read(as_file("a.csv", csv_bytes)(tmp_path, [{"text": "x" * 300_000}]))
    assert len(corpus.text(0, 0)) == 300_000
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    "name", ["jsonl.gz", "jsonl.zst, two frames", "jsonl.bz2", "jsonl.xz", "csv.gz", "csv.zst", "parquet"]
)
@pytest.mark.parametrize("part", [0.5, 0.99])
def test_a_file_cut_short_is_named(name: str, part: float, tmp_path: Path) -> None:
    path = INPUTS[name](tmp_path, MANY[:500])
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * part)])
    with pytest.raises(InputError, match=f"{path.name} (is cut off|cannot be read as Parquet)"):
        read(path, on_error="skip")


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.jsonl.bz2", "a.csv.xz", "a.parquet"])
def test_a_file_of_another_kind_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"just some words")
    with pytest.raises(InputError, match=rf"{name} (is not valid|cannot be read as Parquet)"):
        read(tmp_path / name)


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet", "text"])
def test_nothing_is_copied_from_a_file_that_changed(name: str, tmp_path: Path) -> None:
    path = INPUTS[name](tmp_path, ROWS)
    source, _, _ = read(path)
    changed = path / "a/a.txt" if path.is_dir() else path
    changed.write_bytes(changed.read_bytes() + b"more")
    with pytest.raises(InputError, match="has changed since it was read"):
        source.write_rows(np.ones(5, np.bool_), tmp_path / "copy")
    changed.unlink()
    with pytest.raises(InputError, match="no longer exists"):
        source.write_rows(np.ones(5, np.bool_), tmp_path / "copy")


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet", "text", "arrow table", "mappings"])
def test_an_existing_file_is_never_overwritten(name: str, tmp_path: Path) -> None:
    path = INPUTS[name](tmp_path, ROWS)
    source, _, _ = read(path)
    place = path if isinstance(path, Path) else tmp_path / "there"
    if not place.exists():
        place.write_bytes(b"precious")
    with pytest.raises(OutputError, match="already exists"):
        source.write_rows(np.ones(5, np.bool_), place)
    assert (
        place.is_dir()
        or place.read_bytes() == b"precious"
        or read(path)[1].ids() == ["a", "b", "c", "d", "e"]
    )


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet", "text", "arrow table", "mappings"])
def test_rows_are_chosen_after_reading_and_for_each_document(name: str, tmp_path: Path) -> None:
    path = INPUTS[name](tmp_path, ROWS)
    with pytest.raises(InputError, match="has not been read yet"):
        open_sources(path)[0].write_rows(np.ones(5, np.bool_), tmp_path / "copy")
    source, _, _ = read(INPUTS[name](tmp_path, ROWS))
    with pytest.raises(InputError, match="gave 5 documents, but keep has 4 entries"):
        source.write_rows(np.ones(4, np.bool_), tmp_path / "copy")


@pytest.mark.parametrize(
    "column, kind, message",
    [
        (pa.array([1]), "text", 'column "text" of table contains int64, not text: choose another column'),
        (
            pa.array(["a"]),
            "values",
            'column "text" of table contains string, not lists of strings or integers',
        ),
        (pa.array([[1.5]]), "values", "contains list<.*double>, not lists"),
    ],
)
def test_a_column_of_another_type_is_refused(column: Any, kind: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(pa.table({"text": column}), kinds={"text": kind})


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string()), pa.string_view()],
    ids=str,
)
def test_all_arrow_texts_are_texts(kind: Any) -> None:
    _, corpus, _ = read(pa.table({"text": pa.array(["one", None, "çok"]).cast(kind)}))
    assert texts(corpus) == ["one", None, "çok"]


def test_string_views_can_be_chosen_from(tmp_path: Path) -> None:
    table = pa.table({"text": pa.array(["one", "two", "three", None]).cast(pa.string_view())})
    source, _, _ = read(table)
    for keep in ([True, False, True, True], [False] * 4, [True] * 4):
        expected = [text for text, wanted in zip(["one", "two", "three", None], keep, strict=True) if wanted]
        assert source.select(np.array(keep)).column("text").to_pylist() == expected
    source.write_rows(np.array([True, False, True, True]), tmp_path / "copy.parquet")
    assert texts(read(tmp_path / "copy.parquet")[1]) == ["one", "three", None]


def test_arrow_texts_that_are_not_utf8_spare_their_neighbours() -> None:
    column = pa.Array.from_buffers(pa.string(), 3, pa.array([b"one", b"\xff", b"two"]).buffers())
    _, corpus, report = read(pa.table({"text": column}), on_error="skip")
    assert (texts(corpus), [row.row for row in report.malformed]) == (["one", "two"], [2])


def test_a_json_array_is_no_jsonl(tmp_path: Path) -> None:
    for data in (b'[{"text": "a"}, {"text": "b"}]', b'[\n  {"text": "a"}\n]'):
        (tmp_path / "a.json").write_bytes(data)
        with pytest.raises(InputError, match="contains one JSON array, not one object per line: convert it"):
            open_sources(tmp_path / "a.json", "jsonl")[0].read_into(native_corpus(), 0, ReadOptions())


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_elements_of_a_json_array_are_copied_as_they_are(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_array, "CHUNK_BYTES", chunk)
    parts = [
        '{"text": "a ] b, \\"c\\""}',
        '{\n  "text": "çok",\r\n "n": 1e400}',
        "7",
        '{"text": "c", "x": [{}, []]}',
    ]
    (tmp_path / "a.json").write_text("\ufeff [" + " ,\n".join(parts) + "]\n \n", newline="")
    source, corpus, report = read(tmp_path / "a.json", on_error="skip")
    assert texts(corpus) == ['a ] b, "c"', "çok", "c"]
    assert [str(row) for row in report.malformed] == [
        f"{tmp_path}/a.json element 3: not a JSON object: expected '{{' at column 1, found '7'"
    ]
    source.write_rows(np.array([False, True, True]), tmp_path / "copy.json")
    assert (tmp_path / "copy.json").read_bytes().decode() == f"[\n{parts[1]},\n{parts[3]}\n]\n"
    source.write_rows(np.zeros(3, np.bool_), tmp_path / "none.json")
    assert json.loads((tmp_path / "none.json").read_bytes()) == []


@pytest.mark.parametrize(
    "data, place",
    [
        (b'[{"text": "a"}, {"text": "b"}', "after element 1"),
        (b'[{"text": "a"} {"text": "b"}]', "at its beginning"),
        (b'[{"text": "a"}, {"text": oops}]', "after element 1"),
    ],
)
def test_a_broken_json_array_is_an_error_that_names_the_place(
    data: bytes, place: str, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_bytes(data)
    with pytest.raises(InputError, match=f"a.json is not a valid JSON array {place}: correct it"):
        read(tmp_path / "a.json", on_error="skip")


def test_two_json_arrays_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'[{"text": "a"}]\n[{"text": "b"}]')
    with pytest.raises(InputError, match="contains more than one JSON array"):
        read(tmp_path / "a.json")


@pytest.mark.parametrize("name", ["feather", "arrow", "arrow stream"])
def test_arrow_files_keep_schema_container_and_compression(name: str, tmp_path: Path) -> None:
    path = INPUTS[name](tmp_path, MANY)
    source, _, _ = read(path)
    source.write_rows(np.arange(len(MANY)) % 2 == 0, tmp_path / "copy")
    data = (tmp_path / "copy").read_bytes()
    opened = pa.ipc.open_stream(data) if name == "arrow stream" else pa.ipc.open_file(data)
    assert opened.read_all().to_pylist() == MANY[::2]
    frame = {"feather": b"\x04\x22\x4d\x18", "arrow": None, "arrow stream": b"\x28\xb5\x2f\xfd"}[name]
    assert frame is None or frame in data


def test_cells_of_a_workbook_are_texts_and_values(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (
        ["id", "text", "tags", "when"],
        [1, 1984, 7, None],
        [None] * 4,
        [2, "words", '["a", 2]', "x"],
    ):
        book.active.append(row)
    book.active["D2"] = dt.date(2024, 5, 1)
    book.create_sheet("other").append(["nothing"])
    book.save(tmp_path / "a.xlsx")
    corpus = RecordedCorpus()
    fields = {"text": "text", "when": "when", "tags": "tags"}
    open_sources(tmp_path / "a.xlsx")[0].read_into(corpus, 0, ReadOptions(fields, {"tags": "values"}))
    assert corpus.ids() == [1, 2]
    assert [document[3] for document in corpus.documents] == [
        ("1984", "2024-05-01T00:00:00", [7]),
        ("words", "x", ["a", 2]),
    ]


def test_integer_ids_stay_integers_of_64_bits(tmp_path: Path) -> None:
    ids = [7, -(2**63), 2**64, 1.5, True, "x", None, 2**63 - 1]
    rows = [{"id": id, "text": ""} for id in ids]
    for put in (rows, as_file("a.jsonl", jsonl_bytes)(tmp_path, rows)):
        source, corpus, report = read(put, on_error="skip")
        assert corpus.ids() == [7, -(2**63), "x", f"{source.name}:7", 2**63 - 1]
        assert [row.reason for row in report.malformed] == [
            f"the id {2**64} is neither text nor an integer of 64 bits",
            "the id 1.5 is neither text nor an integer of 64 bits",
            'the id in column "id" is neither text nor an integer',
        ]


def test_an_id_column_that_was_asked_for_must_be_filled(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": "x"}, {"id": None, "text": "y"}]
    for put in (rows, as_file("a.jsonl", jsonl_bytes)(tmp_path, rows), pa.Table.from_pylist(rows)):
        _, corpus, report = read(put, on_error="skip", id_column="id")
        assert corpus.ids() == ["a"]
        assert report.malformed[0].reason == 'no id in column "id"'
