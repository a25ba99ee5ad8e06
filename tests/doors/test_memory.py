"""A bound of memory is kept, and refused where it cannot be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benzer import find_duplicates
from benzer.errors import SettingsError
from benzer.pipeline.memory import LEAST, Memory

ROOT = Path(__file__).resolve().parents[2]
COUNT = 30_000
KEYS = COUNT * 600 * 8
"""What all band keys take: 144 million bytes."""


def child(path: Path, *memory: str, bands: str = "600x2") -> dict[str, Any]:
    """What a process of its own found, and held."""
    command = [sys.executable, "-m", "tests.doors.memory_child", str(path), bands, *memory]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_a_bounded_run_holds_no_more_and_finds_the_same(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    words = (f"a{n // 2} b{n // 2} c{n // 2} d{n}" for n in range(COUNT))
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in words), encoding="utf-8")
    free, bounded = child(path), child(path, "60MB")
    assert free["held"] > KEYS
    assert bounded["held"] < 60_000_000
    assert {**free, "held": 0} == {**bounded, "held": 0}
    assert free["candidates"] >= COUNT // 2 * 0.9


def test_a_run_with_the_usual_bands_keeps_its_bound_too(tmp_path: Path) -> None:
    """In one piece at least 236 bytes a document (band keys 208, content 16, where its text lies 12); bounded 84."""
    path, count = tmp_path / "docs.jsonl", 300_000
    words = (
        " ".join(f"{place}x{n // 2}" for place in range(9)) + (" same" if n % 2 else "") for n in range(count)
    )
    path.write_text(
        "".join(f'{{"id": {n}, "text": "{text}"}}\n' for n, text in enumerate(words)), encoding="utf-8"
    )
    least = 84 * count + LEAST
    free, bounded = (child(path, *memory, bands="26x5") for memory in ((), (str(least),)))
    assert free["held"] > 236 * count > least
    assert bounded["held"] <= least
    assert {**free, "held": 0} == {**bounded, "held": 0}
    assert free["candidates"] >= count // 2 * 0.9


@pytest.mark.parametrize(
    "given, size",
    [
        (50_000_000, 50_000_000),
        ("50000000", 50_000_000),
        ("50MB", 50_000_000),
        (" 50 mb ", 50_000_000),
        ("0.05g", 50_000_000),
        ("48MiB", 48 * 2**20),
        ("2TB", 2 * 10**12),
        ("9" * 400 + "GB", 2**63),
        (None, None),
    ],
)
def test_a_size_is_a_number_and_a_unit(given: Any, size: int | None) -> None:
    assert Memory.parse(given).bytes == size


@pytest.mark.parametrize("given", ["", "GB", "-1GB", "1 2GB", "1XB", "nan", True, 1.5e6, 1000, "31MB"])
def test_what_is_no_size_or_too_little_is_refused(given: Any) -> None:
    with pytest.raises(SettingsError, match="memory must be"):
        find_duplicates({"a": "text"}, memory=given)


def test_a_bound_that_cannot_be_kept_is_refused_with_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """40 bytes a document, 12 a field and 32 to file them; 25 a shingle for the exact method."""
    monkeypatch.setattr("benzer.pipeline.memory.LEAST", 0)
    texts = {f"d{number}": " ".join(f"w{number}x{place}" for place in range(30)) for number in range(100)}
    needed = 100 * (40 + 12 + 32)
    with pytest.raises(SettingsError, match="too little for 100 documents, which need 1MB"):
        find_duplicates(texts, memory=Memory(needed - 1))  # type: ignore[arg-type]
    assert find_duplicates(texts, memory=Memory(needed)).counts["kept"] == 100  # type: ignore[arg-type]
    shingles = 100 * 28
    with pytest.raises(SettingsError, match=r"the exact method, which needs \d+MB for 2,800 shingles"):
        find_duplicates(texts, memory=Memory(25 * shingles - 1), method="exact")  # type: ignore[arg-type]
    assert find_duplicates(texts, memory=Memory(25 * shingles), method="exact").counts["kept"] == 100  # type: ignore[arg-type]
