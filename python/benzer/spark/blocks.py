"""Blocks: the candidates that are verified together. A component that fits in one task is a block; a larger one is cut.

A whole block can be verified and decided at once, because no other block has its documents. The pairs of a larger
component are sorted by the least neighbour of their left document, so that pairs of similar documents are mostly
adjacent, and are filled into blocks in this order. So each document is copied into few blocks.

A component with large buckets is a block whatever its size: only a task with all of its texts can compare them with the
kept documents among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benzer._native import components as tied
from benzer.spark.components import components
from benzer.spark.components.base import Numbers, collected, compacted, handed_back, tasks
from benzer.spark.frames import PAIRS, DataFrame
from benzer.spark.session import to_arrow
from benzer.spark.tasks import ArrowTask

FIRST = "first_left bigint, first_right bigint"
LOWEST = -(2**63)
ROWS = 1 << 16
"""Rows of a batch that a task returns."""


class JoinedCandidates(Protocol):
    """The output of `joining`.

    Attributes:
        distinct: Whether each pair is listed once.
        candidates: The number of pairs, if it is known.
        ties: Other pairs of documents that must be in one block.
    """

    @property
    def pairs(self) -> DataFrame: ...
    @property
    def distinct(self) -> bool: ...
    @property
    def candidates(self) -> int | None: ...
    @property
    def ties(self) -> DataFrame | None: ...


@dataclass(frozen=True)
class Blocks:
    """The blocks of candidates that are verified together.

    pairs: `frames.BLOCK_PAIRS`, each pair in one block. members: `frames.MEMBERS`. documents, pair_count: their rows;
    a document that several blocks need counts in each. cut: some blocks are not whole.
    """

    pairs: DataFrame
    members: DataFrame
    documents: int
    pair_count: int
    cut: bool


def blocks(run: Any, stages: Any, joined: JoinedCandidates) -> Blocks:
    """The blocks of all candidates, computed on the driver if they fit there."""
    rows = joined.pairs.count() if joined.candidates is None else joined.candidates
    tie_rows = 0 if joined.ties is None else joined.ties.count()
    if rows + tie_rows <= run.work.driver_pairs:
        return _on_driver(run, joined.pairs, joined.distinct, joined.ties)
    if joined.distinct:
        return _on_spark(run, stages, joined.pairs, rows, joined.ties)
    pairs = stages.keep("blocks-pairs", joined.pairs.distinct)
    rows = pairs.count()
    if rows + tie_rows <= run.work.driver_pairs:
        return _on_driver(run, pairs, True, joined.ties)
    return _on_spark(run, stages, pairs, rows, joined.ties)


def _on_driver(run: Any, pairs: DataFrame, distinct: bool, ties: DataFrame | None = None) -> Blocks:
    """Blocks of collected pairs."""
    import pyarrow as pa

    own, ties_of = collected(pairs), None if ties is None else collected(ties)
    ends = own if ties_of is None else tuple(map(np.concatenate, zip(own, ties_of, strict=True)))
    numbers, left, right = compacted(*ends)
    count = len(own[0])
    (left, right), (first, others) = (left[:count], right[:count]), (left[count:], right[count:])
    if not distinct:
        left, right = _distinct(left, right)
    label = tied(len(numbers), np.concatenate((left, first)), np.concatenate((right, others)))
    large = np.bincount(label, minlength=len(numbers)) > run.work.block_documents
    large |= np.bincount(label[left], minlength=len(numbers)) > run.work.block_pairs
    large[label[first]] = False
    inner = ~large[label]
    whole = inner[left]
    block, members = numbers[label[left[whole]]], np.flatnonzero(inner)
    tables = [pa.table({"block": block, "left": numbers[left[whole]], "right": numbers[right[whole]]})]
    documents = [_members(pa, numbers[label[members]], numbers[members], True)]
    if not inner.all():
        # positions are equivalent to numbers here and have the same order
        left, right = left[~whole].astype(np.int64), right[~whole].astype(np.int64)
        order = np.lexsort((right, left, _least_neighbours(len(numbers), left, right)[left]))
        left, right = left[order], right[order]
        starts = filled(left, right, run.work.block_documents, run.work.block_pairs)
        names = _free(numbers[np.unique(label)], len(starts))
        chunk = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(left)))
        tables.append(pa.table({"block": names[chunk], "left": numbers[left], "right": numbers[right]}))
        each = np.unique(np.concatenate((chunk, chunk)) * len(numbers) + np.concatenate((left, right)))
        documents.append(_members(pa, names[each // len(numbers)], numbers[each % len(numbers)], False))
    pairs_table, needed = pa.concat_tables(tables), pa.concat_tables(documents)
    cut = not bool(inner.all())
    return Blocks(
        handed_back(run, pairs_table), handed_back(run, needed), needed.num_rows, pairs_table.num_rows, cut
    )


def _members(pa: Any, block: Numbers, number: Numbers, whole: bool) -> Any:
    return pa.table({"block": block, "number": number, "whole": np.full(len(block), whole)})


def _distinct(
    left: NDArray[np.uint32], right: NDArray[np.uint32]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    packed = np.unique(left.astype(np.uint64) << np.uint64(32) | right)
    return (packed >> np.uint64(32)).astype(np.uint32), packed.astype(np.uint32)


def _least_neighbours(count: int, left: Numbers, right: Numbers) -> Numbers:
    """For each position the minimum of itself and its neighbours."""
    least = np.arange(count)
    np.minimum.at(least, left, right)
    np.minimum.at(least, right, left)
    return least


def _on_spark(run: Any, stages: Any, pairs: DataFrame, rows: int, ties: DataFrame | None = None) -> Blocks:
    """Blocks of more pairs than fit on the driver."""
    from pyspark.sql import functions as F

    edges = pairs if ties is None else pairs.unionByName(ties)
    count = rows if ties is None else None
    labels = components(run, stages, edges, count, "blocks-components")
    named = labels.select(F.col("component").alias("block"), "number")
    labelled = stages.keep(
        "blocks-labelled",
        lambda: pairs.join(named, pairs["left"] == named["number"]).select("block", "left", "right"),
    )
    members = named.withColumn("whole", F.lit(True))
    large = _large(run, named, labelled, ties)
    if not large.num_rows:
        return Blocks(labelled, members, labels.count(), rows, False)
    broad = F.broadcast(handed_back(run, large))
    cut = stages.keep("blocks-cut", lambda: _cut(run, labelled.join(broad, "block", "left_semi")))
    cut = cut.join(F.broadcast(_names(run, cut, labels)), ["first_left", "first_right"])
    cut = cut.select("block", "left", "right")
    copied = cut.select("block", F.explode(F.array("left", "right")).alias("number")).distinct()
    members = members.join(broad, "block", "left_anti").unionByName(copied.withColumn("whole", F.lit(False)))
    members = stages.keep("blocks-members", lambda: members)
    return Blocks(
        labelled.join(broad, "block", "left_anti").unionByName(cut), members, members.count(), rows, True
    )


def _large(run: Any, named: DataFrame, labelled: DataFrame, ties: DataFrame | None = None) -> Any:
    """The names of the components that do not fit in one task, except those with ties; few, because each is large."""
    from pyspark.sql import functions as F

    work = run.work
    documents = named.groupBy("block").count().where(F.col("count") > work.block_documents)
    pairs = labelled.groupBy("block").count().where(F.col("count") > work.block_pairs)
    members = documents.select("block").unionAll(pairs.select("block")).distinct()
    if ties is not None:
        whole = named.join(ties.select(F.col("left").alias("number")), "number", "left_semi").select("block")
        members = members.join(whole.distinct(), "block", "left_anti")
    return to_arrow(members)


def _cut(run: Any, pairs: DataFrame) -> DataFrame:
    """Pairs of large components, each with the first pair of its block."""
    from pyspark.sql import functions as F

    ends = pairs.select("left", "right").unionAll(pairs.select("right", "left"))
    least = ends.groupBy("left").agg(F.least(F.col("left"), F.min("right")).alias("least"))
    return (
        pairs.join(least, "left")
        .repartition(tasks(run), "least")
        .sortWithinPartitions("least", "left", "right")
        .select("left", "right")
        .mapInArrow(ArrowTask(Fill(run.work.block_documents, run.work.block_pairs)), f"{FIRST}, {PAIRS}")
    )


def _names(run: Any, cut: DataFrame, labels: DataFrame) -> DataFrame:
    """A name for each block by its first pair, different from the names of whole blocks."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    first = to_arrow(cut.select("first_left", "first_right").distinct())
    first = first.sort_by([("first_left", "ascending"), ("first_right", "ascending")])
    names = labels.select("component").distinct()
    room, used = first.num_rows, None
    while (
        used is None or room - len(used) < first.num_rows
    ):  # usually one pass, because documents rarely have such low numbers
        room += 0 if used is None else 2 * len(used)
        used = np.sort(to_arrow(names.where(F.col("component") < LOWEST + room)).column(0).to_numpy())
    return handed_back(run, first.append_column("block", pa.array(_free(used, first.num_rows))))


