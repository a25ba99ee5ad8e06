"""Over Spark Connect, where there is no JVM, the whole job gives what a local run gives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import benzer
from benzer import Document, Index, IndexSettings
from tests.spark import made
from tests.spark.answers import local_answer
from tests.spark.processes import environment
from tests.spark.remote import CHANGED, OPTIONS

AT_MOST = 1_800
"""Seconds after which a process hangs."""
COUNT = 160


def documents() -> pa.Table:
    """Documents in the order of their ids."""
    return everything().slice(0, COUNT)


def queries() -> pa.Table:
    """More of their kind, some of which are among them."""
    return everything().slice(COUNT - 10)


def everything() -> pa.Table:
    """All texts, with ids."""
    texts = made.texts(COUNT + 30, seed=1)
    return pa.table({"id": [f"d{number:03}" for number in range(len(texts))], "text": texts})


@pytest.fixture(scope="module")
def local() -> Any:
    """The local run."""
    return benzer.find_duplicates(documents(), **OPTIONS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where server and client both read and write."""
    place = tmp_path_factory.mktemp("connect")
    for name, table in (("documents", documents()), ("queries", queries())):
        (place / name).mkdir()
        for part in range(2):
            pq.write_table(
                table.take(list(range(part, len(table), 2))[::-1]), place / name / f"{part}.parquet"
            )
    return place


@pytest.fixture(scope="module")
def address(spark: Any) -> str:
    """A server of Spark Connect, in the Java process of the session, which ends it."""
    package = spark._jvm.org.apache.spark.sql.connect.service
    service = getattr(getattr(package, "SparkConnectService$"), "MODULE$")
    service.start(spark._jsc.sc())
    return f"sc://127.0.0.1:{service.localPort()}"


@pytest.fixture(scope="module")
def reported(address: str, folder: Path) -> dict[str, Any]:
    """What a client said of the whole job; no Java is on its path."""
    command = [sys.executable, "-m", "tests.spark.remote", address, str(folder)]
    done = subprocess.run(
        command, cwd=folder, env=environment(folder, PATH=str(folder), JAVA_HOME=""), timeout=AT_MOST,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-5000:]
    answer: dict[str, Any] = json.loads((folder / "told.json").read_text())
    assert answer["connect"]
    return answer


@pytest.mark.parametrize("how", ["first", "beyond the driver"])
def test_the_answer_is_that_of_the_local_run(reported: dict[str, Any], local: Any, how: str) -> None:
    expected = local_answer(local)
    assert min(expected["counts"][name] for name in ("near", "identical", "oversized_buckets")) > 0
    assert reported[how] == expected


def test_what_a_checkpoint_holds_is_not_made_again(reported: dict[str, Any], local: Any) -> None:
    assert not reported["made again"]
    assert reported["counted again"] == local.counts


def test_a_removal_of_changed_content_is_void(reported: dict[str, Any], local: Any) -> None:
    [(changed, said)] = reported["changed"].items()
    assert changed in local.removed
    assert CHANGED not in documents().column("text").to_pylist()
    assert said == [changed]
    assert reported["applied"] == sorted([*local.kept, changed])


def test_rows_are_annotated(reported: dict[str, Any], local: Any) -> None:
    expected = {id: [None, None] for id in local.ids}
    expected |= {id: [one.kept_id, one.similarity] for id, one in local.removed.items()}
    assert reported["annotated"] == sorted([id, *rest] for id, rest in expected.items())


def test_the_alarms_are_those_of_the_local_run(reported: dict[str, Any], local: Any) -> None:
    alarms = json.dumps([alarm.to_dict() for alarm in local.alarms()])
    assert json.dumps(reported["alarms"]).replace("the DataFrame", "table") == alarms


def test_queries_find_what_an_index_finds(reported: dict[str, Any]) -> None:
    index = Index.open("memory:", IndexSettings(threshold=OPTIONS["threshold"]))
    index.add(Document(row["id"], {"text": row["text"]}) for row in documents().to_pylist())
    expected = [
        [row["id"], rank, match.id, match.similarity]
        for row in queries().to_pylist()
        for rank, match in enumerate(index.find_similar({"text": row["text"]}, 3), 1)
    ]
    assert reported["matches"] == expected
    assert len(expected) > 20
