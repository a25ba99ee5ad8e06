"""Measurements of an index: adding, querying, one durable change, bytes, memory."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import benzer
from benchmarks import paragraphs
from benchmarks.environments import python_of
from benchmarks.paragraphs import Paragraph
from benchmarks.scenarios import ROOT

MARKS = (100_000, 200_000, 500_000, 1_000_000, 2_000_000)
PAYLOAD = 200
SIGNATURE = 512


@dataclass(frozen=True, slots=True)
class Asked:
    """Milliseconds of queries, one by one."""

    p50_ms: float
    p99_ms: float
    worst_ms: float
    hit_share: float


@dataclass(frozen=True, slots=True)
class Durable:
    """Milliseconds to add and commit one document, and of bare writes of as many bytes.

    `bare` is a write to another file and its fdatasync, alternating with the additions.
    """

    adds: int
    p50_ms: float
    p90_ms: float
    p99_ms: float
    bare_p50_ms: float
    bare_p90_ms: float


def add_all(path: Path | str, chosen: Sequence[Paragraph], batch: int) -> list[tuple[int, float]]:
    """Seconds after which each number of documents was committed, from opening to closing with all of them."""
    passed: list[tuple[int, float]] = []
    start = time.perf_counter()
    with benzer.Index.open(path) as index:
        for first in range(0, len(chosen), batch):
            index.add([benzer.Document(item.id, item.text) for item in chosen[first : first + batch]])
            index.commit()
            done = min(first + batch, len(chosen))
            if any(done - batch < mark <= done for mark in MARKS) and done < len(chosen):
                passed.append((done, time.perf_counter() - start))
    return [*passed, (len(chosen), time.perf_counter() - start)]


def ask(index: benzer.Index, asked: Sequence[Paragraph], rounds: int = 1) -> Asked:
    """The minimum time of each query over several rounds, which excludes other work of the machine."""
    best = [float("inf")] * len(asked)
    hits = 0
    for turn in range(rounds):
        for at, item in enumerate(asked):
            start = time.perf_counter()
            found = index.find_similar(item.text, limit=10)
            best[at] = min(best[at], (time.perf_counter() - start) * 1000)
            hits += bool(found) and turn == 0
    return Asked(percentile(best, 0.5), percentile(best, 0.99), max(best), hits / len(asked))


def edited(asked: Sequence[Paragraph], rng: random.Random) -> list[Paragraph]:
    """The same text with one word replaced."""
    return [Paragraph(item.id, _edit(item.text, rng)) for item in asked]


def _edit(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    words[rng.randrange(len(words))] = "replaced"
    return " ".join(words)


def in_memory(chosen: Sequence[Paragraph], asked: Sequence[Paragraph], batch: int, rounds: int) -> Asked:
    """Queries of an index in memory with the same documents."""
    with benzer.Index.open("memory:") as index:
        for first in range(0, len(chosen), batch):
            index.add([benzer.Document(item.id, item.text) for item in chosen[first : first + batch]])
            index.commit()
        ask(index, asked[: max(len(asked) // 10, 1)])
        return ask(index, asked, rounds)


def durable(path: Path, fresh: Sequence[Paragraph]) -> Durable:
    """Add and commit documents one at a time to an index file, alternating with bare writes."""
    times, bare = [], []
    log = path.with_name(path.name + "-wal")
    with benzer.Index.open(path) as index, (path.parent / "bare").open("wb", buffering=0) as other:
        index.add([("first", "one two three four five")])
        index.commit()
        before = log.stat().st_size
        for item in fresh:
            start = time.perf_counter()
            index.add([("fresh " + item.id, item.text)])
            index.commit()
            times.append((time.perf_counter() - start) * 1000)
            wrote, before = max(log.stat().st_size - before, 4096), log.stat().st_size
            start = time.perf_counter()
            other.write(bytes(wrote))
            os.fdatasync(other.fileno())
            bare.append((time.perf_counter() - start) * 1000)
    spread = [percentile(times, share) for share in (0.5, 0.9, 0.99)]
    return Durable(len(fresh), *spread, percentile(bare, 0.5), percentile(bare, 0.9))


def bytes_per_document(path: Path, chosen: Sequence[Paragraph]) -> float:
    """Bytes per document of a file of texts of 200 bytes, with signatures of 128 values (512 bytes)."""
    settings = benzer.IndexSettings(num_hashes=SIGNATURE // 4)
    texts = [item.text.encode()[:PAYLOAD].decode(errors="ignore").ljust(PAYLOAD) for item in chosen]
    with benzer.Index.open(path, settings) as index:
        index.add(list(zip((item.id for item in chosen), texts, strict=True)), batch_size=10_000)
    return path.stat().st_size / len(chosen)


def insert_rates(folder: Path, chosen: Sequence[Paragraph]) -> dict[str, float]:
    """Documents per second into an index in memory: Benzer from texts, datasketch from sets of shingles."""
    source, output = folder / "inserted.jsonl", folder / "inserted.json"
    paragraphs.write(list(chosen), source)
    command = [str(python_of("datasketch")), "-m", "benchmarks.index_peer", str(source), str(output)]
    settings = benzer.IndexSettings(num_hashes=SIGNATURE // 4)
    documents = [benzer.Document(item.id, item.text) for item in chosen]
    ours, theirs = [], []
    for _ in range(3):
        start = time.perf_counter()
        with benzer.Index.open("memory:", settings) as index:
            index.add(documents, threads=1)
        ours.append(time.perf_counter() - start)
        subprocess.run(command, cwd=ROOT, check=True)
        theirs.append(json.loads(output.read_text())["seconds"])
    return {"benzer": len(chosen) / min(ours), "datasketch": len(chosen) / min(theirs)}


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile.

    >>> percentile([3.0, 1.0, 2.0, 4.0], 0.5)
    2.0
    """
    return sorted(values)[max(round(share * len(values) + 0.5) - 1, 0)]
