"""Every source keeps one contract: the same documents in, the chosen rows out, malformed rows counted."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from benzer._native import Corpus, TextReader
from benzer.errors import InputError, MalformedRowError, OutputError, SettingsError
from benzer.sources import FORMATS, ReadOptions, open_sources
from benzer.sources import rows as batching
from benzer.sources.streams import line_blocks
from tests.contracts.recorded_corpus import RecordedCorpus

ROWS = [
    {"id": "a", "text": "plain words", "note": "first", "score": 1.5},
    {"id": "b", "text": 'with "quotes", commas\tand tabs', "note": "", "score": 2},
    {"id": "c", "text": "two\nlines", "note": "x,y", "score": -3},
    {"id": "d", "text": "", "note": "empty", "score": 0},
    {"id": "e", "text": "Türkçe 中文 \U0001f600", "note": "çok", "score": 1e-9},
]
MANY = [{"id": f"d{i}", "text": f"text number {i}", "note": "n" * (i % 5), "score": i} for i in range(5_000)]


def jsonl_bytes(rows: list[dict[str, Any]], end: bytes = b"\n") -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + end for row in rows)


def csv_bytes(
    rows: list[dict[str, Any]], delimiter: str = ",", end: str = "\n", quoting: int = csv.QUOTE_MINIMAL
) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return out.getvalue().encode()


def zst(data: bytes) -> bytes:
    half = len(data) // 2
    return b"".join(zstandard.ZstdCompressor().compress(part) for part in (data[:half], data[half:]))


def as_file(name: str, content: Callable[[list[dict[str, Any]]], bytes]) -> Callable[..., Any]:
    def put(folder: Path, rows: list[dict[str, Any]]) -> Path:
        (folder / name).write_bytes(content(rows))
        return folder / name

    return put


def parquet_file(folder: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), folder / "corpus.parquet", row_group_size=2_000)
    return folder / "corpus.parquet"


def text_folder(folder: Path, rows: list[dict[str, Any]]) -> Path:
    for row in rows:
        (folder / "texts" / row["id"][0]).mkdir(parents=True, exist_ok=True)
        (folder / "texts" / row["id"][0] / f"{row['id']}.txt").write_text(row["text"], encoding="utf-8")
    return folder / "texts"


@dataclass(frozen=True)
class Pair:
    id: str
    fields: Any


INPUTS: dict[str, Callable[[Path, list[dict[str, Any]]], Any]] = {
    "jsonl": as_file("corpus.jsonl", jsonl_bytes),
    "ndjson": as_file("corpus.ndjson", jsonl_bytes),
    "jsonl, CRLF": as_file("corpus.jsonl", lambda rows: jsonl_bytes(rows, b"\r\n")),
    "jsonl, byte order mark": as_file("corpus.jsonl", lambda rows: b"\xef\xbb\xbf" + jsonl_bytes(rows)),
    "jsonl, no last newline": as_file("corpus.jsonl", lambda rows: jsonl_bytes(rows)[:-1]),
    "jsonl.gz": as_file("corpus.jsonl.gz", lambda rows: gzip.compress(jsonl_bytes(rows))),
    "jsonl.gz, two members": as_file(
        "corpus.jsonl.gz",
        lambda rows: gzip.compress(jsonl_bytes(rows[:2])) + gzip.compress(jsonl_bytes(rows[2:])),
    ),
    "jsonl.zst, two frames": as_file("corpus.jsonl.zst", lambda rows: zst(jsonl_bytes(rows))),
    "csv": as_file("corpus.csv", csv_bytes),
    "csv, CRLF": as_file("corpus.csv", lambda rows: csv_bytes(rows, end="\r\n")),
    "csv, byte order mark": as_file("corpus.csv", lambda rows: b"\xef\xbb\xbf" + csv_bytes(rows)),
    "csv, blank lines": as_file(
        "corpus.csv", lambda rows: csv_bytes(rows, end="\n\n").replace(b"\n\n", b"\n", 1)
    ),
    "csv, no last newline": as_file("corpus.csv", lambda rows: csv_bytes(rows)[:-1]),
    "csv.gz": as_file("corpus.csv.gz", lambda rows: gzip.compress(csv_bytes(rows))),
    "csv.zst": as_file("corpus.csv.zst", lambda rows: zst(csv_bytes(rows))),
    "tsv": as_file("corpus.tsv", lambda rows: csv_bytes(rows, delimiter="\t")),
    "parquet": parquet_file,
    "text": text_folder,
    "arrow table": lambda folder, rows: pa.Table.from_pylist(rows),
    "arrow batches": lambda folder, rows: pa.RecordBatchReader.from_batches(
        pa.Table.from_pylist(rows).schema, pa.Table.from_pylist(rows).to_batches(max_chunksize=2)
    ),
    "mappings": lambda folder, rows: list(rows),
    "mappings, read once": lambda folder, rows: iter(rows),
    "pairs": lambda folder, rows: [(row["id"], row["text"]) for row in rows],
    "documents": lambda folder, rows: [Pair(row["id"], {"text": row["text"]}) for row in rows],
    "ids to texts": lambda folder, rows: {row["id"]: row["text"] for row in rows},
}
TABLES = [name for name in INPUTS if name not in ("text", "pairs", "documents", "ids to texts")]
BY_LINE = [name for name in INPUTS if "json" in name]
BY_RECORD = [name for name in INPUTS if "csv" in name or name == "tsv"]
AS_BYTES = BY_LINE + BY_RECORD
EVERY_OTHER = np.arange(len(ROWS)) % 2 == 0


def native_corpus(fields: int = 1) -> Corpus:
    reader = TextReader(
        unit="word",
        shingle_size=3,
        tokenizer="unified",
        normalize="nfkc",
        case="fold",
        punctuation="drop",
        whitespace="fold",
        stop_words=[],
    )
    return Corpus([reader] * fields)


def read(input: Any, number: int = 0, **options: Any) -> tuple[Any, Corpus, Any]:
    """The one source of an input, the corpus it filled, and its report."""
    (source,) = open_sources(input)
    chosen = ReadOptions(**options)
    corpus = native_corpus(len(chosen.fields)) if chosen.all_text else RecordedCorpus()
    report = source.read_into(corpus, number, chosen)
    assert report.documents == len(corpus)
    assert report.rows_read == report.documents + len(report.malformed)
    return source, corpus, report


def content(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    return data


def texts(corpus: Corpus) -> list[str | None]:
    return [corpus.text(i, 0) for i in range(len(corpus))]


@pytest.mark.parametrize("name", INPUTS)
def test_the_same_documents_come_from_every_format(name: str, tmp_path: Path) -> None:
    source, corpus, report = read(INPUTS[name](tmp_path, ROWS), number=3)
    ids = [row["id"] for row in ROWS]
    if name == "text":
        ids = [f"{source.name}/{id}/{id}.txt" for id in ids]
    assert corpus.ids() == ids
    assert texts(corpus) == [row["text"] for row in ROWS]
    assert corpus.rows().tolist() == [1, 2, 3, 4, 5]
    assert corpus.sources().tolist() == [3] * len(ROWS)
    assert report.rows_read == len(ROWS)


@pytest.mark.parametrize("name", TABLES)
def test_made_ids_name_the_source_and_the_row(name: str, tmp_path: Path) -> None:
    rows = [{key: value for key, value in row.items() if key != "id"} for row in ROWS]
    source, corpus, _ = read(INPUTS[name](tmp_path, rows))
    assert corpus.ids() == [f"{source.name}:{i + 1}" for i in range(len(ROWS))]


@pytest.mark.parametrize("name", TABLES)
def test_a_column_for_the_keep_policy_comes_as_json(name: str, tmp_path: Path) -> None:
    _, corpus, _ = read(INPUTS[name](tmp_path, ROWS), extra_column="score")
    assert [json.loads(extra) for extra in corpus.extras()] == [row["score"] for row in ROWS]


@pytest.mark.parametrize("name", TABLES)
def test_fields_are_read_from_the_columns_named(name: str, tmp_path: Path) -> None:
    _, corpus, _ = read(INPUTS[name](tmp_path, ROWS), fields={"body": "text", "title": "note"})
    assert corpus.text(2, 0) == ROWS[2]["text"]
    assert corpus.text(2, 1) == ROWS[2]["note"]


@pytest.mark.parametrize("name", TABLES)
def test_a_missing_column_is_an_error_that_lists_those_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r'no column "body": choose one of those it has \(id, text, note, score'
    ):
        read(INPUTS[name](tmp_path, ROWS), fields={"text": "body"})


@pytest.mark.parametrize("name", AS_BYTES)
def test_chosen_rows_are_copied_byte_for_byte(name: str, tmp_path: Path) -> None:
    path = INPUTS[name](tmp_path, ROWS)
    source, _, _ = read(path)
    parts = raw_rows(content(path), by_line=name in BY_LINE)
    for keep in (EVERY_OTHER, ~EVERY_OTHER, np.ones(5, np.bool_), np.zeros(5, np.bool_)):
        copy = tmp_path / "copies" / f"{keep.argmax()}-{keep.sum()}{source.suffix}"
        assert source.write_rows(keep, copy) == keep.sum()
        rows = [row for row, wanted in zip(parts[1:], keep, strict=True) if wanted]
        assert content(copy) == b"".join([parts[0], *rows])
        assert copy.suffixes == path.suffixes


def raw_rows(data: bytes, by_line: bool) -> list[bytes]:
    """What stands before the first document (mark, header), then each document's bytes; blank lines left out."""
    if by_line:
        mark = data[:3] if data.startswith(b"\xef\xbb\xbf") else b""
        return [mark, *data[len(mark) :].splitlines(keepends=True)]
    lines = [line for line in data.splitlines(keepends=True) if line.strip()]
    at = next(i for i, line in enumerate(lines) if line.startswith(b"c"))
    return [*lines[:at], b"".join(lines[at : at + 2]), *lines[at + 2 :]]


