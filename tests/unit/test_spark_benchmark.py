"""The benchmark of Spark, without Spark: what it makes, counts and tells."""

from __future__ import annotations

import doctest
import json
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.spark import documents, mllib, page, processes, rates, scores
from benchmarks.spark.cells import Cells
from benchmarks.spark.events import events, work_of


@pytest.mark.parametrize("module", [scores, rates, mllib], ids=lambda module: module.__name__)
def test_its_examples_hold(module: ModuleType) -> None:
    ran = doctest.testmod(module)
    assert (ran.attempted > 0, ran.failed) == (True, 0)


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[Path, Path]:
    """A hundred documents in clusters of two, five documents apart."""
    texts = [f"text of {number}" for number in range(100)]
    pq.write_table(pa.table({"id": range(100), "text": texts}), tmp_path / "corpus.parquet")
    left = [number for number in range(100) if number % 10 < 5]
    pq.write_table(pa.table({"left": left, "right": [one + 5 for one in left]}), tmp_path / "truth.parquet")
    return tmp_path / "corpus.parquet", tmp_path / "truth.parquet"


def test_a_cut_of_the_corpus_has_whole_clusters(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    table = pq.read_table(documents.cut(*corpus, 20, tmp_path / "cut.parquet"))
    chosen = {int(text.split()[-1]) for text in table["text"].to_pylist()}
    assert table["id"].to_pylist() == list(range(20))
    assert all(one + (5 if one % 10 < 5 else -5) in chosen for one in chosen)
    assert [int(text.split()[-1]) for text in table["text"].to_pylist()] == sorted(chosen)


def test_a_gigabyte_is_the_corpus_three_times_and_no_shingle_twice(
    corpus: tuple[Path, Path], tmp_path: Path
) -> None:
    paths = documents.gigabyte(corpus[0], tmp_path / "large")
    tables = [pq.read_table(path) for path in paths]
    ids = [id for table in tables for id in table["id"].to_pylist()]
    texts = [text for table in tables for text in table["text"].to_pylist()]
    assert ids == list(range(300))
    assert [texts[0], texts[100], texts[200]] == ["text of 0", "textq ofq 0q", "textz ofz 0z"]


def test_short_documents_are_those_of_the_benchmark_of_scale(tmp_path: Path) -> None:
    tables = [pq.read_table(path) for path in documents.short_documents(100, tmp_path)]
    assert [id for table in tables for id in table["id"].to_pylist()] == [f"d{n:08d}" for n in range(100)]


def test_a_run_that_is_done_is_not_measured_again_unless_its_settings_changed(tmp_path: Path) -> None:
    measured = []

    def measure() -> dict[str, Any]:
        measured.append(len(measured))
        return {"seconds": len(measured)}

    cells = Cells(tmp_path)
    assert cells.keep("a", {"size": 1}, measure)["seconds"] == 1
    assert cells.keep("a", {"size": 1}, measure)["seconds"] == 1
    assert cells.keep("a", {"size": 2}, measure)["seconds"] == 2
    assert Cells(tmp_path, again=True).keep("a", {"size": 2}, measure)["seconds"] == 3


def task_end(stage: int, finish: float, written: int, spilled: int = 0) -> dict[str, Any]:
    metrics = {
        "Shuffle Write Metrics": {"Shuffle Bytes Written": written},
        "Shuffle Read Metrics": {"Remote Bytes Read": 1, "Local Bytes Read": 2},
        "Memory Bytes Spilled": 10 * spilled,
        "Disk Bytes Spilled": spilled,
    }
    times = {"Launch Time": 1000 * finish - 500, "Finish Time": 1000 * finish}
    return {"Event": "SparkListenerTaskEnd", "Stage ID": stage, "Task Info": times, "Task Metrics": metrics}


def test_the_work_of_a_run_is_that_of_the_tasks_that_ended_in_it(tmp_path: Path) -> None:
    log = [
        task_end(0, finish=5, written=1000),
        task_end(1, finish=11, written=30, spilled=7),
        task_end(1, finish=12, written=40),
        {"Event": "SparkListenerStageCompleted", "Stage Info": {"Stage ID": 1, "Stage Name": "collect"}},
    ]
    (tmp_path / "application").write_text(
        "".join(json.dumps(event) + "\n" for event in log) + '{"Event": "cut o'
    )
    work = work_of(events(tmp_path), 10, 20)
    assert (work.shuffle_written, work.shuffle_read, work.spilled_memory, work.spilled_disk) == (70, 6, 70, 7)
    [stage] = work.as_dict()["stages"]
    assert (stage["name"], stage["tasks"], stage["seconds"]) == ("collect", 2, 1.0)


def child(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Runs `code` in place of a measurement; `output` is where it writes."""
    started = processes.subprocess.Popen

    def start(command: list[str], **given: Any) -> Any:
        return started([sys.executable, "-c", f"output = {command[-1]!r}\n{code}"], **given)

    monkeypatch.setattr(processes.subprocess, "Popen", start)


def test_memory_is_that_of_a_run_and_all_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = "held = bytearray(60_000_000); import time; time.sleep(3)"
    child(
        monkeypatch,
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {inner!r}])\nopen(output, 'w').write('{{}}')",
    )
    ran = processes.run_child({}, 60)
    assert ran.failure is None
    assert ran.peak(0, time.time()) > 60_000_000
    assert max(count for _, _, count in ran.samples) == 2


def test_a_run_that_takes_too_long_is_ended_with_what_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = "import os, time; os.setsid(); time.sleep(600)"
    child(monkeypatch, f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {inner!r}])")
    ended: list[dict[int, str]] = []
    end = processes._end

    def noted(seen: dict[int, str]) -> None:
        ended.append(seen)
        end(seen)

    monkeypatch.setattr(processes, "_end", noted)
    ran = processes.run_child({}, 2)
    assert ran.failure == "over 2 s"
    assert len(ended[0]) == 2
    deadline = time.monotonic() + 120
    while any(processes._running(pid, began) for pid, began in ended[0].items()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_run_that_fails_says_the_telling_line(monkeypatch: pytest.MonkeyPatch) -> None:
    child(
        monkeypatch, "print('begun')\nraise SystemExit('java.lang.OutOfMemoryError: Java heap space\\nat x')"
    )
    assert processes.run_child({}, 60).failure == "java.lang.OutOfMemoryError: Java heap space"


def row(engine: str, documents: int, seconds: float | None, **more: Any) -> dict[str, Any]:
    plain = {"recall": 0.99, "precision": 1.0, "peak": 10**9, "runs": 1, "failure": None}
    work = {"shuffle_written": 1000 * documents}
    return {"engine": engine, "documents": documents, "seconds": seconds, "work": work, **plain, **more}


def test_the_page_compares_at_equal_recall_and_says_how_both_grow() -> None:
    rows = [
        row("benzer on Spark", 1_000, 1.0), row("mllib", 1_000, 4.0, tables=1, recall=0.9),
        row("mllib", 1_000, 5.0, tables=2),
        row("benzer on Spark", 10_000, 10.0), row("mllib", 10_000, 500.0, tables=2),
    ]  # fmt: skip
    told = page.mllib(rows, "8g", 900)
    assert "1,000 documents: 5.0 ×; 10,000 documents: 50.0 ×" in told
    assert "Benzer 1.00 in time and 1.00 in bytes shuffled, MLlib (2 tables, then 2) 2.00 in time" in told


def test_a_run_that_was_ended_is_told_and_counts_as_at_least() -> None:
    failed = {"failure": "over 900 s", "after": 900.0, "recall": None}
    told = page.mllib(
        [row("benzer on Spark", 1_000, 10.0), row("mllib", 1_000, None, tables=2, **failed)], "8g", 900
    )
    assert "1,000 documents: at least 90.0 ×" in told
    assert "ended after 900: over 900 s" in told


def test_runs_that_differ_are_not_hidden() -> None:
    found = {"documents": 1, "file_bytes": 1, "same": False, "runs": {}}
    assert "THE RUNS DIFFER" in page.million(found)
