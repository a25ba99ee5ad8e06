"""How are components decided that are too large for one task? Verified in parts, then decided without their texts.

The pairs that the second look wants are compared in a round of their own, and their components decided again, until
none wants any. Rounds end by themselves: a pair that was wanted is given with its similarity ever after, so each round
compares a pair of a component that no round before has compared, and these are finite. A local run has the same loop.
Components stay as they are meanwhile: a pair is wanted only of documents that verified pairs tie together already.

What is kept between the rounds is the pairs at the threshold, and of the others only those that were wanted: another
candidate below it that is wanted is compared once more, which costs less than to shuffle all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from benzer.spark.components import components
from benzer.spark.deciding.judging import FOUND, Judge
from benzer.spark.deciding.parcels import parcelled
from benzer.spark.deciding.streams import streamed
from benzer.spark.deciding.workers import WANTED, Compared, Reader, Tied
from benzer.spark.frames import DataFrame
from benzer.spark.tasks import Task

COMPARED = (
    "number bigint, id {id}, place {place}, extra string, source int, length bigint, identity_a bigint, "
    "identity_b bigint, left bigint, right bigint, similarity double"
)
OTHERS = (
    "known boolean, first bigint, first_id {id}, first_place {place}, as_number bigint, as_id {id}, as_place {place}, "
    "as_extra string, as_length bigint"
)
"""Columns of those documents for which others of equal content matter."""

WANTED_TOGETHER = 1_000
"""Wanted pairs that are compared together, with up to twice as many documents."""


@dataclass(frozen=True)
class Cut:
    """Verifies and decides what is cut into several blocks."""

    run: Any
    stages: Any
    documents: Any
    reader: Reader
    judge: Judge

    def decide(self, members: DataFrame, pairs: DataFrame, count: int) -> DataFrame:
        """The rows of `FOUND` of all cut components. count: of the members, about."""
        from pyspark.sql import functions as F

        compared = self.stages.keep(
            "compared", partial(self._compare, members, pairs, self.judge.threshold, count)
        )
        edges = compared.filter(F.col("left").isNotNull()).select("left", "right", "similarity")
        nodes = compared.filter(F.col("left").isNull()).drop("left", "right", "similarity")
        labels = components(self.run, self.stages, edges, name="tied")
        nodes = nodes.join(labels, "number")
        edges = self._labelled(edges, labels)
        found: list[DataFrame] = []
        while True:
            name = f"round-{len(found) + 1}"  # no name of a stage of `components`
            decided = self.stages.keep(name, partial(self._decide, nodes, edges))
            found.append(decided.filter(F.col("kind") != WANTED))
            wanted = decided.filter(F.col("kind") == WANTED).select("component", "left", "right")
            asked = wanted.count()
            if not asked:
                return reduce(lambda one, other: one.unionByName(other), found)
            more = self.stages.keep(f"{name}-compared", partial(self._compare_wanted, wanted, asked))
            open_ones = wanted.select("component").distinct()
            nodes = nodes.join(open_ones, "component", "left_semi")
            edges = edges.join(open_ones, "component", "left_semi").unionByName(self._labelled(more, labels))

    def _compare(self, members: DataFrame, pairs: DataFrame, least: float, count: int) -> DataFrame:
        parcels = parcelled(self.run, self.documents, members, pairs, count, apart=True)
        others = [one for one in OTHERS.split(", ") if one.split()[0] in members.columns]
        schema = self.run.typed(", ".join((COMPARED, *others)))
        compared = Compared(self.reader, least, names_of(schema), parcels.open)
        return parcels.rows.mapInArrow(Task(compared), schema)

    def _compare_wanted(self, wanted: DataFrame, count: int) -> DataFrame:
        """The wanted pairs with their similarity, in blocks of any of them: one document may have very many."""
        from pyspark.sql import functions as F

        together = max(1, min(WANTED_TOGETHER, self.run.work.block_documents // 2))
        block = F.pmod(F.xxhash64("left", "right"), F.lit(-(-count // together)))
        pairs = wanted.select(block.alias("block"), "left", "right")
        members = pairs.select("block", F.explode(F.array("left", "right")).alias("number")).distinct()
        compared = self._compare(members, pairs, -1.0, 2 * count)
        return compared.filter(F.col("left").isNotNull()).select("left", "right", "similarity")

    def _decide(self, nodes: DataFrame, edges: DataFrame) -> DataFrame:
        rows = streamed(self.run, nodes, edges, "component")
        return rows.mapInArrow(Task(Tied(self.judge)), self.run.typed(FOUND))

    def _labelled(self, edges: DataFrame, labels: DataFrame) -> DataFrame:
        return edges.join(labels.withColumnRenamed("number", "left"), "left")


def names_of(schema: str) -> tuple[str, ...]:
    """The columns of a schema.

    >>> names_of("left bigint, right bigint")
    ('left', 'right')
    """
    return tuple(column.split()[0] for column in schema.split(", "))
