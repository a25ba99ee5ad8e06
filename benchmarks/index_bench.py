"""Cost of the embedded index, and its data after its writer was killed.

`python -m benchmarks.index_bench PATH_TO_DATA` adds 1,000,000 paragraphs to a file (200,000 real ones, then
variations of them), queries it and an index in memory for similar ones, adds some one by one, measures the file of
texts of 200 bytes, and compares the rate of insertion with that of datasketch. Then it starts processes that write
another file and kills them (SIGKILL) one after the other, and checks the documents that they had acknowledged.
Writes docs/index-benchmark.md and a record.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import benzer
from benchmarks import index_costs, machine, paragraphs, report
from benchmarks.index_costs import Asked, Durable
from benchmarks.paragraphs import Paragraph
from benchmarks.scenarios import DOCS, ROOT

REAL = 200_000
SMALLER = 100_000
INSERTED = 10_000
"""Documents that suffice for bytes per document, and for the rates of insertion."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one index file: queries for stored documents, and for the same with one word replaced."""

    documents: int
    file_bytes: int
    text_bytes: int
    open_ms: float
    held: Asked
    edited: Asked


@dataclass(frozen=True, slots=True)
class Kill:
    """One killed writer: the numbers of acknowledged, stored, and missing acknowledged documents."""

    acknowledged: int
    held: int
    missing: int
    reopen_ms: float


def main() -> None:
    arguments = _parser().parse_args()
    here = machine.describe()
    real = paragraphs.sample(arguments.data, min(arguments.documents, REAL))
    chosen = paragraphs.made(real, arguments.documents)
    print(f"{len(chosen):,} paragraphs, {len(real):,} of them real", flush=True)
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        record = measure(Path(folder), chosen, arguments)
        kills = write_and_kill(Path(folder), real, arguments.kills)
        killed = figures(Path(folder) / "killed.benzer", real, arguments.queries, arguments.rounds)
    record |= {"killed": asdict(killed), "kills": [asdict(kill) for kill in kills]}
    body = markdown(here, record, len(real))
    print(body)
    if not arguments.dry:
        record["machine"] = here.as_dict()
        report.write_record(here.date, "index", record)
        report.write_section(DOCS / "index-benchmark.md", "index", body, "Benchmark of the index file")
    if any(kill.missing for kill in kills):
        raise SystemExit("acknowledged documents are missing")


def measure(folder: Path, chosen: list[Paragraph], arguments: argparse.Namespace) -> dict[str, Any]:
    """All measurements without kills."""
    path, batch, rounds = folder / "plain.benzer", arguments.batch, arguments.rounds
    added = index_costs.add_all(path, chosen, batch)
    print(f"added: {added}", flush=True)
    plain = figures(path, chosen, arguments.queries, rounds)
    print(plain, flush=True)
    rng = random.Random(1)
    asked = rng.sample(chosen, min(arguments.queries, len(chosen)))
    in_memory = index_costs.in_memory(chosen, asked, batch, rounds)
    print(f"in memory: {in_memory}", flush=True)
    durable = index_costs.durable(path, rng.sample(chosen, min(500, len(chosen))))
    print(durable, flush=True)
    small = index_costs.bytes_per_document(folder / "small.benzer", chosen[:SMALLER])
    rates = index_costs.insert_rates(folder, chosen[:INSERTED])
    print(f"{small:.0f} bytes per document; documents per second: {rates}", flush=True)
    return {
        "batch": batch,
        "rounds": rounds,
        "added": added,
        "plain": asdict(plain),
        "in_memory": asdict(in_memory),
        "durable": asdict(durable),
        "small_bytes": small,
        "insert_rates": rates,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="folder with " + ", ".join(paragraphs.SETS))
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=10_000, help="documents per add and commit")
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=1, help="times each query is run; its best time counts")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument(
        "--work", type=Path, help="folder for the index files, instead of the system's temporary one"
    )
    parser.add_argument("--dry", action="store_true", help="print only, write neither record nor page")
    return parser


