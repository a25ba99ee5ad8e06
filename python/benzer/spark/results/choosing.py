"""Chooses the documents to collect on the driver: all with candidates or copies; if too many, whole clusters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.registry import require
from benzer.spark.frames import EMPTY, KEPT, REMOVED, SHORT
from benzer.spark.results.base import ClusterTables, of_kind, plain_id
from benzer.spark.session import from_arrow, to_arrow
from benzer.wording import count

DataFrame = Any
Numbers = NDArray[np.int64]
CANDIDATES = 5_000_000
"""Maximum number of candidates that are compared again on the driver: one or two seconds."""
GIANTS = 20
POOR = 2
"""Number of documents shorter than a shingle that are collected as examples of an alarm."""


@dataclass(frozen=True)
class Components:
    """The components of the chosen documents: the number of each document (ascending), and facts by component."""

    numbers: Numbers
    component: Numbers
    names: Numbers
    facts: dict[str, Numbers] = field(default_factory=dict)

    def of(self, numbers: Numbers) -> Numbers:
        """The component of each document; an unlinked document is its own component."""
        places = np.minimum(np.searchsorted(self.numbers, numbers), max(len(self.numbers) - 1, 0))
        if not len(self.numbers):
            return numbers
        tied = self.numbers[places] == numbers
        return np.where(tied, self.component[places], numbers)

    def fact(self, name: str, components: Numbers) -> Numbers:
        """Return a fact of each component: documents, clusters, largest (cluster); 1 for a single document."""
        places = np.minimum(np.searchsorted(self.names, components), max(len(self.names) - 1, 0))
        if not len(self.names):
            return np.ones(len(components), dtype=np.int64)
        return np.where(self.names[places] == components, self.facts[name][places], 1)


@dataclass(frozen=True)
class Chosen:
    """The documents to collect on the driver: a table with their `number`, and how many they are.

    Attributes:
        members: Their numbers.
        all: Whether these are all documents with candidates or copies.
        note: A sentence about the omitted documents.
        giants: The ids of the kept documents of the largest clusters that did not fit, with their sizes.
    """

    members: DataFrame
    documents: int
    all: bool
    note: str = ""
    giants: tuple[tuple[str | int, int], ...] = ()
    components: Components = field(
        repr=False, default_factory=lambda: Components(*(np.empty(0, np.int64),) * 3)
    )


def choose(result: ClusterTables, documents: int) -> Chosen:
    """Choose up to a maximum number of documents, and a few examples."""
    involved = numbers_of(result)
    few = to_numbers(involved.limit(documents + 1))
    poor = poor_documents(result)
    if len(few) <= documents and result.joined.candidates <= CANDIDATES:
        numbers = np.union1d(few, poor)
        return Chosen(frame_of(result, numbers), len(numbers), True)
    return choose_clusters(result, documents, poor)


def numbers_of(result: ClusterTables) -> DataFrame:
    """The documents that have candidates or copies, or are known."""
    from pyspark.sql import functions as F

    pairs, copied = result.joined.pairs, result.copied
    ends = [
        pairs.select(F.col("left").alias("number")),
        pairs.select(F.col("right").alias("number")),
        copied.select("number"),
        copied.select(F.col("original").alias("number")),
    ]
    if result.known is not None:
        ends.append(result.known.numbers.select("number"))
    if result.joined.buckets is not None:
        ends.append(result.joined.buckets.select("number"))
    return reduce(lambda item, other: item.unionByName(other), ends).distinct()


def poor_documents(result: ClusterTables) -> Numbers:
    """The first documents shorter than a shingle."""
    if not result.reading.short + result.reading.empty:
        return np.empty(0, dtype=np.int64)
    from pyspark.sql import functions as F

    poor = result.sketches.where(F.col("state").isin(SHORT, EMPTY))
    return to_numbers(poor.orderBy("place", "number").limit(POOR).select("number"))


def choose_clusters(result: ClusterTables, documents: int, poor: Numbers) -> Chosen:
    """Whole clusters: half of the maximum for the largest, half for those with the least similar members."""
    from pyspark.sql import functions as F

    clusters = (
        of_kind(result, REMOVED)
        .groupBy(F.col("right").alias("leader"))
        .agg(
            (F.count(F.lit(1)) + 1).alias("size"),
            F.min("similarity").alias("least"),
            F.min("right_id").alias("id"),
        )
    )
    most = max(documents // 2, 1)
    orders = ([F.desc("size"), F.asc("least")], [F.asc("least"), F.desc("size")])
    chosen: dict[int, int] = {}
    giants: dict[Any, int] = {}
    for number, order in enumerate(orders):
        room = documents if number else most
        rows = to_arrow(clusters.orderBy(*order, "leader").limit(most))
        chosen_count = sum(chosen.values())
        for leader, size, id in zip(
            *(rows[name].to_pylist() for name in ("leader", "size", "id")), strict=True
        ):
            if leader not in chosen and chosen_count + size <= room:
                chosen[leader] = size
                chosen_count += size
            elif not number and size > most:
                giants[plain_id(result, id)] = size
    leaders = np.array(sorted(chosen), dtype=np.int64)
    led = of_kind(result, REMOVED).join(F.broadcast(frame_of(result, leaders, "right")), "right", "left_semi")
    numbers = np.union1d(np.union1d(to_numbers(led.select(F.col("left").alias("number"))), leaders), poor)
    members = frame_of(result, numbers)
    sentence = (
        f"The clusters, bridges and alarms below are from {count(len(leaders))} of "
        f"{count(result.counts['clusters'])} clusters, the largest and the most doubtful ones; the counts and the "
        f"figures are those of the whole run."
    )
    largest = tuple(giants.items())[:GIANTS]
    return Chosen(members, len(numbers), False, sentence, largest, components_of(result, members))


def components_of(result: ClusterTables, members: DataFrame) -> Components:
    """The components of some documents, with their sizes in the whole run."""
    from pyspark.sql import functions as F

    tied = result.outcomes.where(F.col("kind").isin(REMOVED, KEPT))
    own = tied.select(F.col("left").alias("number"), "component").join(members, "number", "left_semi")
    rows = to_arrow(own)
    names = F.broadcast(own.select("component").distinct())
    sizes = (
        tied.join(names, "component", "left_semi")
        .groupBy("component", "right")
        .agg(F.count(F.lit(1)).alias("documents"))
        .groupBy("component")
        .agg(
            F.sum("documents").alias("documents"),
            F.count(F.lit(1)).alias("clusters"),
            F.max("documents").alias("largest"),
        )
    )
    facts = to_arrow(sizes.orderBy("component"))
    number, component = (rows[name].to_numpy().astype(np.int64) for name in ("number", "component"))
    order = np.argsort(number)
    return Components(
        number[order],
        component[order],
        facts["component"].to_numpy().astype(np.int64),
        {name: facts[name].to_numpy().astype(np.int64) for name in ("documents", "clusters", "largest")},
    )


def to_numbers(rows: DataFrame) -> Numbers:
    """The numbers of some rows, ascending."""
    numbers: Numbers = np.sort(to_arrow(rows)["number"].to_numpy().astype(np.int64))
    return numbers


def frame_of(result: ClusterTables, numbers: Numbers, name: str = "number") -> DataFrame:
    """Numbers on the driver as a table."""
    pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
    return from_arrow(result.run.spark, pyarrow.table({name: pyarrow.array(numbers, pyarrow.int64())}))
