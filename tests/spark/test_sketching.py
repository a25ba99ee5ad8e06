"""What a worker says of documents is what the local sketcher says, wherever batches end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benzer.clusters import Keep
from benzer.corpus import corpus_of
from benzer.errors import DuplicateIdError, MalformedRowError
from benzer.fields import Schema, Text, ValueSet
from benzer.sketcher import Sketcher
from benzer.sources.arrow import ArrowSource
from benzer.sources.base import ReadOptions
from benzer.spark.frames import EMPTY, MALFORMED, SHORT, WHOLE
from benzer.spark.session import configured, to_arrow
from benzer.spark.sketching import SketchRows, packed, sketch
from tests.spark import made

TEXTS = [*made.texts(60), "oak"]


def batch_of(
    texts: list[Any], ids: list[Any] | None = None, kind: Any = None, places: Any = None
) -> pa.RecordBatch:
    count = len(texts)
    return pa.record_batch(
        {
            "number": pa.array(range(count), pa.int64()),
            "id": pa.array([f"d{at}" for at in range(count)] if ids is None else ids, pa.string()),
            "place": pa.array(range(count) if places is None else places, pa.int64()),
            "extra": pa.nulls(count, pa.string()),
            "source": pa.array([0] * count, pa.int32()),
            "field_0": pa.array(texts, kind or pa.string()),
        }
    )


def sketcher_of(schema: Schema) -> Sketcher:
    from benzer.bands import Bands
    from benzer.minhash import MinHash

    return Sketcher(schema, MinHash(num_hashes=12), Bands(4, 3))


def rows_of(worker: SketchRows, batches: list[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in worker(iter(batches)) for row in batch.to_pylist()]


def locally(texts: list[Any], schema: Schema) -> tuple[Any, Any]:
    corpus = corpus_of(schema)
    options = ReadOptions(kinds={name: field.kind for name, field in schema.fields.items()}, on_error="skip")
    ArrowSource(pa.table({"text": texts})).read_into(corpus, 0, options)
    return corpus, sketcher_of(schema).sketch(corpus)


def test_the_length_is_in_characters() -> None:
    texts = ["漢字 é", "abc", ""]
    worker = SketchRows(sketcher_of(Schema()), with_lengths=True)
    assert [row["length"] for row in rows_of(worker, [batch_of(texts)])] == [4, 3, 0]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_rows_are_the_local_sketches_however_they_are_batched(size: int) -> None:
    schema = Schema(text=Text(shingle_size=2))
    corpus, sketches = locally(TEXTS, schema)
    lengths = corpus.text_lengths(np.arange(len(corpus), dtype=np.uint32), 1)
    identities = corpus.identities(np.arange(len(corpus), dtype=np.uint32)).view(np.int64)
    whole = pa.Table.from_batches([batch_of(TEXTS)])
    worker = SketchRows(sketcher_of(schema), with_lengths=True)
    rows = rows_of(worker, [batch_of([]), *whole.to_batches(max_chunksize=size)])
    short, states = sketcher_of(schema).short(sketches), set()
    for at, row in enumerate(rows):
        expected = EMPTY if sketches.empty[at] else SHORT if short[at] else WHOLE
        keys = None if sketches.empty[at] else sketches.keys[at].astype("<u8").tobytes()
        assert (row["id"], row["state"], row["keys"]) == (f"d{at}", expected, keys)
        assert [row["content_a"], row["content_b"]] == sketches.content[at].view(np.int64).tolist()
        assert [row["identity_a"], row["identity_b"]] == identities[at].tolist()
        assert (row["length"], row["reason"]) == (lengths[at], None)
        states.add(expected)
    assert len(rows) == len(TEXTS)
    assert states == {WHOLE, SHORT, EMPTY}


def test_identities_are_null_where_nobody_needs_them() -> None:
    rows = rows_of(SketchRows(sketcher_of(Schema()), with_identities=False), [batch_of(TEXTS)])
    assert {(row["identity_a"], row["identity_b"]) for row in rows} == {(None, None)}


def test_what_is_sketched_together_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benzer.spark.sketching.TOGETHER_ROWS", 5)
    parts = list(SketchRows(sketcher_of(Schema()))(iter([batch_of(["oak elm fir"] * 3)] * 5)))
    assert [part.num_rows for part in parts] == [6, 6, 3]


def test_no_batch_at_all_gives_none() -> None:
    assert rows_of(SketchRows(sketcher_of(Schema())), []) == []


@pytest.mark.parametrize("count", [3, 40])  # a few rows are read one by one, more by columns
def test_bad_rows_are_told_of_and_the_others_are_as_without_them(count: int) -> None:
    texts = [f"oak elm fir {at}".encode() for at in range(count)]
    good = rows_of(SketchRows(sketcher_of(Schema())), [batch_of(texts, kind=pa.binary())])
    texts[1] = b"caf\xe9 au lait"
    ids = [None if at == 2 else f"d{at}" for at in range(count)]
    batch = batch_of(texts, ids, pa.binary(), [None if at == 0 else at for at in range(count)])
    rows = rows_of(SketchRows(sketcher_of(Schema())), [batch])
    reasons = {at: row["reason"] for at, row in enumerate(rows) if row["state"] == MALFORMED}
    assert reasons == {
        0: "no place in the order",
        1: 'invalid utf-8 at byte 3 of column "text" (0xe9)',
        2: "no id",
    }
    for row in rows[:3]:
        none = {row[name] for name in ("keys", "content_a", "identity_a", "identity_b", "length")}
        assert none == {None}
    assert rows[3:] == good[3:]


def test_an_id_that_is_no_text_makes_a_row_malformed() -> None:
    batch = batch_of(["oak elm fir"] * 2)
    ids = pa.array([b"d\xff", b"fine"], pa.binary()).view(pa.string())
    rows = SketchRows(sketcher_of(Schema())).rows(pa.Table.from_batches([batch.set_column(1, "id", ids)]))
    assert rows.column("reason").to_pylist() == ["the id is not valid UTF-8", None]


def test_value_sets_and_several_fields_are_sketched_too() -> None:
    schema = Schema(text=Text(), tags=ValueSet())
    tags = [["a", "b"], None, [], ["c"]] * 10
    texts = TEXTS[:40]
    batch = batch_of(texts).append_column("field_1", pa.array(tags, pa.list_(pa.string())))
    corpus = corpus_of(schema)
    options = ReadOptions({"text": "text", "tags": "tags"}, {"tags": "values"})
    ArrowSource(pa.table({"text": texts, "tags": tags})).read_into(corpus, 0, options)
    sketches = sketcher_of(schema).sketch(corpus)
    rows = rows_of(SketchRows(sketcher_of(schema)), [batch])
    assert [row["content_a"] for row in rows] == sketches.content[:, 0].view(np.int64).tolist()
    assert [len(row["keys"] or b"") for row in rows] == np.where(sketches.empty, 0, 2 * 4 * 8).tolist()


def test_keys_of_no_document_take_no_place() -> None:
    keys = np.array([[1, 2], [3, 4]], dtype=np.uint64)
    state = np.array([MALFORMED, EMPTY, WHOLE], dtype=np.int32)
    column = packed(keys, np.array([1, 2]), state)
    column.validate(full=True)
    assert column.to_pylist() == [None, None, keys[1].tobytes()]


def test_spark_gives_the_same_rows_in_small_batches(spark: Any) -> None:
    documents = made.documents(spark, list(enumerate(TEXTS)), keep=Keep.parse("longest"))
    run = made.run_of(documents, "longest")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
    with configured(spark):
        found = to_arrow(sketch(run, documents)).sort_by("number")
    spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    worker = SketchRows(run.sketcher, with_lengths=True)
    batch = batch_of(TEXTS).set_column(1, "id", pa.array(range(len(TEXTS)), pa.int64()))
    assert found.to_pylist() == rows_of(worker, [batch])


def test_rows_are_counted_by_what_became_of_them(spark: Any) -> None:
    rows = [
        ("a", "oak elm fir gum"),
        ("b", "oak"),
        ("c", ""),
        ("d", None),
        (None, "ivy"),
        ("e", "one two three"),
    ]
    documents = made.documents(spark, rows, "id string, text string")
    run = made.run_of(documents, on_error="skip")
    found = made.counted(run, documents, sketch(run, documents))
    assert (found.read, found.documents, found.short, found.empty, found.malformed_rows) == (6, 5, 1, 2, 1)
    assert [str(one) for one in found.malformed] == ['the DataFrame id null: no id in column "id"']
    assert sum(found.by_source.values()) == 6


def test_a_malformed_row_stops_the_run_and_is_named(spark: Any) -> None:
    rows = [("a", b"oak elm fir"), ("b\xe9", b"caf\xe9"), ("c", b"caf\xe9")]
    documents = made.documents(spark, rows, "id string, body binary", text="body")
    run = made.run_of(documents)
    with pytest.raises(
        MalformedRowError, match=r'id .*: invalid utf-8 at byte 3 of column "body" .*and 1 more'
    ):
        made.counted(run, documents, sketch(run, documents))


def test_a_row_without_a_place_is_malformed(spark: Any) -> None:
    documents = made.documents(
        spark, [(1, "oak", 5), (2, "elm", None)], "id int, text string, n int", order_by="n"
    )
    run = made.run_of(documents)
    with pytest.raises(MalformedRowError, match='the DataFrame id 2: null in column "n"'):
        made.counted(run, documents, sketch(run, documents))


def test_an_id_that_occurs_twice_is_refused_by_name(spark: Any) -> None:
    documents = made.documents(spark, [("a", "oak"), ("b", "elm"), ("a", "fir")], "id string, text string")
    run = made.run_of(documents)
    with pytest.raises(DuplicateIdError, match="the id 'a' occurs in 2 rows of the DataFrame"):
        made.counted(run, documents, sketch(run, documents))


def test_two_ids_of_one_hash_are_told_from_one_id_twice(spark: Any) -> None:
    documents = made.documents(spark, [("a", "oak"), ("b", "elm"), ("c", "fir")], "id string, text string")
    run = made.run_of(documents)
    from pyspark.sql import functions as F

    number = F.when(F.col("id") == "c", F.col("number")).otherwise(F.lit(7).cast("bigint"))
    collided = sketch(run, documents).withColumn("number", number)
    with pytest.raises(
        DuplicateIdError, match="the ids 'a' and 'b' have the same 64-bit hash: use an id column of"
    ):
        made.counted(run, documents, collided)
