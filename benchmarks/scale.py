"""Growth of a run with its documents: seconds and bytes per document, from a thousand to ten million.

`python -m benchmarks.scale` makes the documents (see `benchmarks.scale_documents`), runs `find_duplicates` on each
file in a separate process, with and without a memory limit, and writes a dated record and the generated part of
docs/explanation/scale.md. `--sizes 1000,1000000` measures fewer.

Memory is the peak of the process's own (anonymous) memory, sampled from outside a few hundred times per second.
Pages of mapped files are not counted, because the system may drop them at any time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import machine, scale_page
from benchmarks.report import write_record
from benchmarks.scale_documents import FAMILIES, write
from benchmarks.scenarios import DATA, ROOT

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
FAMILY_SIZE = 1_000_000
BOUND = "1GB"
SETTINGS = ((0.8, 0.95), (0.7, 0.99))
EVERY = 0.003


@dataclass(frozen=True)
class Case:
    """One measurement."""

    family: str
    documents: int
    threshold: float
    recall: float
    threads: int
    memory: str | None


def cases(arguments: argparse.Namespace) -> list[Case]:
    """All selected measurements."""
    sizes = [int(size) for size in arguments.sizes.split(",")]
    found = [
        Case("ordinary", size, *setting, arguments.threads, memory)
        for size in sizes
        for setting in SETTINGS[: arguments.settings]
        for memory in (None, arguments.memory)
    ]
    families = [] if arguments.no_families else FAMILIES
    found += [
        Case(family, arguments.family_size, *SETTINGS[0], arguments.threads, None) for family in families
    ]
    return list(dict.fromkeys(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of documents")
    parser.add_argument("--family-size", type=int, default=FAMILY_SIZE, help="documents of each family")
    parser.add_argument("--no-families", action="store_true", help="the ordinary documents alone")
    parser.add_argument(
        "--settings", type=int, default=len(SETTINGS), help="1: threshold 0.8, recall 0.95 only"
    )
    parser.add_argument("--memory", default=BOUND, help="the limit of the limited runs")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=3, help="runs of each; the median counts")
    parser.add_argument("--folder", type=Path, default=DATA / "scale", help="where the documents are written")
    parser.add_argument("--no-record", action="store_true", help="print only")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(run(Case(**json.loads(arguments.child)), arguments.folder)))
        return
    here, rows = machine.describe(), []
    for case in cases(arguments):
        write(document_file(case, arguments.folder), case.family, case.documents)
        # The large runs differ little from one another, and take long.
        times = 1 if case.documents > FAMILY_SIZE else arguments.repetitions
        rows.append(middle([measured(case, arguments.folder) for _ in range(times)]))
        print(scale_page.line(rows[-1]), flush=True)
    if not arguments.no_record:
        record = {"machine": here.as_dict(), "rows": rows}
        write_record(here.date, "scale", record)
        scale_page.write(record, here)


def document_file(case: Case, folder: Path) -> Path:
    """The file with the documents of a case."""
    return folder / f"{case.family}-{case.documents}.jsonl"


def middle(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The run with the median time; all runs must have the same result."""
    if len({one["answer"] for one in runs}) > 1:
        raise SystemExit(f"runs of {runs[0]} differ in what they found")
    return sorted(runs, key=lambda one: one["seconds"])[len(runs) // 2]


def measured(case: Case, folder: Path) -> dict[str, Any]:
    """Run once in a separate process, and measure its peak anonymous memory."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.scale",
        "--folder",
        str(folder),
        "--child",
        json.dumps(asdict(case)),
    ]
    return {**asdict(case), **watched(command)}


def watched(command: list[str]) -> dict[str, Any]:
    """The JSON object that a command prints, with its peak anonymous memory as `peak`."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    peak = 0
    while process.poll() is None:
        peak = max(peak, anonymous(process.pid))
        time.sleep(EVERY)
    output, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    found: dict[str, Any] = json.loads(output)
    return {**found, "peak": peak}


def anonymous(process: int | str) -> int:
    """The anonymous memory of a process in bytes (including memory files); 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


def run(case: Case, folder: Path) -> dict[str, Any]:
    """The seconds of one run, the memory of the process before it, and the result."""
    from benzer import find_duplicates

    path = document_file(case, folder)
    before = anonymous("self")
    found = find_duplicates(
        path, threshold=case.threshold, recall=case.recall, threads=case.threads, memory=case.memory
    )
    stages = dict(found.timings)
    answer = hashlib.sha256(found.leader.tobytes())
    for part in (found.leader_similarity, found.proposed.left, found.proposed.right, found.verified):
        answer.update(part.tobytes())
    return {
        "bytes": path.stat().st_size,
        "before": before,
        "seconds": stages.pop("total"),
        "stages": stages,
        "candidates": len(found.proposed),
        "removed": int((~found.stays).sum()),
        "bands": None if found.bands is None else [found.bands.bands, found.bands.rows],
        "answer": answer.hexdigest()[:16],
    }


if __name__ == "__main__":
    main()
