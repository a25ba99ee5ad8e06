"""Runs on Spark in a process of its own, in which the driver or an executor dies at a chosen moment (`test_deaths`)."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import benzer.spark.copies
import benzer.spark.deciding.flow
import benzer.spark.joining.flow
import benzer.spark.sketching
from benzer import Options
from benzer.spark import find_duplicates
from benzer.spark.session import local_session
from tests.spark.answers import spark_answer

OPTIONS: dict[str, Any] = {"threshold": 0.6, "keep": "longest", "options": Options(bucket_limit=8)}
WORKERS = {
    "sketch": (benzer.spark.sketching, "SketchRows"),
    "copies": (benzer.spark.copies, "FindOriginals"),
    "join": (benzer.spark.joining.flow, "Distinct"),
    "decided": (benzer.spark.deciding.flow, "Whole"),
}
"""What does the work of a stage."""
EXECUTOR = b"CoarseGrainedExecutorBackend"
WHILE = 120
"""Seconds that a task stands still, if nobody ends it."""


@dataclass(frozen=True)
class StandStill:
    """A worker that stands still once, after its first rows, and says so by a mark that names its process."""

    worker: Any
    mark: str

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in self.worker(batches):
            yield batch
            if batch.num_rows:
                self._stand()

    def _stand(self) -> None:
        try:
            os.symlink(str(os.getpid()), self.mark)
        except FileExistsError:  # another task stood still, or this one before
            return
        time.sleep(WHILE)


def stand_still(stage: str, mark: str) -> Callable[[], None]:
    """Let a task of a stage stand still; gives what takes that back."""
    module, name = WORKERS[stage]
    worker = getattr(module, name)
    setattr(module, name, lambda *given, **named: StandStill(worker(*given, **named), mark))
    return partial(setattr, module, name, worker)


def die() -> None:
    """As if the power went: this process and its Spark, which is all that is in its group."""
    if os.getpgrp() != os.getpid():
        raise SystemExit("start this process in a group of its own: it kills its group")
    os.killpg(os.getpid(), signal.SIGKILL)


def lose_executor(process: int, lost: list[int]) -> None:
    """Kill the executor for which a process works."""
    while EXECUTOR not in Path(f"/proc/{process}/cmdline").read_bytes():
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])  # its parent
    os.kill(process, signal.SIGKILL)
    lost.append(process)


def when_it_stands(mark: str, then: Callable[[int], None]) -> None:
    """Do something, besides, with the process that stands still."""

    def wait() -> None:
        while not os.path.lexists(mark):
            time.sleep(0.01)
        then(int(os.readlink(mark)))

    threading.Thread(target=wait, daemon=True).start()


def dying(folder: Path, stage: str, moment: str) -> Any:
    """Let the driver die in the midst of a stage, or at its begin or end by what this gives, which is told of both."""
    if moment == "amid":
        mark = str(folder / f"{stage}-stands")
        stand_still(stage, mark)
        when_it_stands(mark, lambda _: die())
        return None
    return lambda *now: die() if now == (stage, int(moment == "end"), 1) else None


def with_checkpoint(path: str | None) -> dict[str, Any]:
    """The arguments of a run, with a folder for its stages."""
    return {**OPTIONS, "options": replace(OPTIONS["options"], checkpoint=path)}


def one_driver(folder: Path, stage: str, moment: str) -> None:
    """A run that keeps its stages, and dies."""
    spark = local_session("local[2]", memory="512m", spark__sql__shuffle__partitions="2")
    df = spark.read.parquet(str(folder / "documents"))
    progress = dying(folder, stage, moment)
    find_duplicates(df, progress=progress, **with_checkpoint(str(folder / "saved")))


def two_executors(folder: Path, *stages: str) -> None:
    """Runs, the last with a checkpoint, each of which loses an executor in the midst of a stage."""
    spark = local_session(
        "local-cluster[2,1,1024]",
        memory="512m",
        spark__executor__memory="512m",
        spark__sql__shuffle__partitions="2",
    )
    df = spark.read.parquet(str(folder / "documents"))
    told = []
    for number, stage in enumerate(stages, 1):
        lost: list[int] = []
        mark = str(folder / f"{stage}-stands-{number}")
        back = stand_still(stage, mark)
        when_it_stands(mark, partial(lose_executor, lost=lost))
        saved = str(folder / "saved") if number == len(stages) else None
        found = find_duplicates(df, **with_checkpoint(saved))
        told.append({"lost": len(lost), **spark_answer(found, df)})
        back()
    (folder / "told.json").write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    what = {"driver": one_driver, "executors": two_executors}[sys.argv[1]]
    what(Path(sys.argv[2]), *sys.argv[3:])
