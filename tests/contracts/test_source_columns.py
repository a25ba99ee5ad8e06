"""Columns that go to the corpus as they lie in memory make the documents that rows make, one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benzer import MinHash, Schema, Text
from benzer._native import Corpus
from benzer.errors import InputError, MalformedRowError, SettingsError
from benzer.sources import ReadOptions, open_sources
from benzer.sources.arrow import add_batches
from benzer.sources.columns import FEW_ROWS, add_columns


class RowByRow:
    """A corpus that takes no columns."""

    def __init__(self, corpus: Any) -> None:
        self._corpus = corpus

    def __getattr__(self, name: str) -> Any:
        if name == "add_columns":
            raise AttributeError(name)
        return getattr(self._corpus, name)


def corpus_of_two() -> Any:
    return Corpus(Schema(title=Text(), body=Text()).readers())


def read(batches: list[Any], options: ReadOptions, by_columns: bool) -> tuple[Any, Any]:
    corpus = corpus_of_two()
    sink = corpus if by_columns else RowByRow(corpus)
    return corpus, add_batches(sink, 0, batches, "table", options)


def documents(corpus: Any) -> list[tuple[Any, ...]]:
    texts = [(corpus.text(at, 0), corpus.text(at, 1)) for at in range(len(corpus))]
    return list(zip(corpus.ids(), corpus.rows().tolist(), corpus.sources().tolist(), texts, strict=True))


def options(**settings: Any) -> ReadOptions:
    return ReadOptions(fields={"title": "title", "body": "body"}, **settings)


TEXTS = ["naïve café", "", None, "b" * 300, "日本語", "x\0y"]
TEXT_TYPES = [
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.large_binary(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.string_view(),
]
IDS: list[Any] = [
    pa.array(["a", "b", "ü", "d", "e", "f"]),
    pa.array([1, 2, -3, 2**62, 5, 6]),
    pa.array([1, 2, 3, 4, 5, 6], pa.uint8()),
    pa.array([10, None, 3, 4, None, 6]),
    pa.array(["a", None, "c", "d", "e", "f"]),
    pa.array([1, 2, 3, 4, 5, 6], pa.uint64()),
    pa.array([None] * 6, pa.string()),
]


def batch_of(kind: Any, ids: Any) -> Any:
    column = pa.array([None if one is None else one.encode() for one in TEXTS], pa.binary())
    column = column.cast(pa.string()).cast(kind) if kind != pa.binary() else column
    return pa.record_batch({"id": ids, "title": pa.array(TEXTS[::-1]), "body": column})


@pytest.mark.parametrize("ids", IDS, ids=lambda ids: f"{ids.type}{ids.null_count}")
@pytest.mark.parametrize("kind", TEXT_TYPES, ids=str)
def test_columns_and_rows_make_the_same_documents(kind: Any, ids: Any) -> None:
    batch = batch_of(kind, ids)
    # Cut pieces have offsets of their own.
    batches = [batch.slice(0, 0), batch.slice(1, 3), batch.slice(4), batch.slice(0, 1)]
    with_columns, report = read(batches, options(), by_columns=True)
    with_rows, plain = read(batches, options(), by_columns=False)
    assert documents(with_columns) == documents(with_rows)
    assert report == plain


def test_no_column_of_ids_makes_them() -> None:
    batches = [batch_of(pa.string(), IDS[0]).drop_columns(["id"])] * 2
    corpus, _ = read(batches, options(), by_columns=True)
    assert corpus.ids() == [f"table:{row}" for row in range(1, 13)]
    assert documents(corpus) == documents(read(batches, options(), by_columns=False)[0])


@pytest.mark.parametrize("kind", [pa.binary(), pa.string()], ids=str)
def test_only_the_rows_that_are_no_utf8_are_malformed(kind: Any) -> None:
    bad = pa.array([b"good", b"caf\xe9", b"end"], pa.binary())
    if kind == pa.string():
        bad = pa.Array.from_buffers(kind, 3, bad.buffers())
    batches = [
        batch_of(pa.string(), IDS[1]),
        pa.record_batch({"id": pa.array([7, 8, 9]), "title": pa.array(["", "", ""]), "body": bad}),
        batch_of(pa.string(), pa.array([11, 12, 13, 14, 15, 16])),
    ]
    corpus, report = read(batches, options(on_error="skip"), by_columns=True)
    assert [one.row for one in report.malformed] == [8]
    assert (report.rows_read, report.documents, len(corpus)) == (15, 14, 14)
    assert documents(corpus) == documents(read(batches, options(on_error="skip"), by_columns=False)[0])
    with pytest.raises(MalformedRowError, match="table row 8: invalid utf-8"):
        read(batches, options(), by_columns=True)


def test_a_missing_id_where_one_must_be_is_a_malformed_row() -> None:
    batches = [batch_of(pa.string(), IDS[3])]
    corpus, report = read(batches, options(id_column="id", on_error="skip"), by_columns=True)
    assert ([one.row for one in report.malformed], corpus.ids()) == ([2, 5], [10, 3, 4, 6])


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("group", [1, 3, 100])
def test_row_groups_come_in_their_order(tmp_path: Path, threads: int, group: int) -> None:
    path = tmp_path / "many.parquet"
    table = pa.table({"id": list(range(20)), "title": [""] * 20, "body": [f"text {i}" for i in range(20)]})
    pq.write_table(table, path, row_group_size=group)
    corpus = corpus_of_two()
    (source,) = open_sources(str(path))
    report = source.read_into(corpus, 0, options(threads=threads))
    assert (corpus.ids(), report.rows_read) == (list(range(20)), 20)
    assert [corpus.text(at, 1) for at in range(20)] == [f"text {i}" for i in range(20)]


def test_a_parquet_file_without_rows_has_no_documents(tmp_path: Path) -> None:
    path = tmp_path / "none.parquet"
    pq.write_table(pa.table({"title": pa.array([], pa.string()), "body": pa.array([], pa.string())}), path)
    (source,) = open_sources(str(path))
    assert source.read_into(corpus_of_two(), 0, options()).rows_read == 0


def test_data_that_may_still_change_is_refused() -> None:
    data, offsets = np.array([97], dtype=np.uint8), np.array([0, 1])
    column = (offsets, data, None)
    with pytest.raises(SettingsError, match="read-only"):
        corpus_of_two().add_columns(0, 1, 1, None, [column, column])
    data.flags.writeable = False
    with pytest.raises(SettingsError, match="text fields only"):
        Corpus([None]).add_columns(0, 1, 1, None, [column])
    with pytest.raises(SettingsError, match="text fields only"):
        corpus_of_two().add_columns(0, 1, 1, None, [column])
    assert corpus_of_two().add_columns(0, 1, 1, None, [column, column])


@pytest.mark.parametrize("kind", TEXT_TYPES, ids=str)
def test_an_arrow_array_has_the_signatures_of_its_texts(kind: Any) -> None:
    array = pa.array([None if one is None else one.encode() for one in TEXTS] * 200, pa.binary())
    array = (array.cast(pa.string()).cast(kind) if kind != pa.binary() else array).slice(3)
    texts = (TEXTS * 200)[3:]
    for threads in (1, 2):
        made = MinHash(num_hashes=40).of(Text(), array, threads)
        assert (made == MinHash(num_hashes=40).of(Text(), texts, threads)).all()


def test_an_arrow_array_that_holds_no_texts_is_refused() -> None:
    latin = pa.array([b"good", b"caf\xe9"], pa.binary())
    for array in (pa.array([1, 2]), latin):
        with pytest.raises(InputError, match="cast it to strings"):
            MinHash().of(Text(), array)
    unchecked = pa.Array.from_buffers(pa.string(), 2, latin.buffers())
    with pytest.raises(InputError, match="text 1 of the column is not valid UTF-8"):
        MinHash().of(Text(), unchecked)


def test_a_column_of_several_pieces_or_of_nothing_has_signatures() -> None:
    pieces = pa.chunked_array([TEXTS[:2], [], TEXTS[2:]], pa.string())
    plain = MinHash(num_hashes=40).of(Text(), TEXTS)
    assert (MinHash(num_hashes=40).of(Text(), pieces) == plain).all()
    assert (
        MinHash(num_hashes=40).of(Text(), pa.nulls(2)) == MinHash(num_hashes=40).of(Text(), ["", ""])
    ).all()
    assert len(MinHash(num_hashes=40).of(Text(), pa.chunked_array([], pa.string()))) == 0


def test_small_row_groups_and_batches_are_read_as_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(
        "benzer.sources.arrow.add_columns",
        lambda *given: bool(asked.append(given[3].num_rows)) or add_columns(*given),
    )
    table = pa.table(
        {"id": list(range(2000)), "title": [""] * 2000, "body": [f"text {i}" for i in range(2000)]}
    )
    for group in (5, 2000):
        pq.write_table(table, tmp_path / "many.parquet", row_group_size=group)
        corpus = corpus_of_two()
        (source,) = open_sources(str(tmp_path / "many.parquet"))
        source.read_into(corpus, 0, options())
        assert corpus.ids() == list(range(2000))
    assert asked == [2000, 2000]
    few, many = table.slice(0, FEW_ROWS - 1).to_batches(), table.slice(0, FEW_ROWS).to_batches()
    with monkeypatch.context() as patched:
        patched.setattr("benzer.sources.columns.text_arrays", None)
        add_batches(corpus_of_two(), 0, few, "table", options())
        with pytest.raises(TypeError):
            add_batches(corpus_of_two(), 0, many, "table", options())