@pytest.mark.parametrize("name", TABLES)
def test_chosen_rows_keep_all_columns(name: str, tmp_path: Path) -> None:
    source, _, _ = read(INPUTS[name](tmp_path, ROWS))
    source.write_rows(EVERY_OTHER, tmp_path / f"copy{source.suffix}")
    again, corpus, _ = read(
        tmp_path / f"copy{source.suffix}", fields={"text": "text", "note": "note"}, extra_column="score"
    )
    kept = [row for row, wanted in zip(ROWS, EVERY_OTHER, strict=True) if wanted]
    assert again.suffix == source.suffix
    assert corpus.ids() == [row["id"] for row in kept]
    assert [corpus.text(i, 1) for i in range(3)] == [row["note"] for row in kept]
    assert [json.loads(extra) for extra in corpus.extras()] == [row["score"] for row in kept]


def test_text_files_are_copied_to_their_relative_paths(tmp_path: Path) -> None:
    source, _, _ = read(text_folder(tmp_path, ROWS))
    assert source.write_rows(EVERY_OTHER, tmp_path / "copy") == 3
    copies = sorted(
        path.relative_to(tmp_path / "copy").as_posix() for path in (tmp_path / "copy").rglob("*.txt")
    )
    assert copies == ["a/a.txt", "c/c.txt", "e/e.txt"]
    assert (tmp_path / "copy/e/e.txt").read_text(encoding="utf-8") == ROWS[4]["text"]


