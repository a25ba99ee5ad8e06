"""Labelled sets of a folder, and the pairs that each label counts: texts and labels by position."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import quality_code


@dataclass(frozen=True, slots=True)
class Plan:
    """The scoring of a set.

    headline: "f1" of pairs, or "ari" of clusters: the main figure.

    rule: the pairs that count: all; "cross": those between two tables (the part of an id before ":"); "anchors":
    those with at least one id of anchors.tsv.

    clusters: the file of labels; a document that it does not list is omitted for all engines.
    """

    kind: str
    headline: str
    rule: str = "all"
    clusters: str | None = None


SETS = {
    "abt_buy": Plan("product records", "f1", rule="cross"),
    "articles2500": Plan("news", "f1"),
    "bible_kjv_asv": Plan("verses", "f1", clusters="truth_clusters.tsv.gz"),
    "clough_stevenson": Plan("student answers", "f1", rule="anchors"),
    "cora": Plan("citation records", "f1", clusters="truth_clusters.tsv"),
    "dblp_acm": Plan("bibliographic records", "f1", rule="cross"),
    "debian_desc_en": Plan("package descriptions", "ari", clusters="truth_clusters.tsv.gz"),
    "debian_desc_multilingual": Plan("translated descriptions", "ari", clusters="truth_clusters.tsv.gz"),
    "django_code": Plan("source code", "ari", clusters="paths"),
    "django_docs": Plan("documentation pages", "ari", clusters="truth_clusters.tsv"),
    "licenses": Plan("licence texts", "ari", clusters="truth_clusters_fulltexts.tsv"),
    "noisy_news": Plan("news with edits", "ari", clusters="truth_clusters.tsv"),
    "rfc": Plan("long documents", "f1"),
}


@dataclass(frozen=True, slots=True)
class Truth:
    """Labels of n documents by position.

    left, right: the true pairs (int64, left < right). side: for the rule "cross" the table of each document, for
    "anchors" whether it is one (int64, n); None if all pairs count. clusters: the label of each document (int64,
    n), or None.
    """

    count: int
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    rule: str = "all"
    side: NDArray[np.int64] | None = None
    clusters: NDArray[np.int64] | None = None

    def counts(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each pair counts."""
        if self.side is None:
            return np.ones(len(left), dtype=bool)
        one, other = self.side[left], self.side[right]
        return one != other if self.rule == "cross" else (one | other).astype(bool)


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """One set: its texts in an order that depends on their contents, and the labels."""

    name: str
    plan: Plan
    texts: list[str]
    truth: Truth

    @property
    def size(self) -> int:
        """Total number of characters."""
        return sum(map(len, self.texts))


def load(folder: Path, name: str) -> LabelledSet:
    """The set `name` in a folder of sets; "django_code" is downloaded from the package registry."""
    plan, home = SETS[name], folder / name
    labels: dict[str, str] | None
    if name == "django_code":
        read = list(quality_code.files())
        rows, labels = [(one, text) for one, text, _ in read], {one: path for one, _, path in read}
    else:
        labels = dict(_rows(home / plan.clusters)) if plan.clusters else None
        rows = [row for row in _documents(home / "docs.jsonl.xz") if labels is None or row[0] in labels]
    rows.sort(key=_shuffled)  # in the files versions of a document lie beside each other
    place = {row[0]: at for at, row in enumerate(rows)}
    clusters = None if labels is None else numbers([labels[one] for one in place])
    if clusters is None:
        listed = [[place[row[0]], place[row[1]]] for row in _rows(home / "truth_pairs.tsv")]
        pairs = np.array(listed, dtype=np.int64)
    else:
        pairs = pairs_within(clusters)
    pairs.sort(axis=1)
    truth = Truth(
        len(rows), pairs[:, 0], pairs[:, 1], plan.rule, _sides(home, plan.rule, list(place)), clusters
    )
    return LabelledSet(name, plan, [row[1] for row in rows], truth)


def pairs_within(clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """All pairs of documents with the same label (int64, m x 2).

    >>> pairs_within(np.array([7, 8, 7, 7])).tolist()
    [[0, 2], [0, 3], [2, 3]]
    """
    order = np.argsort(clusters, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(clusters[order])) + 1)
    parts = [np.column_stack([group[side] for side in np.triu_indices(len(group), 1)]) for group in groups]
    return np.concatenate([part.reshape(-1, 2) for part in parts])


def numbers(labels: list[str]) -> NDArray[np.int64]:
    """Labels as numbers; equal labels have equal numbers.

    >>> numbers(["b", "a", "b"]).tolist()
    [1, 0, 1]
    """
    return np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)[1].astype(np.int64)


def _sides(home: Path, rule: str, ids: list[str]) -> NDArray[np.int64] | None:
    if rule == "cross":
        return numbers([one.split(":", 1)[0] for one in ids])
    if rule == "anchors":
        anchors = {row[0] for row in _rows(home / "anchors.tsv")}
        return np.array([one in anchors for one in ids], dtype=np.int64)
    return None


def _shuffled(row: tuple[str, str]) -> bytes:
    return hashlib.blake2b(row[1].encode("utf-8", "replace") + row[0].encode(), digest_size=8).digest()


def _documents(path: Path) -> Iterator[tuple[str, str]]:
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["id"], row["text"]


def _rows(path: Path) -> Iterator[list[str]]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as binary:
        for line in io.TextIOWrapper(binary, encoding="utf-8", newline="\n"):
            if not line.startswith("#") and line.strip():
                yield line.rstrip("\n").split("\t")
