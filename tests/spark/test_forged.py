"""No document goes as a copy of one that it is unlike, also where tasks never see both texts."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from benzer.bands import Bands
from benzer.clusters import Keep
from benzer.fields import Schema
from benzer.minhash import MinHash
from benzer.sketcher import Sketcher
from benzer.spark import find_duplicates
from benzer.spark.copies import IDENTITY, FindOriginals
from benzer.spark.sketching import SketchRows
from tests.forged import FORGED, VICTIM, equal_sums
from tests.spark import made

TEXTS = [FORGED, VICTIM, VICTIM.upper(), *equal_sums(60), *equal_sums(5)]
COPIES = {2: 1, 63: 3, 64: 4, 65: 5, 66: 6, 67: 7}
"""The copies among them, and the first of each content."""


def test_the_worker_finds_an_original_for_each_text_of_one_content_hash() -> None:
    count = len(TEXTS)
    columns = {
        "number": pa.array(range(count), pa.int64()),
        "id": pa.array([f"d{at}" for at in range(count)]),
        "place": pa.array(range(count), pa.int64()),
        "extra": pa.nulls(count, pa.string()),
        "source": pa.array([0] * count, pa.int32()),
        "field_0": pa.array(TEXTS),
    }
    sketch = SketchRows(Sketcher(Schema(), MinHash("fast", 20), Bands(4, 5)))
    rows = pa.Table.from_batches(list(sketch(iter([pa.record_batch(columns)]))))
    assert len(set(rows.column("content_a").to_pylist())) == 2
    in_order = rows.sort_by([(name, "ascending") for name in (*IDENTITY, "place", "number")])
    found = pa.Table.from_batches(FindOriginals(Keep.parse("first"))(iter(in_order.to_batches())))
    originals = {tuple(row[name] for name in IDENTITY): row["original"] for row in found.to_pylist()}
    identities = zip(*(rows.column(name).to_pylist() for name in IDENTITY), strict=True)
    chosen = {at: originals[identity] for at, identity in enumerate(identities)}
    assert {at: one for at, one in chosen.items() if at != one} == COPIES


@pytest.fixture(scope="module")
def duplicates(spark: Any) -> Any:
    df = made.frame(spark, list(enumerate(TEXTS))).repartition(3)
    return find_duplicates(df, id="id", threshold=0.9)


def test_a_run_on_spark_removes_exact_copies_only(duplicates: Any) -> None:
    rows = [row.asDict() for row in duplicates.removed.collect()]
    assert {row["id"]: row["kept_id"] for row in rows} == COPIES
    assert {(row["reason"], row["similarity"]) for row in rows} == {("identical", 1.0)}


def test_a_removal_is_void_where_a_forged_text_took_the_place_of_the_copy(
    spark: Any, duplicates: Any
) -> None:
    changed = [FORGED if at == 2 else text for at, text in enumerate(TEXTS)]
    applied = duplicates.apply(made.frame(spark, list(enumerate(changed))))
    assert applied.changed_ids() == [2]
