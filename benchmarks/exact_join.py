"""Cost of complete results: the exact method compared with bands, on collections of texts and of sets.

`python -m benchmarks.exact_join PATH_TO_DATA` runs `find_duplicates` with both methods on one core, and prints a
Markdown table: processor seconds of the whole run including reading, which depend little on other work of the
machine.
"""

from __future__ import annotations

import argparse
import lzma
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import benzer
from benchmarks import machine

THRESHOLDS = (0.8, 0.7, 0.5)


@dataclass(frozen=True, slots=True)
class Collection:
    """A file in the data folder, and its settings."""

    folder: str
    file: str
    read_as: str
    schema: benzer.Schema


COLLECTIONS = [
    Collection("debian_desc_en", "docs.jsonl.xz", "3 words", benzer.Schema()),
    Collection(
        "debian_desc_en",
        "docs.jsonl.xz",
        "5 characters",
        benzer.Schema(text=benzer.Text(unit="char", shingle_size=5)),
    ),
    Collection("dblp_acm", "docs.jsonl.xz", "3 words", benzer.Schema()),
    Collection("sets_kosarak", "sets.jsonl.xz", "values", benzer.Schema(set=benzer.ValueSet())),
    Collection("sets_debtags", "sets.jsonl.xz", "values", benzer.Schema(set=benzer.ValueSet())),
    Collection("sets_mushroom", "sets.jsonl.xz", "values", benzer.Schema(set=benzer.ValueSet())),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    arguments = parser.parse_args()
    print(machine.describe().sentence())
    print(
        "| collection | documents | read as | threshold | pairs | exact, s | bands, s | found by bands | auto |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for number, collection in enumerate(COLLECTIONS):
            path = Path(folder) / f"{number}.jsonl"
            path.write_bytes(
                lzma.decompress((arguments.data / collection.folder / collection.file).read_bytes())
            )
            for threshold in THRESHOLDS:
                print(row(collection, path, threshold), flush=True)


def row(collection: Collection, path: Path, threshold: float) -> str:
    """One line of the table: the minimum of three times, because other work can only slow a run down."""
    runs = {
        method: [run(collection, path, threshold, method) for _ in range(3)] for method in ("exact", "lsh")
    }
    seconds = {method: min(time for time, _ in some) for method, some in runs.items()}
    exact, bands = runs["exact"][0][1], runs["lsh"][0][1]
    taken = run(collection, path, threshold, "auto")[1].settings.method
    pairs, found = (int((result.verified >= threshold).sum()) for result in (exact, bands))
    share = f"{found / pairs:.4f}" if pairs else "–"
    return (
        f"| {collection.folder} | {len(exact.corpus):,} | {collection.read_as} | {threshold:g} | {pairs:,} | "
        f"{seconds['exact']:.2f} | {seconds['lsh']:.2f} | {share} | {taken} |"
    )


def run(collection: Collection, path: Path, threshold: float, method: str) -> tuple[float, benzer.Duplicates]:
    """Processor seconds of a run, and its result."""
    started = time.process_time()
    found = benzer.find_duplicates(
        path, schema=collection.schema, threshold=threshold, method=method, threads=1
    )
    return time.process_time() - started, found


if __name__ == "__main__":
    main()
