"""Whoever dies during a run, the driver or an executor: the answer is that of a run in which nobody does."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import benzer
from benzer.spark import find_duplicates
from tests.spark import made
from tests.spark.answers import Answer, local_answer, spark_answer
from tests.spark.dying import OPTIONS, with_checkpoint
from tests.spark.processes import environment, home

SEED = 5
AT_MOST = 1_800
"""Seconds after which a process hangs."""

Stages = dict[str, dict[str, int]]
"""Stages, with when each of their files was written."""


@pytest.fixture(scope="module")
def documents() -> pa.Table:
    """Documents in the order of their ids: copies, near copies, short and empty ones."""
    texts = made.texts(160, seed=1)
    return pa.table({"id": [f"d{number:03}" for number in range(len(texts))], "text": texts})


@pytest.fixture(scope="module")
def expected(documents: pa.Table) -> Answer:
    """What a local run answers."""
    answer = local_answer(benzer.find_duplicates(documents, **OPTIONS))
    counts = answer["counts"]
    assert min(counts[name] for name in ("near", "identical", "short", "empty", "oversized_buckets")) > 0
    return answer


@pytest.fixture(scope="module")
def folder(documents: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the documents, in three files, in no order."""
    place = tmp_path_factory.mktemp("deaths")
    order = random.Random(SEED).sample(range(len(documents)), len(documents))
    (place / "documents").mkdir()
    for number in range(3):
        pq.write_table(documents.take(order[number::3]), place / "documents" / f"{number}.parquet")
    return place


@pytest.fixture(scope="module")
def stopped(spark: Any, folder: Path) -> Stages:
    """The finished stages of a run that was stopped at its join."""
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        find_duplicates(
            spark.read.parquet(str(folder / "documents")),
            progress=stopped_at("join", reached),
            **with_checkpoint(str(folder / "saved")),
        )
    finished = whole_stages(folder)
    assert {"sketch", "copies"} <= finished.keys() == set(reached) - {"join"}
    return finished


@pytest.fixture(scope="module")
def died(folder: Path, stopped: Stages) -> subprocess.CompletedProcess[str]:
    """A process of `dying`, in a group of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tests.spark.dying", str(folder)],
        cwd=folder, env=environment(folder, SPARK_HOME=str(home(folder))), start_new_session=True,
        timeout=AT_MOST, capture_output=True, text=True, check=False,
    )  # fmt: skip


def whole_stages(folder: Path) -> Stages:
    """The finished stages of a checkpoint."""
    lines = [
        json.loads(line)
        for file in (folder / "saved" / "finished").glob("*.json")
        for line in file.read_text().splitlines()
    ]
    return {
        line["name"]: {
            path.name: path.stat().st_mtime_ns for path in (folder / "saved" / line["name"]).glob("*")
        }
        for line in lines
        if line["name"] != "run"
    }


def stopped_at(stage: str, reached: list[str]) -> Any:
    """Ends a run at the begin of a stage; tells which stages it reached."""

    def progress(name: str, done: int, total: int) -> None:
        if not done:
            reached.append(name)
        if name == stage:
            raise KeyboardInterrupt

    return progress


def test_an_executor_that_is_killed_amid_a_run_changes_nothing(
    died: subprocess.CompletedProcess[str], folder: Path, expected: Answer
) -> None:
    assert (folder / "told.json").exists(), died.stderr[-5000:]
    told = json.loads((folder / "told.json").read_text())
    assert told.pop("lost") == 1
    assert told == expected


def test_a_driver_that_is_killed_again_and_again_goes_on_where_it_stopped(
    spark: Any, stopped: Stages, died: subprocess.CompletedProcess[str], folder: Path, expected: Answer
) -> None:
    assert died.returncode == -signal.SIGKILL, died.stderr[-5000:]
    killed = whole_stages(folder)
    assert stopped.items() < killed.items()  # nothing is made again
    assert "join" in killed
    assert "decided" not in killed
    df = spark.read.parquet(str(folder / "documents"))
    found = find_duplicates(df, **with_checkpoint(str(folder / "saved")))
    assert spark_answer(found, df) == expected
    assert killed.items() < whole_stages(folder).items()
    assert whole_stages(folder).keys() == found.timings.keys() - {"total"}
