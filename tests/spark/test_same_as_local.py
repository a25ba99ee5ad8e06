"""On real collections a run on Spark gives the pairs, clusters and survivors of a local run, however the rows lie."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import benzer
from benzer.spark import find_duplicates
from benzer.spark.session import from_arrow, to_arrow
from benzer.spark.settings import Work

pytestmark = pytest.mark.shared_data

CHARACTERS = benzer.Schema(text=benzer.Text(unit="char", shingle_size=5))
WORDS = benzer.Schema(text=benzer.Text())
LIMIT = 20
"""Buckets of more documents are divided: every planted family makes such ones."""
ADAPTIVE = "spark.sql.adaptive.enabled"
LAID_OUT = [(1, True), (3, False), (7, True)]
"""Partitions of the rows, and whether Spark changes its plans while it runs."""


class Case(NamedTuple):
    """A collection and how it is asked."""

    name: str
    schema: benzer.Schema
    threshold: float
    keep: str = "first"


CASES = [
    Case("cora", CHARACTERS, 0.6),
    Case("dblp_acm", CHARACTERS, 0.7, "last"),
    Case("articles2500", WORDS, 0.8, "longest"),
    Case("noisy_news", WORDS, 0.6, "longest"),
    Case("reuters", WORDS, 0.7),
    Case("debian_desc_en", WORDS, 0.7, "last"),
    Case("sets_debtags", benzer.Schema(set=benzer.ValueSet()), 0.8),
]


def rows_of(folder: Path) -> Iterator[tuple[str, Any]]:
    """The documents of a collection: ids and contents."""
    [place] = folder.glob("*.jsonl.xz")
    with lzma.open(place, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["id"], row["set"] if "set" in row else row["text"]


def planted(contents: dict[str, Any]) -> dict[str, Any]:
    """The same with skew: one content a hundred times, and a family that is alike in most of its bands."""
    longest = max(contents.values(), key=len)
    another = sorted(contents.values(), key=len)[len(contents) * 9 // 10]
    more = {f"~copy{number:03}": longest for number in range(100)}
    for number in range(80):
        other = [f"planted{number}"] if isinstance(another, list) else f" planted{number}"
        more[f"~family{number:03}"] = another + other
    return {**contents, **more}


def answer(found: Any, tables: dict[str, Any]) -> dict[str, Any]:
    """What must be equal: tables as sorted rows, counts and survivors."""
    said: dict[str, Any] = {"counts": found.counts}
    for name, columns in tables.items():
        said[name] = sorted(zip(*columns, strict=True))
    return said


def local_answer(contents: dict[str, Any], case: Case) -> dict[str, Any]:
    """That of a local run over the documents in the order of their ids."""
    field = next(iter(case.schema.fields))
    ordered = [(id, {field: contents[id]}) for id in sorted(contents, key=lambda id: id.encode())]
    found = benzer.find_duplicates(
        ordered, schema=case.schema, threshold=case.threshold, keep=case.keep, bucket_limit=LIMIT
    )
    removed, clusters = found.table("removed"), found.table("clusters")
    return answer(
        found,
        {
            "pairs": zip(*found.pairs, strict=True),
            "removed": [removed[name] for name in ("id", "kept_id", "similarity")],
            "clusters": [clusters[name] for name in ("cluster_id", "id", "similarity", "component_id")],
            "kept": [found.kept],
        },
    )


def spark_answer(found: Any, df: Any) -> dict[str, Any]:
    """The same of a run on Spark."""

    def columns(frame: Any, *names: str) -> list[list[Any]]:
        table = to_arrow(frame.select(*names))
        return [table.column(name).to_pylist() for name in names]

    return answer(
        found,
        {
            "pairs": columns(found.pairs, "left_id", "right_id", "similarity"),
            "removed": columns(found.removed, "id", "kept_id", "similarity"),
            "clusters": columns(found.clusters, "cluster_id", "id", "similarity", "component_id"),
            "kept": columns(found.kept(df), "id"),
        },
    )


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_partitions_order_plans_and_skew_change_nothing(case: Case, spark: Any, shared_data: Path) -> None:
    contents = planted(dict(rows_of(shared_data / case.name)))
    expected = local_answer(contents, case)
    assert expected["counts"]["oversized_buckets"] > 0
    assert expected["counts"]["near"] > 50
    assert expected["counts"]["identical"] >= 99
    field = next(iter(case.schema.fields))
    for partitions, adaptive in LAID_OUT:
        ids = list(contents)
        random.Random(partitions).shuffle(ids)
        table = pa.table({"id": ids, field: [contents[id] for id in ids]})
        df = from_arrow(spark, table).repartition(partitions)
        spark.conf.set(ADAPTIVE, str(adaptive).lower())
        found = find_duplicates(
            df,
            schema=case.schema,
            threshold=case.threshold,
            keep=case.keep,
            bucket_limit=LIMIT,
            work=Work(partitions=partitions),
        )
        got = spark_answer(found, df)
        for name, value in expected.items():
            assert got[name] == value, (name, partitions, adaptive)
