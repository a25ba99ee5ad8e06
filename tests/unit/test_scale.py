"""The documents of the benchmark of scale are what it says, and its figures become the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import scale_page
from benchmarks.scale_documents import FAMILIES, write
from benzer import find_duplicates

COUNT = 3000


def documents(folder: Path, family: str, seed: int = 1) -> list[dict[str, str]]:
    path = folder / f"{family}-{seed}.jsonl"
    write(path, family, COUNT, seed)
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.parametrize("family", FAMILIES)
def test_documents_of_a_seed_are_the_same_each_time(family: str, tmp_path: Path) -> None:
    first = documents(tmp_path / "a", family)
    assert first == documents(tmp_path / "b", family)
    assert first != documents(tmp_path / "c", family, seed=2)
    assert len({document["id"] for document in first}) == COUNT
    assert all(40 <= len(document["text"].split()) <= 60 for document in first)


def test_each_family_has_the_duplicates_that_it_is_named_for(tmp_path: Path) -> None:
    removed = {}
    for family in FAMILIES:
        documents(tmp_path, family)
        found = find_duplicates(tmp_path / f"{family}-1.jsonl")
        removed[family] = COUNT - len(found.kept)
    # one in five is a copy; of these at least the half that differ in one word or none are found
    assert COUNT // 10 < removed.pop("ordinary") < COUNT // 5
    assert removed == {"identical": COUNT - 1, "boilerplate": 0, "distinct": 0}


def row(family: str = "ordinary", documents: int = 1000, **given: Any) -> dict[str, Any]:
    made = {
        "family": family, "documents": documents, "threshold": 0.8, "recall": 0.95, "threads": 1, "memory": None,
        "bytes": documents * 250, "before": 30_000_000, "peak": 50_000_000 + 150 * documents,
        "seconds": documents / 1e5, "stages": {"read": 0.1}, "candidates": 7, "removed": 5, "bands": [10, 6],
        "answer": "x",
    }  # fmt: skip
    return {**made, **given}


def test_the_page_says_what_was_measured_and_carries_it_on() -> None:
    rows = [row(), row(documents=10_000, seconds=0.12), row(documents=10_000, memory="1GB", seconds=0.15)]
    told = scale_page.growth(rows)
    assert "1.20 × that of a tenth" in told
    assert "1.25 × that without, and the same result" in told
    assert "ANOTHER" in scale_page.growth([*rows[:2], {**rows[2], "answer": "y"}])
    # 150 bytes more for each further document: 15 GB for 100 million; bounded 84
    line = scale_page.further(rows).splitlines()[2]
    assert [cell.strip() for cell in line.split("|")[3:8]] == ["25 GB", "0.3 h", "15 GB", "8 GB", "8 GB"]


def test_families_are_measured_by_the_byte() -> None:
    rows = [row(), row("identical", seconds=0.02), row("distinct", documents=2000)]
    assert scale_page.families(rows).splitlines()[3].endswith("| 2.00 |")
