"""How is a bucket above the limit divided? As in a local run, by the same code, wherever it fits in a task.

Its documents travel to one task, by content: the first four are its anchors. A bucket that fits is divided there, to
the last pair. Of a larger one every document is paired with the anchors as it passes by; then the documents are filed
anew, under the key of the next band in which they differ as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer._native import divide_bucket
from benzer.spark.frames import DataFrame
from benzer.spark.joining.packing import PACKED, Numbers, Sizes, Words, by_part, words
from benzer.spark.joining.workers import Pairing
from benzer.spark.session import to_arrow
from benzer.spark.tasks import Task

ANCHORS = 4
SIGN = np.uint64(1 << 63)
"""Contents are ordered as unsigned numbers, and Spark's are signed: turned by this, the order is the same."""

FILED = "path binary, number bigint, content_a bigint, content_b bigint, keys binary"
SETTLED = PACKED + ", path binary, depth int, documents bigint"
"""Pairs; or a bucket of so many `documents`, which is to be filed anew where there is a `depth`: under the keys of the
band that comes so many after its own."""


@dataclass(frozen=True)
class Path:
    """What the documents of a bucket share: the keys of a band and of some that come so many (`depth`) after it."""

    band: int
    steps: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, name: bytes) -> Path:
        """The path of a name: the band, then depth and key of each step, 8 bytes each."""
        band, *steps = np.frombuffer(name, dtype=np.uint64).tolist()
        return cls(band, tuple(zip(steps[::2], steps[1::2], strict=True)))

    @property
    def depth(self) -> int:
        """After how many bands the bucket can be divided."""
        return self.steps[-1][0] + 1

    def having(self, keys: Words) -> NDArray[np.bool_]:
        """Which rows of keys are in the bucket."""
        shared = [keys[:, (self.band + depth) % keys.shape[1]] == key for depth, key in self.steps]
        return np.asarray(np.logical_and.reduce(shared), dtype=np.bool_)


@dataclass
class Hot:
    """What came of buckets above the limit: tables of `PACKED` pairs, and counts."""

    pairs: list[DataFrame] = field(default_factory=list)
    buckets: int = 0
    documents: int = 0


def divided(run: Any, stages: Any, sketches: DataFrame, found: dict[int, Words], settle: Settle) -> Hot:
    """What the buckets of the keys of each band propose. sketches: number, content_a, content_b and keys."""
    hot = Hot()
    for number, keys in enumerate(portions(found, settle.sizes.hot)):
        name = f"join-hot-{number}"
        rows, anew = _settled(run, stages, name, sketches, File(settle.width, keys), settle, hot)
        hot.buckets += len(rows)
        hot.documents += sum(rows)
        steps = 1
        while anew:
            steps += 1
            deeper = Settle(settle.width, settle.limit, steps, settle.pair_parts, settle.sizes)
            worker = FileAnew(settle.width, tuple(anew))
            _, anew = _settled(run, stages, f"{name}-{steps}", sketches, worker, deeper, hot)
    return hot


def portions(found: dict[int, Words], most: int) -> Iterator[dict[int, Words]]:
    """The keys in ascending order, at most so many at a time, as they go to every task."""
    bands = np.repeat(list(found), [len(keys) for keys in found.values()])
    keys = np.concatenate([np.sort(keys) for keys in found.values()])
    for start in range(0, len(keys), most):
        some, own = bands[start : start + most], keys[start : start + most]
        yield {int(band): own[some == band] for band in np.unique(some)}


def _settled(
    run: Any, stages: Any, name: str, sketches: DataFrame, file: Any, settle: Settle, hot: Hot
) -> tuple[list[int], list[tuple[str, int]]]:
    """Files and settles: how many documents the buckets have, and which are to be filed anew, at which depth."""
    from pyspark.sql import functions as F

    columns = sketches.select("number", "content_a", "content_b", "keys")
    order = ("path", "content_a", "content_b", "number")
    settled = stages.keep(
        name,
        lambda: by_part(run, columns.mapInArrow(Task(file), FILED), *order).mapInArrow(Task(settle), SETTLED),
    )
    hot.pairs.append(settled.where("documents is null").select("part", "left", "right"))
    told = to_arrow(settled.where("documents is not null").select(F.hex("path"), "depth", "documents"))
    paths, depths, documents = (column.to_pylist() for column in told.columns)
    anew = [(path, depth) for path, depth in zip(paths, depths, strict=True) if depth is not None]
    return documents, sorted(anew)