def figures(path: Path, chosen: Sequence[Paragraph], queries: int, rounds: int) -> Figures:
    """Open the file and query stored paragraphs, then the same with one word replaced."""
    rng = random.Random(1)
    asked = rng.sample(chosen, min(queries, len(chosen)))
    start = time.perf_counter()
    with benzer.Index.open(path, mode="read") as index:
        open_ms = (time.perf_counter() - start) * 1000
        index_costs.ask(index, asked)  # warms caches; not measured
        return Figures(
            documents=len(index),
            file_bytes=sum(file.stat().st_size for file in path.parent.glob(path.name + "*")),
            text_bytes=sum(len(item.text.encode()) for item in chosen),
            open_ms=open_ms,
            held=index_costs.ask(index, asked, rounds),
            edited=index_costs.ask(index, index_costs.edited(asked, rng), rounds),
        )


def write_and_kill(folder: Path, chosen: list[Paragraph], kills: int) -> list[Kill]:
    """Kill the writer at `kills` random moments, then let a last one finish."""
    source = folder / "paragraphs.jsonl"
    paragraphs.write(chosen, source)
    path, rng = folder / "killed.benzer", random.Random(2)
    stops = sorted(rng.randrange(1, len(chosen)) for _ in range(kills))
    done, outcomes = 0, []
    for stop in stops:
        done = max(done, _write_until(path, source, done, stop, rng))
        outcomes.append(_inspect(path, chosen, done))
        print(outcomes[-1], flush=True)
    _write_until(path, source, done, None, rng)
    return outcomes


def _write_until(path: Path, source: Path, start: int, stop: int | None, rng: random.Random) -> int:
    """Start a writer and kill it after it has acknowledged `stop` documents; returns the acknowledged number."""
    command = [sys.executable, "-m", "benchmarks.index_writer", str(path), str(source), "--start", str(start)]
    acknowledged = start
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
        for acknowledged in _acknowledged(writer, start):
            if stop is not None and acknowledged >= stop:
                time.sleep(rng.random() * 0.2)  # somewhere within the next batch
                writer.kill()
                break
        rest = list(_acknowledged(writer, acknowledged))
    return max([acknowledged, *rest])


def _acknowledged(writer: subprocess.Popen[str], start: int) -> Iterator[int]:
    assert writer.stdout is not None
    for line in writer.stdout:
        yield int(line) if line.strip().isdigit() else start


def _inspect(path: Path, chosen: Sequence[Paragraph], acknowledged: int) -> Kill:
    start = time.perf_counter()
    with benzer.Index.open(path) as index:
        reopen_ms = (time.perf_counter() - start) * 1000
        missing = sum(item.id not in index for item in chosen[:acknowledged])
        return Kill(acknowledged, len(index), missing, reopen_ms)


def markdown(here: machine.Machine, record: dict[str, Any], real: int) -> str:
    """The generated section of docs/index-benchmark.md."""
    plain, killed, kills = record["plain"], record["killed"], record["kills"]
    sources = f"{real:,} real ones from {', '.join(paragraphs.SETS)}"
    varied = plain["documents"] - real
    caption = (
        f"{plain['documents']:,} paragraphs ({plain['text_bytes'] / 1e6:.1f} MB of text: {sources}"
        f"{f', and {varied:,} variations of them with half of the words replaced' if varied else ''}) added "
        f"and committed in batches of {record['batch']:,}. Queries: `find_similar(text, limit=10)` with stored texts, "
        "and with the same texts after one word was replaced (short paragraphs are then below the threshold, so "
        "not every query has a match), with warm caches and default settings"
        + (f", each the best of {record['rounds']} times." if record["rounds"] > 1 else ".")
    )
    reached = report.table(["", "measured", "target"], promised(record))
    files = report.table(
        ["", "written in one run", f"{killed['documents']:,}, after {len(kills)} killed writers"],
        table_rows(plain, killed),
    )
    growth = report.table(
        ["documents", "seconds", "documents/s"],
        ([f"{count:,}", f"{passed:.1f}", f"{count / passed:,.0f}"] for count, passed in record["added"]),
    )
    killing = report.table(
        ["acknowledged", "present after reopening", "acknowledged but missing", "reopening, ms"],
        (
            [f"{one['acknowledged']:,}", f"{one['held']:,}", one["missing"], f"{one['reopen_ms']:.1f}"]
            for one in kills
        ),
    )
    explained = (
        "Each writer was killed (SIGKILL) while it wrote a batch of 2,000; the next one continued after the "
        "last acknowledged batch:"
    )
    command = f"Command: `python -m benchmarks.index_bench PATH_TO_DATA`. Machine: {here.sentence()}."
    return "\n\n".join(
        [
            *(caption, reached, NOTES, "Time from the first document on:", growth, files, explained, killing),
            f"{command} Benzer {benzer.__version__}.",
        ]
    )


