"""The contents of `scenarios.toml`, typed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
DATA = FOLDER / "data"
RECORDS = FOLDER / "records"
DOCS = ROOT / "docs"


@dataclass(frozen=True, slots=True)
class CorpusPlan:
    """Settings of the corpus; lengths in characters; `planted`: similarity -> share of documents."""

    packages: tuple[str, ...]
    median_length: float
    length_sigma: float
    package_limit: int
    shared_limit: float
    minimum_bytes: int
    small_documents: int
    seed: int
    planted: Mapping[float, float]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One benchmark: the corpus, the task of every engine, and the number of runs.

    An engine whose first run takes more than `once_above` seconds runs once; one over `time_limit` is stopped.
    """

    name: str
    corpus: str
    engines: tuple[str, ...]
    threads: tuple[int, ...]
    threshold: float
    recall: float
    num_hashes: int
    bands: int
    rows: int
    unit: str
    format: str
    reference: str
    repetitions: int
    once_above: float
    time_limit: float


def _table() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "scenarios.toml").read_text(encoding="utf-8"))


def load_corpus_plan() -> CorpusPlan:
    table = _table()["corpus"]
    planted = {float(level): float(share) for level, share in table.pop("planted").items()}
    return CorpusPlan(packages=tuple(table.pop("packages")), planted=planted, **table)


def scenario_names() -> list[str]:
    """The names in the order of the file."""
    return list(_table()["scenario"])


def load_scenario(name: str) -> Scenario:
    """The scenario `name`; the error for an unknown name lists the known ones."""
    known = _table()["scenario"]
    if name not in known:
        raise SystemExit(f"no scenario {name!r} in scenarios.toml; there are {', '.join(known)}")
    table = _table()["settings"] | known[name]
    engines, threads = tuple(table.pop("engines")), tuple(table.pop("threads"))
    return Scenario(name=name, engines=engines, threads=threads, **table)


def load_environments() -> dict[str, list[str]]:
    """Environment name -> pinned requirements."""
    return {name: list(pins) for name, pins in _table()["environments"].items()}


def load_interpreters() -> dict[str, str]:
    """Environment name -> the version of Python that it needs, if it matters."""
    return dict(_table()["interpreters"])