@dataclass(frozen=True)
class Fill:
    """Fills pairs in order into blocks with a maximum number of documents and pairs."""

    documents: int
    pairs: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        left = right = np.empty(0, dtype=np.int64)
        waiting, rows = [], 0
        for batch in batches:
            waiting.append((batch.column(0).to_numpy(), batch.column(1).to_numpy()))
            rows += batch.num_rows
            if rows > self.pairs:  # more than fit in one block: everything before its end is final
                left, right = _joined([(left, right), *waiting])
                waiting, rows = [], 0
                starts = filled(left, right, self.documents, self.pairs)
                yield from _blocks_of(left[: starts[-1]], right[: starts[-1]], starts[:-1])
                left, right = left[starts[-1] :], right[starts[-1] :]
        left, right = _joined([(left, right), *waiting])
        yield from _blocks_of(left, right, filled(left, right, self.documents, self.pairs))


def _joined(pairs: list[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    return np.concatenate([left for left, _ in pairs]), np.concatenate([right for _, right in pairs])


def _blocks_of(left: Numbers, right: Numbers, starts: Numbers) -> Iterator[Any]:
    import pyarrow as pa

    first = np.repeat(starts, np.diff(starts, append=len(left)))
    columns = {"first_left": left[first], "first_right": right[first], "left": left, "right": right}
    yield from pa.table(columns).to_batches(max_chunksize=ROWS)


def filled(left: Numbers, right: Numbers, documents: int, pairs: int) -> Numbers:
    """The start positions of blocks that are filled in order, each with as many pairs as fit (at least one).

    >>> filled(np.array([1, 1, 1, 2, 5]), np.array([2, 3, 4, 3, 6]), documents=3, pairs=9)
    array([0, 2, 3, 4])
    """
    each = np.stack((left, right), axis=1).ravel()
    order = np.argsort(each, kind="stable")
    before = np.full(len(each), -1)  # the previous position of the same document
    same = each[order[1:]] == each[order[:-1]]
    before[order[1:][same]] = order[:-1][same]
    starts, start = [], 0
    while start < len(left):
        starts.append(start)
        start += _fitting(before, start, documents, pairs)
    return np.array(starts, dtype=np.int64)


def _fitting(before: Numbers, start: int, documents: int, pairs: int) -> int:
    """The number of pairs from `start` with at most this many documents."""
    view = documents
    while True:
        end = min(start + min(view, pairs), len(before) // 2)
        total = np.cumsum(before[2 * start : 2 * end] < 2 * start)[1::2]
        fitting = int(np.searchsorted(total, documents, side="right"))
        if fitting < end - start or end - start < view:
            return max(fitting, 1)
        view *= 2


def _free(reserved: Numbers, count: int) -> Numbers:
    """The lowest unused numbers, ascending.

    >>> _free(np.array([LOWEST + 1, 0]), 3) - LOWEST
    array([0, 2, 3])
    """
    room = count
    while (used := int(np.searchsorted(reserved, LOWEST + room))) > room - count:
        room = count + used
    return np.setdiff1d(np.arange(room) + LOWEST, reserved[:used])
