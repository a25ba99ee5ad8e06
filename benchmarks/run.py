"""Runs a scenario: every engine in a fresh process, repetitions interleaved (A B C A B C), medians reported.

`python -m benchmarks.run corpus` writes `records/DATE-corpus.json` and its section of `docs/benchmarks.md`.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import machine, report
from benchmarks.environments import installed, python_of
from benchmarks.peers import ONE_THREAD_ONLY
from benchmarks.peers.base import Task
from benchmarks.scenarios import DATA, DOCS, ROOT, Scenario, load_scenario
from benchmarks.scoring import LEVELS, FlagScore, PairScore, Truth

_THREAD_VARIABLES = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass
class Measurement:
    """All runs of one engine with one number of threads; the answer is that of its first run."""

    engine: str
    threads: int
    answer: dict[str, Any] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    peak_rss_mb: list[float] = field(default_factory=list)
    failure: str | None = None
    flags: FlagScore | None = None
    pairs: PairScore | None = None

    def wants_another(self, repetition: int, once_above: float) -> bool:
        """Not after a failure, and not for an engine whose first run was slow."""
        return self.failure is None and (repetition == 0 or self.seconds[0] <= once_above)

    def median_seconds(self) -> float | None:
        return median(self.seconds) if self.seconds else None

    def progress(self) -> str:
        """One line for whoever waits."""
        last = self.failure or f"{self.seconds[-1]:.3f} s"
        return f"{self.engine}, threads {self.threads}, run {len(self.seconds)}: {last}"

    def record(self) -> dict[str, object]:
        """For the JSON record: everything but the documents and pairs themselves."""
        return {
            "engine": self.engine,
            "threads": self.threads,
            "seconds": self.seconds,
            "median_seconds": self.median_seconds(),
            "stages": self.answer.get("stages"),
            "import_seconds": self.answer.get("import_seconds"),
            "peak_rss_mb": max(self.peak_rss_mb, default=None),
            "flagged": len(self.answer.get("flagged", ())),
            "verified_pairs": len(self.answer["pairs"]) if self.answer.get("pairs") is not None else None,
            "failure": self.failure,
            "flags": dataclasses.asdict(self.flags) if self.flags else None,
            "pairs": dataclasses.asdict(self.pairs) if self.pairs else None,
        }


def main() -> None:
    arguments = _parser().parse_args()
    scenario = load_scenario(arguments.scenario)
    if arguments.engines:
        scenario = dataclasses.replace(scenario, engines=tuple(arguments.engines.split(",")))
    if arguments.repetitions:
        scenario = dataclasses.replace(scenario, repetitions=arguments.repetitions)
    here = machine.describe()
    corpus = Corpus.load(arguments.data, scenario.corpus)
    measurements = measure(scenario, corpus.jsonl)
    score(measurements, Truth.load(corpus.truth, scenario.threshold), corpus.jsonl)
    body = markdown(scenario, corpus, here, measurements)
    print(body)
    if not arguments.dry:
        report.write_record(here.date, scenario.name, _record(scenario, corpus, here, measurements))
        report.write_section(DOCS / "benchmarks.md", scenario.name, body, "Benchmarks")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenario", nargs="?", default="corpus", help="a name in scenarios.toml")
    parser.add_argument("--data", type=Path, default=DATA, help="where `python -m benchmarks.corpus` wrote")
    parser.add_argument("--engines", help="only these, separated by commas")
    parser.add_argument("--repetitions", type=int, help="instead of the scenario's")
    parser.add_argument("--dry", action="store_true", help="print only, write neither record nor page")
    return parser


@dataclass(frozen=True, slots=True)
class Corpus:
    """The files of one corpus and what `NAME.json` says about them; `load` builds them when missing."""

    jsonl: Path
    truth: Path
    facts: dict[str, Any]

    @classmethod
    def load(cls, folder: Path, name: str) -> Corpus:
        facts = folder / f"{name}.json"
        if not facts.exists():  # downloads and takes some minutes, once
            build = [str(python_of("tools")), "-m", "benchmarks.corpus", "--data", str(folder.absolute())]
            subprocess.run(build, cwd=ROOT, check=True)
        return cls(folder / f"{name}.jsonl", folder / f"{name}.truth.parquet", json.loads(facts.read_text()))


def measure(scenario: Scenario, jsonl: Path) -> list[Measurement]:
    """Runs everything, one process at a time; the file is read once before, so that nobody waits for it."""
    _warm(jsonl)
    measurements = list(_planned(scenario))
    for repetition in range(scenario.repetitions):
        for measurement in measurements:
            if measurement.wants_another(repetition, scenario.once_above):
                _run_once(measurement, scenario, jsonl)
                print(measurement.progress(), flush=True)
    return measurements


def _planned(scenario: Scenario) -> Iterator[Measurement]:
    for engine in scenario.engines:
        for threads in scenario.threads:
            if threads == 1 or engine not in ONE_THREAD_ONLY:
                yield Measurement(engine, threads)


def _run_once(measurement: Measurement, scenario: Scenario, jsonl: Path) -> None:
    task = Task(
        path=str(jsonl),
        threshold=scenario.threshold,
        recall=scenario.recall,
        num_hashes=scenario.num_hashes,
        bands=scenario.bands,
        rows=scenario.rows,
        threads=measurement.threads,
    )
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "answer.json"
        measurement.failure = _run_process(measurement.engine, task, output, scenario.time_limit)
        if measurement.failure is None:
            _keep(measurement, json.loads(output.read_text()))


def _run_process(engine: str, task: Task, output: Path, time_limit: float) -> str | None:
    """None when it worked, else what went wrong in one line."""
    arguments = [engine, json.dumps(dataclasses.asdict(task)), str(output)]
    command = [str(python_of(engine)), "-m", "benchmarks.peer_process", *arguments]
    environment = os.environ | dict.fromkeys(_THREAD_VARIABLES, str(task.threads))
    try:
        run = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=time_limit,
        )
    except subprocess.TimeoutExpired:
        return f"over {time_limit:.0f} s"
    return None if run.returncode == 0 else (run.stderr.strip().splitlines() or ["no message"])[-1]


def _keep(measurement: Measurement, measured: dict[str, Any]) -> None:
    measurement.seconds.append(measured["seconds"])
    measurement.peak_rss_mb.append(measured["peak_rss_mb"])
    measurement.answer = measurement.answer or measured


def _warm(path: Path) -> None:
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def score(measurements: list[Measurement], truth: Truth, jsonl: Path) -> None:
    for measurement in measurements:
        answer = measurement.answer
        if answer.get("flags"):
            measurement.flags = truth.score_flags(answer["flagged"], answer["flags"])
        if answer.get("pairs") is not None:
            measurement.pairs = truth.score_pairs(answer["pairs"], jsonl)


def markdown(
    scenario: Scenario, corpus: Corpus, here: machine.Machine, measurements: list[Measurement]
) -> str:
    """The generated section of docs/benchmarks.md."""
    facts = corpus.facts
    caption = (
        f"{facts['documents']:,} documents, {facts['jsonl_bytes'] / 1e6:.1f} MB of JSONL, "
        f"{facts['planted_pairs']:,} planted pairs of known exact similarity. Which documents are "
        f"near-duplicates at Jaccard ≥ {scenario.threshold} of word 5-shingles? Peers: {scenario.num_hashes} "
        f"hashes, {scenario.bands} bands of {scenario.rows} rows, unverified; Benzer: "
        f"recall={scenario.recall}, every pair verified. Seconds from opening the file to the answer, "
        f"imports not counted, median of up to {scenario.repetitions} interleaved runs, each in a fresh "
        "process, page cache warm. Recall: share of the true pairs of which not both documents stay (rensa "
        "flags every member of a cluster: of which both are flagged). Precision: share of the flagged "
        "documents that are in a true pair. True is what plain Python says."
    )
    reference = {item.engine: item.median_seconds() for item in measurements if item.threads == 1}
    rows = [_row(item, facts, reference) for item in measurements]
    speed = report.table(_COLUMNS, rows)
    answers = [_level_table(measurements), *_pair_sentences(measurements)]
    parts = [f"## {scenario.name}", caption, speed, *answers]
    command = f"Command: `python -m benchmarks.run {scenario.name}`. Machine: {here.sentence()}."
    return "\n\n".join(part for part in [*parts, command, _versions(scenario)] if part)


_COLUMNS = (
    "engine",
    "threads",
    "seconds",
    "runs",
    "MB/s",
    "documents/s",
    "of orjson's time",
    "times faster than datasketch",
    "peak RSS, MB",
    "recall",
    "precision",
)


def _row(item: Measurement, facts: dict[str, Any], reference: dict[str, float | None]) -> list[object]:
    taken = item.median_seconds()
    if taken is None:
        return [item.engine, item.threads, item.failure or "not run", *[None] * (len(_COLUMNS) - 3)]
    parse, slow = reference.get("orjson"), reference.get("datasketch")
    return [
        item.engine,
        item.threads,
        report.seconds(taken),
        len(item.seconds),
        f"{facts['jsonl_bytes'] / 1e6 / taken:.0f}",
        f"{facts['documents'] / taken:,.0f}",
        f"{taken / parse:.2f}" if parse else None,
        f"{slow / taken:.1f}" if slow and item.flags else None,
        f"{max(item.peak_rss_mb):.0f}",
        report.share(item.flags.recall) if item.flags else None,
        report.share(item.flags.precision) if item.flags else None,
    ]


def _level_table(measurements: list[Measurement]) -> str:
    """Recall by exact similarity, on the planted clusters of two documents."""
    names = [name for name, _, _ in LEVELS]
    rows = [
        [item.engine, *(report.share(item.flags.by_level.get(name)) for name in names)]
        for item in measurements
        if item.flags and item.threads == 1
    ]
    heading = "Share found by exact similarity (planted clusters of two documents, one thread):"
    return f"{heading}\n\n{report.table(['engine', *names], rows)}" if rows else ""


def _pair_sentences(measurements: list[Measurement]) -> Iterator[str]:
    for item in measurements:
        if item.pairs and item.threads == 1:
            yield (
                f"Pairs of {item.engine}: {len(item.answer['pairs']):,}, recall "
                f"{report.share(item.pairs.recall)}, precision {report.share(item.pairs.precision)}, "
                f"greatest difference from the exact similarity {item.pairs.greatest_difference:.1e}; "
                f"{item.pairs.unplanted} of them were not planted and were checked from their texts."
            )


def _engine_versions(scenario: Scenario) -> dict[str, str]:
    return {engine: installed(python_of(engine)).get(engine, "unknown") for engine in scenario.engines}


def _versions(scenario: Scenario) -> str:
    named = (f"{name} {number}" for name, number in _engine_versions(scenario).items())
    return f"Versions: {', '.join(named)}."


def _record(
    scenario: Scenario, corpus: Corpus, here: machine.Machine, measurements: list[Measurement]
) -> dict[str, object]:
    return {
        "machine": here.as_dict(),
        "scenario": dataclasses.asdict(scenario),
        "corpus": corpus.facts,
        "versions": _engine_versions(scenario),
        "measurements": [item.record() for item in measurements],
    }


if __name__ == "__main__":
    main()
