"""The package says the same of itself everywhere, and ships what it must."""

from __future__ import annotations

import importlib.machinery
import json
import re
import subprocess
import sys
from collections import Counter
from importlib import metadata
from pathlib import Path

import benzer
from benzer import _native

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "data"
HEAVY = {"pyarrow", "rich", "click", "plotext", "zstandard", "sqlite3"}


def cargo_workspace(key: str) -> str:
    found = re.search(rf'^{key} = "(.*)"$', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    return found[1]


def test_version_is_that_of_the_native_core() -> None:
    assert metadata.version("benzer") == cargo_workspace("version")


def test_least_python_is_the_same_for_the_package_and_the_abi() -> None:
    assert metadata.metadata("benzer")["Requires-Python"] == ">=3.10"
    assert "abi3-py310" in (ROOT / "crates" / "benzer-python" / "Cargo.toml").read_text(encoding="utf-8")


def test_native_module_is_built_for_the_stable_abi() -> None:
    path = Path(_native.__file__)
    assert path.name.endswith(".abi3.so")
    assert ".abi3.so" in importlib.machinery.EXTENSION_SUFFIXES


def test_package_is_typed() -> None:
    folder = Path(benzer.__file__).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_native.pyi").exists()


def test_every_public_name_exists_and_is_documented() -> None:
    undocumented = [name for name in benzer.__all__ if not getattr(benzer, name).__doc__]
    assert undocumented == []


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = "import json, sys, benzer; print(json.dumps([name.split('.')[0] for name in sys.modules]))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert HEAVY & set(json.loads(ran.stdout)) == set()


def sample() -> list[dict[str, str | None]]:
    lines = (SAMPLE / "documents.jsonl").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return [json.loads(line) for line in lines]


def test_sample_documents_are_small_and_whole() -> None:
    ids = [row["id"] for row in sample()]
    assert len(set(ids)) == len(ids)
    assert sum(path.stat().st_size for path in SAMPLE.iterdir()) < 2_000_000


def test_sample_documents_are_told_as_they_are() -> None:
    told = (SAMPLE / "README.md").read_text(encoding="utf-8")
    counts = Counter(row["source"] for row in sample())
    assert [source for source, count in counts.items() if f"| `{source}` | {count:,} |" not in told] == []
    assert f"{counts.total():,} real documents" in told
