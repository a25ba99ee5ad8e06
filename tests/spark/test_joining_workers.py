"""What tasks of the join do, one after the other and without Spark, proposes what the local join does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest

from benzer.spark.joining.large import Belong, portions
from benzer.spark.joining.packing import PACKED_TOGETHER, Sizes, packed, pieces, words
from benzer.spark.joining.workers import Deal, DealPairs, Distinct, Meet
from tests.spark.test_joining import ABSENT, TINY, Case, Proposed, random_keys, skewed_keys


def shuffled(batches: Iterable[Any], by: list[str], tasks: int, rows: int) -> list[list[Any]]:
    """The rows of each task, in order, in batches of few rows: what a shuffle of Spark makes of them."""
    given = list(batches)
    if not given:
        return []
    table = pa.Table.from_batches(given)
    keys = [table[name].to_pylist() for name in by]
    order = sorted(range(table.num_rows), key=lambda row: [column[row] for column in keys])
    task = [crc32(repr(keys[0][row]).encode()) % tasks for row in order]
    own = [
        [row for row, given_to in zip(order, task, strict=True) if given_to == one] for one in range(tasks)
    ]
    return [
        table.take(pa.array(some, pa.int64())).combine_chunks().to_batches(max_chunksize=rows) for some in own
    ]


def sketches(case: Case, tasks: int) -> list[list[Any]]:
    """The sketches of those who take part, in the batches of each task."""
    rows = np.setdiff1d(case.shuffled[(case.keys[case.shuffled] != ABSENT).any(axis=1)], case.copied)
    columns = {
        "number": pa.array(case.numbers[rows]),
        "keys": pa.array([case.keys[row].tobytes() for row in rows], pa.binary()),
    }
    batches = pa.table(columns).to_batches(max_chunksize=17)
    return [batches[task::tasks] for task in range(tasks)]


def each(worker: Any, tasks: list[list[Any]]) -> Iterator[Any]:
    for batches in tasks:
        yield from worker(iter(batches))


def by_workers(case: Case, limit: int, sizes: Sizes, tasks: int) -> Proposed:
    """The whole join, each task after the other."""
    width, given = case.keys.shape[1], sketches(case, tasks)
    parts = sizes.parts_of(case.keys.size)
    dealt = each(Deal(width, 0, width, 3, limit, sizes), given)
    met = each(Meet(0, 3, parts, limit, sizes), shuffled(dealt, ["part"], tasks, 5))
    rows = [
        row for batch in each(Distinct(sizes), shuffled(met, ["part"], tasks, 4)) for row in batch.to_pylist()
    ]
    pairs = [(row["left"], row["right"]) for row in rows if row["right"] is not None]
    assert len(pairs) == len(set(pairs))
    hot: dict[int, Any] = {}
    for row in rows:
        if row["right"] is None:
            hot.setdefault(row["band"], []).append(row["left"])
    hot = {band: np.array(keys, dtype=np.int64).view(np.uint64) for band, keys in hot.items()}
    members: dict[int, set[int]] = {}
    for first, some in portions(hot, sizes.hot) if hot else ():
        for batch in each(Belong(width, first, some), given):
            for row in batch.to_pylist():
                members.setdefault(row["bucket"], set()).add(row["number"])
    large = [frozenset(members[bucket]) for bucket in sorted(members)]
    apart = {pair for pair in pairs if not any(bucket.issuperset(pair) for bucket in large)}
    return apart, large, sum(map(len, large))


@pytest.mark.parametrize("seed", range(24))
def test_all_tasks_together_propose_what_the_local_join_does(seed: int) -> None:
    make = [random_keys, skewed_keys][seed % 2]
    case = Case(make(40 + 17 * (seed % 7), 3 + seed % 4, seed), seed, copies=seed % 3 * 4)
    limit = [2, 5, 9, 1000][seed // 2 % 4]
    sizes = [TINY, Sizes(), Sizes(part=64, dealt=7, waiting=3, hot=1)][seed % 3]
    assert by_workers(case, limit, sizes, 1 + seed % 3) == case.wanted(limit)


def test_numbers_come_back_from_packed_rows_part_by_part() -> None:
    left = np.arange(3 * PACKED_TOGETHER, dtype=np.uint64)
    right = -np.arange(3 * PACKED_TOGETHER, dtype=np.int64)
    ends = np.array([0, 2 * PACKED_TOGETHER + 1, 2 * PACKED_TOGETHER + 1, len(left)])
    batch = packed(left, right, ends)
    assert batch.column("part").to_pylist() == [1, 1, 1, 3, 3][: batch.num_rows]
    large = pa.record_batch(
        [batch.column(0), *(batch.column(i).cast(pa.large_binary()) for i in (1, 2))],
        names=batch.schema.names,
    )
    for given in (batch, large):
        found = list(pieces(iter([given.slice(0, 2), given.slice(2)])))
        assert [piece.part for piece in found] == [1, 1, 3]
        assert np.concatenate([piece.left for piece in found]).tolist() == left.tolist()
        assert np.concatenate([piece.right for piece in found]).tolist() == right.tolist()


def test_rows_of_keys_alone_are_told_from_entries() -> None:
    entries = packed(np.array([5, 6], dtype=np.uint64), np.array([1, 2]), np.array([0, 2]))
    alone = packed(np.array([7, 8], dtype=np.uint64), None, np.array([0, 2]))
    (piece,) = pieces(iter([pa.Table.from_batches([entries, alone]).combine_chunks().to_batches()[0]]))
    assert (piece.part, piece.left.tolist(), piece.right.tolist()) == (1, [5, 6], [1, 2])
    assert piece.alone.tolist() == [7, 8]


def test_no_rows_are_no_pairs() -> None:
    empty = pa.record_batch({"number": pa.array([], pa.int64()), "keys": pa.array([], pa.binary())})
    for worker in (Deal(2, 0, 2, 1, 5, TINY), Meet(0, 1, 1, 5, TINY), Distinct(TINY), DealPairs(1, TINY)):
        assert list(worker(iter([]))) == []
    assert list(Deal(2, 0, 2, 1, 5, TINY)(iter([empty]))) == []
    assert len(words(empty.column("keys"))) == 0


@pytest.mark.parametrize(
    "documents, parts", [(0, 1), (1, 1), (464_307, 71), (10**8, 4096), (10**9, 4096), (10**10, 23_842)]
)
def test_a_part_fits_into_a_task_whatever_the_size(documents: int, parts: int) -> None:
    assert Sizes().parts_of(documents * 10) == parts
    assert documents * 10 / parts <= 1 << 22
