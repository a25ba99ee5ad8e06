"""Files are read on executors as a local run reads them: the same documents, ids, rows and malformed rows."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benzer import Options
from benzer.errors import InputError, SettingsError
from benzer.fields import Schema, ValueSet
from benzer.pipeline.reading import read
from benzer.spark.files import parts, read_files
from benzer.spark.files.parts import SOURCE_BITS
from benzer.spark.session import to_arrow

ECHOED = "number bigint, id string, place bigint, extra string, source int, reason string, content string"


class Echo:
    """Gives what it is given, the fields as text."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            contents = [
                json.dumps(
                    [value["encoded"].decode() if isinstance(value, dict) else value for value in fields]
                )
                for fields in zip(
                    *(batch.column(n).to_pylist() for n in batch.schema.names if n.startswith("field_")),
                    strict=True,
                )
            ]
            known = [batch.column(name) for name in ECHOED.replace(",", "").split()[0:12:2]]
            yield pa.RecordBatch.from_arrays(
                [*known, pa.array(contents, pa.string())], ECHOED.replace(",", "").split()[0::2]
            )


def rows_of(df: Any) -> list[dict[str, Any]]:
    return sorted(to_arrow(df).to_pylist(), key=lambda row: row["number"])


def expected(inputs: Any, schema: Schema, **options: Any) -> list[dict[str, Any]]:
    """What a local run reads, in the form of `Echo`."""
    found = read(inputs, schema, options=Options(on_error="skip"), threads=1, **options)
    corpus, rows = found.corpus, []
    extras = corpus.extras() if found.options.extra_column else [None] * len(corpus)
    known = zip(corpus.sources().tolist(), corpus.rows().tolist(), corpus.ids(), extras, strict=True)
    for at, (source, row, id, extra) in enumerate(known):
        number = (source << SOURCE_BITS) | row
        fields = json.dumps([corpus.text(at, n) for n in range(len(schema.fields))])
        told = None if extra is None else extra.decode()
        rows.append({"number": number, "id": json.dumps(id), "place": number, "extra": told, "source": source,
                     "reason": None, "content": fields})  # fmt: skip
    for source, report in enumerate(found.reports):
        for one in report.malformed:
            number = (source << SOURCE_BITS) | one.row
            rows.append({"number": number, "id": None, "place": number, "extra": None, "source": source,
                         "reason": one.reason, "content": json.dumps([None] * len(schema.fields))})  # fmt: skip
    return sorted(rows, key=lambda row: row["number"])


def lines(count: int) -> Iterator[bytes]:
    """JSON lines with letters of several bytes, both line ends, blank lines, ids of both types, and broken rows."""
    for number in range(count):
        text = f"Grüße Nummer {number} 日本語 😀 " + "wort " * (number % 7)
        yield json.dumps({"id": number if number % 2 else str(number), "text": text, "n": number},
                         ensure_ascii=number % 3 == 0).encode()  # fmt: skip
        yield b"\r\n" if number % 5 == 0 else b"\n"
        if number % 11 == 3:
            yield b"\n  \r\n"
        if number % 13 == 4:
            yield b'{"id": "broken", "text": 7}\n{"text": "cut off\n'
        if number % 17 == 5:
            yield json.dumps({"text": f"an id is made {number}", "n": None}).encode() + b"\n"


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART_BYTES", 700)


