"""Find identical documents, and choose the one of each content that represents the others.

Equal content hashes only propose that documents are identical, because they can be forged. Their digests decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.clusters import Keep
from benzer.spark.frames import COPIES, SHORT, WHOLE
from benzer.spark.ranking import ranks
from benzer.spark.repeats import Repeats
from benzer.spark.settings import SparkRun
from benzer.spark.tasks import ArrowTask

IDENTITY = ("identity_a", "identity_b")
SEEN = ("number", "id", "place", "extra", "source", "length", *IDENTITY)
ORIGINALS = (
    "identity_a bigint, identity_b bigint, original bigint, original_id {id}, "
    "first_place {place}, first_id {id}"
)

Positions = NDArray[np.intp]


def copies(run: SparkRun, sketches: Any, repeated: Repeats) -> Any:
    """A row of `COPIES` for each document that is identical to an earlier one in the keep order.

    An empty document is not a copy. Only documents with `repeated` content hashes are moved.
    """
    live = sketches.where(f"state IN ({WHOLE}, {SHORT})").select(*SEEN, "content_a")
    if repeated.contents is None:
        return run.spark.createDataFrame([], run.typed(COPIES))
    members = live.join(repeated.contents, "content_a", "left_semi").select(*SEEN).repartition(*IDENTITY)
    in_order = members.sortWithinPartitions(*IDENTITY, "place", "number")
    originals = in_order.mapInArrow(ArrowTask(FindOriginals(run.keep)), run.typed(ORIGINALS))
    rows = members.join(originals, list(IDENTITY)).where("number <> original")
    return rows.select(*SEEN, "original", "original_id", "first_place", "first_id")


@dataclass(frozen=True)
class FindOriginals:
    """A worker that finds the original of each identity, for documents sorted by identity, place and number.

    For each identity only two documents are in memory: the first one and the best one to keep so far.
    """

    keep: Keep

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        previous = None
        for batch in batches:
            if not batch.num_rows:
                continue
            table = pa.Table.from_batches([batch])
            table = table if previous is None else pa.concat_tables([previous, table]).combine_chunks()
            first, best = self.find(table)
            yield from original_rows(table, first[:-1], best[:-1]).to_batches()
            previous = table.take(np.unique([first[-1], best[-1]]))  # in this order: the first precedes all
        if previous is not None:
            yield from original_rows(previous, *self.find(previous)).to_batches()

    def find(self, table: Any) -> tuple[Positions, Positions]:
        """The first row and the kept row of each identity."""
        a, b = (table.column(name).to_numpy() for name in IDENTITY)
        first = np.flatnonzero(np.concatenate(([True], (a[1:] != a[:-1]) | (b[1:] != b[:-1]))))
        rank = ranks(self.keep, table)
        row_of = np.empty(len(rank), dtype=np.intp)
        row_of[rank] = np.arange(len(rank))
        return first, row_of[np.minimum.reduceat(rank, first)]


def original_rows(table: Any, first: Positions, best: Positions) -> Any:
    """Rows of `ORIGINALS`."""
    import pyarrow as pa

    at_first, at_best = table.take(first), table.take(best)
    return pa.table(
        {
            **{name: at_first.column(name) for name in IDENTITY},
            "original": at_best.column("number"),
            "original_id": at_best.column("id"),
            "first_place": at_first.column("place"),
            "first_id": at_first.column("id"),
        }
    )
