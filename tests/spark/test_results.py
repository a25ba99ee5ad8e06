"""A result on Spark says what the local result says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.corpora import collection
from tests.spark.fabricated import fabricated, rows_of


def rows_for(seed: int, count: int) -> list[dict[str, Any]]:
    """Documents with near and identical ones, short and empty ones among them."""
    texts = (
        [text for _, text in collection(seed, count)]
        if isinstance(collection(seed, 1), list)
        else list(collection(seed, count).values())
    )
    return [{"id": at, "text": text} for at, text in enumerate([*texts, "", "word", *texts[:3]])]


@pytest.fixture(scope="module")
def both(spark: Any) -> tuple[Any, Any]:
    return fabricated(spark, rows_for(3, 60), threshold=0.5)


def test_tables_are_those_of_the_local_result(both: tuple[Any, Any]) -> None:
    found, local = both
    for name, columns in {
        "pairs": ["left_id", "right_id", "similarity"],
        "removed": ["id", "kept_id", "similarity"],
        "clusters": ["cluster_id", "id", "similarity", "representative", "component_id"],
    }.items():
        theirs = local.to_arrow(name).select(columns).to_pylist()
        assert rows_of(found.table(name).select(*columns)) == sorted(
            (tuple(row.values()) for row in theirs), key=repr
        )
    assert found.counts == local.counts