@pytest.mark.parametrize("name", ["arrow table", "mappings", "pairs", "documents"])
def test_what_came_from_memory_is_selected_in_memory(name: str, tmp_path: Path) -> None:
    given = INPUTS[name](tmp_path, ROWS)
    source, _, _ = read(given)
    selected = source.select(EVERY_OTHER)
    assert selected == (given.take([0, 2, 4]) if name == "arrow table" else given[::2])


MALFORMED = {
    "jsonl": (
        as_file(
            "corpus.jsonl",
            lambda _: b'{"text": "one"}\n{"text": "two\n\n{"text": 3}\n[4]\n{"txt": 5}\n{"text": null}\n',
        ),
        [2, 4, 5, 6],
        7,
        "line 2: unterminated string",
    ),
    "jsonl.gz": (
        as_file(
            "corpus.jsonl.gz", lambda _: gzip.compress(b'{"text": "one"}\n\n{"text": 3}\n{"text": "four"}')
        ),
        [3],
        4,
        'line 3: column "text" is not text',
    ),
    "csv": (
        as_file(
            "corpus.csv",
            lambda _: b'text,n\none,1\ntwo\n"three\n3",3\nfour,4,4\n"fi"ve,5\ns\xffx,6\nseven,7\n"eight,8\n',
        ),
        [2, 4, 5, 6, 8],
        7,
        r"row 2: 1 columns where the header has 2 \(line 3\)",
    ),
    "tsv": (
        as_file("corpus.tsv", lambda _: b"text\tn\none\t1\tx\ntwo\t2\n"),
        [1],
        2,
        r"row 1: 3 columns where the header has 2 \(line 2\)",
    ),
    "text": (
        lambda folder, _: (
            [(folder / f"{name}.txt").write_bytes(data) for name, data in (("a", b"one"), ("b", b"tw\xff"))]
            and folder
        ),
        [2],
        1,
        r"file 2: invalid utf-8 at byte 2 of .*/b.txt \(0xff\)",
    ),
    "mappings": (
        lambda *_: [{"text": "one"}, 2, {"text": 3}, {"body": "four"}, {"text": b"\xff"}, {"text": None}],
        [2, 3, 4, 5],
        6,
        "item 2: a number is no document: give a Document, a mapping, or a pair",
    ),
    "arrow": (
        lambda *_: pa.table({"text": pa.array([b"one", b"t\xff", b"three"]), "id": [1, 2, None]}),
        [2],
        3,
        'row 2: invalid utf-8 at byte 1 of column "text"',
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_rows_are_counted_and_left_out_of_copies(name: str, tmp_path: Path) -> None:
    put, malformed, last, _ = MALFORMED[name]
    source, corpus, report = read(put(tmp_path, ROWS), on_error="skip")
    assert [row.row for row in report.malformed] == malformed
    assert all(row.source == source.name and row.reason for row in report.malformed)
    assert corpus.rows()[-1] == last
    copy = tmp_path / "copies" / f"copy{source.suffix}"
    source.write_rows(np.ones(len(corpus), np.bool_), copy)
    _, again, _ = read(copy)
    assert texts(again) == texts(corpus)


@pytest.mark.parametrize("name", MALFORMED)
def test_the_first_malformed_row_stops_with_the_cure(name: str, tmp_path: Path) -> None:
    put, _, _, message = MALFORMED[name]
    with pytest.raises(MalformedRowError, match=message) as caught:
        read(put(tmp_path, ROWS))
    assert str(caught.value).endswith("set malformed rows aside with --on-error skip (on_error='skip').")


@pytest.mark.parametrize("make", [list, pa.Table.from_pylist], ids=["mappings", "arrow"])
def test_null_is_an_empty_document(make: Any) -> None:
    _, corpus, report = read(make([{"text": "one"}, {"text": None}]))
    assert (texts(corpus), report.malformed) == (["one", None], [])


VALUE_INPUTS = {
    "jsonl": as_file("corpus.jsonl", jsonl_bytes),
    "jsonl.zst": as_file("corpus.jsonl.zst", lambda rows: zst(jsonl_bytes(rows))),
    "csv": as_file(
        "corpus.csv",
        lambda rows: csv_bytes(
            [{**row, "tags": "" if row["tags"] is None else json.dumps(row["tags"])} for row in rows]
        ),
    ),
    "parquet": parquet_file,
    "arrow": lambda folder, rows: pa.Table.from_pylist(rows),
    "mappings": lambda folder, rows: rows,
}


@pytest.mark.parametrize("name", VALUE_INPUTS)
def test_sets_of_values_come_from_every_format_that_has_lists(name: str, tmp_path: Path) -> None:
    tags = [["x", "y"], [], None]
    rows = [{"id": i, "text": f"t{i}", "tags": tags[i]} for i in range(3)]
    corpus = RecordedCorpus()
    (source,) = open_sources(VALUE_INPUTS[name](tmp_path, rows))
    options = ReadOptions(fields={"body": "text", "tags": "tags"}, kinds={"tags": "values"})
    source.read_into(corpus, 0, options)
    assert [document[3] for document in corpus.documents] == [("t0", ["x", "y"]), ("t1", []), ("t2", None)]
    assert corpus.ids() == ([0, 1, 2] if name != "csv" else ["0", "1", "2"])


@pytest.mark.parametrize("value", ["text", [1.5], [True], [None], {"a": 1}, 7])
def test_other_values_are_malformed(value: Any, tmp_path: Path) -> None:
    path = as_file("corpus.jsonl", jsonl_bytes)(tmp_path, [{"tags": ["a", 2]}, {"tags": value}])
    corpus = RecordedCorpus()
    options = ReadOptions(fields={"tags": "tags"}, kinds={"tags": "values"}, on_error="skip")
    report = open_sources(path)[0].read_into(corpus, 0, options)
    assert [row.row for row in report.malformed] == [2]


def test_the_parsers_of_jsonl_agree_on_which_lines_are_documents(tmp_path: Path) -> None:
    lines = [
        b'{"text": "a"}',
        b'{"text": NaN}',
        b'{"text": "\t"}',
        b'{"text": "\\ud800"}',
        b"\x0c",
        b'{"text": "b"} c',
    ]
    path = as_file("corpus.jsonl", lambda _: b"\n".join(lines * 3))(tmp_path, [])
    _, scanned, _ = read(path, on_error="skip")
    parsed = RecordedCorpus()
    options = ReadOptions(fields={"text": "text", "tags": "text"}, kinds={"tags": "values"}, on_error="skip")
    report = open_sources(path)[0].read_into(parsed, 0, options)
    broken = [row.row for row in report.malformed if "no list" not in row.reason]
    assert sorted(set(range(1, 19)) - set(broken)) == list(scanned.rows())


@pytest.mark.parametrize("name", ["csv", "parquet", "mappings", "jsonl.gz"])
def test_many_rows_pass_in_batches(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benzer.sources.jsonl.line_blocks", lambda stream: line_blocks(stream, size=10_000))
    source, corpus, _ = read(INPUTS[name](tmp_path, MANY))
    assert corpus.ids() == [row["id"] for row in MANY]
    assert list(corpus.rows()) == list(range(1, len(MANY) + 1))
    keep = np.random.default_rng(7).random(len(MANY)) < 0.5
    source.write_rows(keep, tmp_path / f"copy{source.suffix}")
    _, again, _ = read(tmp_path / f"copy{source.suffix}")
    assert again.ids() == [row["id"] for row, wanted in zip(MANY, keep, strict=True) if wanted]


def test_batches_hold_at_most_two_thousand_documents() -> None:
    corpus = RecordedCorpus()
    open_sources(MANY)[0].read_into(corpus, 0, ReadOptions())
    assert corpus.batches == [2_000, 2_000, 1_000]


def test_long_texts_make_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "BATCH_CHARACTERS", 100)
    corpus = RecordedCorpus()
    open_sources([("a", "x" * 99), ("b", "y" * 99), ("c", "z")])[0].read_into(corpus, 0, ReadOptions())
    assert corpus.batches == [2, 1]


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


@pytest.mark.parametrize("name", ["jsonl.gz", "jsonl.zst, two frames", "csv.gz", "csv.zst", "parquet"])
@pytest.mark.parametrize("part", [0.5, 0.99])
def test_a_file_cut_short_is_named(name: str, part: float, tmp_path: Path) -> None:
    path = INPUTS[name](tmp_path, MANY[:500])
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * part)])
    with pytest.raises(InputError, match=f"{path.name} (is cut off|cannot be read as Parquet)"):
        read(path, on_error="skip")


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.parquet"])
def test_a_file_of_another_kind_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b'{"text": "plain"}\n')
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
    with pytest.raises(InputError, match="is no longer there"):
        source.write_rows(np.ones(5, np.bool_), tmp_path / "copy")


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet", "text", "arrow table", "mappings"])
def test_an_existing_file_is_never_overwritten(name: str, tmp_path: Path) -> None:
    path = INPUTS[name](tmp_path, ROWS)
    source, _, _ = read(path)
    place = path if isinstance(path, Path) else tmp_path / "there"
    if not place.exists():
        place.write_bytes(b"precious")
    with pytest.raises(OutputError, match="exists already"):
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
    "data, format, suffix",
    [
        (jsonl_bytes(ROWS), None, ".jsonl"),
        (gzip.compress(jsonl_bytes(ROWS)), None, ".jsonl.gz"),
        (zst(jsonl_bytes(ROWS)), None, ".jsonl.zst"),
        (csv_bytes(ROWS), "csv", ".csv"),
    ],
    ids=["jsonl", "gzip", "zstd", "csv"],
)
def test_the_standard_input_is_read(
    data: bytes, format: str | None, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    (source,) = open_sources("-", format=format)
    corpus = native_corpus()
    source.read_into(corpus, 0, ReadOptions(fields={"text": "text"}, id_column="id"))
    assert source.name == "stdin"
    assert texts(corpus) == [row["text"] for row in ROWS]
    assert source.suffix == suffix
    assert source.write_rows(EVERY_OTHER, tmp_path / f"copy{suffix}") == 3


def test_a_named_pipe_is_read_like_the_standard_input(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(jsonl_bytes(ROWS),))
    writer.start()
    _, corpus, _ = read(tmp_path / "pipe")
    writer.join()
    assert corpus.ids() == [row["id"] for row in ROWS]


def test_globs_come_sorted_and_folders_recursive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.jsonl", "a.jsonl", "c.csv", "deep/d.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    text_folder(tmp_path, ROWS[:1])
    assert [source.name for source in open_sources(["c.csv", "*.jsonl"])] == ["c.csv", "a.jsonl", "b.jsonl"]
    assert [source.name for source in open_sources("**/*.jsonl")] == ["a.jsonl", "b.jsonl", "deep/d.jsonl"]
    assert read("texts/")[1].ids() == ["texts/a/a.txt"]
    assert read("texts/a/a.txt")[1].ids() == ["texts/a/a.txt"]


def test_a_pattern_chooses_the_files_of_a_folder(tmp_path: Path) -> None:
    for name in ("a.html", "b.txt", "c.HTML"):
        (tmp_path / name).write_text(name)
    (source,) = open_sources(tmp_path, pattern="*.html")
    corpus = native_corpus()
    source.read_into(corpus, 0, ReadOptions(extra_column="bytes"))
    assert texts(corpus) == ["a.html"]
    assert corpus.extras() == [b"6"]


def test_text_files_have_an_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffçok".encode())
    (tmp_path / "b.txt").write_bytes("çok".encode("iso-8859-9"))
    _, utf8, report = read(tmp_path, on_error="skip")
    assert (texts(utf8), report.malformed[0].row) == (["çok"], 2)
    assert texts(read(tmp_path / "b.txt", encoding="iso-8859-9")[1]) == ["çok"]


@pytest.mark.parametrize(
    "inputs, message",
    [
        ([], "no input was given"),
        (7, "a int is no input"),
        ("nowhere.jsonl", "there is no file or folder nowhere.jsonl: check the path"),
        ("no*.jsonl", "nothing matches no"),
        ("a.data", 'a.data has the unknown ending ".data": name its format'),
        ("a.parquet.gz", "compressed as a whole"),
        (["a.jsonl", "./a.jsonl"], r"\./a.jsonl is given twice \(also as a.jsonl\)"),
        (["link.jsonl", "a.jsonl"], "given twice"),
        (["a.jsonl", "*.jsonl"], "given twice"),
        (["texts", "texts/a.txt"], r"texts/a.txt is given twice \(it lies in texts\)"),
        (["-", "-"], 'the standard input "-" is given 2 times'),
        ("empty", r"empty holds no files like \*.txt or \*.md: it is empty"),
        ("tables", r"tables holds no files like .* it holds .csv; give such files by a glob \(tables/\*\)"),
    ],
)
def test_an_input_that_cannot_be_opened_says_why(
    inputs: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("empty", "texts", "tables"):
        (tmp_path / folder).mkdir()
    for name in ("a.jsonl", "a.data", "a.parquet.gz", "texts/a.txt", "tables/t.csv"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match=message):
        open_sources(inputs)


def test_a_format_may_be_named(tmp_path: Path) -> None:
    path = as_file("corpus.data", jsonl_bytes)(tmp_path, ROWS)
    (source,) = open_sources(path, format="jsonl")
    assert source.suffix == ".data"
    with pytest.raises(
        InputError, match='no input format "xml": choose one of csv, jsonl, parquet, text, tsv'
    ):
        open_sources(path, format="xml")
    with pytest.raises(InputError, match="is a folder of texts"):
        open_sources(tmp_path, format="csv")


def test_several_tables_are_several_sources() -> None:
    table = pa.table({"text": ["one"]})
    assert [source.name for source in open_sources([table, table])] == ["table-1", "table-2"]


@pytest.mark.parametrize(
    "column, kind, message",
    [
        (pa.array([1]), "text", 'column "text" of table holds int64, not text: choose another column'),
        (pa.array(["a"]), "values", 'column "text" of table holds string, not lists of strings or integers'),
        (pa.array([[1.5]]), "values", "holds list<.*double>, not lists"),
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


def test_arrow_texts_that_are_not_utf8_spare_their_neighbours() -> None:
    column = pa.Array.from_buffers(pa.string(), 3, pa.array([b"one", b"\xff", b"two"]).buffers())
    _, corpus, report = read(pa.table({"text": column}), on_error="skip")
    assert (texts(corpus), [row.row for row in report.malformed]) == (["one", "two"], [2])


def test_a_json_array_is_no_jsonl(tmp_path: Path) -> None:
    for data in (b'[{"text": "a"}, {"text": "b"}]', b'[\n  {"text": "a"}\n]'):
        (tmp_path / "a.json").write_bytes(data)
        with pytest.raises(InputError, match="holds one JSON array, not one object a line: convert it"):
            read(tmp_path / "a.json", on_error="skip")


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


def test_unknown_options_are_refused() -> None:
    with pytest.raises(SettingsError, match='on_error must be "stop" or "skip", got "ignore"'):
        ReadOptions(on_error="ignore")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="fields must name at least one column"):
        ReadOptions(fields={})


@pytest.mark.parametrize("name", FORMATS.names)
def test_every_registered_format_can_be_loaded(name: str) -> None:
    assert {"read_into", "write_rows"} <= set(dir(FORMATS.load(name)))


def test_opening_imports_no_parquet() -> None:
    code = "import sys, benzer.sources as s; s.open_sources([{}]); sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
