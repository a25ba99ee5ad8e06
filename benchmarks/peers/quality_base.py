"""Inputs and results of engines in the quality runs. numpy only, because every environment imports this."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_PAIRS = 6_000_000
"""An answer of more candidate pairs than this is given up: no setting that is any good gives so many."""

MODULES = {
    "benzer": "benchmarks.peers.quality_benzer",
    "datasketch": "benchmarks.peers.quality_datasketch",
    "rensa": "benchmarks.peers.quality_rensa",
    "text-dedup": "benchmarks.peers.quality_text_dedup",
}
Settings = dict[str, Any]


class GaveUp(Exception):
    """A setting that was not completed; the message gives the reason."""


@dataclass(frozen=True)
class Collection:
    """Documents in a folder: their texts, and their shingle sets for each kind of shingles of the grid."""

    folder: Path

    @cached_property
    def texts(self) -> list[str]:
        with (self.folder / "texts.jsonl").open(encoding="utf-8") as lines:
            return [json.loads(line)["text"] for line in lines]

    def sets(self, reading: str) -> Iterator[NDArray[np.uint64]]:
        """The distinct shingle hashes (uint64) of each document; `reading` is "word3", "char5", …"""
        offsets = np.load(self.folder / f"{reading}.offsets.npy")
        hashes = np.load(self.folder / f"{reading}.hashes.npy", mmap_mode="r")
        for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            yield np.asarray(hashes[start:end])


@dataclass(frozen=True)
class Answer:
    """Pairs (int64, left < right, each once) with the engine's similarities, or clusters by label, or both.

    `clusters` contains alternatives to the components of the pairs: the name of the method, a threshold, and the
    label of each document. `least` is the minimum similarity of the requested pairs.
    """

    left: NDArray[np.int64] | None = None
    right: NDArray[np.int64] | None = None
    similarity: NDArray[np.float64] | None = None
    clusters: tuple[tuple[str, float, NDArray[np.int64]], ...] = ()
    least: float = 0.0


Engine = Callable[[Collection, Settings, int], Answer]


def engine(name: str) -> Engine:
    """The function that runs `name` with settings and a seed."""
    find: Engine = import_module(MODULES[name]).find
    return find


def distinct_pairs(
    found: Iterator[tuple[int, list[int]]], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs left < right of (document, the documents in its buckets); gives up beyond `MOST_PAIRS`.

    >>> [side.tolist() for side in distinct_pairs(iter([(0, [0, 2]), (2, [0, 2])]), 3)]
    [[0], [2]]
    """
    parts: list[NDArray[np.int64]] = []
    total = 0
    for document, others in found:
        later = np.array([other for other in others if other > document], dtype=np.int64)
        total += len(later)
        if total > MOST_PAIRS:
            raise GaveUp(f"more than {MOST_PAIRS:,} candidate pairs")
        parts.append(document * count + later)
    keys = np.unique(np.concatenate(parts)) if parts else np.array([], dtype=np.int64)
    return keys // count, keys % count


def equal_share(
    signatures: NDArray[Any], left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The estimate of both libraries: the share of equal signature values of each pair (float64, m)."""
    parts = [
        (signatures[left[at : at + 50_000]] == signatures[right[at : at + 50_000]]).mean(axis=1)
        for at in range(0, len(left), 50_000)
    ]
    return np.concatenate(parts) if parts else np.array([], dtype=np.float64)
