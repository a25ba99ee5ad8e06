"""The join on Spark proposes what the local one does, however the rows lie and however little a task may hold."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from benzer.candidates import propose
from benzer.spark.frames import NO_KEY
from benzer.spark.joining import Joined, join
from benzer.spark.joining.packing import Sizes
from benzer.spark.session import from_arrow, to_arrow
from benzer.spark.settings import Work
from tests.spark.made import Stages

TINY = Sizes(part=16, parts=9, large=64, dealt=40, waiting=20, hot=2)
AQE = "spark.sql.adaptive.enabled"
ABSENT = np.uint64(NO_KEY % 2**64)


Proposed = tuple[set[tuple[int, int]], list[frozenset[int]], int]
"""Pairs, the documents of large buckets in the order of band and key, and how many these are together."""


class Case:
    """Documents by key and content, some of them copies, in a table of sketches."""

    def __init__(self, keys: NDArray[np.uint64], seed: int, copies: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.keys = keys
        count = len(keys)
        # Half of the contents and numbers have the highest bit, which is the sign of Spark's numbers.
        self.content = random.integers(0, 2**64, size=(count, 2), dtype=np.uint64)
        self.numbers = np.sort(random.choice(10**6, size=count, replace=False)) - 500_000
        self.numbers *= 2**40
        self.copied = random.permutation(count)[:copies]
        self.shuffled = random.permutation(count)

    def wanted(self, limit: int) -> Proposed:
        """What the local join proposes."""
        taking_part = np.ones(len(self.keys), dtype=np.bool_)
        taking_part[self.copied] = False
        found = propose(self.keys, taking_part, limit, 1)
        pairs = zip(self.numbers[found.left].tolist(), self.numbers[found.right].tolist(), strict=True)
        large = [frozenset(self.numbers[bucket].tolist()) for bucket in found.large.each()]
        return set(pairs), large, sum(map(len, large))

    def tables(self, spark: Any, partitions: int) -> tuple[Any, Any]:
        """Sketches and copies on Spark."""
        rows, content = self.shuffled, self.content.view(np.int64)
        empty = (self.keys == ABSENT).all(axis=1)
        packed = [None if empty[row] else self.keys[row].tobytes() for row in rows]
        columns = {
            "number": pa.array(self.numbers[rows]),
            "content_a": pa.array(content[rows, 0]),
            "content_b": pa.array(content[rows, 1]),
            "keys": pa.array(packed, pa.binary()),
        }
        return (
            from_arrow(spark, pa.table(columns)).repartition(partitions),
            from_arrow(spark, pa.table({"number": pa.array(self.numbers[self.copied], pa.int64())})),
        )

    def run(
        self, spark: Any, limit: int, lying_in: int = 3, sizes: Sizes | None = None, **work: Any
    ) -> tuple[Proposed, list[str]]:
        """What the join on Spark proposes; and its stages."""
        width = self.keys.shape[1]
        fields = 2 - width % 2
        settings = SimpleNamespace(
            bucket_limit=limit,
            schema=SimpleNamespace(fields=(None,) * fields),
            bands=SimpleNamespace(bands=width // fields),
        )
        run = SimpleNamespace(spark=spark, settings=settings, work=Work(**work))
        stages = Stages(spark)
        return plain(join(run, stages, *self.tables(spark, lying_in), sizes)), list(stages.timings)


def plain(joined: Joined) -> Proposed:
    """A result as sets; each pair is there once, the lower number first. Ties connect what shares a large bucket."""
    table = to_arrow(joined.pairs)
    assert table.schema.names == ["left", "right"]
    pairs = list(zip(table["left"].to_pylist(), table["right"].to_pylist(), strict=True))
    assert all(left < right for left, right in pairs)
    assert len(set(pairs)) == len(pairs) == joined.candidates
    assert joined.distinct
    if joined.buckets is None or joined.ties is None:
        assert joined.buckets is joined.ties is None
        assert joined.oversized_buckets == joined.oversized_documents == 0
        return set(pairs), [], 0
    members: dict[int, set[int]] = {}
    for row in to_arrow(joined.buckets).to_pylist():
        for bucket in row["buckets"]:
            members.setdefault(bucket, set()).add(row["number"])
    large = [members[bucket] for bucket in sorted(members)]
    assert len(large) == joined.oversized_buckets
    ties = {(row["left"], row["right"]) for row in to_arrow(joined.ties).to_pylist()}
    assert ties == {(min(bucket), other) for bucket in large for other in bucket if other != min(bucket)}
    return set(pairs), [frozenset(bucket) for bucket in large], joined.oversized_documents


def random_keys(count: int, bands: int, seed: int, families: int = 6) -> NDArray[np.uint64]:
    """Keys that sometimes meet, with families that agree in most bands, and documents without some key or any."""
    random = np.random.default_rng(seed)
    keys = random.integers(0, 2 * count, size=(count, bands), dtype=np.uint64) * np.uint64(0x6A09E667F3BCC909)
    for family in range(families):
        members = random.choice(count, size=min(count, 3 + 5 * family), replace=False)
        agree = random.random((len(members), bands)) < 0.7
        keys[members] = np.where(agree, keys[members[0]], keys[members])
    keys[random.random(count) < 0.1] = ABSENT
    keys[random.random(keys.shape) < 0.05] = ABSENT
    return keys


def skewed_keys(count: int, bands: int, seed: int) -> NDArray[np.uint64]:
    """The same, with one key in half of the documents of two bands, and one in a third of a third."""
    keys = random_keys(count, bands, seed)
    keys[::2, 0] = 7
    keys[::3, 1] = 8
    keys[1::2, bands - 1] = 7
    keys[::4, 2] = keys[0, 2]
    return keys


@pytest.mark.parametrize(
    "seed, partitions, adaptive, limit, sizes",
    [(1, 1, "true", 1000, None), (2, 7, "false", 1000, TINY), (3, 3, "true", 8, None)],
)
def test_the_pairs_are_those_of_the_local_join(
    spark: Any, seed: int, partitions: int, adaptive: str, limit: int, sizes: Sizes | None
) -> None:
    case = Case(random_keys(120, 4, seed), seed, copies=15)
    spark.conf.set(AQE, adaptive)
    try:
        found, _ = case.run(spark, limit, partitions, sizes)
    finally:
        spark.conf.set(AQE, "true")
    wanted = case.wanted(limit)
    assert len(wanted[0]) > 30
    assert bool(wanted[1]) == (limit == 8)
    assert found == wanted


@pytest.mark.parametrize(
    "seed, partitions, limit, sizes, work",
    [(4, 7, 5, None, {"partitions": 3}), (6, 1, 2, TINY, {"bands_per_pass": 3})],
)
def test_large_buckets_are_those_of_the_local_join(
    spark: Any, seed: int, partitions: int, limit: int, sizes: Sizes | None, work: dict[str, int]
) -> None:
    case = Case(skewed_keys(150, 4, seed), seed, copies=10)
    found, _ = case.run(spark, limit, partitions, sizes, **work)
    wanted = case.wanted(limit)
    assert len(wanted[1]) >= 4
    assert found == wanted


def test_documents_that_share_all_keys_have_no_pairs_but_ties(spark: Any) -> None:
    case = Case(np.full((60, 2), 7, dtype=np.uint64), 8)
    found, names = case.run(spark, 5, sizes=TINY)
    assert found == case.wanted(5)
    assert (found[0], len(found[1]), found[2]) == (set(), 2, 120)
    assert names == ["join", "join-large", "join-apart", "join-ties"]


def test_the_key_of_one_band_meets_that_of_no_other(spark: Any) -> None:
    keys = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2], [9, 8, 2]], dtype=np.uint64)
    found, names = Case(keys, 9).run(spark, 1000)
    assert len(found[0]) == 1
    assert names == ["join"]


def test_nobody_who_could_meet_is_no_failure(spark: Any) -> None:
    case = Case(np.full((20, 3), 7, dtype=np.uint64), 10, copies=20)
    found, _ = case.run(spark, 5)
    assert found == (set(), [], 0)
