"""Time and recall of searches for the nearest documents without a threshold.

`python -m benchmarks.nearest PATH_TO_DATA` adds 200,000 paragraphs to an index file, queries the ten nearest of
edited paragraphs, and compares a part of the results with a search that compares all documents. It prints a
Markdown table.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import benzer
from benchmarks import machine, paragraphs
from benzer.index import Match

LEAST = 0.05
WAYS = [(0.3, 0.99), (0.3, 0.999), (0.1, 0.99), (0.1, 0.999), (LEAST, 0.999)]


@dataclass(frozen=True, slots=True)
class Asked:
    """Figures of one kind of query: times in milliseconds, compared documents, and the share of the true nearest
    found.
    """

    p50_ms: float
    p99_ms: float
    compared: int
    found: int
    wanted: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--checked", type=int, default=20)
    arguments = parser.parse_args()
    print(machine.describe().sentence())
    chosen = paragraphs.sample(arguments.data, arguments.documents)
    source = random.Random(1)
    queries = [edited(source, one.text) for one in source.sample(chosen, arguments.queries)]
    with tempfile.TemporaryDirectory() as folder, benzer.Index.open(Path(folder) / "n.benzer") as index:
        index.add((one.id, one.text) for one in chosen)
        index.commit()
        started = time.perf_counter()
        index.find_nearest(queries[0])
        print(f"{len(index):,} documents; the first question took {time.perf_counter() - started:.2f} s")
        truth = [
            index.find_nearest(query, threshold=LEAST, recall=1.0) for query in queries[: arguments.checked]
        ]
        print("| threshold | recall | p50 ms | p99 ms | compared (median) | true neighbours found |")
        print("|---|---|---|---|---|---|")
        for threshold, recall in WAYS:
            row = asked(index, queries, truth, threshold, recall)
            print(
                f"| {threshold:g} | {recall:g} | {row.p50_ms:.1f} | {row.p99_ms:.1f} | {row.compared:,} | "
                f"{row.found:,} of {row.wanted:,} |"
            )


def edited(source: random.Random, text: str, share: float = 0.2) -> str:
    """A text with a share of its words replaced."""
    words = text.split()
    return " ".join(f"w{source.getrandbits(40):x}" if source.random() < share else word for word in words)


def asked(
    index: benzer.Index,
    queries: Sequence[str],
    truth: Sequence[Sequence[Match]],
    threshold: float,
    recall: float,
) -> Asked:
    """Run every query once, and count the matches that the full comparison of the first queries also has."""
    times, compared, answers = [], [], []
    for query in queries:
        started = time.perf_counter()
        answer = index.find_nearest(query, threshold=threshold, recall=recall, threads=1)
        times.append(time.perf_counter() - started)
        compared.append(answer.compared)
        answers.append({match.id for match in answer})
    found = wanted = 0
    for exact, ids in zip(truth, answers, strict=False):
        least = exact[-1].similarity if len(exact) == 10 else 0.0  # of equals any may be the tenth
        near = {match.id for match in exact if match.similarity > least and match.similarity >= threshold}
        found, wanted = found + len(near & ids), wanted + len(near)
    times.sort()
    ranks = times[len(times) // 2] * 1e3, times[int(len(times) * 0.99)] * 1e3
    return Asked(*ranks, sorted(compared)[len(compared) // 2], found, wanted)


if __name__ == "__main__":
    main()
