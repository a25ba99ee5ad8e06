"""Labelled data sets of a folder: documents, exact pairs and labels."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

Pair = tuple[str, str]
THRESHOLD = 0.8
_KINDS = {
    "truth_jaccard_word3.tsv.gz": "word3",
    "truth_jaccard_char5.tsv.gz": "char5",
    "truth_jaccard.tsv.gz": "set",
}
_LABEL_FILES = (
    "truth_pairs.tsv",
    "truth_clusters_fulltexts.tsv",
    "truth_clusters.tsv",
    "truth_clusters.tsv.gz",
)


@dataclass(frozen=True, slots=True)
class Labels:
    """Pairs that people or the makers of the set call duplicates; `known` contains the judged ids, None for all."""

    pairs: set[Pair]
    known: set[str] | None

    def restrict(self, found: Iterable[Pair]) -> set[Pair]:
        """The found pairs that were judged."""
        known = self.known
        return set(found) if known is None else {pair for pair in found if known.issuperset(pair)}


@dataclass(frozen=True, slots=True)
class DataSet:
    """One set with one kind of shingles, "word3", "char5" or "set"; `threshold` is 0.8, or the minimum similarity
    of the true pairs if it is higher.
    """

    name: str
    kind: str
    folder: Path
    threshold: float

    @property
    def file(self) -> Path:
        return self.folder / ("sets.jsonl.xz" if self.kind == "set" else "docs.jsonl.xz")

    def truth(self) -> dict[Pair, float]:
        """Exact pairs at or above the threshold, similarity with six decimals."""
        name = next(name for name, kind in _KINDS.items() if kind == self.kind)
        rows = ((ordered(row[0], row[1]), float(row[2])) for row in _rows(self.folder / name))
        return {pair: similarity for pair, similarity in rows if similarity >= self.threshold}

    def labels(self) -> Labels | None:
        """The labels; None if the set has only exact similarities."""
        path = next((path for name in _LABEL_FILES if (path := self.folder / name).exists()), None)
        if path is None:
            return None
        if path.name == "truth_pairs.tsv":
            return Labels({ordered(row[0], row[1]) for row in _rows(path)}, None)
        return _cluster_labels(path)


def data_sets(folder: Path, only: str | None = None) -> Iterator[DataSet]:
    """Every set with exact similarities, in the order of their names."""
    for home in sorted(path for path in folder.iterdir() if path.is_dir() and only in (None, path.name)):
        for name, kind in _KINDS.items():
            if (home / name).exists():
                yield DataSet(home.name, kind, home, max(THRESHOLD, _floor(home, kind)))


def documents(file: Path) -> Iterator[tuple[str, list[str | int]]]:
    """Ids and value sets of a `sets.jsonl.xz`."""
    with lzma.open(file, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["id"], row["set"]


def ordered(left: str, right: str) -> Pair:
    return (left, right) if left < right else (right, left)


def f1(found: Collection[Pair], wanted: Collection[Pair]) -> float:
    """Harmonic mean of precision and recall over pairs.

    >>> f1({("a", "b"), ("a", "c")}, {("a", "b")})
    0.6666666666666666
    """
    hit = len(set(found) & set(wanted))
    return 2 * hit / (len(found) + len(wanted)) if found or wanted else 1.0


def _cluster_labels(path: Path) -> Labels:
    members: dict[str, list[str]] = {}
    for row in _rows(path):
        members.setdefault(row[1], []).append(row[0])
    pairs = {ordered(*pair) for cluster in members.values() for pair in combinations(cluster, 2)}
    return Labels(pairs, {document for cluster in members.values() for document in cluster})


def _floor(home: Path, kind: str) -> float:
    """The similarity from which the list of true pairs is complete, as the README of the set states."""
    text = (home / "README.md").read_text(encoding="utf-8")
    pattern = r"\(stored from ([\d.]+)\)" if kind == "set" else rf"^\| {kind} \| ([\d.]+) \|"
    match = re.search(pattern, text, re.MULTILINE)
    return float(match.group(1)) if match else 0.0


def _rows(path: Path) -> Iterator[list[str]]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as binary:
        lines = io.TextIOWrapper(binary, encoding="utf-8", newline="\n")
        for line in lines:
            if not line.startswith("#") and line.strip():
                yield line.rstrip("\n").split("\t")
