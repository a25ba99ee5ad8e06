"""Cost of an index in Redis, compared with datasketch's: memory, insertions, queries, a hot bucket.

`python -m benchmarks.redis_bench` starts a redis-server for each engine in turn, on this machine and without
persistence. Writes docs/redis-benchmark.md and a record.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import benzer
from benchmarks import machine, report
from benchmarks.environments import installed, python_of
from benchmarks.scenarios import DOCS, ROOT

ENGINES = {"benzer": "benzer", "datasketch": "datasketch-redis"}


def main() -> None:
    arguments = _parser().parse_args()
    here = machine.describe()
    runs = {engine: run(engine, arguments.documents) for engine in ENGINES}
    same = runs["benzer"].pop("found") == runs["datasketch"].pop("found")
    versions = installed(python_of(ENGINES["datasketch"]))
    body = markdown(here, runs, same, versions)
    print(body)
    if not arguments.dry:
        record = {"runs": runs, "same_answers": same, "redis": _version(), "machine": here.as_dict()}
        report.write_record(here.date, "redis", record)
        report.write_section(DOCS / "redis-benchmark.md", "redis", body, "Benchmark of an index in Redis")
    if not same:
        raise SystemExit("the engines found different documents")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--dry", action="store_true", help="print only, write neither record nor page")
    return parser


def run(engine: str, documents: int) -> dict[str, Any]:
    """The figures of one engine on its own server."""
    interpreter = python_of(ENGINES[engine])
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as port:
        output = Path(folder) / "figures.json"
        command = [str(interpreter), "-m", "benchmarks.redis_engine", engine, str(port), str(documents)]
        subprocess.run([*command, str(output)], cwd=ROOT, check=True)
        figures: dict[str, Any] = json.loads(output.read_text())
    print(engine, {name: value for name, value in figures.items() if name != "found"}, flush=True)
    return figures


@contextmanager
def server(folder: Path) -> Iterator[int]:
    """A redis-server on a free port of the loopback, stopped at the end."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = int(sock.getsockname()[1])
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    process = subprocess.Popen([*command, "--logfile", str(folder / "log")])
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                if process.poll() is not None:
                    raise SystemExit("redis-server does not start") from None
        yield port
    finally:
        process.terminate()
        process.wait()


def _version() -> str:
    path = shutil.which("redis-server") or "redis-server"
    words = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.split()
    return next(word[2:] for word in words if word.startswith("v="))


def markdown(
    here: machine.Machine, runs: dict[str, dict[str, Any]], same: bool, versions: dict[str, str]
) -> str:
    """The generated section of docs/redis-benchmark.md."""
    ours, theirs = runs["benzer"], runs["datasketch"]
    caption = (
        f"{ours['documents']:,} documents, sketched before the measurement: 128 hashes, 20 bands of 6 rows, three of "
        "ten documents a near-copy of another. Benzer stores and returns a payload of 712 bytes for each "
        f"document (a signature and a text); datasketch {versions['datasketch']} stores only ids. Both ran one after "
        f"the other on Redis {_version()} on the same machine, without persistence, each with its own server. "
        f"{'Both returned the same results for all queries' if same else 'The results differ'}."
    )
    rows = [
        _row("bytes in Redis per document", [run["bytes"] / run["documents"] for run in (ours, theirs)], 0),
        _row(
            "documents/s, in batches", [run["documents"] / run["insert_seconds"] for run in (ours, theirs)], 0
        ),
        _row(
            "µs of the server's CPU per document",
            [run["server_seconds"] / run["documents"] * 1e6 for run in (ours, theirs)],
            0,
        ),
    ]
    for title, name in (
        ("query", "query_ms"),
        ("query of a bucket of 10,000", "hot_ms"),
        ("one document added and committed", "single_ms"),
    ):
        for place, share in enumerate(("p50", "p99")):
            rows.append(_row(f"{title}, {share}, ms", [run[name][place] for run in (ours, theirs)], 3))
    rows.append(_row("keys in Redis", [run["keys"] for run in (ours, theirs)], 0))
    table = report.table(["", "Benzer", "datasketch", "ratio"], rows)
    command = f"Command: `python -m benchmarks.redis_bench`. Machine: {here.sentence()}."
    return "\n\n".join([caption, table, f"{command} Benzer {benzer.__version__}."])


def _row(title: str, values: list[float], digits: int) -> list[str]:
    ours, theirs = values
    times = (
        ours / theirs if title.startswith("documents/s") else theirs / ours
    )  # below 1: datasketch is better
    return [title, *(f"{value:,.{digits}f}" for value in values), f"{times:.1f} ×"]


if __name__ == "__main__":
    main()
