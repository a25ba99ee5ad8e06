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
AT_MOST = 240
"""Seconds after which a process hangs."""


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


@pytest.fixture
def folder(documents: pa.Table, tmp_path: Path) -> Path:
    """A folder with the documents, in three files, in no order."""
    order = random.Random(SEED).sample(range(len(documents)), len(documents))
    (tmp_path / "documents").mkdir()
    for number in range(3):
        pq.write_table(documents.take(order[number::3]), tmp_path / "documents" / f"{number}.parquet")
    return tmp_path


def run(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A process of `dying`, in a group of its own."""
    command = [sys.executable, "-m", "tests.spark.dying", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment(folder, **more), start_new_session=True, timeout=AT_MOST,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def whole_stages(folder: Path) -> dict[str, dict[str, int]]:
    """The finished stages of a checkpoint, with when each of their files was written."""
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


def test_a_driver_that_is_killed_again_and_again_goes_on_where_it_stopped(
    spark: Any, folder: Path, expected: Answer
) -> None:
    df = spark.read.parquet(str(folder / "documents"))
    stages = [name for name in find_duplicates(df, **OPTIONS).timings if name != "total"]
    drawn = random.Random(SEED)
    first = drawn.choice(stages[: stages.index("decided")])
    deaths = [(first, drawn.choice(["begin", "end"])), ("decided", "amid")]
    whole: dict[str, dict[str, int]] = {}
    for stage, moment in deaths:
        died = run(folder, "driver", str(folder), stage, moment)
        assert died.returncode == -signal.SIGKILL, died.stderr
        before, whole = whole, whole_stages(folder)
        assert all(whole[name] == files for name, files in before.items())  # nothing is made again
        assert set(whole) == set(stages[: stages.index(stage) + (moment == "end")]), (stage, moment)
    found = find_duplicates(df, **with_checkpoint(str(folder / "saved")))
    assert spark_answer(found, df) == expected
    assert whole.items() <= whole_stages(folder).items()
    assert set(whole_stages(folder)) == set(stages)


def test_an_executor_that_is_killed_amid_a_run_changes_nothing(folder: Path, expected: Answer) -> None:
    stages = ["decided", "join"]  # the second run has a checkpoint
    done = run(folder, "executors", str(folder), *stages, SPARK_HOME=str(home(folder)))
    assert done.returncode == 0, done.stderr[-5000:]
    told = json.loads((folder / "told.json").read_text())
    assert [one.pop("lost") for one in told] == [1, 1]
    assert told == [expected, expected]
