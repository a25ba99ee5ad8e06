"""A stage is made once: it is whole or not there, and belongs to one run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benzer.errors import OutputError, SettingsError
from benzer.spark.settings import Work
from benzer.spark.stages import StageTables, is_local
from tests.spark import made


class Made:
    """Makes small tables, and counts how often."""

    def __init__(self, spark: Any) -> None:
        self.spark, self.times = spark, 0

    def __call__(self) -> Any:
        self.times += 1
        return self.spark.sql("SELECT 7L AS number, CAST(NULL AS string) AS reason, X'FF' AS keys")


def opened(
    spark: Any, path: Path | None, work: Work | None = None, progress: Any = None, **settings: Any
) -> StageTables:
    documents = made.documents(spark, [(1, "oak")])
    return StageTables.opened(made.run_of(documents, work=work, **settings), documents, path, progress)


def test_a_stage_of_a_checkpoint_is_made_once_and_found_again(spark: Any, tmp_path: Path) -> None:
    first, told = Made(spark), []
    with opened(spark, tmp_path / "saved", progress=lambda *one: told.append(one)) as stages:
        rows = stages.keep("sketch", first).collect()
        assert stages.note("counts", lambda: {"read": 3}) == {"read": 3}
        assert (stages.read_stages, told) == ([], [(n, at, 1) for n in ("sketch", "counts") for at in (0, 1)])
    again = opened(spark, tmp_path / "saved")
    table = again.keep("sketch", first)
    assert (table.collect(), table.dtypes) == (rows, first().dtypes)
    assert again.note("counts", lambda: {"read": 4}) == {"read": 3}
    assert (first.times, again.read_stages) == (2, ["sketch", "counts"])
    assert again.timings.keys() == {"sketch", "counts"}


def test_a_half_written_stage_is_made_again(spark: Any, tmp_path: Path) -> None:
    make = Made(spark)
    opened(spark, tmp_path)  # the driver is killed before the stage is said to be whole
    make().write.parquet(str(tmp_path / "sketch"))
    make().write.parquet(str(tmp_path / "copies/_temporary/0"))
    again = opened(spark, tmp_path)
    for name in ("sketch", "copies"):
        assert again.keep(name, make).count() == 1
    assert (make.times, again.read_stages) == (4, [])


def test_a_stage_that_failed_leaves_no_mark(spark: Any, tmp_path: Path) -> None:
    stages = opened(spark, tmp_path)
    with pytest.raises(Exception, match="broken"):
        stages.keep("sketch", lambda: spark.sql("SELECT raise_error('broken') AS a"))
    make = Made(spark)
    assert opened(spark, tmp_path).keep("sketch", make).count() == make.times == 1


def test_a_stage_whose_table_was_removed_is_made_again(spark: Any, tmp_path: Path) -> None:
    make = Made(spark)
    opened(spark, tmp_path).keep("sketch", make)
    (tmp_path / "sketch").rename(tmp_path / "elsewhere")
    assert opened(spark, tmp_path).keep("sketch", make).count() == 1
    assert make.times == 2


@pytest.mark.parametrize(
    "other, named",
    [
        ({"threshold": 0.71}, "settings.threshold was 0.7, now 0.71"),
        ({"work": Work(bands_per_pass=3)}, "bands_per_pass"),
    ],
)
def test_another_run_is_refused_by_what_differs(spark: Any, tmp_path: Path, other: Any, named: str) -> None:
    opened(spark, tmp_path)
    with pytest.raises(SettingsError, match=f"belongs to another run .*{named}"):
        opened(spark, tmp_path, **other)


def test_a_larger_cluster_may_go_on(spark: Any, tmp_path: Path) -> None:
    opened(spark, tmp_path).note("counts", lambda: {"read": 1})
    stages = opened(spark, tmp_path, Work(partitions=1000))
    assert stages.note("counts", dict) == {"read": 1}


def test_other_columns_are_another_run(spark: Any, tmp_path: Path) -> None:
    opened(spark, tmp_path)
    documents = made.documents(spark, [(1, "oak")], "id int, body string", text="body")
    with pytest.raises(SettingsError, match="belongs to another run"):
        StageTables.opened(made.run_of(documents), documents, tmp_path)


def test_a_folder_of_other_files_is_refused(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "sketch").mkdir()
    (tmp_path / "sketch" / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"has other files \(.*mine.txt\) and no checkpoint"):
        opened(spark, tmp_path)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks run on other machines, as far as the stages know."""
    monkeypatch.setattr("benzer.spark.stages.is_local", lambda spark: False)


@pytest.mark.usefixtures("elsewhere")
def test_without_a_checkpoint_tables_are_cached_until_they_are_released(spark: Any) -> None:
    make = Made(spark)
    stages = opened(spark, None)
    table = stages.keep("sketch", make)
    assert table.is_cached
    assert stages.note("counts", lambda: {"read": 3}) == {"read": 3}
    stages.release()
    assert not table.is_cached


def test_in_one_process_a_table_is_kept_without_its_plan(spark: Any) -> None:
    made: list[Any] = []
    table = opened(spark, None).keep(
        "sketch", lambda: made.append(1) or spark.range(3).selectExpr("id * 2 AS n")
    )
    assert sorted(row.n for row in table.collect()) == [0, 2, 4]
    assert "Range" not in table._jdf.queryExecution().toString()
    assert made == [1]


MASTERS = {
    "local": True,
    "local[2]": True,
    "local[*, 3]": True,
    "local-cluster[1,2,1024]": False,
    "yarn": False,
}


@pytest.mark.parametrize("master, here", [*MASTERS.items(), (None, False)])
def test_only_a_local_master_is_one_process(master: str | None, here: bool) -> None:
    session = SimpleNamespace(conf=SimpleNamespace(get=lambda name, other: master or other))
    assert is_local(session) is here


@pytest.mark.usefixtures("elsewhere")
def test_an_error_releases_what_is_cached(spark: Any) -> None:
    stages = opened(spark, None)
    table = stages.keep("sketch", Made(spark))
    with pytest.raises(KeyError, match="a later stage"), stages:
        raise KeyError("a later stage")
    assert not table.is_cached


@pytest.mark.parametrize("name", ["Sketch", "a/b", "", "run", "finished", "../up"])
def test_a_name_that_is_no_name_of_a_stage_is_refused(spark: Any, name: str) -> None:
    with pytest.raises(SettingsError, match="is not a valid stage name"):
        opened(spark, None).keep(name, Made(spark))
