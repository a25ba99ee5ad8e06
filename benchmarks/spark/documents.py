"""Data of the measurements: parts of the corpus with their exact pairs, a gigabyte of text, a million short
documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks.scale_documents import write

ROWS = 10_000
SUFFIXES = ("", "q", "z")
PARTS = 4


def cut(corpus: Path, truth: Path, count: int, target: Path) -> Path:
    """A number of documents of the corpus with complete planted clusters, so a small part has the same share of
    copies.

    The documents keep their order, and are numbered from 0.
    """
    if not target.exists():
        table = pq.read_table(corpus)
        chosen = np.sort(_whole_clusters(pq.read_table(truth), table.num_rows)[:count])
        ids = pa.array(np.arange(len(chosen)), pa.int64())
        _save(pa.table({"id": ids, "text": table["text"].take(pa.array(chosen))}), target)
    return target


def _whole_clusters(pairs: pa.Table, documents: int) -> NDArray[np.int64]:
    """The rows, with the rows of each planted cluster together, and the clusters in a fixed random order."""
    first = np.arange(documents)
    left, right = (pairs[name].to_numpy() for name in ("left", "right"))
    changed = True
    while changed:  # the pairs of a cluster are all there, so that a few rounds do
        before = first.copy()
        np.minimum.at(first, right, first[left])
        np.minimum.at(first, left, first[right])
        changed = bool((before != first).any())
    lots = np.random.default_rng(1).permutation(documents)
    return np.lexsort((np.arange(documents), lots[first]))


def gigabyte(corpus: Path, folder: Path) -> list[Path]:
    """The corpus three times, with a letter after each word of the second and third: a gigabyte in twelve files.

    No two of the three share a shingle, and each has the duplicates of the corpus.
    """
    paths = [folder / f"{copy}-{part}.parquet" for copy in range(len(SUFFIXES)) for part in range(PARTS)]
    if not all(path.exists() for path in paths):
        texts = pq.read_table(corpus, columns=["text"])["text"]
        for copy, suffix in enumerate(SUFFIXES):
            _write_copy(texts, suffix, copy, paths[copy * PARTS : (copy + 1) * PARTS])
    return paths


def _write_copy(texts: pa.ChunkedArray, suffix: str, copy: int, paths: list[Path]) -> None:
    size = -(-len(texts) // len(paths))
    for number, path in enumerate(paths):
        part = texts.slice(number * size, size)
        written = [" ".join(word + suffix for word in text.split(" ")) for text in part.to_pylist()]
        start = copy * len(texts) + number * size
        ids = pa.array(np.arange(start, start + len(written)), pa.int64())
        _save(pa.table({"id": ids, "text": pa.array(written)}), path)


def short_documents(count: int, folder: Path) -> list[Path]:
    """The documents of `benchmarks.scale`, 40 to 60 words each, as Parquet in eight files."""
    paths = [folder / f"{count}-{part}.parquet" for part in range(8)]
    if not all(path.exists() for path in paths):
        lines = folder / f"ordinary-{count}.jsonl"
        write(lines, "ordinary", count)
        for path, rows in zip(paths, _parts(lines, -(-count // len(paths))), strict=True):
            _save(pa.Table.from_pylist(rows), path)
        lines.unlink()
    return paths


def _parts(path: Path, size: int) -> Iterator[list[dict[str, str]]]:
    with path.open("rb") as lines:
        rows: list[dict[str, str]] = []
        for line in lines:
            rows.append(json.loads(line))
            if len(rows) == size:
                yield rows
                rows = []
        if rows:
            yield rows


def _save(table: pa.Table, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    pq.write_table(table, partial, compression="snappy", row_group_size=ROWS)
    partial.replace(path)
