"""Documents of equal contents stand for each other as in a local run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benzer.clusters import Keep
from benzer.spark.copies import IDENTITY, FindOriginals
from benzer.spark.frames import EMPTY, SHORT, WHOLE
from benzer.spark.session import from_arrow, to_arrow
from benzer.spark.settings import SparkRun
from tests.spark import made
from tests.spark.made import copies_of

RULES = ["first", "last", "longest", "largest:n", "smallest:n", "priority:n=2,0", "source:a,b"]


def sketches_of(count: int, seed: int, rule: str) -> pa.Table:
    """Made sketches: few contents, places that are equal at times, and one document in ten without content.

    Identical documents have the same content hash, and so have others, as if it were forged.
    """
    chance = random.Random(seed)
    rows = [
        {
            "number": number - 5,
            "id": f"d{number}",
            "place": f"p{chance.randrange(count // 2)}",
            "extra": chance.choice([None, "0", "1", "2", "1.5"]) if ":" in rule else None,
            "source": 0,
            "length": chance.randrange(4) if rule == "longest" else None,
            "state": chance.choice([WHOLE] * 8 + [SHORT, EMPTY]),
            "content_a": 0,
            "identity_a": chance.randrange(3),
            "identity_b": chance.randrange(-count // 9, 0),
        }
        for number in range(count)
    ]
    rows = [{**row, "content_a": row["identity_a"] // 2} for row in rows]
    if rule.startswith("source"):
        rows = [{**row, "extra": str(chance.randrange(3))} for row in rows]
    kinds = {"source": pa.int32(), "state": pa.int32()}
    texts = dict.fromkeys(("id", "place", "extra"), pa.string())
    return pa.Table.from_pylist(
        rows, pa.schema([(name, {**texts, **kinds}.get(name, pa.int64())) for name in rows[0]])
    )


def locally(sketches: pa.Table, keep: Keep) -> dict[str, tuple[str, str]]:
    """Of each copy its original and the first of its content, by the keep order of all documents."""
    rows = sorted(sketches.to_pylist(), key=lambda row: (row["place"], row["number"]))
    lengths = np.array([row["length"] or 0 for row in rows], dtype=np.uint64)
    extras = [None if row["extra"] is None else row["extra"].encode() for row in rows]
    places = np.array([int(row["extra"]) for row in rows]) if keep.rule == "source" else None
    rank = keep.rank(lengths, extras, places)
    groups: dict[tuple[int, int], list[int]] = {}
    for at, row in enumerate(rows):
        if row["state"] != EMPTY:
            groups.setdefault((row["identity_a"], row["identity_b"]), []).append(at)
    found = {}
    for group in groups.values():
        original = min(group, key=lambda at: rank[at])
        for at in set(group) - {original}:
            found[rows[at]["id"]] = (rows[original]["id"], rows[group[0]]["id"])
    return found


def told(table: Any) -> dict[str, tuple[str, str]]:
    return {row["id"]: (row["original_id"], row["first_id"]) for row in table.to_pylist()}


def run_with(spark: Any, keep: str) -> SparkRun:
    documents = made.documents(spark, [], "id string, text string")
    return made.run_of(documents, keep)


@pytest.mark.parametrize("seed, rule", list(enumerate(RULES)))
def test_a_task_chooses_the_originals_of_the_local_run_by_every_rule(seed: int, rule: str) -> None:
    sketches = sketches_of(80, seed, rule)
    expected = locally(sketches, Keep.parse(rule))
    rows = sketches.filter(pc.not_equal(sketches["state"], EMPTY)).to_pylist()
    by_identity = {row["id"]: tuple(row[name] for name in IDENTITY) for row in rows}
    found = originals(FindOriginals(Keep.parse(rule)), sketches, size=7)
    chosen = {
        tuple(row[name] for name in IDENTITY): (row["original_id"], row["first_id"])
        for row in found.to_pylist()
    }
    told = {id: chosen[identity] for id, identity in by_identity.items() if chosen[identity][0] != id}
    assert told == expected
    assert expected


def originals(worker: FindOriginals, sketches: pa.Table, size: int) -> pa.Table:
    """What a task finds that is handed all documents with content, in batches."""
    live = sketches.filter(pc.not_equal(sketches["state"], EMPTY))
    in_order = live.sort_by([(name, "ascending") for name in (*IDENTITY, "place", "number")])
    return pa.Table.from_batches(worker(iter(in_order.combine_chunks().to_batches(max_chunksize=size))))


@pytest.mark.parametrize("partitions, rule", [(3, "longest"), (7, "source:a,b")])
def test_copies_are_those_of_the_local_run(spark: Any, partitions: int, rule: str) -> None:
    sketches = sketches_of(80, partitions, rule)
    expected = locally(sketches, Keep.parse(rule))
    df = from_arrow(spark, sketches).repartition(partitions)
    found = to_arrow(copies_of(run_with(spark, rule), df))
    assert told(found) == expected
    assert expected
    by_id = {row["id"]: row for row in sketches.to_pylist()}
    for row in found.to_pylist():
        assert row["original"] == by_id[row["original_id"]]["number"]
        assert row["first_place"] == by_id[row["first_id"]]["place"]
        known = by_id[row["id"]]
        assert {**known, **row} == {**row, "state": known["state"], "content_a": known["content_a"]}


def test_more_contents_than_go_by_the_driver_are_joined_by_spark(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benzer.spark.repeats.FEW", 1)
    sketches = sketches_of(60, 9, "last")
    found = told(to_arrow(copies_of(run_with(spark, "last"), from_arrow(spark, sketches))))
    assert found == locally(sketches, Keep.parse("last"))


def test_documents_are_moved_once_and_without_copies_the_empty_table_has_the_same_columns(
    spark: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    sketches = sketches_of(40, 3, "first")
    some = copies_of(run_with(spark, "first"), from_arrow(spark, sketches))
    some.collect()
    some.explain()
    assert "ReusedExchange" in capsys.readouterr().out.partition("Initial Plan")[0]
    alone = sketches.set_column(sketches.column_names.index("identity_b"), "identity_b", pa.array(range(40)))
    none = copies_of(run_with(spark, "first"), from_arrow(spark, alone))
    assert (none.count(), none.dtypes) == (0, some.dtypes)


def equal_contents(count: int, size: int, seen: list[int]) -> Iterator[pa.RecordBatch]:
    """Batches of one content, as Spark would hand them on; `seen` tells how much memory Arrow held at each."""
    for start in range(0, count, size):
        seen.append(pa.total_allocated_bytes())
        numbers = pa.array(range(start, min(count, start + size)), pa.int64())
        same = pa.array([7] * len(numbers), pa.int64())
        lengths = pa.array([number % 1000 for number in numbers.to_pylist()], pa.int64())
        texts = pa.array([f"a rather long id of some document, number {n:09}" for n in numbers.to_pylist()])
        columns = {"number": numbers, "id": texts, "place": texts, "length": lengths, "extra": texts}
        yield pa.record_batch({**columns, "identity_a": same, "identity_b": same})


def test_a_giant_group_is_read_in_constant_memory() -> None:
    seen: list[int] = []
    (row,) = [
        row
        for batch in FindOriginals(Keep.parse("longest"))(equal_contents(50_000, 1_000, seen))
        for row in batch.to_pylist()
    ]
    assert (row["original"], row["first_id"][-9:]) == (999, "000000000")
    assert max(seen[5:]) - min(seen[5:]) < 1 << 20  # all ids and places are 5 MB


@pytest.mark.parametrize("size", [1, 2, 5, 80])
@pytest.mark.parametrize("rule", ["last", "longest"])
def test_the_worker_does_not_see_where_batches_end(size: int, rule: str) -> None:
    sketches = sketches_of(80, 4, rule)
    worker = FindOriginals(Keep.parse(rule))
    expected = originals(worker, sketches, 1000)
    assert originals(worker, sketches, size).combine_chunks().equals(expected.combine_chunks())
    assert pa.Table.from_batches(worker(iter([])), expected.schema).num_rows == 0
