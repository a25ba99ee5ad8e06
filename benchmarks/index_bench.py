"""What does the embedded index file cost, and what does it keep when its writer is killed?

`python -m benchmarks.index_bench PATH_TO_DATA` adds 200,000 paragraphs to a file, asks it for similar ones,
then lets other processes write a second file and kills them (SIGKILL) one after the other, checking what they
had acknowledged. Writes docs/index-benchmark.md and a record.
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

import benzer
from benchmarks import machine, paragraphs, report
from benchmarks.paragraphs import Paragraph
from benchmarks.scenarios import DOCS, ROOT


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one index file; times in milliseconds, `hit_share` is the share of queries with an answer."""

    documents: int
    file_bytes: int
    text_bytes: int
    open_ms: float
    p50_ms: float
    p99_ms: float
    worst_ms: float
    edited_p50_ms: float
    edited_p99_ms: float
    hit_share: float
    edited_hit_share: float


@dataclass(frozen=True, slots=True)
class Kill:
    """One killed writer: what it had acknowledged, what the file held, how many acknowledged were missing."""

    acknowledged: int
    held: int
    missing: int
    reopen_ms: float


def main() -> None:
    arguments = _parser().parse_args()
    here = machine.describe()
    chosen = paragraphs.sample(arguments.data, arguments.documents)
    print(f"{len(chosen):,} paragraphs", flush=True)
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        added_seconds = add_all(Path(folder) / "plain.benzer", chosen, arguments.batch)
        plain = figures(Path(folder) / "plain.benzer", chosen, arguments.queries)
        print(f"added in {added_seconds:.1f} s; {plain}", flush=True)
        kills = write_and_kill(Path(folder), chosen, arguments.kills)
        killed = figures(Path(folder) / "killed.benzer", chosen, arguments.queries)
    body = markdown(here, added_seconds, arguments.batch, plain, killed, kills)
    print(body)
    if not arguments.dry:
        record = {"added_seconds": added_seconds, "batch": arguments.batch, "plain": asdict(plain)}
        record |= {"killed": asdict(killed), "kills": [asdict(kill) for kill in kills]}
        record["machine"] = here.as_dict()
        report.write_record(here.date, "index", record)
        report.write_section(DOCS / "index-benchmark.md", "index", body, "The index file, measured")
    if any(kill.missing for kill in kills):
        raise SystemExit("acknowledged documents are missing")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="folder with " + ", ".join(paragraphs.SETS))
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--batch", type=int, default=10_000, help="documents per add and commit")
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument(
        "--work", type=Path, help="folder for the index files, instead of the system's temporary one"
    )
    parser.add_argument("--dry", action="store_true", help="print only, write neither record nor page")
    return parser


def add_all(path: Path, chosen: Sequence[Paragraph], batch: int) -> float:
    """Seconds from opening a new index file to closing it with everything committed."""
    start = time.perf_counter()
    with benzer.Index.open(path) as index:
        for first in range(0, len(chosen), batch):
            index.add([benzer.Document(item.id, item.text) for item in chosen[first : first + batch]])
            index.commit()
    return time.perf_counter() - start


