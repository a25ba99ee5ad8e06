"""Add paragraphs to an index in batches and print the number of durable ones after each commit; the benchmark kills
this process.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import benzer
from benchmarks import paragraphs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index", type=Path)
    parser.add_argument("paragraphs", type=Path, help="JSONL")
    parser.add_argument("--start", type=int, default=0, help="number of the first paragraph to add")
    parser.add_argument("--batch", type=int, default=2_000)
    arguments = parser.parse_args()
    waiting = paragraphs.read(arguments.paragraphs)
    with benzer.Index.open(arguments.index) as index:
        print("ready", flush=True)
        for first in range(arguments.start, len(waiting), arguments.batch):
            batch = waiting[first : first + arguments.batch]
            index.add([benzer.Document(paragraph.id, paragraph.text) for paragraph in batch])
            index.commit()
            print(first + len(batch), flush=True)


if __name__ == "__main__":
    main()
