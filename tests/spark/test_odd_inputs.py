"""Whatever names, ids, values and settings there are: a whole run answers as the local one does, or is refused."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import benzer
import benzer.spark
from benzer import Bands, Schema, Text, ValueSet
from benzer.errors import DuplicateIdError, InputError, SettingsError
from benzer.spark.columns import column
from benzer.spark.files import read_files
from benzer.spark.session import from_arrow, to_arrow
from benzer.spark.settings import Work
from tests.spark import made

BANDS = Bands(12, 3)
"""So few that pairs are missed, and the second look has work."""
ODD = ["", " ", "  ", "A", "a", "é", "e\u0301", "😀", "ß", "SS", "\x00x", "`", '"', "null", "1", "01"]


@contextmanager
def set_to(spark: Any, **settings: str) -> Iterator[None]:
    """Settings of Spark, with `__` for each dot."""
    names = {name.replace("__", "."): value for name, value in settings.items()}
    before = {name: spark.conf.get(name, None) for name in names}
    for name, value in names.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            spark.conf.unset(name) if old is None else spark.conf.set(name, old)


def shuffled(spark: Any, table: pa.Table, partitions: int = 3) -> Any:
    order = np.random.default_rng(partitions).permutation(table.num_rows)
    return from_arrow(spark, table.take(pa.array(order))).repartition(partitions)


def said_locally(found: Any) -> dict[str, Any]:
    """All that must be equal, in an order."""
    removed, clusters = found.table("removed"), found.table("clusters")
    return {
        "counts": found.counts,
        "pairs": sorted(map(tuple, found.pairs), key=repr),
        "removed": sorted(rows_of(removed, REMOVED), key=repr),
        "clusters": sorted(rows_of(clusters, CLUSTERS), key=repr),
        "kept": sorted(found.kept, key=repr),
    }


def rows_of(table: dict[str, Any], names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    columns = (np.asarray(table[name], dtype=object).tolist() for name in names)
    return zip(*columns, strict=True)


def said_by_spark(found: Any, df: Any, id: str = "id") -> dict[str, Any]:
    """The same of a run on Spark."""

    def rows(frame: Any, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
        table = to_arrow(frame.select(*names))
        return sorted(zip(*(table.column(name).to_pylist() for name in names), strict=True), key=repr)

    return {
        "counts": found.counts,
        "pairs": rows(found.pairs, PAIRS),
        "removed": rows(found.removed, REMOVED),
        "clusters": rows(found.clusters, CLUSTERS),
        "kept": sorted((row[0] for row in found.kept(df).select(column(id)).collect()), key=repr),
    }


PAIRS = ("left_id", "right_id", "similarity")
REMOVED = ("id", "kept_id", "similarity")
CLUSTERS = ("cluster_id", "id", "similarity", "representative", "component_id")


def test_names_ids_and_settings_of_any_kind_change_nothing(spark: Any) -> None:
    """In small batches and one partition, strictly, with 64-bit offsets."""
    count = 90
    chance = random.Random(1)
    names = ("Doc.Id `x", "number", "field_0", "block", "place", "id", "extra", "source", "benzer")
    tags = [None if at % 5 == 0 else chance.choices("éxyzw", k=at % 4) for at in range(count)]
    places = sorted(chance.sample(range(-(2**63), 2**63 - 1, 2**55), count))
    columns = [
        [*ODD, *(f"Id{at}" for at in range(count - len(ODD)))],
        made.texts(count, 2),
        made.texts(count, 3),
        tags,
        places,
        range(count),
        [chance.choice([None, "b", "a", "", "B"]) for _ in range(count)],
        range(count),
        [None] * count,
    ]
    data = pa.table([pa.array(one) for one in columns], names=names)
    schema = Schema(
        id=Text(shingle_size=2), number=Text(unit="char", shingle_size=4), block=ValueSet(weight=0.5)
    )
    asked: dict[str, Any] = {
        "schema": schema, "text": {"id": "number", "number": "field_0", "block": "block"}, "id": names[0],
        "threshold": 0.45, "keep": "smallest:extra",
        "options": benzer.Options(bands=BANDS, bucket_limit=5, seed=4),
    }  # fmt: skip
    expected = said_locally(benzer.find_duplicates(data, **asked))
    assert expected["counts"]["near"] > 5
    odd = {
        "spark__sql__shuffle__partitions": "1",
        "spark__sql__execution__arrow__maxRecordsPerBatch": "7",
        "spark__sql__execution__arrow__useLargeVarTypes": "true",
        "spark__sql__ansi__enabled": "true",
        "spark__sql__caseSensitive": "true",
    }
    with set_to(spark, **odd):
        df = shuffled(spark, data)
        found = benzer.spark.find_duplicates(df, order_by="place", **asked)
        assert said_by_spark(found, df, names[0]) == expected


@pytest.mark.parametrize(
    "texts", [[], [None, "", "  ", *["oak elm fir gum"] * 7]], ids=["none", "empty and equal"]
)
def test_a_run_without_anything_to_compare_ends_as_a_local_one(spark: Any, texts: list[str | None]) -> None:
    data = pa.table({"id": pa.array(range(len(texts)), pa.int64()), "text": pa.array(texts, pa.string())})
    local = benzer.find_duplicates(data, keep="last")
    df = from_arrow(spark, data)
    found = benzer.spark.find_duplicates(df, keep="last")
    assert said_by_spark(found, df) == said_locally(local)
    if not local.removed:
        assert found.measure_recall() == local.measure_recall()
        assert found.to_local().clusters == local.clusters


def test_a_checkpoint_of_cut_blocks_serves_the_same_rows_and_no_others(spark: Any, tmp_path: Path) -> None:
    data = pa.table({"id": range(60), "text": made.texts(60, 5)})
    asked: dict[str, Any] = {
        "threshold": 0.45, "keep": "longest", "options": benzer.Options(bands=BANDS, bucket_limit=6),
    }  # fmt: skip
    expected = said_locally(benzer.find_duplicates(data, **asked))
    df = shuffled(spark, data)
    cut = Work(block_documents=3, block_pairs=4)
    options = replace(asked["options"], checkpoint=str(tmp_path / "stages"))
    asked.update(work=cut, options=options)
    made_first = benzer.spark.find_duplicates(df, **asked)
    assert "round-1" in {one.name for one in (tmp_path / "stages").iterdir()}
    assert made_first.counts == expected["counts"]
    assert said_by_spark(benzer.spark.find_duplicates(df, **asked), df) == expected
    for other, said in ((df.where("id > 0"), "has 59"), (df.withColumn("id", df["id"] + 1), "has others")):
        with pytest.raises(SettingsError, match=f"the checkpoint has 60 rows, but the DataFrame {said}"):
            benzer.spark.find_duplicates(other, **asked)


def test_a_column_of_several_types_is_refused_however_the_rows_lie(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    rows = [
        {"id": at, "text": f"text {at} alone", "n": value}
        for at, value in enumerate([7, 1.5, "a", None, [1]])
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError) as locally:
        benzer.find_duplicates(str(path), keep="largest:n")
    documents = read_files(spark, str(path), keep="largest:n")
    with pytest.raises(InputError) as found:
        benzer.spark.find_duplicates(documents, keep="largest:n")
    assert str(found.value) == str(locally.value)


def test_an_id_of_a_malformed_row_and_of_a_document_is_refused(spark: Any) -> None:
    df = made.frame(spark, [(1, b"oak elm fir"), (2, b"oak elm gum"), (2, b"caf\xe9")], "id int, text binary")
    with pytest.raises(DuplicateIdError, match="the id 2 occurs in 2 rows of the DataFrame"):
        benzer.spark.find_duplicates(df, options=benzer.Options(on_error="skip"))


def test_columns_that_only_case_tells_apart_are_refused_where_spark_does_not(spark: Any) -> None:
    df = made.frame(spark, [(1, "oak", "elm")], "id int, text string, Text string")
    with pytest.raises(
        InputError, match='has the columns "text" and "Text", which Spark does not distinguish'
    ):
        benzer.spark.find_duplicates(df)


def test_documents_that_were_read_for_another_run_are_refused(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "body": "oak elm fir"}\n')
    documents = read_files(spark, str(path), Schema(body=Text()), keep="last")
    with pytest.raises(SettingsError, match=r"were read for keep last .* the run has keep first"):
        benzer.spark.find_duplicates(documents)
    with pytest.raises(SettingsError, match="and fields body, but the run has keep last and fields text"):
        benzer.spark.find_duplicates(documents, schema=Schema(), keep="last")
    with pytest.raises(SettingsError, match="pass text and id to read_files"):
        benzer.spark.find_duplicates(documents, keep="last", id="id")
    held = benzer.spark.collection.collection_of(
        made.frame(spark, [(1, "oak")]), schema=Schema(body=Text()), text="text"
    )
    with pytest.raises(SettingsError, match="files cannot be compared with collections"):
        benzer.spark.find_duplicates(documents, keep="last", against=held)


def test_settings_that_make_no_run_are_refused(spark: Any) -> None:
    df = made.frame(spark, [(1, "oak")])
    with pytest.raises(
        SettingsError, match="bucket_limit must be a whole number from 2 to 4294967295, got 1"
    ):
        benzer.spark.find_duplicates(df, options=benzer.Options(bucket_limit=1))
    with pytest.raises(SettingsError, match="schema must be a Schema"):
        benzer.spark.find_duplicates(df, schema={"text": Text()})  # type: ignore[arg-type]


def test_an_error_of_a_task_reaches_the_caller_as_one_sentence(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "text": "oak elm fir"}\n')
    documents = read_files(spark, str(path))
    path.write_text('{"id": 1, "text": "oak elm fir gum"}\n')
    with pytest.raises(
        InputError,
        match=r"^\S+a\.jsonl has changed since the start of the run: run again on the current file$",
    ):
        benzer.spark.find_duplicates(documents)
