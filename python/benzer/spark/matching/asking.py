"""Searches the documents of a run in a collection: band keys, then blocks of candidates, then verification.

One of several documents with equal contents is searched for all of them. Only the contents of candidates are
transferred, each once per block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benzer.spark.components.base import tasks
from benzer.spark.matching import pairing
from benzer.spark.matching.pairing import batch_of
from benzer.spark.matching.verifying import ASKS, IS_COPY, IS_HELD, Verify
from benzer.spark.settings import SparkRun
from benzer.spark.tasks import ArrowTask

BLOCK_ASKERS = 4_096
"""Approximate number of query documents in a block, whose contents and hashes are in memory together."""
ORDER = ("block", "kind", "generation", "old_place", "number")
"""The order of the rows of a block: by kind, and documents of the collection in their order."""


@dataclass(frozen=True)
class Asking:
    """The query documents of a run: `sketches` with the settings of the collection, and the copies."""

    run: SparkRun
    documents: Any
    sketches: Any
    copied: Any

    @property
    def alone(self) -> Any:
        """The sketches of the queries: not empty, and the first of their content."""
        return self.sketches.where("keys is not null").join(
            self.copied.select("number"), "number", "left_anti"
        )

    def count(self) -> int:
        """The number of query documents, including copies."""
        return int(self.sketches.where("keys is not null").count())

    @property
    def partitions(self) -> int:
        """Tasks of a shuffle."""
        return tasks(self.run)

    def candidates(self, collection: Any) -> Any:
        """The blocks of each document of the collection, and its queries there (`pairing.TOGETHER`)."""
        count, partitions = self.count(), self.partitions
        width = len(collection.settings.schema.fields) * collection.settings.bands.bands
        met = pairing.pairs(self.alone, collection.sketches, count * width, partitions)
        return pairing.candidates(met, max(partitions, -(-count // BLOCK_ASKERS)))

    def matches(self, collection: Any, candidates: Any, verify: Verify) -> Any:
        """Verified matches: `number`, `id`, `old_number`, `old_id`, `similarity`, `rank`, and those of the fields."""
        rows = self.rows(collection, candidates).repartition("block")
        return rows.sortWithinPartitions(*ORDER).mapInArrow(
            ArrowTask(verify), self.schema(collection, verify)
        )

    def schema(self, collection: Any, verify: Verify) -> str:
        """The Spark schema of `matches`."""
        fields = [
            f", similarity_{number} double" for number in range(len(verify.schema.fields)) if verify.fields
        ]
        known = f"number bigint, id {self.run.columns['id']}, old_number bigint, old_id {collection.columns['id']}"
        return f"{known}, similarity double, rank int{''.join(fields)}"

    def rows(self, collection: Any, candidates: Any) -> Any:
        """The rows of the blocks (see `verifying`)."""
        from pyspark.sql import functions as F

        members = candidates.mapInArrow(ArrowTask(Askers()), MEMBERS).distinct()
        fields = [f"field_{number}" for number in range(len(self.run.settings.schema.fields))]
        asks = self.documents.wanted(members).select(
            "block", F.lit(ASKS).alias("kind"), "number", F.col("number").alias("member"), "id", *fields
        )
        documents = collection.contents.join(candidates, "number").select(
            "block",
            F.lit(IS_HELD).alias("kind"),
            "number",
            "asked",
            "generation",
            F.col("place").alias("old_place"),
            F.col("id").alias("old_id"),
            *(F.col(name).alias(f"old_{name}") for name in fields),
        )
        originals = members.withColumnRenamed("number", "original")
        copies = self.copied.select("number", "id", "original").join(originals, "original").select(
            "block",
            F.lit(IS_COPY).alias("kind"),
            F.col("original").alias("number"),
            F.col("number").alias("member"),
            "id",
        )  # fmt: skip
        return asks.unionByName(documents, allowMissingColumns=True).unionByName(
            copies, allowMissingColumns=True
        )


MEMBERS = "block bigint, number bigint"


@dataclass(frozen=True)
class Askers:
    """Converts rows of `pairing.TOGETHER` to the query documents (`MEMBERS`), with repeats."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            if not batch.num_rows:
                continue
            packed = batch.column("asked").to_pylist()
            number, positions = np.unique(
                np.concatenate([np.frombuffer(item, "<i8") for item in packed]), return_index=True
            )
            blocks = np.repeat(batch.column("block").to_numpy(), [len(item) // 8 for item in packed])
            yield batch_of(block=blocks[positions], number=number)
