"""On real collections a run on Spark gives the pairs, clusters and survivors of a local run, however the rows lie."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import benzer
from benzer.spark import find_duplicates
from benzer.spark.session import from_arrow
from benzer.spark.settings import Work
from tests.spark.answers import Answer, local_answer, spark_answer

pytestmark = pytest.mark.shared_data

CHARACTERS = benzer.Schema(text=benzer.Text(unit="char", shingle_size=5))
WORDS = benzer.Schema(text=benzer.Text())
LIMIT = 20
"""Buckets of more documents are divided: every planted family makes such ones."""
ADAPTIVE = "spark.sql.adaptive.enabled"


class Case(NamedTuple):
    """A collection, how its rows lie on Spark, and how it is asked."""

    name: str
    schema: benzer.Schema
    threshold: float
    keep: str
    partitions: int
    adaptive: bool

    @property
    def field(self) -> str:
        """The only field of the documents."""
        return next(iter(self.schema.fields))

    @property
    def options(self) -> dict[str, Any]:
        """What a run is asked for."""
        options = benzer.Options(bucket_limit=LIMIT)
        return {"schema": self.schema, "threshold": self.threshold, "keep": self.keep, "options": options}


CASES = [
    Case("cora", CHARACTERS, 0.6, "first", partitions=7, adaptive=True),
    Case("noisy_news", WORDS, 0.6, "longest", partitions=3, adaptive=False),
    Case("sets_debtags", benzer.Schema(set=benzer.ValueSet()), 0.8, "last", partitions=1, adaptive=True),
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


def asked(case: Case, folder: Path) -> tuple[dict[str, Any], Answer]:
    """The contents by id, and what a local run says of them in the order of their ids."""
    contents = planted(dict(rows_of(folder / case.name)))
    ordered = [(id, {case.field: contents[id]}) for id in sorted(contents, key=lambda id: id.encode())]
    found = benzer.find_duplicates(ordered, **case.options)
    return contents, local_answer(found)


@pytest.fixture
def set_adaptive(spark: Any) -> Iterator[Callable[[bool], None]]:
    """Says whether Spark changes its plans while it runs, for one test."""
    before = spark.conf.get(ADAPTIVE)
    yield lambda adaptive: spark.conf.set(ADAPTIVE, str(adaptive).lower())
    spark.conf.set(ADAPTIVE, before)
    spark.catalog.clearCache()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_partitions_order_plans_and_skew_change_nothing(
    case: Case, spark: Any, set_adaptive: Callable[[bool], None], shared_data: Path
) -> None:
    contents, expected = asked(case, shared_data)
    assert expected["counts"]["oversized_buckets"] > 0
    assert expected["counts"]["near"] > 50
    assert expected["counts"]["identical"] >= 99
    ids = list(contents)
    random.Random(case.partitions).shuffle(ids)
    table = pa.table({"id": ids, case.field: [contents[id] for id in ids]})
    df = from_arrow(spark, table).repartition(case.partitions)
    set_adaptive(case.adaptive)
    found = find_duplicates(df, work=Work(partitions=case.partitions), **case.options)
    got = spark_answer(found, df)
    for name, value in expected.items():
        assert got[name] == value, name