@pytest.mark.usefixtures("small_parts")
def test_cut_json_lines_are_the_documents_of_a_local_run(spark: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_bytes(b"\xef\xbb\xbf" + b"".join(lines(120)))
    later = b"".join(lines(40)).replace(b'"id": ', b'"id": 1000') + b'{"text": "no newline"}'
    second.write_bytes(later.replace(b'1000"', b'"b'))
    inputs = [first, second]
    documents = read_files(spark, [str(path) for path in inputs], on_error="skip", keep="largest:n")
    assert len(documents.parts) > 20
    assert rows_of(documents.through(Echo(), ECHOED)) == expected(inputs, Schema(), extra="n")


@pytest.mark.usefixtures("small_parts")
def test_cut_parquet_is_the_documents_of_a_local_run(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = [
        None if n % 19 == 3 else f"Größe {n}".encode() + (b"\xff" if n % 31 == 7 else b"") for n in range(300)
    ]
    ids = [None if n % 23 == 4 else n for n in range(300)]
    table = pa.table({"text": pa.array(texts, pa.binary()), "id": ids})
    pq.write_table(table, path, row_group_size=40)
    documents = read_files(spark, str(path), on_error="skip")
    assert len(documents.parts) > 3
    assert rows_of(documents.through(Echo(), ECHOED)) == expected(str(path), Schema())


def test_other_formats_are_the_documents_of_a_local_run(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    for number in range(5):
        (tmp_path / "texts" / f"{number}.txt").write_bytes(
            f"Text {number} äöü".encode() + b"\xff" * (number == 3)
        )
    with gzip.open(tmp_path / "b.jsonl.gz", "wb") as stream:
        stream.write(b"".join(lines(30)).replace(b'"id": ', b'"key": '))
    (tmp_path / "c.csv").write_text('text,n\n"one, two",1\nthree\n"four\nfive",\n', encoding="utf-8")
    pq.write_table(pa.table({"text": [f"row {n}" for n in range(50)]}), tmp_path / "d.parquet")
    inputs = [str(tmp_path / name) for name in ("texts", "b.jsonl.gz", "c.csv", "d.parquet")]
    documents = read_files(spark, inputs, on_error="skip")
    assert len(documents.parts) == 1
    assert rows_of(documents.through(Echo(), ECHOED)) == expected([Path(name) for name in inputs], Schema())


def test_values_of_both_types_are_told_apart(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"id": 1, "tags": ["1", 1]}\n{"id": "1", "tags": []}\n{"id": 3, "tags": "4"}\n{"id": 4, "tags": null}\n'
    )
    documents = read_files(spark, str(path), Schema(tags=ValueSet()), on_error="skip")
    rows = rows_of(documents.through(Echo(), ECHOED))
    assert [row["id"] for row in rows] == ["1", '"1"', None, "4"]
    assert [row["content"] for row in rows] == ['["[\\"1\\",1]"]', '["[]"]', "[null]", "[null]"]
    report = read(str(path), Schema(tags=ValueSet()), options=Options(on_error="skip")).reports[0]
    assert str(documents.malformed(rows[2]["number"], None, 0, rows[2]["reason"])) == str(report.malformed[0])


@pytest.mark.usefixtures("small_parts")
def test_only_wanted_documents_are_given_for_each_row_that_asks(spark: Any, tmp_path: Path) -> None:
    path, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    path.write_bytes(b"".join(lines(60)))
    other.write_text('{"text": "alone"}\n')
    documents = read_files(spark, [str(path), str(other)], on_error="skip")
    everyone = {row["number"]: row for row in expected([path, other], Schema()) if row["id"]}
    asked = [(block, number) for at, number in enumerate(everyone) if at % 7 == 1 for block in (1, at)]
    asked.append((9, 1 << SOURCE_BITS | 1))
    rows = to_arrow(documents.wanted(spark.createDataFrame(asked, "block bigint, number bigint"))).to_pylist()
    assert sorted((row["block"], row["number"]) for row in rows) == sorted(asked)
    for row in rows:
        known = everyone[row["number"]]
        assert (row["id"], row["place"], row["source"]) == (known["id"], known["place"], known["source"])
        assert json.dumps([row["field_0"]]) == known["content"]
    assert set(rows[0]) == {"block", "number", "id", "place", "extra", "source", "field_0"}


def test_a_file_that_changes_during_a_run_is_an_error(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one"}\n')
    documents = read_files(spark, str(path))
    path.write_text('{"text": "two two"}\n')
    from benzer.spark.failures import raised_plainly

    with (
        pytest.raises(InputError, match=r"a\.jsonl has changed since the start of the run"),
        raised_plainly(),
    ):
        to_arrow(documents.through(Echo(), ECHOED))


@pytest.mark.parametrize("name", ["s3://bucket/a.jsonl", "-"])
def test_what_executors_cannot_open_is_refused_with_a_cure(name: str) -> None:
    with pytest.raises(SettingsError, match=r"DataFrame|write it to a file"):
        read_files(None, [name])
