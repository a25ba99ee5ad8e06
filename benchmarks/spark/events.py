"""Spark's event log of a run: bytes shuffled and spilled, and the seconds of each stage."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Stage:
    """All tasks of one stage; `seconds` is the sum over the tasks."""

    number: int
    name: str = ""
    tasks: int = 0
    seconds: float = 0.0
    started: float = 0.0
    ended: float = 0.0


@dataclass
class Work:
    """The work of the tasks that ended in a time interval."""

    shuffle_written: int = 0
    shuffle_read: int = 0
    spilled_memory: int = 0
    spilled_disk: int = 0
    cached_on_disk: int = 0
    peak_execution: int = 0
    failed_tasks: int = 0
    executors: int = 0
    stages: dict[int, Stage] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The work for a record, with the stages in the order of their start."""
        stages = sorted(self.stages.values(), key=lambda stage: stage.started)
        return asdict(self) | {"stages": [asdict(stage) for stage in stages]}


def events(folder: Path) -> Iterator[dict[str, Any]]:
    """The events of all logs in a folder; an incomplete last line is ignored."""
    for path in sorted(
        path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")
    ):
        with path.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n") and line.startswith(b"{"):
                    yield json.loads(line)


def work_of(log: Iterable[dict[str, Any]], start: float, end: float) -> Work:
    """The work of the tasks that ended between two moments (seconds since the epoch)."""
    work, names = Work(), {}
    for event in log:
        kind = event["Event"]
        if kind == "SparkListenerStageCompleted":
            info = event["Stage Info"]
            names[info["Stage ID"]] = info["Stage Name"].replace(f"{Path.cwd()}/", "")  # of no machine
        elif kind == "SparkListenerExecutorAdded":
            work.executors += 1
        elif kind == "SparkListenerTaskEnd" and start <= event["Task Info"]["Finish Time"] / 1000 <= end:
            _add(work, event)
        elif kind == "SparkListenerBlockUpdated":
            work.cached_on_disk += event["Block Updated Info"].get("Disk Size", 0)
    for number, stage in work.stages.items():
        stage.name = names.get(number, "")
    return work


def _add(work: Work, event: dict[str, Any]) -> None:
    info, metrics = event["Task Info"], event.get("Task Metrics") or {}
    work.failed_tasks += bool(info.get("Failed"))
    work.shuffle_written += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    read = metrics.get("Shuffle Read Metrics", {})
    work.shuffle_read += read.get("Remote Bytes Read", 0) + read.get("Local Bytes Read", 0)
    work.spilled_memory += metrics.get("Memory Bytes Spilled", 0)
    work.spilled_disk += metrics.get("Disk Bytes Spilled", 0)
    work.peak_execution = max(work.peak_execution, metrics.get("Peak Execution Memory", 0))
    began, ended = info["Launch Time"] / 1000, info["Finish Time"] / 1000
    stage = work.stages.setdefault(event["Stage ID"], Stage(event["Stage ID"], started=began))
    stage.tasks += 1
    stage.seconds += ended - began
    stage.started, stage.ended = min(stage.started, began), max(stage.ended, ended)
