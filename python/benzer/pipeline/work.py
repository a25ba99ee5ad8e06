"""Divides the work of a run into parts that can be interrupted and fit into memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benzer.buckets import LargeBuckets
from benzer.candidates import Candidates, propose
from benzer.corpora import DocumentCorpus
from benzer.errors import full_disk_named
from benzer.exact import exact_pairs
from benzer.families import Families, families_of
from benzer.fields import Schema
from benzer.pipeline.checkpoint import Arrays, Checkpoint, NoCheckpoint
from benzer.pipeline.memory import Memory
from benzer.sketcher import Sketcher, Sketches
from benzer.verify import verify

VERIFIED_TOGETHER = 1 << 22

Positions = NDArray[np.uint32]
Report = Callable[[int, int], object] | None


@dataclass(frozen=True)
class Sketched:
    """The sketches of all documents until their candidates are known, by position.

    Attributes:
        keys: Band keys (uint64, (fields * bands) x n), so that the join reads one band after another in order.
        content: A 128-bit hash of the compared content (uint64, n x 2).
        empty: Documents without shingles in any field (bool, n).
        short: Other documents that are shorter than one shingle in all fields (bool, n).
        shingles: Number of shingles of all documents together, with repetitions.
    """

    keys: NDArray[np.uint64]
    content: NDArray[np.uint64]
    empty: NDArray[np.bool_]
    short: NDArray[np.bool_]
    shingles: int


@dataclass(frozen=True)
class BatchWork:
    """The stages of one run over one corpus, in parts.

    Attributes:
        memory: The memory limit.
        saved: The checkpoint with the finished parts. Neither affects the result.
    """

    corpus: DocumentCorpus
    schema: Schema
    threads: int = 0
    memory: Memory = field(default_factory=Memory)
    saved: Checkpoint | NoCheckpoint = field(default_factory=NoCheckpoint)

    def sketch(self, sketcher: Sketcher, report: Report = None) -> Sketched:
        """Return the sketches of all documents; band keys beyond the memory limit are in a file."""
        count, fields = len(self.corpus), len(self.schema.fields)
        self.memory.check(count, fields)
        width = fields * sketcher.bands.bands
        spilled = SpilledKeys(width, count) if self.memory.spills(count, fields, width) else None
        keys = np.empty((width, 0 if spilled else count), dtype=np.uint64)
        content = np.empty((count, 2), dtype=np.uint64)
        empty, short = np.empty(count, dtype=bool), np.empty(count, dtype=bool)
        shingles = 0
        for start, end in runs(count, self.memory.sketched_together(width)):
            part = Sketches(
                **self.saved.part(
                    f"sketch-{start}-{end}", partial(self._sketch, sketcher, report, start, end)
                )
            )
            if spilled:
                spilled.put(start, part.keys)
            else:
                keys[:, start:end] = part.keys.T
            content[start:end] = part.content
            empty[start:end], short[start:end] = part.empty, sketcher.short(part)
            shingles += int(part.sizes.sum(dtype=np.uint64))
        return Sketched(spilled.array() if spilled else keys, content, empty, short, shingles)

    def _sketch(self, sketcher: Sketcher, report: Report, start: int, end: int) -> Arrays:
        made = sketcher.sketch(self.corpus, self.threads, report, start, end)
        return {"keys": made.keys, "content": made.content, "sizes": made.sizes, "units": made.units}

    def propose(
        self,
        sketches: Sketched,
        taking_part: NDArray[np.bool_],
        bucket_limit: int | None,
        report: Report = None,
    ) -> tuple[Candidates, NDArray[np.float64] | None]:
        """Return the candidates of the bands; their similarity is not known yet."""

        def make() -> Arrays:
            width, count = sketches.keys.shape
            at_once = self.memory.bands_at_once(count, len(self.schema.fields), width)
            settings = (bucket_limit, self.threads, at_once)
            candidates = propose(sketches.keys, taking_part, *settings, True, report)
            return {
                "left": candidates.left,
                "right": candidates.right,
                "large_members": candidates.large.members,
                "large_ends": candidates.large.ends,
                "limit": np.array([candidates.limit]),
            }

        part = self.saved.part("candidates", make)
        large = LargeBuckets(part["large_members"], part["large_ends"])
        return Candidates(part["left"], part["right"], large, int(part["limit"][0])), None

    def join(
        self, sketches: Sketched, taking_part: NDArray[np.bool_], threshold: float, report: Report = None
    ) -> tuple[Candidates, NDArray[np.float64] | None]:
        """Return all pairs with a field that reaches the threshold; for one field, also their similarity."""
        self.memory.check_sets(sketches.shingles)

        def make() -> Arrays:
            thresholds = [threshold] * len(self.schema.fields)
            pairs = exact_pairs(self.corpus, thresholds, taking_part, self.threads, report)
            known = {} if pairs.similarity is None else {"similarity": pairs.similarity}
            return {"left": pairs.left, "right": pairs.right, **known}

        part = self.saved.part("candidates", make)
        return Candidates(part["left"], part["right"]), part.get("similarity")

    def verify(self, left: Positions, right: Positions, report: Report = None) -> NDArray[np.float64]:
        """Return the exact similarity of pairs (float64, one per pair), in parts of connected pairs."""
        similarity = np.empty(len(left), dtype=np.float64)
        order = np.arange(len(left), dtype=np.uint32)
        if len(left) > VERIFIED_TOGETHER:
            order, _ = self.corpus.batches(left, right, self.memory.batch_bytes)
        for start, end in runs(len(left), VERIFIED_TOGETHER):
            part = order[start:end]
            make = partial(self._verify, left[part], right[part], report, start, len(left))
            similarity[part] = self.saved.part(f"compared-{start}", make)["similarity"]
        return similarity

    def _verify(self, left: Positions, right: Positions, report: Report, before: int, total: int) -> Arrays:
        report_part = None if report is None else lambda done, _: report(before + done, total)
        return {"similarity": self.compare(left, right, report_part)}

    @property
    def families(self) -> Families:
        """Return the comparison of the documents of large buckets with the kept ones among them."""
        return families_of(self.corpus, self.schema, self.compare, self.threads)

    def compare(self, left: Positions, right: Positions, report: Report = None) -> NDArray[np.float64]:
        """Return the exact similarity of pairs in one call."""
        weights, batch_bytes = self.schema.weights, self.memory.batch_bytes
        return verify(self.corpus, left, right, weights, self.threads, report, batch_bytes)


class SpilledKeys:
    """The band keys of `count` documents (uint64, `width` x n) in a temporary file, written some documents at a time.

    They are written as bytes, not through a mapping, so that a full disk is an error and no crash. Reading is mapped,
    so that the system may drop pages from memory at any time. The file has no name and ends with the process.
    """

    def __init__(self, width: int, count: int) -> None:
        import tempfile

        self._file = tempfile.TemporaryFile(
            prefix="benzer-keys-", buffering=0
        )  # it is mapped beyond this call
        self._shape = (width, count)

    def put(self, start: int, keys: NDArray[np.uint64]) -> None:
        """Store the keys (documents x width) of the documents from `start` on."""
        for band, column in enumerate(np.ascontiguousarray(keys.T)):
            self._write(column.data.cast("B"), (band * self._shape[1] + start) * column.itemsize)

    def _write(self, data: memoryview, place: int) -> None:
        from tempfile import gettempdir

        try:
            with full_disk_named(f"band keys to {gettempdir()}", "set TMPDIR to another folder"):
                while data:
                    written = os.pwrite(self._file.fileno(), data, place)
                    data, place = data[written:], place + written
        except OSError:
            self._file.close()
            raise

    def array(self) -> NDArray[np.uint64]:
        """Return all keys, mapped."""
        with self._file:
            return np.memmap(self._file, dtype=np.uint64, mode="r", shape=self._shape)


def runs(count: int, most: int) -> Iterator[tuple[int, int]]:
    """Divide `count` items into parts of at most `most`, by start and end.

    >>> list(runs(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, count, most):
        yield start, min(start + most, count)
