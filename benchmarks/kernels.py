"""Speed from texts to signatures, in memory, by unit, kind of text, instruction set and threads.

`python -m benchmarks.run kernels` measures; `--prototype FOLDER` also measures a C prototype in the same run:
kern_native.so, kern_x86-64-v3.so and kern_x86-64-v2.so, built from one source for the three levels.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks import machine, report
from benchmarks.material import Corpus
from benchmarks.scenarios import DOCS
from benzer import MinHash, Text, _native

NUM_HASHES = 128
REPETITIONS = 7
SAMPLE_BYTES = 10_000_000
THREADS = (1, 2)
PLAIN = {"case": "lower", "normalize": "none"}  # the rules of plain Python, as in all comparisons
FIELDS = {
    "words": Text(shingle_size=5, tokenizer="alnum", **PLAIN),  # type: ignore[arg-type]
    "characters": Text(unit="char", shingle_size=5, whitespace="keep", **PLAIN),  # type: ignore[arg-type]
    "words, default rules": Text(shingle_size=5),
    "characters, default rules": Text(unit="char", shingle_size=5),
}
_LEVELS = {"avx512": "native", "avx2": "x86-64-v3", "portable": "x86-64-v2"}  # of the prototype's files
_ASCII_WORDS, _CHARACTERS, _WORDS = 0, 1, 2  # what the prototype calls a shingle


@dataclass(frozen=True)
class Sample:
    """Texts of one kind, concatenated in memory, as in Arrow."""

    kind: str
    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, kind: str, texts: Sequence[bytes]) -> Sample:
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        padding = bytes(128)  # that the prototype may read beyond the end
        return cls(kind, np.frombuffer(b"".join(texts) + padding, np.uint8), ends)

    @property
    def size(self) -> int:
        return int(self.offsets[-1])

    def arrow(self) -> pa.Array:
        """The same bytes as a `large_string` array, without copying."""
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.large_string(), len(self.offsets) - 1, buffers)


@dataclass
class Cell:
    """One measurement, and its times."""

    engine: str
    unit: str
    kind: str
    isa: str
    threads: int
    size: int
    work: Callable[[], object]
    seconds: list[float] = field(default_factory=list)

    def measure(self) -> None:
        start = time.perf_counter()
        self.work()
        self.seconds.append(time.perf_counter() - start)

    def speed(self) -> float:
        """Gigabytes of text per second (median)."""
        return self.size / median(self.seconds) / 1e9

    def best(self) -> float:
        return self.size / min(self.seconds) / 1e9

    def record(self) -> dict[str, object]:
        names = ("engine", "unit", "kind", "isa", "threads", "size", "seconds")
        return {name: getattr(self, name) for name in names} | {
            "gb_s": self.speed(),
            "best_gb_s": self.best(),
        }


def run(data: Path, corpus: str, prototype: Path | None, dry: bool) -> None:
    """Measure all; print and write the section and the record `kernels`."""
    here = machine.describe()
    samples = list(_samples(Corpus.load(data, corpus).path("parquet")))
    cells = [cell for sample in samples for cell in _cells(sample)]
    cells += [cell for sample in samples for cell in _prototype_cells(sample, prototype)]
    try:
        for _ in range(REPETITIONS):
            for cell in cells:
                if cell.engine == "benzer":
                    _native.set_isa(cell.isa)
                cell.measure()
    finally:
        _native.set_isa(None)
    body = _markdown(cells, samples, here)
    print(body, end="\n\n", flush=True)
    if not dry:
        record = {"machine": here.as_dict(), "cells": [cell.record() for cell in cells]}
        report.write_record(here.date, "kernels", record)
        report.write_section(DOCS / "benchmarks.md", "kernels", body, "Benchmarks")


def _samples(parquet: Path) -> Iterator[Sample]:
    """Documents of pure ASCII, and documents with other characters, the first of each in the corpus."""
    texts: dict[bool, list[bytes]] = {True: [], False: []}
    sizes = dict.fromkeys(texts, 0)
    for batch in pq.ParquetFile(parquet).iter_batches(columns=["text"]):
        for text in batch.column(0).to_pylist():
            ascii = text.isascii()
            if sizes[ascii] < SAMPLE_BYTES:
                texts[ascii].append(text.encode())
                sizes[ascii] += len(texts[ascii][-1])
        if min(sizes.values()) >= SAMPLE_BYTES:
            break
    yield Sample.of("ASCII", texts[True])
    yield Sample.of("Unicode", texts[False])


def _cells(sample: Sample) -> Iterator[Cell]:
    for unit, text in FIELDS.items():
        make = _worker(text, sample)
        for isa in reversed(_native.available_isas()):
            for threads in THREADS:
                yield Cell("benzer", unit, sample.kind, isa, threads, sample.size, _bound(make, threads))


def _bound(make: Callable[[int], object], threads: int) -> Callable[[], object]:
    return lambda: make(threads)


def _worker(text: Text, sample: Sample) -> Callable[[int], object]:
    """The function that makes the signatures, with the given number of threads."""
    minhash, array = MinHash(num_hashes=NUM_HASHES), sample.arrow()
    return lambda threads: minhash.of(text, array, threads)


def _prototype_cells(sample: Sample, folder: Path | None) -> Iterator[Cell]:
    if folder is None:
        return
    for isa, level in _LEVELS.items():
        library = folder / f"kern_{level}.so"
        if library.exists() and isa in _native.available_isas():
            for unit, gram in (
                ("words", _WORDS if sample.kind == "Unicode" else _ASCII_WORDS),
                ("characters", _CHARACTERS),
            ):
                if gram != _WORDS or isa == "avx512":  # its words of Unicode are of that level alone
                    work = _prototype(library, sample, gram)
                    yield Cell("prototype", unit, sample.kind, isa, 1, sample.size, work)


def _prototype(library: Path, sample: Sample, gram: int) -> Callable[[], object]:
    fast_sketch, whole = 4, 4
    count = len(sample.offsets) - 1
    out = np.zeros((count, NUM_HASHES), np.uint32)
    data, offsets, target = (ctypes.c_void_p(one.ctypes.data) for one in (sample.data, sample.offsets, out))
    call = ctypes.CDLL(str(library.absolute())).run
    call.restype = ctypes.c_uint64
    first, end, seed = ctypes.c_int64(0), ctypes.c_int64(count), ctypes.c_uint64(1)
    arguments = (data, offsets, first, end, gram, fast_sketch, whole, NUM_HASHES, seed, target)

    def work() -> object:
        call(*arguments)
        return out

    return work


def _markdown(cells: Sequence[Cell], samples: Sequence[Sample], here: machine.Machine) -> str:
    sizes = " and ".join(
        f"{len(one.offsets) - 1:,} documents ({one.kind}, {one.size / 1e6:.0f} MB)" for one in samples
    )
    isas = [isa for isa in _LEVELS if any(cell.isa == isa for cell in cells)]
    caption = (
        f"Texts in memory (contiguous UTF-8 with offsets) to signatures of {NUM_HASHES} values, 5-shingles: "
        f"{sizes}. Gigabytes of text per second, median of {REPETITIONS} interleaved runs, the best in brackets; "
        "the instruction sets are chosen on the same machine. “Words” and “characters” are read by plain Python's "
        f"rules (lower case), “default rules” are NFKC and case folding. "
        "Call: `MinHash.of` on an Arrow array, whose bytes are read without copying."
    )
    rows = []
    for engine, unit, kind, threads in dict.fromkeys((c.engine, c.unit, c.kind, c.threads) for c in cells):
        found = {
            c.isa: c for c in cells if (c.engine, c.unit, c.kind, c.threads) == (engine, unit, kind, threads)
        }
        shown = (
            f"{found[isa].speed():.2f} ({found[isa].best():.2f})" if isa in found else None for isa in isas
        )
        rows.append([engine, unit, kind, threads, *shown])
    table = report.table(["", "shingles of", "text", "threads", *isas], rows)
    command = f"Command: `python -m benchmarks.run kernels`. Machine: {here.sentence()}."
    return f"## kernels\n\n{caption}\n\n{table}\n\n{_two_threads(cells)}\n\n{command}"


def _two_threads(cells: Sequence[Cell]) -> str:
    """How much faster two threads are than one, by the medians, over all cells that are measured with both."""
    own = [cell for cell in cells if cell.engine == "benzer"]
    speeds = {(cell.unit, cell.kind, cell.isa, cell.threads): cell.speed() for cell in own}
    gains = [speeds[(*key, 2)] / value for (*key, threads), value in speeds.items() if threads == 1]
    return (
        f"Two threads are {min(gains):.2f} to {max(gains):.2f} times as fast as one, "
        f"{median(gains):.2f} in the median."
    )
