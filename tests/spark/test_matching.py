"""A table of queries, and a run over new documents, find in a collection what an index of it finds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from benzer import Document, Index, IndexSettings, Schema, Text, ValueSet
from benzer.errors import SettingsError
from benzer.spark.collection import collection_of, write_collection
from benzer.spark.matching import find_similar
from benzer.spark.settings import Work

WORDS = [f"w{number}" for number in range(50)]
Answers = dict[Any, list[tuple[Any, float, int]]]


def families(count: int, seed: int, name: str = "d") -> list[Document]:
    """Texts of few families, so that many are alike and some equal; some are empty, and some of one word."""
    random_ = random.Random(seed)
    bases = [random.Random(base).choices(WORDS, k=14) for base in range(6)]
    found = []
    for number in range(count):
        words = list(random_.choice(bases))
        for _ in range(random_.randrange(3)):
            words[random_.randrange(len(words))] = random_.choice(WORDS)
        text = {0: "", 1: "w1", 2: "  ", 3: "w1"}.get(number, " ".join(words))
        found.append(Document(f"{name}{number:03}", text))
    return found


def frame(spark: Any, documents: Sequence[Document], partitions: int = 3, seed: int = 0) -> Any:
    """The documents as a DataFrame, in some order and so many partitions."""
    rows = [{"id": one.id, **one.fields} for one in documents]
    random.Random(seed).shuffle(rows)
    fields = {name: value for row in rows for name, value in row.items() if value is not None}
    kinds = {str: "string", int: "bigint", list: "array<string>"}
    columns = ["id", *(name for name in fields if name != "id")]
    schema = ", ".join(f"{name} {kinds[type(fields[name])]}" for name in columns)
    made = spark.createDataFrame([tuple(row.get(name) for name in columns) for row in rows], schema)
    return made.repartition(partitions)


def answers(found: Any) -> Answers:
    """The matches of each query, by rank."""
    gathered: Answers = {}
    for row in sorted(found.collect(), key=lambda row: (str(row["query_id"]), row["rank"])):
        gathered.setdefault(row["query_id"], []).append((row["id"], row["similarity"], row["rank"]))
    return gathered


def expected(index: Index, queries: Sequence[Document], **asked: Any) -> Answers:
    """What the index answers, without the queries that have no match."""
    found = {query.id: index.find_similar(query, **asked) for query in queries}
    return {
        query: [(match.id, match.similarity, rank) for rank, match in enumerate(matches, 1)]
        for query, matches in found.items()
        if matches
    }


@pytest.fixture(scope="module")
def index() -> Index:
    held = Index.open("memory:", IndexSettings(threshold=0.4))
    held.add(families(90, 1))
    return held


@pytest.fixture(scope="module")
def path(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("matching") / "collection")
    write_collection(frame(spark, families(90, 1)), path, threshold=0.4)
    return path


@pytest.mark.parametrize(
    "partitions, asked",
    [(1, {"limit": 2}), (7, {"limit": None, "threshold": 0.6})],
)
def test_each_query_finds_what_the_index_finds(
    spark: Any, index: Index, path: str, partitions: int, asked: dict[str, Any]
) -> None:
    queries = families(70, 2)
    work = Work(partitions=partitions)
    found = find_similar(frame(spark, queries, partitions, seed=partitions), path, work=work, **asked)
    assert answers(found) == expected(index, queries, **asked)
    found.unpersist()


def test_several_fields_value_sets_and_ids_of_their_own(spark: Any) -> None:
    schema = Schema(title=Text(shingle_size=1), tags=ValueSet(weight=2.0))
    random_ = random.Random(5)

    def rows(first: int, count: int) -> list[Document]:
        made = []
        for number in range(first, first + count):
            title = " ".join(random_.choices(WORDS[:6], k=4)) if number % 7 else None
            tags = (
                sorted(set(random_.choices(WORDS[:5], k=random_.randrange(4))) or ()) if number % 5 else None
            )
            made.append(Document(number, {"title": title, "tags": tags}))
        return made

    held, queries = rows(0, 40), rows(20, 30)
    index = Index.open("memory:", IndexSettings(schema, threshold=0.5))
    index.add(held)
    collection = collection_of(frame(spark, held), threshold=0.5, schema=schema)
    found = find_similar(
        frame(spark, queries, 2), collection, limit=4, identified=False, fields=True
    ).collect()
    wanted = []
    for query in queries:
        for rank, match in enumerate(index.find_similar(dict(query.fields), 4), 1):
            of_field = [match.fields.get(name) for name in schema.fields]
            wanted.append((query.id, match.id, match.similarity, rank, *of_field))
    assert {None} < {row[4] for row in wanted}, "some lack a field"
    assert sorted(map(tuple, found), key=lambda row: (row[0], row[3])) == wanted


def test_a_bound_that_makes_no_sense_is_refused_before_anything_runs(spark: Any, path: str) -> None:
    queries = frame(spark, families(5, 3))
    for asked, message in (
        ({"limit": 0}, "limit must be 1 or more"),
        ({"threshold": 1.5}, "threshold must be in \\[0, 1\\], got 1.5"),
    ):
        with pytest.raises(SettingsError, match=message):
            find_similar(queries, path, **asked)
