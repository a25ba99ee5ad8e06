"""Speed from hashed sets to signatures: Benzer compared with rensa and FastSketchLSH.

`python -m benchmarks.prehashed` takes the texts of a corpus as word and as character 5-shingles, hashed by Benzer,
and runs every library on the same arrays in one process, alternating. It prints a Markdown table and writes a
record, for one thread, and also for two if the machine has two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from itertools import islice, product
from pathlib import Path
from statistics import median
from typing import Literal

import numpy as np

import benzer
from benchmarks import machine, report
from benchmarks.environments import installed, python_of
from benchmarks.scenarios import DATA, ROOT

ENVIRONMENT = "prehashed"
UNITS: tuple[Literal["word", "char"], ...] = ("word", "char")
SHINGLE_SIZE = 5


@dataclass(frozen=True, slots=True)
class Row:
    """One library's call on one kind of sets; `slower` is its time divided by that of Benzer at its best level."""

    unit: str
    sets: int
    shingles: int
    num_hashes: int
    threads: int
    engine: str
    least_seconds: float
    median_seconds: float
    slower: float


def main() -> None:
    arguments = _parser().parse_args()
    here = machine.describe()
    rows = measure(arguments)
    versions = installed(python_of(ENVIRONMENT))
    print(table(rows))
    print(f"\nMachine: {here.sentence()}.")
    if not arguments.dry:
        record = {"machine": here.as_dict(), "versions": versions, "rows": [asdict(row) for row in rows]}
        print(report.write_record(here.date, "prehashed", record))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, default=DATA / "small.jsonl")
    parser.add_argument("--documents", type=int, default=1_000, help="as many from the start of the corpus")
    parser.add_argument("--num-hashes", type=int, nargs="+", default=[128])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2][: os.cpu_count()])
    parser.add_argument("--repetitions", type=int, default=60)
    parser.add_argument("--dry", action="store_true", help="print only, write no record")
    return parser


def measure(arguments: argparse.Namespace) -> list[Row]:
    """Every library on every kind of sets."""
    with arguments.corpus.open(encoding="utf-8", newline="\n") as lines:
        texts = [json.loads(line)["text"] for line in islice(lines, arguments.documents)]
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for unit in UNITS:
            sets = Path(temporary) / f"{unit}.npz"
            offsets, hashes = benzer.Text(unit=unit, shingle_size=SHINGLE_SIZE).sets(texts)
            np.savez(sets, offsets=offsets, hashes=hashes)
            for num_hashes, threads in product(arguments.num_hashes, arguments.threads):
                seconds = run(sets, num_hashes, threads, arguments.repetitions)
                what = (unit, len(offsets) - 1, len(hashes), num_hashes, threads)
                rows += compare(what, seconds)
    return rows


def run(sets: Path, num_hashes: int, threads: int, repetitions: int) -> dict[str, list[float]]:
    """The seconds of every call, from a process that has all libraries."""
    output = sets.with_suffix(".json")
    numbers = [str(num_hashes), str(threads), str(repetitions)]
    command = [
        str(python_of(ENVIRONMENT)), "-m", "benchmarks.prehashed_process", str(sets), *numbers, str(output),
    ]  # fmt: skip
    package = str(Path(benzer.__file__).parent.parent)
    paths = os.pathsep.join([str(ROOT), package])
    environment = os.environ | {"PYTHONPATH": paths, "RAYON_NUM_THREADS": str(threads)}
    subprocess.run(command, cwd=ROOT, check=True, env=environment)
    seconds: dict[str, list[float]] = json.loads(output.read_text())
    return seconds


def compare(what: tuple[str, int, int, int, int], seconds: dict[str, list[float]]) -> list[Row]:
    """One row per library. The ratio is that of the minimum times, which other work of the machine affects least.

    >>> [row.slower for row in compare(("word", 1, 9, 128, 1), {"Benzer, avx2": [2.0, 1.0], "rensa": [3.0]})]
    [1.0, 3.0]
    """
    ours = min(min(times) for engine, times in seconds.items() if engine.startswith("Benzer"))
    return [
        Row(*what, engine, min(times), median(times), min(times) / ours) for engine, times in seconds.items()
    ]


def table(rows: list[Row]) -> str:
    columns = (
        "shingles", "values", "threads", "engine", "least, ms", "median, ms", "ns a shingle", "times Benzer"
    )  # fmt: skip
    return report.table(
        columns,
        (
            [
                f"{SHINGLE_SIZE} {row.unit}s", row.num_hashes, row.threads, row.engine,
                report.seconds(1e3 * row.least_seconds), report.seconds(1e3 * row.median_seconds),
                f"{1e9 * row.least_seconds / row.shingles:.2f}", f"{row.slower:.2f}",
            ]
            for row in rows
        ),
    )  # fmt: skip


if __name__ == "__main__":
    main()
