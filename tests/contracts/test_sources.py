"""Every source keeps one contract: the same documents in, the chosen rows out, malformed rows counted."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benzer.errors import InputError, MalformedRowError
from benzer.sources import ReadOptions, open_sources
from benzer.sources import rows as batching
from benzer.sources.streams import line_blocks
from tests.contracts.recorded_corpus import RecordedCorpus
from tests.contracts.source_inputs import (
    AS_BYTES,
    BY_LINE,
    EVERY_OTHER,
    INPUTS,
    MANY,
    ROWS,
    TABLES,
    as_file,
    content,
    csv_bytes,
    excel_file,
    jsonl_bytes,
    parquet_file,
    read,
    text_folder,
    texts,
    zst,
)


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
    with pytest.raises(InputError, match=r'no column "body": use one of \(id, text, note, score'):
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
    """What stands before the first document (mark, header), then the bytes of each; no blank lines."""
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
        "item 2: a number is not a document: use a Document, a mapping, or a pair",
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
    assert str(caught.value).endswith("s with --on-error skip (on_error='skip').")


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


@pytest.mark.parametrize("name", [*VALUE_INPUTS, "excel"])
def test_a_number_is_a_set_of_one_where_the_schema_asks_for_values(name: str, tmp_path: Path) -> None:
    rows = [{"id": f"r{i}", "text": f"t{i}", "tags": year} for i, year in enumerate((1999, 2024, None))]
    corpus = RecordedCorpus()
    (source,) = open_sources({**VALUE_INPUTS, "excel": excel_file}[name](tmp_path, rows))
    source.read_into(corpus, 0, ReadOptions(fields={"tags": "tags"}, kinds={"tags": "values"}))
    assert [document[3] for document in corpus.documents] == [([1999],), ([2024],), (None,)]


@pytest.mark.parametrize("value", ["text", [1.5], [True], [None], {"a": 1}, 7.5, True])
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
    broken = [row.row for row in report.malformed if "is not a list of" not in row.reason]
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
