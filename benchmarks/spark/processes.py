"""Memory and time limits of a run and all its processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.scenarios import ROOT

LOOK_EVERY = 0.1
TELLING = ("OutOfMemoryError", "No space left", "MemoryError", "Job aborted", "Error")


@dataclass(frozen=True)
class Ran:
    """The output of a run, or its error (`failure`). samples: (time, bytes, processes)."""

    answer: dict[str, Any]
    samples: list[tuple[float, int, int]]
    seconds: float
    failure: str | None

    def peak(self, start: float, end: float) -> int:
        """The peak of the resident memory of all processes together between two times."""
        return max((size for moment, size, _ in self.samples if start <= moment <= end), default=0)


def run_child(task: dict[str, Any], time_limit: float) -> Ran:
    """Run `benchmarks.spark.child` once; all processes that it starts are measured, and stopped with it."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as talk:
        output = Path(folder) / "answer.json"
        command = [sys.executable, "-m", "benchmarks.spark.child", json.dumps(task), str(output)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=talk, stderr=talk)
        started = time.time()
        samples, seen = _watch(process, started + time_limit)
        late = process.poll() is None
        _end(seen)  # Spark's Python daemons lead a group of their own
        process.wait()
        taken = time.time() - started
        if late:
            return Ran({}, samples, taken, f"over {time_limit:.0f} s")
        if process.returncode or not output.exists():
            return Ran({}, samples, taken, _reason(talk))
        return Ran(json.loads(output.read_text()), samples, taken, None)


def _watch(
    process: subprocess.Popen[bytes], deadline: float
) -> tuple[list[tuple[float, int, int]], dict[int, str]]:
    """Sample until the run ends or its time is over; returns all observed processes with their start times."""
    samples, seen = [], {}
    while time.time() < deadline:
        family = _family(process.pid)
        seen |= {pid: _began(pid) for pid in family if pid not in seen}
        samples.append((time.time(), sum(map(_resident, family)), len(family)))
        try:
            process.wait(LOOK_EVERY)
            break
        except subprocess.TimeoutExpired:
            continue
    return samples, seen


def _end(seen: dict[int, str]) -> None:
    """Stop the remaining processes, except if another process has the number by now."""
    for pid, began in seen.items():
        if _running(pid, began):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def _running(process: int, began: str) -> bool:
    return began != "" and _began(process) == began


def _family(process: int) -> list[int]:
    found = [process]
    for pid in found:
        try:
            for path in Path(f"/proc/{pid}/task").iterdir():
                found.extend(int(child) for child in (path / "children").read_text().split())
        except OSError:
            continue
    return found


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _began(process: int) -> str:
    """The start time of a process in the units of the system; empty if it has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return ""


def _reason(talk: Any) -> str:
    """The most informative line of the output of a failed run."""
    talk.seek(0)
    lines = talk.read().strip().splitlines() or ["no message"]
    for word in TELLING:
        found = [line.strip() for line in lines if word in line]
        if found:
            return str(found[0][:300])
    return str(lines[-1][:300])
