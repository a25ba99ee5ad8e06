"""Components that fit are blocks of their own; larger ones are cut, and no pair is lost."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benzer.spark.blocks import LOWEST, Blocks, Fill, _free, blocks, filled
from benzer.spark.stages import StageTables
from tests.reference import graphs
from tests.spark.graphs import Edge, chain, random_edges, rows, run_of, star, table, upwards

CLIQUE = [(one, other) for one in range(-3, 9) for other in range(-3, one)]
PAIRS = sorted(
    {*upwards(random_edges(4, 500, 400)), *upwards(CLIQUE), *chain(100, 60, 3), *star(-77, range(1000, 1050))}
)
LOW = [(LOWEST + 2 * at, LOWEST + 2 * at + 1) for at in range(20)]  # where names of cut blocks are looked for
PAIRS = sorted({*upwards(PAIRS), *LOW})
HERE, THERE = 1_000_000, 1


@dataclass(frozen=True)
class Joined:
    pairs: Any
    distinct: bool = True
    candidates: int | None = None
    ties: Any = None


@dataclass(frozen=True)
class Candidates:
    """Blocks as they are."""

    pairs: list[tuple[int, int, int]]
    members: list[tuple[int, int, bool]]

    @classmethod
    def of(cls, found: Blocks) -> Candidates:
        assert found.pairs.dtypes == [("block", "bigint"), ("left", "bigint"), ("right", "bigint")]
        assert found.members.dtypes == [("block", "bigint"), ("number", "bigint"), ("whole", "boolean")]
        one = cls(rows(found.pairs), rows(found.members))
        assert (found.documents, found.pair_count) == (len(one.members), len(one.pairs))
        assert found.cut == any(not whole for _, _, whole in one.members)
        return one

    def documents(self) -> dict[int, set[int]]:
        held = defaultdict(set)
        for block, number, _ in self.members:
            held[block].add(number)
        return held


def blocks_of(spark: Any, joined: Joined, **work: int) -> Candidates:
    with StageTables(spark) as stages:
        found = Candidates.of(blocks(run_of(spark, **work), stages, joined))
        stages.release()
    return found


@pytest.mark.parametrize("driver_pairs", [HERE, THERE])
def test_components_that_fit_are_whole_blocks_named_by_their_least_document(
    spark: Any, driver_pairs: int
) -> None:
    found = blocks_of(spark, Joined(table(spark, PAIRS, 3)), driver_pairs=driver_pairs)
    least = graphs.least_reachable(PAIRS)
    assert found.pairs == sorted((least[left], left, right) for left, right in PAIRS)
    assert found.members == sorted((block, number, True) for number, block in least.items())


@pytest.mark.parametrize(
    "driver_pairs, documents, pairs", [(HERE, 8, 5), (HERE, 9, 1_000), (HERE, 1_000, 20), (THERE, 8, 20)]
)
def test_larger_components_are_cut_within_both_bounds_and_nothing_is_lost(
    spark: Any, driver_pairs: int, documents: int, pairs: int
) -> None:
    work = {"driver_pairs": driver_pairs, "block_documents": documents, "block_pairs": pairs}
    found = blocks_of(spark, Joined(table(spark, PAIRS, 3)), **work)
    least = graphs.least_reachable(PAIRS)
    sizes, edges = Counter(least.values()), Counter(least[left] for left, _ in PAIRS)
    small = {name for name in sizes if sizes[name] <= documents and edges[name] <= pairs}

    assert sorted((left, right) for _, left, right in found.pairs) == PAIRS
    held = found.documents()
    assert all({left, right} <= held[block] for block, left, right in found.pairs)
    assert {block for block, _, whole in found.members if whole} == small
    assert {(block, number) for block, number, whole in found.members if whole} == {
        (name, number) for number, name in least.items() if name in small
    }
    assert not small & {block for block, _, whole in found.members if not whole}
    needed = defaultdict(set)
    for block, left, right in found.pairs:
        needed[block] |= {left, right}
    assert needed == held
    assert max(map(len, held.values())) <= documents
    assert max(Counter(block for block, _, _ in found.pairs).values()) <= pairs


@pytest.mark.parametrize("driver_pairs", [HERE, THERE])
def test_blocks_are_the_same_for_every_order_and_partition_and_for_pairs_that_come_twice(
    spark: Any, driver_pairs: int
) -> None:
    work = {"driver_pairs": driver_pairs, "block_documents": 10, "block_pairs": 30}
    once = blocks_of(spark, Joined(table(spark, PAIRS, 1), candidates=len(PAIRS)), **work)
    again = PAIRS + PAIRS[::2]
    assert once == blocks_of(spark, Joined(table(spark, again, 7, seed=9), False, len(again)), **work)


def test_pairs_that_fit_on_the_driver_once_each_are_grouped_there(spark: Any) -> None:
    found = blocks_of(spark, Joined(table(spark, PAIRS * 2), distinct=False), driver_pairs=len(PAIRS))
    assert found == blocks_of(spark, Joined(table(spark, PAIRS)))


@pytest.mark.parametrize("driver_pairs", [HERE, 0])
def test_no_pairs_need_no_blocks(spark: Any, driver_pairs: int) -> None:
    assert blocks_of(spark, Joined(table(spark, [])), driver_pairs=driver_pairs) == Candidates([], [])


def test_a_block_is_filled_as_far_as_it_goes() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        pairs = [tuple(pair) for pair in np.sort(rng.integers(0, 12, (40, 2)), axis=0).tolist()]
        documents, most = int(rng.integers(2, 9)), int(rng.integers(1, 9))
        assert boxes(filled(*ends(pairs), documents, most), pairs) == graphs.filled(pairs, documents, most)


@pytest.mark.parametrize("size", [1, 3, 8, 1000])
def test_a_task_fills_the_same_blocks_whatever_the_batches(size: int) -> None:
    pairs = upwards(random_edges(2, 60, 300))
    left, right = ends(pairs)
    batches = pa.table({"left": left, "right": right}).to_batches(max_chunksize=size)
    found = pa.Table.from_batches(list(Fill(documents=9, pairs=6)(iter(batches)))).to_pylist()
    assert [(row["left"], row["right"]) for row in found] == pairs
    expected = graphs.filled(pairs, 9, 6)
    assert [(row["first_left"], row["first_right"]) for row in found] == [
        box[0] for box in expected for _ in box
    ]


def test_names_of_cut_blocks_are_no_names_of_whole_ones() -> None:
    for seed in range(100):
        rng = np.random.default_rng(seed)
        taken = np.unique(rng.integers(LOWEST, LOWEST + 30, rng.integers(0, 30)))
        found = _free(taken, 10).tolist()
        assert found == [name for name in range(LOWEST, LOWEST + 50) if name not in set(taken.tolist())][:10]


def ends(pairs: list[Edge]) -> tuple[Any, Any]:
    array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return np.ascontiguousarray(array[:, 0]), np.ascontiguousarray(array[:, 1])


def boxes(starts: Any, pairs: list[Edge]) -> list[list[Edge]]:
    return [pairs[start:end] for start, end in zip(starts, [*starts[1:], len(pairs)], strict=True)]
