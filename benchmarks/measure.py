"""Time and memory of each engine. Every run has a fresh process; runs are interleaved (A B C A B C)."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import IO, Any

from benchmarks.environments import python_of
from benchmarks.peers import ONE_THREAD_ONLY
from benchmarks.peers.base import Task
from benchmarks.scenarios import ROOT, Scenario
from benchmarks.scoring import FlagScore, PairScore

_THREAD_VARIABLES = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_LOOK_EVERY = 0.02  # seconds, at the anonymous memory


@dataclass
class Measurement:
    """All runs of one engine with one number of threads; the result is that of its first run."""

    engine: str
    threads: int
    answer: dict[str, Any] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    stages: list[dict[str, float]] = field(default_factory=list)
    peak_rss_mb: list[float] = field(default_factory=list)
    peak_anonymous_mb: list[float] = field(default_factory=list)
    failure: str | None = None
    flags: FlagScore | None = None
    pairs: PairScore | None = None

    def wants_another(self, repetition: int, once_above: float) -> bool:
        """Whether to run again: not after a failure, and not if the first run was slow."""
        return self.failure is None and (repetition == 0 or self.seconds[0] <= once_above)

    def median_seconds(self) -> float | None:
        return median(self.seconds) if self.seconds else None

    def median_stages(self) -> dict[str, float]:
        """The median of each stage over the runs."""
        return {
            name: median(one.get(name, 0.0) for one in self.stages) for name in self.answer.get("stages", ())
        }

    def progress(self) -> str:
        """One line of progress."""
        last = self.failure or f"{self.seconds[-1]:.3f} s"
        return f"{self.engine}, threads {self.threads}, run {len(self.seconds)}: {last}"

    def record(self) -> dict[str, object]:
        """The measurement for the JSON record, without the documents and pairs."""
        return {
            "engine": self.engine,
            "threads": self.threads,
            "seconds": self.seconds,
            "median_seconds": self.median_seconds(),
            "stages": self.median_stages(),
            "import_seconds": self.answer.get("import_seconds"),
            "peak_rss_mb": max(self.peak_rss_mb, default=None),
            "peak_anonymous_mb": max(self.peak_anonymous_mb, default=None),
            "flagged": len(self.answer.get("flagged", ())),
            "verified_pairs": len(self.answer["pairs"]) if self.answer.get("pairs") is not None else None,
            "failure": self.failure,
            "flags": dataclasses.asdict(self.flags) if self.flags else None,
            "pairs": dataclasses.asdict(self.pairs) if self.pairs else None,
        }


def measure(scenario: Scenario, path: Path) -> list[Measurement]:
    """Run everything, one process at a time; the file is read once before, so that it is in the page cache."""
    _warm(path)
    measurements = list(_planned(scenario))
    for repetition in range(scenario.repetitions):
        for measurement in measurements:
            if measurement.wants_another(repetition, scenario.once_above):
                run_once(measurement, scenario, path)
                print(f"{scenario.name}: {measurement.progress()}", flush=True)
    return measurements


def _warm(path: Path) -> None:
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def _planned(scenario: Scenario) -> Iterator[Measurement]:
    for engine in scenario.engines:
        for threads in scenario.threads:
            if threads == 1 or engine not in ONE_THREAD_ONLY:
                yield Measurement(engine, threads)


def run_once(measurement: Measurement, scenario: Scenario, path: Path) -> None:
    """Run once more, and add the run to the measurement."""
    names = {one.name for one in dataclasses.fields(Task)} & {
        one.name for one in dataclasses.fields(scenario)
    }
    asked = {name: getattr(scenario, name) for name in names} | {"threads": measurement.threads}
    task = Task(path=str(path.absolute()), **asked)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "answer.json"
        samples, measurement.failure = _run_process(measurement.engine, task, output, scenario.time_limit)
        if measurement.failure is None:
            _keep(measurement, json.loads(output.read_text()), samples)


def _keep(measurement: Measurement, measured: dict[str, Any], samples: list[tuple[float, int]]) -> None:
    measurement.seconds.append(measured["seconds"])
    measurement.stages.append(measured["stages"])
    measurement.peak_rss_mb.append(measured["peak_rss_mb"])
    anonymous = (size for moment, size in samples if moment <= measured["ended"])
    measurement.peak_anonymous_mb.append(max(anonymous, default=0) * 1024 / 1e6)
    measurement.answer = measurement.answer or measured


def _run_process(
    engine: str, task: Task, output: Path, time_limit: float
) -> tuple[list[tuple[float, int]], str | None]:
    """The anonymous memory at several moments, and None on success or an error in one line."""
    arguments = [engine, json.dumps(dataclasses.asdict(task)), str(output)]
    command = [str(python_of(engine)), "-m", "benchmarks.peer_process", *arguments]
    environment = os.environ | dict.fromkeys(_THREAD_VARIABLES, str(task.threads))
    with tempfile.TemporaryFile("w+") as talk:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=talk, stderr=talk)
        samples = _watch(process, time.monotonic() + time_limit)
        if process.poll() is None:
            process.kill()
            process.wait()
            return samples, f"over {time_limit:.0f} s"
        return samples, None if process.returncode == 0 else _last_line(talk)


def _last_line(talk: IO[str]) -> str:
    talk.seek(0)
    return (talk.read().strip().splitlines() or ["no message"])[-1]


def _watch(process: subprocess.Popen[bytes], deadline: float) -> list[tuple[float, int]]:
    """Sample the anonymous memory (KiB) of a process and its children until it ends, or until the deadline."""
    samples = []
    while time.monotonic() < deadline:
        samples.append((time.monotonic(), sum(map(_anonymous, _family(process.pid)))))
        try:
            process.wait(_LOOK_EVERY)
            break
        except subprocess.TimeoutExpired:
            continue
    return samples


def _family(process: int) -> Iterator[int]:
    """A process and all processes that it started, if the system lists them."""
    yield process
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return
    for child in map(int, children):
        yield from _family(child)


def _anonymous(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("RssAnon:")), 0)