NOTES = (
    "The index stores no signatures: `Index.signature` computes them again from the stored text, which saves 512 bytes "
    "per document. A durable addition ends when the disk confirms the data; the next row is a plain write of as many "
    "bytes and its fdatasync, measured alternately. Rates in memory are for one thread; datasketch's does not include "
    "the time for shingles."
)


def promised(record: dict[str, Any]) -> Iterator[list[str]]:
    """Each figure that has a target."""
    plain, memory, durable = record["plain"], record["in_memory"], Durable(**record["durable"])
    count, seconds = record["added"][-1]
    yield [f"{count:,} documents added, documents/s", f"{count / seconds:,.0f}", ">= 60,000"]
    for name, one in (("held", plain["held"]), ("one word replaced", plain["edited"])):
        reached = f"{one['p50_ms'] * 1000:.0f} / {one['p99_ms'] * 1000:.0f}"
        yield [f"find_similar in the file, {name}, p50 / p99, µs", reached, "<= 150 / 1,000"]
    reached = f"{memory['p50_ms'] * 1000:.0f} / {memory['p99_ms'] * 1000:.0f}"
    yield ["find_similar in memory, p50 / p99, µs", reached, "<= 60"]
    reached = f"{durable.p50_ms:.2f} / {durable.p90_ms:.2f}"
    yield ["one durable addition, p50 / p90, ms", reached, "<= 1"]
    reached = f"{durable.bare_p50_ms:.2f} / {durable.bare_p90_ms:.2f}"
    yield ["a bare write and fdatasync, p50 / p90, ms", reached, ""]
    small = f"{record['small_bytes']:,.0f}"
    yield [f"bytes per document of {index_costs.PAYLOAD} bytes, num_hashes 128", small, "<= 1,300"]
    rates = record["insert_rates"]
    times = (
        f"{rates['benzer']:,.0f} / {rates['datasketch']:,.0f} = {rates['benzer'] / rates['datasketch']:.1f} x"
    )
    yield ["inserted in memory, documents/s, Benzer / datasketch", times, ">= 5 x"]


def table_rows(plain: dict[str, Any], killed: dict[str, Any]) -> Iterator[list[str]]:
    """One line per figure, with both files."""
    both = (plain, killed)
    yield ["documents", *(f"{one['documents']:,}" for one in both)]
    for name, kind in (("find_similar", "held"), ("one word replaced", "edited")):
        each = [one[kind] for one in both]
        yield [f"{name}, p50 / p99, ms", *(f"{one['p50_ms']:.2f} / {one['p99_ms']:.2f}" for one in each)]
        yield [f"{name}, worst, ms", *(f"{one['worst_ms']:.2f}" for one in each)]
        yield [f"{name}, answered", *(report.share(one["hit_share"]) or "" for one in each)]
    yield ["opening, ms", *(f"{one['open_ms']:.1f}" for one in both)]
    yield ["bytes per document", *(f"{one['file_bytes'] / one['documents']:,.0f}" for one in both)]
    yield ["bytes per byte of text", *(f"{one['file_bytes'] / one['text_bytes']:.2f}" for one in both)]


if __name__ == "__main__":
    main()
