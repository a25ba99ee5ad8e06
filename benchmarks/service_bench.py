"""Speed of the service: alone, with writers, and during an upload of a million documents.

`python -m benchmarks.service_bench` makes its documents, starts `benzer serve` with keys on a free port, and sends
requests from other processes of this machine (`service_load`, `service_upload`), which share the cores. It fails if
an acknowledged document is missing afterwards. Writes docs/service-benchmark.md and a record.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import benzer
from benchmarks import machine, report, service_documents
from benchmarks.scenarios import DOCS, ROOT
from benzer.index import Index, IndexSettings

SMALL = 1_000
QUESTIONS = 1_000
Figures = dict[str, Any]


def main() -> None:
    given = _parser().parse_args()
    here = machine.describe()
    with tempfile.TemporaryDirectory(dir=given.work) as folder:
        record = Bench(Path(folder), given).run()
    body = markdown(here, record)
    print(body)
    if not given.dry:
        report.write_record(here.date, "service", record | {"machine": here.as_dict()})
        report.write_section(DOCS / "service-benchmark.md", "service", body, "Benchmark of the service")
    lost = {
        name: part["missing"]
        for name, part in record.items()
        if isinstance(part, dict) and part.get("missing")
    }
    if lost:
        raise SystemExit(f"acknowledged documents are missing: {lost}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=1_000_000, help="documents that are loaded")
    parser.add_argument("--held", type=int, default=100_000, help="documents of the index that is searched")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--mixed-seconds", type=float, default=60.0, help="of searches during writes")
    parser.add_argument("--rate", type=float, default=100.0, help="searches per second during the upload")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument(
        "--work", type=Path, help="folder for the files, instead of the system's temporary one"
    )
    parser.add_argument("--dry", action="store_true", help="print only, write neither record nor page")
    return parser


class Bench:
    """The files of the measurement, and its parts in turn; each part has its own server."""

    def __init__(self, folder: Path, given: argparse.Namespace) -> None:
        self.folder, self.given = folder, given
        self.home = folder / "home"
        self.keys = folder / "keys.json"
        made = [*benzer_command(), "keys", "add", str(self.keys), "--name", "bench", "--scope", "write"]
        told = subprocess.run(made, check=True, capture_output=True, text=True, cwd=ROOT)
        self.key = told.stdout.strip().splitlines()[-1]
        self.port = 0

    def run(self) -> Figures:
        given, record = self.given, {"documents": self.given.documents, "held": self.given.held}
        record |= {"rate": given.rate, "connections": given.connections}
        self.make("small", SMALL, seed=1)
        self.make("large", given.held, seed=2)
        self.make("loaded", 0, seed=3)
        with self.serving():
            record["small"] = self.searches("small", given.seconds)
            record["large"] = self.searches("large", given.seconds)
            record["writes"] = self.writes("small", given.seconds)
        with self.serving():
            record["idle"] = self.searches("large", given.seconds, given.rate)
        with self.serving():
            record["mixed"] = self.mixed()
        with self.serving():
            record["loading"] = self.loading()
        for name, index in (("writes", "small"), ("mixed", "large"), ("loading", "loaded")):
            record[name] |= self.counted(index, record[name])
        return record

    def make(self, name: str, count: int, seed: int) -> None:
        """Create an index of the home, its queries, and documents that are added to it one by one."""
        self.home.mkdir(exist_ok=True)
        file = self.folder / f"{name}.ndjson"
        service_documents.write_documents(file, max(count, SMALL), seed)
        service_documents.write_questions(self.folder / f"{name}.questions", file, QUESTIONS)
        with Index.open(self.home / f"{name}.benzer", IndexSettings()) as index, file.open() as documents:
            if count:
                index.add((one["id"], one["fields"]) for one in map(json.loads, documents))
        with (self.folder / f"{name}.additions").open("w") as additions:
            for number, text in enumerate(service_documents.texts(100_000, seed + 100)):
                one = {"id": f"added {number}", "fields": {"text": text}}
                additions.write(json.dumps({"documents": [one]}) + "\n")

    @contextmanager
    def serving(self) -> Iterator[None]:
        options = ["--home", str(self.home), "--keys", str(self.keys), "--port", "0", "--log-format", "off"]
        command = [*benzer_command(), "serve", *options, "--max-upload", "100000", "--max-concurrent", "256"]
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            said = ""
            while (address := re.search(r"http://127\.0\.0\.1:(\d+)", said)) is None:
                line = process.stderr.readline()
                if not line:
                    raise SystemExit(f"the service did not start: {said}")
                said += line
            self.port = int(address[1])
            try:
                self.searches("small", 1.0)  # warms caches; not measured
                yield
            finally:
                process.terminate()

    def load(self, index: str, kind: str, body: str, **options: object) -> subprocess.Popen[str]:
        """Start a process that sends queries."""
        command = [
            sys.executable,
            "-m",
            "benchmarks.service_load",
            str(self.port),
            f"/v1/indexes/{index}/{kind}",
        ]
        command += [str(self.folder / f"{index}.{body}"), "--key", self.key]
        for name, value in options.items():
            command += [f"--{name}", str(value)] if value is not None else []
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)

    def searches(self, index: str, seconds: float, rate: float | None = None) -> Figures:
        connections = self.given.connections
        process = self.load(
            index, "similar", "questions", seconds=seconds, rate=rate, connections=connections
        )
        return told_by(process)

    def writes(self, index: str, seconds: float) -> Figures:
        return told_by(self.load(index, "documents", "additions", seconds=seconds, connections=8))

    def mixed(self) -> Figures:
        """Searches at full speed, with two clients that add documents one by one."""
        seconds = self.given.mixed_seconds
        writers = self.load("large", "documents", "additions", seconds=seconds, connections=2)
        searches = self.searches("large", seconds)
        return {"searches": searches, **told_by(writers)}

    def loading(self) -> Figures:
        """Searches at a fixed rate while another client uploads; after the upload no more are counted."""
        file = self.folder / "upload.ndjson"
        size = service_documents.write_documents(file, self.given.documents, 4)
        command = [sys.executable, "-m", "benchmarks.service_upload", str(self.port), "loaded", str(file)]
        start = time.perf_counter()
        rounds: list[Figures] = []
        with subprocess.Popen(
            [*command, "--key", self.key], cwd=ROOT, stdout=subprocess.PIPE, text=True
        ) as upload:
            while upload.poll() is None:
                rounds.append(self.searches("loaded", min(self.given.seconds, 10.0), self.given.rate))
                print(f"{time.perf_counter() - start:.0f} s: {rounds[-1]}", flush=True)
            assert upload.stdout is not None
            told = json.loads(upload.stdout.read())
        file.unlink()
        if told["status"] != 200:
            raise SystemExit(f"the upload was refused: {told}")
        counted = rounds[:-1] or rounds  # the last began beside the upload, and ended after it
        return {"bytes": size, "seconds": told["seconds"], "answered": told["answer"], "rounds": counted}

    def counted(self, index: str, part: Figures) -> Figures:
        """The number of documents of an index, and of missing acknowledged ones."""
        answers = part.get("answers", 0)
        with Index.open(self.home / f"{index}.benzer", mode="read") as opened:
            opened.check()
            if index == "loaded":
                wanted = part["answered"]["read"]
                return {"held": len(opened), "missing": sum(number not in opened for number in range(wanted))}
            added = sum(f"added {number}" in opened for number in range(min(answers, 100_000)))
            return {"held": len(opened), "missing": max(0, min(answers, 100_000) - added)}


def benzer_command() -> list[str]:
    return [sys.executable, "-m", "benzer"]


def told_by(process: subprocess.Popen[str]) -> Figures:
    said, _ = process.communicate()
    told: Figures = json.loads(said)
    print(told, flush=True)
    return told


def markdown(here: machine.Machine, record: Figures) -> str:
    """The generated section of docs/service-benchmark.md."""
    loading, mixed, large = record["loading"], record["mixed"], record["large"]
    rounds = loading["rounds"]
    worst = max(one["p99_ms"] for one in rounds)
    rate = f"{loading['answered']['read'] / loading['seconds']:,.0f}"
    rows = [
        row(f"{SMALL:,} documents, at full speed", record["small"]),
        row(f"{record['held']:,} documents, at full speed", large, "p99 <= 20 ms"),
        row(f"{record['held']:,} documents, at a fixed rate, without other load", record["idle"]),
        row(
            f"{record['held']:,} documents, with two writers ({mixed['per_second']:,.0f} documents/s, each durable "
            f"when answered)",
            mixed["searches"],
        ),
        *(
            row(f"while {record['documents']:,} documents are loaded, part {number} of {len(rounds)}", one)
            for number, one in shown(rounds)
        ),
    ]
    table = report.table(["searches", "answers/s", "p50, ms", "p99, ms", "maximum, ms", "target"], rows)
    ending = report.table(["", "measured", "target"], [
        ["p99 of a search while documents are loaded, worst part, ms", f"{worst:.1f}", "<= 20"],
        ["documents loaded, documents/s", rate, ""],
        ["documents added one by one by 8 clients, documents/s", f"{record['writes']['per_second']:,.0f}", ""],
        ["acknowledged documents that are missing afterwards",
         sum(record[name]["missing"] for name in ("writes", "mixed", "loading")), "0"],
        ["responses with another status than 200", failures(record), "0"],
    ])  # fmt: skip
    caption = (
        f"`POST similar` with a key and a text of 12 to 27 words, over {record['connections']} connections from "
        f"another process on the same machine. Fixed rate: {record['rate']:g} queries per second, each timed from "
        "its scheduled start."
    )
    command = f"Command: `python -m benchmarks.service_bench`. Machine: {here.sentence()}."
    return "\n\n".join([caption, table, ending, f"{command} Benzer {benzer.__version__}."])


def row(name: str, told: Figures, wanted: str = "") -> list[str]:
    times = [f"{told[key]:.1f}" for key in ("p50_ms", "p99_ms", "max_ms")]
    return [name, f"{told['per_second']:,.0f}", *times, wanted]


def shown(rounds: list[Figures]) -> Iterator[tuple[int, Figures]]:
    """The first, middle and last parts: the index grows between them."""
    wanted = sorted({0, len(rounds) // 2, len(rounds) - 1})
    return ((place + 1, rounds[place]) for place in wanted)


def failures(record: Figures) -> int:
    """Responses with another status than 200, and queries without a response."""
    parts = [record[name] for name in ("small", "large", "writes", "idle", "mixed")]
    parts += [record["mixed"]["searches"], *record["loading"]["rounds"]]
    other = sum(count for part in parts for status, count in part["statuses"].items() if status != "200")
    return other + sum(part["unanswered"] for part in parts)


if __name__ == "__main__":
    main()
