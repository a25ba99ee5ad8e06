"""Speed from signatures to candidates and clusters: Benzer's band join compared with the indexes of other
libraries.

`python -m benchmarks.band_join` makes sets, a fifth of them similar to another one, sketches them (not timed), and
measures the remaining stages: band keys, candidate pairs and clusters for Benzer; insertion and query for the
others. The engines alternate, on one thread and on two; medians are compared. rensa joins its own signatures of the
same sets, the others those of Benzer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

import benzer
from benchmarks import machine, report
from benchmarks.band_join_data import BANDS, HASHES, SET, planted_sets
from benchmarks.environments import installed, python_of
from benchmarks.scenarios import ROOT
from benzer._native import components
from benzer.bands import Bands
from benzer.candidates import propose
from benzer.minhash import MinHash

BENZER = "Benzer"
Stages = dict[str, float]
Ask = Callable[[str], tuple[Stages, int]]


@dataclass(frozen=True, slots=True)
class Row:
    """One engine with a number of threads: median seconds of its stages, and of their sums."""

    engine: str
    threads: int
    documents: int
    seconds: float
    runs: list[float]
    stages: Stages
    flagged: int

    @property
    def rate(self) -> float:
        """Documents per second."""
        return self.documents / self.seconds


def main() -> None:
    arguments = _parser().parse_args()
    here = machine.describe()
    signatures = sketched(planted_sets(arguments.documents))
    fewer = min(arguments.documents, arguments.datasketch_documents)
    rows = []
    for threads in arguments.threads:
        for row in measured(signatures, fewer, threads, arguments.repetitions):
            print(f"{row.engine}, {threads} threads: {row.seconds:.3f} s", flush=True)
            rows.append(row)
    versions = installed(python_of("band-join"))
    print(table(rows))
    if not arguments.dry:
        used = {name: versions.get(name) for name in ("rensa", "FastSketchLSH", "datasketch")}
        record = {
            "machine": here.as_dict(), "versions": {"benzer": benzer.__version__, **used},
            "settings": {"num_hashes": HASHES, "bands": BANDS, "set": SET},
            "rows": [asdict(row) | {"documents_per_second": row.rate} for row in rows],
        }  # fmt: skip
        print(report.write_record(here.date, "band-join", record))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--datasketch-documents", type=int, default=100_000, help="how many datasketch gets")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--dry", action="store_true", help="print only, write no record")
    return parser


def sketched(sets: NDArray[np.uint64]) -> NDArray[np.uint32]:
    offsets = np.arange(len(sets) + 1, dtype=np.int64) * sets.shape[1]
    return MinHash(num_hashes=HASHES).signatures(offsets, sets.reshape(-1), hashed=True)


def measured(signatures: NDArray[np.uint32], fewer: int, threads: int, repetitions: int) -> list[Row]:
    """Run every engine, alternating."""
    with peers(signatures, fewer, threads) as (names, ask):
        os.environ["RAYON_NUM_THREADS"] = str(
            threads
        )  # band keys are made on all cores where nothing else is said
        runs: dict[str, list[tuple[Stages, int]]] = {name: [] for name in (BENZER, *names)}
        for _ in range(repetitions):
            runs[BENZER].append(joined(signatures, threads))
            for name in names:
                runs[name].append(ask(name))
    counts = {name: fewer if name == "datasketch" else len(signatures) for name in runs}
    return [_row(name, threads, counts[name], one) for name, one in runs.items()]


def _row(engine: str, threads: int, documents: int, runs: list[tuple[Stages, int]]) -> Row:
    stages = {name: median(stages[name] for stages, _ in runs) for name in runs[0][0]}
    sums = [sum(stages.values()) for stages, _ in runs]
    return Row(engine, threads, documents, median(sums), sums, stages, runs[0][1])


def joined(signatures: NDArray[np.uint32], threads: int) -> tuple[Stages, int]:
    """Benzer's candidates are exact, each pair once, so that each can be verified; clusters are computed from them."""
    count = len(signatures)
    everyone = np.ones(count, dtype=np.bool_)
    started = time.perf_counter()
    keys = Bands(BANDS, HASHES // BANDS).keys(signatures)
    filed = time.perf_counter()
    found = propose(keys, everyone, threads=threads)
    proposed = time.perf_counter()
    components(count, found.left, found.right)
    done = time.perf_counter()
    stages = {"keys": filed - started, "candidates": proposed - filed, "clusters": done - proposed}
    return stages, len(np.union1d(found.left, found.right))


@contextmanager
def peers(signatures: NDArray[np.uint32], fewer: int, threads: int) -> Iterator[tuple[list[str], Ask]]:
    """Start the other engines in a process that keeps their signatures; it ends with the block."""
    interpreter = str(python_of("band-join"))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "signatures.npy")
        np.save(path, signatures)
        command = [interpreter, "-m", "benchmarks.band_join_peer", path, str(fewer), str(threads)]
        environment = os.environ | {"RAYON_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        with subprocess.Popen(
            command, cwd=ROOT, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin
            assert process.stdout
            to, back = process.stdin, process.stdout

            def ask(name: str) -> tuple[Stages, int]:
                print(name, file=to, flush=True)
                answer = json.loads(back.readline())
                return answer["stages"], answer["flagged"]

            yield json.loads(back.readline()), ask
            to.close()


def table(rows: list[Row]) -> str:
    """Markdown table of the engines, and how many times faster Benzer is with the same number of threads."""
    benzers = {row.threads: row.rate for row in rows if row.engine == BENZER}
    columns = ("engine", "threads", "documents", "seconds", "documents per second", "Benzer is", "flagged")
    lines = (
        [
            row.engine, row.threads, f"{row.documents:,}", report.seconds(row.seconds), f"{row.rate:,.0f}",
            f"{benzers[row.threads] / row.rate:.1f} x", f"{row.flagged:,}",
        ]
        for row in rows
    )  # fmt: skip
    return report.table(columns, lines)


if __name__ == "__main__":
    main()
