"""Compares the speed and the answers of this version with those of an earlier one.

`python -m benchmarks.versions BEFORE` runs each scenario in turn with the package in the folder BEFORE (which has a
built `benzer`) and with the one that is imported here, and prints the median of the ratios of CPU time. CPU time
is compared, with one thread, so that other work on the machine changes little.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import benzer
from benchmarks.scenarios import ROOT
from benzer import Image, Index, IndexSettings, Schema, Text, ValueSet
from benzer.document import Description

Round = Callable[[], Any]

WORDS = 20_000


def main() -> None:
    arguments = _parser().parse_args()
    if arguments.scenario:
        _serve(arguments.scenario)
        return
    print(f"{'scenario':24} {'before':>9} {'after':>9}   ratio", flush=True)
    for name in arguments.only or SCENARIOS:
        with (
            _Worker(arguments.before, name) as before,
            _Worker(Path(benzer.__file__).parents[1], name) as after,
        ):
            if before.answer() != after.answer():
                raise SystemExit(f"{name}: the answers differ")
            times = [(before.seconds(), after.seconds()) for _ in range(arguments.rounds)]
        ratio = median(one / other for one, other in times)
        columns = [f"{median(column) * 1000:6.1f} ms" for column in zip(*times, strict=True)]
        print(f"{name:24} {' '.join(columns)}   {ratio:.2f}", flush=True)


class _Worker:
    """A process that runs one scenario with one version, round by round."""

    def __init__(self, package: Path, scenario: str) -> None:
        command = [sys.executable, "-m", "benchmarks.versions", str(package), "--scenario", scenario]
        path = os.pathsep.join([str(package), str(ROOT)])
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._first = self.ask()

    def ask(self) -> dict[str, Any]:
        """Run the scenario once."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("again\n")
        self._process.stdin.flush()
        said: dict[str, Any] = json.loads(self._process.stdout.readline())
        return said

    def answer(self) -> str:
        """A digest of the answers of the first round."""
        return str(self._first["answer"])

    def seconds(self) -> float:
        """The CPU seconds of one more round."""
        return float(self.ask()["seconds"])

    def __enter__(self) -> _Worker:  # noqa: PYI034 (Self needs Python 3.11)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate("")


def _serve(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = SCENARIOS[name](random.Random(5), Path(folder))
        for _ in sys.stdin:
            start = time.process_time()
            answer = run()
            seconds = time.process_time() - start
            digest = hashlib.sha256(repr(answer).encode()).hexdigest()
            print(json.dumps({"seconds": seconds, "answer": digest}), flush=True)


def families(rng: random.Random, count: int, each: int, size: int) -> Iterator[list[int]]:
    """Sets of numbers in families: the members of each differ in an eighth of the elements at most."""
    for _ in range(count):
        base = rng.sample(range(WORDS), size)
        for _ in range(each):
            one = list(base)
            for _ in range(rng.randrange(size // 8)):
                one[rng.randrange(size)] = rng.randrange(WORDS)
            yield one


def searches(settings: IndexSettings, contents: list[dict[str, Any]], asked: int) -> Round:
    """Searches an index in memory, one document after the other."""
    index = Index.open("memory:", settings)
    index.add(list(enumerate(contents)))

    def run() -> Any:
        found = [index.find_similar(content, limit=None) for content in contents[:asked]]
        return [(one.id, one.similarity, sorted(one.fields.items())) for matches in found for one in matches]

    return run


def value_sets(each: int, size: int, asked: int) -> Callable[[random.Random, Path], Round]:
    """Searches among value sets: so many in a family, of so many values."""

    def make(rng: random.Random, _: Path) -> Round:
        sets = families(rng, 3000 // each, each, size)
        contents = [{"tags": [f"tag{value}" if value % 2 else value for value in one]} for one in sets]
        return searches(IndexSettings(Schema(tags=ValueSet()), threshold=0.7), contents, asked)

    return make


def images(rng: random.Random, _: Path) -> Round:
    """Searches among described images."""
    contents = []
    for _ in range(600):
        cells = bytearray(rng.randrange(12) << 4 | rng.randrange(12) for _ in range(128))
        for _ in range(3):
            for _ in range(rng.randrange(12)):
                cells[rng.randrange(128)] = rng.randrange(12)
            contents.append({"image": Description(b"G1" + bytes(cells))})
    return searches(IndexSettings(Schema(image=Image()), threshold=0.7), contents, 300)


def index_of_texts(rng: random.Random, _: Path) -> Round:
    """Searches among texts."""
    contents: list[dict[str, Any]] = [{"text": text} for text in texts(rng, 2000)]
    return searches(IndexSettings(threshold=0.7), contents, 1000)


def texts(rng: random.Random, count: int) -> list[str]:
    """Texts of 200 words in families of two."""
    return [" ".join(f"word{word}" for word in one) for one in families(rng, count // 2, 2, 200)]


def batch(field: Text, ending: str) -> Callable[[random.Random, Path], Round]:
    """A run over a file of texts."""

    def make(rng: random.Random, folder: Path) -> Round:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path, rows = folder / f"texts.{ending}", texts(rng, 6000)
        if ending == "parquet":
            pq.write_table(pa.table({"id": list(range(len(rows))), "text": rows}), path)
        else:
            lines = (json.dumps({"id": number, "text": text}) for number, text in enumerate(rows))
            path.write_text("".join(line + "\n" for line in lines))

        def run() -> Any:
            found = benzer.find_duplicates(path, schema=Schema(text=field), text="text", id="id", threads=1)
            return [tuple(pair) for pair in found.pairs]

        return run

    return make


SCENARIOS: dict[str, Callable[[random.Random, Path], Round]] = {
    "values, 40, 3 matches": value_sets(3, 40, 300),
    "values, 40, 20 matches": value_sets(20, 40, 300),
    "values, 40, 100 matches": value_sets(100, 40, 100),
    "values, 200, 3 matches": value_sets(3, 200, 300),
    "values, 200, 20 matches": value_sets(20, 200, 100),
    "images": images,
    "index": index_of_texts,
    "words": batch(Text(), "jsonl"),
    "characters": batch(Text(unit="char", shingle_size=5), "jsonl"),
    "parquet": batch(Text(), "parquet"),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, help="folder that has the earlier package")
    parser.add_argument("--only", nargs="*", choices=SCENARIOS, help="scenarios to run; by default all")
    parser.add_argument("--rounds", type=int, default=21, help="rounds of each scenario and version")
    parser.add_argument("--scenario", choices=SCENARIOS, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    main()
