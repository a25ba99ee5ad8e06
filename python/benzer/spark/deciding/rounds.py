"""Decides components that are too large for one task: verified in parts, then decided without texts.

The additional pairs that a decision needs are compared in a separate round, and their components are decided again,
until no more pairs are needed. The rounds terminate: the similarity of a requested pair is known in all later rounds,
so each round compares a new pair of a component, and these are finite. A local run has the same loop.

Components do not change meanwhile: a pair is requested only for documents that verified pairs already link. Between
rounds only the pairs at the threshold and the requested ones are kept: another candidate below the threshold that is
requested is compared again, which costs less than shuffling all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from benzer.spark.components import components
from benzer.spark.deciding.judging import DECIDED, Judge
from benzer.spark.deciding.parcels import parcelled
from benzer.spark.deciding.streams import streamed
from benzer.spark.deciding.workers import WANTED, Compared, Reader, Tied
from benzer.spark.frames import DataFrame
from benzer.spark.tasks import ArrowTask

COMPARED = (
    "number bigint, id {id}, place {place}, extra string, source int, length bigint, identity_a bigint, "
    "identity_b bigint, left bigint, right bigint, similarity double"
)
OTHERS = (
    "known boolean, first bigint, first_id {id}, first_place {place}, as_number bigint, as_id {id}, as_place {place}, "
    "as_extra string, as_length bigint"
)
"""Columns of documents for which others with equal content matter."""

WANTED_TOGETHER = 1_000
"""Maximum requested pairs that are compared together, with up to twice as many documents."""


@dataclass(frozen=True)
class Cut:
    """Verifies and decides components that are divided into several blocks."""

    run: Any
    stages: Any
    documents: Any
    reader: Reader
    judge: Judge

    def decide(self, members: DataFrame, pairs: DataFrame, count: int) -> DataFrame:
        """The rows of `FOUND` of all divided components. count: approximate number of members."""
        from pyspark.sql import functions as F

        compared = self.stages.keep(
            "compared", partial(self._compare, members, pairs, self.judge.threshold, count)
        )
        edges = compared.filter(F.col("left").isNotNull()).select("left", "right", "similarity")
        nodes = compared.filter(F.col("left").isNull()).drop("left", "right", "similarity")
        labels = components(self.run, self.stages, edges, name="tied")
        nodes = nodes.join(labels, "number")
        edges = self._labelled(edges, labels)
        outcomes: list[DataFrame] = []
        while True:
            name = f"round-{len(outcomes) + 1}"  # different from the stage names of `components`
            decided = self.stages.keep(name, partial(self._decide, nodes, edges))
            outcomes.append(decided.filter(F.col("kind") != WANTED))
            wanted = decided.filter(F.col("kind") == WANTED).select("component", "left", "right")
            wanted_count = wanted.count()
            if not wanted_count:
                return reduce(lambda item, other: item.unionByName(other), outcomes)
            more = self.stages.keep(f"{name}-compared", partial(self._compare_wanted, wanted, wanted_count))
            open_ones = wanted.select("component").distinct()
            nodes = nodes.join(open_ones, "component", "left_semi")
            edges = edges.join(open_ones, "component", "left_semi").unionByName(self._labelled(more, labels))

    def _compare(self, members: DataFrame, pairs: DataFrame, least: float, count: int) -> DataFrame:
        parcels = parcelled(self.run, self.documents, members, pairs, count, apart=True)
        others = [item for item in OTHERS.split(", ") if item.split()[0] in members.columns]
        schema = self.run.typed(", ".join((COMPARED, *others)))
        compared = Compared(self.reader, least, names_of(schema), parcels.open)
        return parcels.rows.mapInArrow(ArrowTask(compared), schema)

    def _compare_wanted(self, wanted: DataFrame, count: int) -> DataFrame:
        """The requested pairs with their similarity, in arbitrary blocks, because a document may have very many."""
        from pyspark.sql import functions as F

        together = max(1, min(WANTED_TOGETHER, self.run.work.block_documents // 2))
        block = F.pmod(F.xxhash64("left", "right"), F.lit(-(-count // together)))
        pairs = wanted.select(block.alias("block"), "left", "right")
        members = pairs.select("block", F.explode(F.array("left", "right")).alias("number")).distinct()
        compared = self._compare(members, pairs, -1.0, 2 * count)
        return compared.filter(F.col("left").isNotNull()).select("left", "right", "similarity")

    def _decide(self, nodes: DataFrame, edges: DataFrame) -> DataFrame:
        rows = streamed(self.run, nodes, edges, "component")
        return rows.mapInArrow(ArrowTask(Tied(self.judge)), self.run.typed(DECIDED))

    def _labelled(self, edges: DataFrame, labels: DataFrame) -> DataFrame:
        return edges.join(labels.withColumnRenamed("number", "left"), "left")


def names_of(schema: str) -> tuple[str, ...]:
    """The columns of a schema.

    >>> names_of("left bigint, right bigint")
    ('left', 'right')
    """
    return tuple(column.split()[0] for column in schema.split(", "))
