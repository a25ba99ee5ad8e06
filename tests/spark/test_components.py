"""Union-find on the driver, spanning forests and stars give the same components."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import benzer.spark.components.stars as stars_module
from benzer.errors import SettingsError
from benzer.spark.components import by_forests, by_stars, components, way_of
from benzer.spark.components.forests import Forest
from benzer.spark.stages import StageTables
from tests.reference.graphs import Edge, least_reachable
from tests.spark.graphs import HIGHEST, LOWEST, chain, random_edges, rows, run_of, star, table, upwards


def parts(length: int) -> dict[str, list[Edge]]:
    """Graphs of many shapes, of about so many edges, in which no number is in two."""
    return {
        "a chain": chain(0, length),
        "a shuffled chain": chain(20_000, length // 2, seed=1),
        "a star around the least": star(-50_000, range(300_000, 300_000 + 10 * length)),
        "a star around the greatest": star(200_000, range(100_000, 100_000 + length)),
        "pairs": [(number, number + 1) for number in range(-20_000, -20_000 + length, 3)],
        "the lowest and the highest number": [(LOWEST, HIGHEST), (HIGHEST, LOWEST + 1), (HIGHEST, LOWEST)],
        "an edge thrice": [(-5, -7), (-7, -5), (-5, -7)],
    }


MIXED = random_edges(3, 400, 330)


def labels(edges: list[Edge]) -> list[Edge]:
    return list(least_reachable(edges).items())


WAYS = {"driver": {}, "forests": {"driver_pairs": 0}, "stars": {"driver_pairs": 0, "forest_nodes": 0}}


def found_by(way: str, spark: Any, edges: Any) -> list[Edge]:
    with StageTables(spark) as stages:
        found = components(run_of(spark, **WAYS[way]), stages, edges)
        assert found.dtypes == [("number", "bigint"), ("component", "bigint")]
        answer = rows(found)
        stages.release()
    return answer


@pytest.fixture
def stages(spark: Any) -> Iterator[StageTables]:
    with StageTables(spark) as found:
        yield found
        found.release()


@pytest.mark.parametrize("way, length", [("driver", 9_000), ("forests", 9_000), ("stars", 12)])
def test_each_way_names_every_number_after_the_least_it_hangs_together_with(
    way: str, length: int, spark: Any
) -> None:
    graphs = parts(length)  # a chain of n takes stars about log n rounds of a second each
    everything = [edge for edges in graphs.values() for edge in edges]
    found = dict(found_by(way, spark, table(spark, everything, partitions=3)))
    for what, edges in graphs.items():
        assert {number: found.pop(number) for edge in edges for number in edge if number in found} == dict(
            labels(edges)
        ), what
    assert not found


@pytest.mark.parametrize("way, partitions", [("driver", 7), ("forests", 1), ("forests", 7)])
def test_neither_partitions_nor_order_nor_the_direction_of_edges_change_components(
    way: str, partitions: int, spark: Any
) -> None:
    edges = MIXED if partitions == 1 else upwards(MIXED)
    assert found_by(way, spark, table(spark, edges, partitions, seed=partitions)) == labels(MIXED)


def test_the_number_of_levels_of_forests_changes_nothing(spark: Any) -> None:
    found = by_forests(run_of(spark, partitions=5), table(spark, MIXED, 7), factor=2)
    assert rows(found) == labels(MIXED)


@pytest.mark.parametrize("way", WAYS)
def test_no_edges_have_no_components(way: str, spark: Any) -> None:
    assert found_by(way, spark, table(spark, [])) == []


def test_stars_end_when_a_round_changes_nothing(spark: Any, stages: StageTables) -> None:
    assert rows(by_stars(stages, table(spark, [(0, 1)]), "stars")) == [(0, 0), (1, 0)]
    assert list(stages.timings) == ["stars-0-sum", "stars-1-sum"]


def test_a_number_of_many_neighbours_is_told_its_least_without_a_join(
    spark: Any, stages: StageTables
) -> None:
    edges = [*star(17, range(-3, 40, 4)), *star(50, range(40, 48)), (40, -2), (60, 61)]
    assert rows(by_stars(stages, table(spark, edges), "stars", heavy=5)) == labels(edges)


def test_rounds_that_a_killed_driver_finished_are_found_again(
    spark: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = chain(0, 12, seed=2)
    turn, done = stars_module._turn, []

    def killed(arcs: Any, heavy: int | None) -> Any:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(arcs)
        return turn(arcs, heavy)

    with monkeypatch.context() as patch:
        patch.setattr(stars_module, "_turn", killed)
        with pytest.raises(KeyboardInterrupt), begun(spark, tmp_path) as stages:
            by_stars(stages, table(spark, edges), "stars")
    with begun(spark, tmp_path) as stages:
        assert rows(by_stars(stages, table(spark, edges), "stars")) == labels(edges)
    assert {"stars-0", "stars-1", "stars-2"} <= set(stages.read_stages)
    assert "stars-3" not in stages.read_stages


def begun(spark: Any, path: Any) -> StageTables:
    stages = StageTables(spark, str(path / "checkpoint"))
    stages.begin({"run": "the same"})
    return stages


@pytest.mark.parametrize("tasks", [1, 2, 5, 16])
def test_forests_of_forests_end_in_the_same_components(tasks: int) -> None:
    edges = np.array(random_edges(tasks, 2_000, 2_500))
    spread = np.random.default_rng(tasks).integers(0, tasks, len(edges))
    inner = [reduced(Forest(capacity=50), edges[spread == task]) for task in range(tasks)]
    assert list(map(tuple, reduced(Forest(labels=True), np.concatenate(inner)).tolist())) == labels(
        [tuple(edge) for edge in edges.tolist()]
    )


@pytest.mark.parametrize("capacity", [1, 30, 10_000])
@pytest.mark.parametrize("rows", [1, 7, 5_000])
def test_a_forest_has_fewer_edges_than_numbers_whatever_the_batches(rows: int, capacity: int) -> None:
    edges = np.array([(one, other) for one in range(40) for other in range(one)] * 2)
    np.random.default_rng(capacity).shuffle(edges)
    found = reduced(Forest(capacity=capacity), edges, rows)
    assert found.tolist() == [[0, other] for other in range(1, 40)]


def reduced(forest: Forest, edges: Any, rows: int = 64) -> Any:
    batches = pa.table({"left": edges[:, 0], "right": edges[:, 1]}).to_batches(max_chunksize=rows)
    found = pa.Table.from_batches(list(forest(iter(batches))))
    return np.stack([column.to_numpy() for column in found.columns], axis=1)


def test_a_task_without_edges_hands_nothing_on() -> None:
    assert sum(batch.num_rows for batch in Forest()(iter([]))) == 0


@pytest.mark.parametrize(
    "count, numbers, way",
    [
        (10, None, "driver"),
        (11, None, "forests"),
        (50, None, "forests"),
        (51, 100, "forests"),
        (51, 101, "stars"),
    ],
)
def test_the_way_goes_by_the_edges_and_by_their_numbers_only_where_it_must(
    count: int, numbers: int | None, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counted(edges: Any) -> int:
        assert numbers is not None, "the numbers were counted in vain"
        return numbers

    monkeypatch.setattr("benzer.spark.components._numbers", counted)
    run = run_of(None, driver_pairs=10, forest_nodes=100)
    assert way_of(run, count, edges=None) == way


def test_a_spark_that_cannot_keep_rounds_is_told_what_cures_it() -> None:
    from pyspark.errors import PySparkNotImplementedError

    def refused() -> None:
        raise PySparkNotImplementedError("not here")  # by place: its names differ between versions

    with pytest.raises(SettingsError, match=r"use a checkpoint folder or a larger Work\.forest_nodes"):
        stars_module._kept(StageTables(None), "stars-0", lambda: SimpleNamespace(localCheckpoint=refused))