@dataclass(frozen=True)
class File:
    """Sketches (number, content_a, content_b, keys) -> `FILED`, once for each band of which the key is given.

    keys: those of each band, ascending.
    """

    width: int
    keys: dict[int, Words]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            table = words(batch.column("keys")).reshape(-1, self.width)
            for band, wanted in self.keys.items():
                own = table[:, band]
                at = np.minimum(np.searchsorted(wanted, own), len(wanted) - 1)
                rows = np.flatnonzero(wanted[at] == own)
                if len(rows):
                    names = np.zeros((len(rows), 3), dtype=np.uint64)
                    names[:, 0], names[:, 2] = band, own[rows]
                    yield filed(batch, rows, names)


@dataclass(frozen=True)
class FileAnew:
    """Sketches -> `FILED`, once for each of some buckets (name, in hexadecimal) under the key of a further band."""

    width: int
    paths: tuple[tuple[str, int], ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            table = words(batch.column("keys")).reshape(-1, self.width)
            for name, depth in self.paths:
                path = Path.of(bytes.fromhex(name))
                rows = np.flatnonzero(path.having(table))
                if len(rows):
                    finer = table[rows, (path.band + depth) % self.width]
                    ours = np.frombuffer(bytes.fromhex(name), dtype=np.uint64)
                    step = np.stack((np.full(len(rows), depth, dtype=np.uint64), finer), axis=1)
                    yield filed(batch, rows, np.concatenate((np.tile(ours, (len(rows), 1)), step), axis=1))


def filed(batch: Any, rows: Numbers, names: Words) -> Any:
    """Some rows of a batch of sketches as a batch of `FILED`."""
    import pyarrow as pa

    ends = pa.py_buffer((np.arange(len(rows) + 1) * names.shape[1] * 8).astype(np.int32))
    path = pa.Array.from_buffers(
        pa.binary(), len(rows), [None, ends, pa.py_buffer(np.ascontiguousarray(names))]
    )
    own = batch.take(pa.array(rows))
    content = [pa.array(_turned(own.column(name).to_numpy())) for name in ("content_a", "content_b")]
    columns = [path, own.column("number"), *content, own.column("keys").cast(pa.binary())]
    return pa.record_batch(columns, names=["path", "number", "content_a", "content_b", "keys"])


def _turned(content: Numbers) -> Numbers:
    return (content.view(np.uint64) ^ SIGN).view(np.int64)


@dataclass(frozen=True)
class Settle:
    """`FILED` rows, those of a path neighbours, by content -> `SETTLED`. steps: of each path."""

    width: int
    limit: int
    steps: int
    pair_parts: int
    sizes: Sizes

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        pairing = Pairing(self.pair_parts, self.sizes.dealt)
        bucket = None
        for batch in batches:
            names = words(batch.column("path")).reshape(-1, 2 * self.steps + 1)
            changes = np.flatnonzero((names[1:] != names[:-1]).any(axis=1)) + 1
            for start, end in zip([0, *changes], [*changes, len(names)], strict=True):
                if start == end:
                    continue
                name = names[start].tobytes()
                if bucket is None or bucket.name != name:
                    if bucket is not None:
                        yield from as_settled(bucket.end())
                    bucket = Bucket(self, name, pairing)
                yield from as_settled(bucket.take(batch.slice(start, end - start)))
        if bucket is not None:
            yield from as_settled(bucket.end())
        yield from as_settled(pairing.rest())


def as_settled(batches: Iterator[Any]) -> Iterator[Any]:
    """Batches of `PACKED` or of the other columns, as `SETTLED`."""
    import pyarrow as pa

    columns = ["part", "left", "right", "path", "depth", "documents"]
    kinds = [pa.int32(), pa.binary(), pa.binary(), pa.binary(), pa.int32(), pa.int64()]
    for batch in batches:
        given = dict(zip(batch.schema.names, batch.columns, strict=True))
        filled = [
            given.get(name, pa.nulls(batch.num_rows, kind)) for name, kind in zip(columns, kinds, strict=True)
        ]
        yield pa.record_batch(filled, names=columns)


class Bucket:
    """A bucket as its documents come, by content."""

    def __init__(self, settle: Settle, name: bytes, pairing: Pairing) -> None:
        self.settle, self.name, self.pairing = settle, name, pairing
        self.path = Path.of(name)
        self.held: list[tuple[Numbers, Words, Words]] = []
        self.count = 0
        self.anchors: Numbers | None = None
        self.first: Words | None = None
        self.differs = np.zeros(settle.width, dtype=np.bool_)

    def take(self, rows: Any) -> Iterator[Any]:
        """Takes documents; pairs them with the anchors at once where there are too many to hold."""
        numbers = rows.column("number").to_numpy()
        content = np.stack([rows.column(name).to_numpy() for name in ("content_a", "content_b")], axis=1)
        keys = words(rows.column("keys")).reshape(-1, self.settle.width)
        self.count += len(numbers)
        if self.anchors is not None:
            yield from self._pass(self.anchors, numbers, keys, 0)
            return
        self.held.append((numbers, content.view(np.uint64) ^ SIGN, keys))
        if self.count > max(self.settle.sizes.bucket, self.settle.limit, ANCHORS):
            numbers, _, keys = self._stacked()
            self.held, self.anchors = [], numbers[:ANCHORS].copy()
            yield from self._pass(self.anchors, numbers, keys, 1)

    def _pass(self, anchors: Numbers, numbers: Numbers, keys: Words, first: int) -> Iterator[Any]:
        """Pairs documents with the anchors. first: 1 where they begin with the anchors themselves, else 0."""
        for i, anchor in enumerate(anchors):
            others = numbers[first * (i + 1) :]
            yield from self.pairing.add(np.minimum(anchor, others), np.maximum(anchor, others))
        self.first = keys[0].copy() if self.first is None else self.first
        self.differs |= (keys != self.first).any(axis=0)

    def end(self) -> Iterator[Any]:
        """Proposes what is still to be proposed, and tells of the bucket where somebody asks."""
        depth = None
        if self.anchors is None:
            yield from self._divided()
        else:
            after = range(self.path.depth, self.settle.width)
            differing = [d for d in after if self.differs[(self.path.band + d) % self.settle.width]]
            depth = differing[0] if differing else None
        if depth is not None or self.settle.steps == 1:
            yield self._told(depth)

    def _divided(self) -> Iterator[Any]:
        numbers, content, keys = self._stacked()
        how = (self.path.band, self.path.depth, self.settle.limit)
        left, right, members, ends = divide_bucket(keys, content, *how)
        one, other = numbers[left], numbers[right]
        yield from self.pairing.add(np.minimum(one, other), np.maximum(one, other))
        yield from self.pairing.within(*ascending(numbers[members], ends))

    def _stacked(self) -> tuple[Numbers, Words, Words]:
        numbers, content, keys = zip(*self.held, strict=True)
        return np.concatenate(numbers), np.concatenate(content), np.concatenate(keys)

    def _told(self, depth: int | None) -> Any:
        import pyarrow as pa

        columns = [pa.array([self.name], pa.binary()), pa.array([depth], pa.int32()), pa.array([self.count])]
        return pa.record_batch(columns, names=["path", "depth", "documents"])


def ascending(members: Numbers, ends: Numbers) -> tuple[Numbers, Numbers]:
    """The members of each group in ascending order.

    >>> ascending(np.array([5, 3, 9, 1]), np.array([2, 4]))[0]
    array([3, 5, 1, 9])
    """
    group = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    return members[np.lexsort((members, group))], ends
