"""A session is found, set and set back; what is missing is said with its cure."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from benzer.errors import InputError, MissingExtraError
from benzer.spark import session
from benzer.spark.session import configured, from_arrow, from_parts, settings_for, to_arrow, to_parts

TABLE = pa.table(
    {
        "number": pa.array([2**63 - 1, None, -1], pa.int64()),
        "id": pa.array(["", None, "é"]),
        "keys": pa.array([b"\xff", None, b""]),
        "whole": pa.array([True, None, False]),
        "similarity": pa.array([0.1, None, 1.0]),
    }
)


def test_importing_the_room_does_not_import_spark() -> None:
    rooms = ("session", "documents", "columns", "reading", "ranking", "stages", "sketching", "copies")
    code = (
        f"import sys, benzer\nfrom benzer.spark import {', '.join(rooms)}\nsys.exit('pyspark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_pyspark_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'benzer\[spark\]'"):
        session.require_spark()


@pytest.mark.parametrize("version", ["3.4.4", "5.0.0", "2.4.8"])
def test_a_pyspark_of_another_age_is_refused(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(__version__=version))
    with pytest.raises(MissingExtraError, match=f"need pyspark 3.5 to 4, but {version} is installed"):
        session.require_spark()


@pytest.mark.parametrize("version", ["3.5.0", "4.1.0.dev3", "4.99.1"])
def test_a_pyspark_of_the_right_age_is_taken(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(__version__=version))
    assert session.require_spark().__version__ == version


def test_without_java_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtraError, match=r"needs Java 17, and there is no java: .*openjdk-17"):
        session.check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtraError, match="has no bin/java"):
        session.check_java()


@pytest.mark.parametrize("said, found", [("1.8.0_402", "8"), ("11.0.22", "11")])
def test_a_java_that_is_too_old_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, found: str
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{said}\"' >&2\n")
    java.chmod(stat.S_IRWXU)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtraError, match=f"needs Java 17, and .* is {found}"):
        session.check_java()


def test_what_is_no_dataframe_of_spark_is_refused() -> None:
    with pytest.raises(InputError, match="needs a Spark DataFrame, got Table: create one with"):
        session.session_of(TABLE)


def test_settings_are_set_back(spark: Any) -> None:
    names = ("arrow.maxRecordsPerBatch", "arrow.maxBytesPerBatch")
    names = (*(f"spark.sql.execution.{name}" for name in names), "spark.sql.shuffle.partitions")
    before = [spark.conf.get(name, None) for name in names]
    found = []

    def break_off() -> None:
        with configured(spark, partitions=3):
            found.extend(spark.conf.get(name) for name in names)
            raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        break_off()
    assert found == ["4096", str(32 << 20), "3"]
    assert [spark.conf.get(name, None) for name in names] == before


def test_smaller_batches_of_the_user_stay(spark: Any) -> None:
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(name, "100")
    with configured(spark):
        assert spark.conf.get(name) == "100"
    spark.conf.unset(name)


def test_a_setting_that_a_service_does_not_allow_is_left(spark: Any) -> None:
    before: dict[str, str | None] = {}
    session._set(spark, "spark.sql.warehouse.dir", "elsewhere", before)
    assert before == {}


@pytest.mark.parametrize("go", [from_arrow, from_parts])
@pytest.mark.parametrize("come", [to_arrow, to_parts])
def test_tables_come_back_as_they_went(spark: Any, go: Any, come: Any) -> None:
    assert come(go(spark, TABLE)).equals(TABLE)


def test_tables_of_no_row_keep_their_columns(spark: Any) -> None:
    empty = TABLE.slice(0, 0)
    for go, come in ((from_arrow, to_parts), (from_parts, to_arrow)):
        assert come(go(spark, empty)).schema.names == TABLE.schema.names
        assert come(go(spark, empty)).schema.types == TABLE.schema.types


def test_large_tables_go_in_parts(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PART_BYTES", 16)
    assert to_parts(from_parts(spark, TABLE)).equals(TABLE)


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host:6443"])
def test_executors_on_other_machines_can_reach_the_driver(master: str) -> None:
    assert "127.0.0.1" not in settings_for(master, None, {}).values()


@pytest.mark.parametrize("master", ["local", "local[2]", "local-cluster[1,2,1024]"])
def test_a_driver_of_this_machine_alone_is_reached_by_no_other(master: str) -> None:
    found = settings_for(master, None, {})
    assert found["spark.driver.host"] == found["spark.driver.bindAddress"] == "127.0.0.1"
