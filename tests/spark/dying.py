"""Runs on Spark in a process of its own, in which an executor and then the driver die (`test_deaths`)."""

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
from unittest.mock import patch

from benzer import Options
from benzer.spark import find_duplicates
from benzer.spark.deciding import flow as deciding
from benzer.spark.deciding.workers import Whole
from benzer.spark.session import local_session
from tests.spark.answers import spark_answer

OPTIONS: dict[str, Any] = {"threshold": 0.6, "keep": "longest", "options": Options(bucket_limit=8)}
EXECUTOR = b"CoarseGrainedExecutorBackend"
WHILE = 1_800
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


def when_one_stands(mark: str, then: Callable[[int], None]) -> None:
    """Let a task that decides stand still, and do something, besides, with its process."""
    patch.object(deciding, "Whole", lambda *given: StandStill(Whole(*given), mark)).start()

    def wait() -> None:
        while not os.path.lexists(mark):
            time.sleep(0.01)
        then(int(os.readlink(mark)))

    threading.Thread(target=wait, daemon=True).start()


def with_checkpoint(path: str | None) -> dict[str, Any]:
    """The arguments of a run, with a folder for its stages."""
    return {**OPTIONS, "options": replace(OPTIONS["options"], checkpoint=path)}


def two_deaths(folder: Path) -> None:
    """A run that loses one of two executors while it decides; then one with a checkpoint whose driver dies there."""
    spark = local_session(
        "local-cluster[2,1,1024]",
        memory="512m",
        spark__executor__memory="512m",
        spark__sql__shuffle__partitions="2",
    )
    df = spark.read.parquet(str(folder / "documents"))
    lost: list[int] = []
    when_one_stands(str(folder / "one"), partial(lose_executor, lost=lost))
    found = find_duplicates(df, **OPTIONS)
    told = {"lost": len(lost), **spark_answer(found, df)}
    (folder / "told.json").write_text(json.dumps(told), encoding="utf-8")
    when_one_stands(str(folder / "another"), lambda _: die())
    find_duplicates(df, **with_checkpoint(str(folder / "saved")))


if __name__ == "__main__":
    two_deaths(Path(sys.argv[1]))
