"""The files of a benchmark and their true pairs: the built corpora, or any JSONL file."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.environments import python_of
from benchmarks.measure import Measurement, run_once
from benchmarks.scenarios import ROOT, Scenario
from benchmarks.scoring import Truth, character_truth

_STAMP = b"benchmarks.of"


@dataclass(frozen=True, slots=True)
class Corpus:
    """The files of one corpus, and their description in `NAME.json`.

    `planted` is true if the true pairs are the planted ones; otherwise they are Benzer's exact result.
    """

    folder: Path
    name: str
    facts: dict[str, Any]
    planted: bool = True

    @classmethod
    def load(cls, folder: Path, name: str) -> Corpus:
        """A built corpus. If it is missing, all corpora are built, which downloads and takes some minutes, once."""
        facts = folder / f"{name}.json"
        if not facts.exists():
            build = [str(python_of("tools")), "-m", "benchmarks.corpus", "--data", str(folder.absolute())]
            subprocess.run(build, cwd=ROOT, check=True)
        return cls(folder, name, json.loads(facts.read_text()))

    @classmethod
    def of_file(cls, folder: Path, path: Path, column: str) -> Corpus:
        """Any JSONL file: its texts are written once with their row numbers as ids, the same file for every engine."""
        digest = _digest(path, column)
        name = f"{path.name.split('.')[0]}-{digest[:8]}"
        folder = folder / "files"
        facts = folder / f"{name}.json"
        if not facts.exists():
            folder.mkdir(parents=True, exist_ok=True)
            described = _write(list(_texts(path, column)), folder / name)
            facts.write_text(json.dumps(described | {"sha256": digest, "file": path.name}, indent=1) + "\n")
        return cls(folder, name, json.loads(facts.read_text()), planted=False)

    def path(self, format: str) -> Path:
        return self.folder / f"{self.name}.{format}"

    def truth(self, scenario: Scenario) -> Truth:
        """The exact similarities by the scenario's shingles; computed ones are stored for later runs."""
        if self.planted and scenario.unit == "word":
            return Truth.load(self.path("truth.parquet"), scenario.threshold)
        kept = self.path(
            f"{scenario.unit}.{scenario.threshold}.truth.parquet"
            if not self.planted
            else "char.truth.parquet"
        )
        if not self._is_of_this(kept):
            print(
                f"{self.name}: computing the exact similarities for {scenario.unit} shingles, once",
                flush=True,
            )
            pairs = self._planted_characters() if self.planted else self._exact_answer(scenario)
            left, right, values = zip(*pairs, strict=True) if pairs else ((), (), ())
            table = pa.table(
                {"left": pa.array(left, pa.int64()), "right": pa.array(right, pa.int64()), "jaccard": values}
            )
            stamp = {_STAMP: self.facts["sha256"].encode()}
            pq.write_table(table.replace_schema_metadata(stamp), kept)
        return Truth.load(kept, scenario.threshold)

    def _is_of_this(self, kept: Path) -> bool:
        metadata = pq.read_schema(kept).metadata if kept.exists() else None
        return (metadata or {}).get(_STAMP) == self.facts["sha256"].encode()

    def _planted_characters(self) -> list[tuple[int, int, float]]:
        words = Truth.load(self.path("truth.parquet"), 0.0)
        return character_truth(words.similarity, self.path("jsonl"))

    def _exact_answer(self, scenario: Scenario) -> list[tuple[int, int, float]]:
        asked = Measurement("benzer-exact", max(scenario.threads))
        run_once(asked, replace(scenario, time_limit=3600), self.path("jsonl"))
        pairs = asked.answer.get("pairs")
        if pairs is None:
            raise SystemExit(f"no exact answer: {asked.failure or 'too many pairs of identical documents'}")
        return [tuple(pair) for pair in pairs]


def _digest(path: Path, column: str) -> str:
    digest = hashlib.sha256(column.encode())
    with path.open("rb") as file:
        while block := file.read(1 << 24):
            digest.update(block)
    return digest.hexdigest()


def _texts(path: Path, column: str) -> Iterator[str]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            row = json.loads(line)
            if column not in row:
                raise SystemExit(f"{path}: row {number} has no column {column!r}: name it with --column")
            yield row[column] or ""


def _write(texts: list[str], stem: Path) -> dict[str, Any]:
    """Write STEM.jsonl and STEM.parquet, and their description."""
    jsonl = stem.with_name(stem.name + ".jsonl")
    with jsonl.open("w", encoding="utf-8", errors="replace") as sink:
        for number, text in enumerate(texts):
            sink.write(json.dumps({"id": number, "text": text}, ensure_ascii=False) + "\n")
    columns = {"id": range(len(texts)), "text": [text.encode("utf-8", "replace").decode() for text in texts]}
    pq.write_table(pa.table(columns), stem.with_name(stem.name + ".parquet"), row_group_size=20_000)
    return {
        "documents": len(texts),
        "jsonl_bytes": jsonl.stat().st_size,
        "text_bytes": sum(len(text.encode("utf-8", "replace")) for text in texts),
    }