def figures(path: Path, chosen: Sequence[Paragraph], queries: int) -> Figures:
    """Opens the file and asks for held paragraphs, then for the same with one word replaced."""
    rng = random.Random(1)
    asked = rng.sample(chosen, min(queries, len(chosen)))
    edited = [Paragraph(item.id, _edit(item.text, rng)) for item in asked]
    start = time.perf_counter()
    with benzer.Index.open(path, mode="read") as index:
        open_ms = (time.perf_counter() - start) * 1000
        _ask(index, asked[: max(len(asked) // 10, 1)])  # warms caches; not measured
        times, hits = _ask(index, asked)
        edited_times, edited_hits = _ask(index, edited)
        documents = len(index)
    return Figures(
        documents=documents,
        file_bytes=sum(file.stat().st_size for file in path.parent.glob(path.name + "*")),
        text_bytes=sum(len(item.text.encode()) for item in chosen),
        open_ms=open_ms,
        p50_ms=percentile(times, 0.5),
        p99_ms=percentile(times, 0.99),
        worst_ms=max(times),
        edited_p50_ms=percentile(edited_times, 0.5),
        edited_p99_ms=percentile(edited_times, 0.99),
        hit_share=hits / len(asked),
        edited_hit_share=edited_hits / len(edited),
    )


def _ask(index: benzer.Index, asked: Sequence[Paragraph]) -> tuple[list[float], int]:
    """Milliseconds of each query, and how many found something."""
    times, hits = [], 0
    for item in asked:
        start = time.perf_counter()
        found = index.find_similar(item.text, limit=10)
        times.append((time.perf_counter() - start) * 1000)
        hits += bool(found)
    return times, hits


def _edit(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    words[rng.randrange(len(words))] = "replaced"
    return " ".join(words)


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile.

    >>> percentile([3.0, 1.0, 2.0, 4.0], 0.5)
    2.0
    """
    return sorted(values)[max(round(share * len(values) + 0.5) - 1, 0)]


def write_and_kill(folder: Path, chosen: list[Paragraph], kills: int) -> list[Kill]:
    """Kills the writer at `kills` random moments, then lets a last one finish."""
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
    """Starts a writer, kills it once it has acknowledged `stop` documents; returns what it acknowledged."""
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


def markdown(
    here: machine.Machine,
    added_seconds: float,
    batch: int,
    plain: Figures,
    killed: Figures,
    kills: Sequence[Kill],
) -> str:
    """The generated section of docs/index-benchmark.md."""
    rate = plain.documents / added_seconds
    text_rate = plain.text_bytes / 1e6 / added_seconds
    caption = (
        f"{plain.documents:,} paragraphs ({plain.text_bytes / 1e6:.1f} MB of text, from "
        f"{', '.join(paragraphs.SETS)}) added and committed in batches of {batch:,}: {added_seconds:.1f} s, "
        f"{rate:,.0f} documents/s, {text_rate:.1f} MB/s. Queries: `find_similar(text, limit=10)` with texts "
        "that the index holds and with the same texts after one word was replaced (a short paragraph then "
        "lies below the threshold, so that not every query has an answer), caches warm, default settings."
    )
    lines = table_rows(plain, killed)
    table = report.table(["", "written in one go", f"after {len(kills)} killed writers"], lines)
    killing = report.table(
        ["acknowledged", "held after reopening", "acknowledged but missing", "reopening, ms"],
        (
            [f"{kill.acknowledged:,}", f"{kill.held:,}", kill.missing, f"{kill.reopen_ms:.1f}"]
            for kill in kills
        ),
    )
    explained = (
        "Each writer was killed (SIGKILL) while it wrote a batch of 2,000; the next one went on after the "
        "last acknowledged batch:"
    )
    command = f"Command: `python -m benchmarks.index_bench PATH_TO_DATA`. Machine: {here.sentence()}."
    return "\n\n".join([caption, table, explained, killing, f"{command} Benzer {benzer.__version__}."])


def table_rows(plain: Figures, killed: Figures) -> Iterator[list[str]]:
    """One line per figure, the two files beside each other."""
    both = (plain, killed)
    yield ["documents", *(f"{item.documents:,}" for item in both)]
    yield ["find_similar p50 / p99, ms", *(f"{item.p50_ms:.2f} / {item.p99_ms:.2f}" for item in both)]
    edited = (f"{item.edited_p50_ms:.2f} / {item.edited_p99_ms:.2f}" for item in both)
    yield ["one word replaced, p50 / p99, ms", *edited]
    yield ["worst query, ms", *(f"{item.worst_ms:.2f}" for item in both)]
    yield ["queries answered", *(report.share(item.hit_share) or "" for item in both)]
    yield ["one word replaced, answered", *(report.share(item.edited_hit_share) or "" for item in both)]
    yield ["opening, ms", *(f"{item.open_ms:.1f}" for item in both)]
    yield ["bytes per document", *(f"{item.file_bytes / item.documents:,.0f}" for item in both)]
    yield ["bytes per byte of text", *(f"{item.file_bytes / item.text_bytes:.2f}" for item in both)]


if __name__ == "__main__":
    main()
