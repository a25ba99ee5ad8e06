"""Matches of new documents with older collections, as in `benzer.pipeline.against`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from benzer.errors import SettingsError
from benzer.fields import Schema
from benzer.pipeline import against as local
from benzer.spark import sketching
from benzer.spark.collection import Collection, read_collection
from benzer.spark.components.base import handed_back
from benzer.spark.documents import Documents
from benzer.spark.matching.asking import Asking
from benzer.spark.matching.verifying import Verify
from benzer.spark.session import session_of, to_arrow
from benzer.spark.settings import SparkRun
from benzer.spark.stages import StageTables


@dataclass(frozen=True)
class KnownDocuments:
    """The documents of a run with matches in older collections.

    names: the collections, in their order. numbers: `number` of each known document, once. matches: `number`, `id`,
    `old_id`, `index` (the name of a collection), `collection` (its place among them), `similarity`, `rank` (within
    the collection, from 1), and `best`: the match that removes the document, one of each. Of several collections
    with ids of two types `old_id` is text.
    """

    names: tuple[str, ...]
    numbers: Any
    matches: Any


def as_tuple(against: Any) -> tuple[Any, ...]:
    """One or more collections in order of priority.

    >>> as_tuple("old"), as_tuple(["old", "older"]), as_tuple(None)
    (('old',), ('old', 'older'), ())
    """
    if against is None:
        return ()
    several = isinstance(against, Iterable) and not isinstance(against, (str, Collection))
    given = tuple(against) if several else (against,)
    for item in given:
        if not isinstance(item, (str, Collection)):
            raise SettingsError(
                f"against must be collections or their paths, got {item!r:.80}: use read_collection(spark, path)"
            )
    return given


def opened(df: Any, against: Any) -> tuple[Collection, ...]:
    """The collections, with paths opened by the session of `df`."""
    given = as_tuple(against)
    if not given:
        return ()
    spark = df.spark if isinstance(df, Documents) else session_of(df)
    return tuple(item if isinstance(item, Collection) else read_collection(spark, item) for item in given)


def schema_of(collections: Sequence[Collection]) -> Schema:
    """The default schema of a run: that of the first collection, or one text field."""
    return next((collection.settings.schema for collection in collections), Schema())


@dataclass(frozen=True)
class CollectionAtPath:
    """A collection given by its path."""

    path: str

    def info(self) -> dict[str, Any]:
        return {"path": self.path}


def names_of(against: Any) -> tuple[str, ...]:
    """The name of each collection: its path, with a number for equal paths.

    >>> names_of(["new", "old", "new"])
    ('new (1)', 'old', 'new (3)')
    """
    given = [
        CollectionAtPath(item.rstrip("/")) if isinstance(item, str) else item for item in as_tuple(against)
    ]
    return local.names_of(given)  # type: ignore[arg-type]


def check(collections: Sequence[Collection], schema: Schema, threshold: float, recall: float) -> None:
    """Reject a collection with incompatible settings or a lower recall than that of the run."""
    local.check(collections, schema, threshold, recall)  # type: ignore[arg-type]


def known(
    run: SparkRun, stages: StageTables, documents: Any, sketches: Any, copied: Any, against: Any
) -> KnownDocuments | None:
    """All verified matches of the documents of a run with older collections; None without collections.

    An old document with the same id is the same document and not a match.
    """
    collections = opened(documents, against)
    if not collections:
        return None
    unchanged(stages, collections)
    names = names_of(collections)
    parts = [
        look_up(run, stages, documents, sketches, copied, collection, number)
        for number, collection in enumerate(collections)
    ]
    known_documents = joined(names, collections, parts)
    return (
        known_documents
        if stages.path is not None
        else replace(known_documents, numbers=told_anew(run, known_documents.numbers))
    )


def told_anew(run: SparkRun, numbers: Any) -> Any:
    """Pass numbers through the driver if they fit, to get a table with a short plan.

    Deciding uses them often, and the plan of a cached table includes everything that it was computed from: with two
    collections the plan of the outcomes had thousands of tables, which Spark compared for minutes.
    """
    count = int(numbers.count())
    return handed_back(run, to_arrow(numbers)) if count <= run.work.driver_pairs else numbers


def unchanged(stages: StageTables, collections: Sequence[Collection]) -> None:
    """Reject continuing a run whose collections have changed since its start."""
    states = {str(number): collection.state for number, collection in enumerate(collections)}
    before = stages.note("against", lambda: states)
    changed = [
        collection.name
        for number, collection in enumerate(collections)
        if before.get(str(number)) != collection.state
    ]
    if changed:
        raise SettingsError(
            f"{changed[0]} has changed since the run of this checkpoint started: delete the checkpoint and start again"
        )


def look_up(
    run: SparkRun,
    stages: StageTables,
    documents: Any,
    sketches: Any,
    copied: Any,
    collection: Collection,
    number: int,
) -> Any:
    """The matches with one collection, found by its own bands."""
    theirs = collection.settings.sketcher()
    if theirs != run.sketcher:
        by = replace(run, sketcher=theirs)
        sketches = stages.keep(
            f"sketch-as-{number}", lambda: sketching.sketch(by, documents, with_identities=False)
        )
    asking = Asking(run, documents, sketches, copied)
    verify = Verify(run.settings.schema, run.threshold, None, identified=True, fields=False)
    candidates = stages.keep(f"against-{number}", lambda: asking.candidates(collection))
    return stages.keep(f"known-{number}", lambda: asking.matches(collection, candidates, verify))


def joined(names: tuple[str, ...], collections: Sequence[Collection], parts: Sequence[Any]) -> KnownDocuments:
    """The matches with all collections, and the match that removes each document."""
    from pyspark.sql import functions as F

    kinds = {collection.columns["id"] for collection in collections}
    kind = kinds.pop() if len(kinds) == 1 else "string"
    matches = reduce(
        lambda item, other: item.union(other),
        [
            part.select(
                "number",
                "id",
                F.col("old_id").cast(kind).alias("old_id"),
                F.lit(name).alias("index"),
                F.lit(number).alias("collection"),
                "similarity",
                "rank",
            )
            for number, (name, part) in enumerate(zip(names, parts, strict=True))
        ],
    )
    if len(parts) == 1:
        return KnownDocuments(
            names, matches.where("rank = 1").select("number"), matches.withColumn("best", F.col("rank") == 1)
        )
    first = matches.where("rank = 1").groupBy("number").agg(F.min("collection").alias("first"))
    best = (F.col("rank") == 1) & (F.col("collection") == F.col("first"))
    return KnownDocuments(
        names,
        first.select("number"),
        matches.join(first, "number").withColumn("best", best).drop("first"),
    )
