"""How is the work of a batch run cut, so that it can be interrupted and fits into the memory?"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.candidates import Candidates, propose
from benzer.exact import exact_pairs
from benzer.fields import Schema
from benzer.pipeline.checkpoint import Arrays, Checkpoint, NoCheckpoint
from benzer.pipeline.memory import Memory
from benzer.sketcher import Sketcher, Sketches
from benzer.verify import verify

VERIFIED_TOGETHER = 1 << 22

Positions = NDArray[np.uint32]
Report = Callable[[int, int], object] | None


@dataclass(frozen=True)
class Work:
    """The stages of one run over one corpus, in parts.

    memory: what may be held beside the documents. saved: where finished parts are kept. Neither changes what
    comes out.
    """

    corpus: Any
    schema: Schema
    threads: int = 0
    memory: Memory = field(default_factory=Memory)
    saved: Checkpoint | NoCheckpoint = field(default_factory=NoCheckpoint)

    def sketch(self, sketcher: Sketcher, report: Report = None) -> Sketches:
        """The sketches of all documents; band keys that are too many for the memory lie in a file."""
        count, fields = len(self.corpus), len(self.schema.fields)
        self.memory.check(count, fields)
        width = fields * sketcher.bands.bands
        spilled = self.memory.spills(count, width)
        keys: Any = SpilledKeys(width) if spilled else np.empty((count, width), dtype=np.uint64)
        content = np.empty((count, 2), dtype=np.uint64)
        sizes = np.empty((count, fields), dtype=np.uint32)
        units = np.empty((count, fields), dtype=np.uint32)
        for start, end in runs(count, self.memory.sketched_together(width)):
            part = self.saved.part(
                f"sketch-{start}-{end}", partial(self._sketch, sketcher, report, start, end)
            )
            keys[start:end] = part["keys"]
            content[start:end] = part["content"]
            sizes[start:end] = part["sizes"]
            units[start:end] = part["units"]
        return Sketches(keys.array(count) if spilled else keys, content, sizes, units)

    def _sketch(self, sketcher: Sketcher, report: Report, start: int, end: int) -> Arrays:
        made = sketcher.sketch(self.corpus, self.threads, report, start, end)
        return {"keys": made.keys, "content": made.content, "sizes": made.sizes, "units": made.units}

    def propose(
        self, sketches: Sketches, taking_part: NDArray[np.bool_], bucket_limit: int
    ) -> tuple[Candidates, NDArray[np.float64] | None]:
        """The candidates of the bands; their similarity is not known yet."""

        def make() -> Arrays:
            keys = sketches.keys
            at_once = self.memory.bands_at_once(*keys.shape)
            found = propose(keys, sketches.content, taking_part, bucket_limit, self.threads, at_once)
            numbers = np.array([found.oversized_buckets, found.oversized_documents])
            return {"left": found.left, "right": found.right, "oversized": numbers}

        part = self.saved.part("candidates", make)
        return Candidates(part["left"], part["right"], *part["oversized"].tolist()), None

    def join(
        self, sketches: Sketches, taking_part: NDArray[np.bool_], threshold: float, report: Report = None
    ) -> tuple[Candidates, NDArray[np.float64] | None]:
        """All pairs of which some field reaches the threshold, with their similarity where there is one field."""
        self.memory.check_sets(int(sketches.sizes.sum()))

        def make() -> Arrays:
            thresholds = [threshold] * len(self.schema.fields)
            found = exact_pairs(self.corpus, thresholds, taking_part, self.threads, report)
            known = {} if found.similarity is None else {"similarity": found.similarity}
            return {"left": found.left, "right": found.right, **known}

        part = self.saved.part("candidates", make)
        return Candidates(part["left"], part["right"], 0, 0), part.get("similarity")

    def verify(self, left: Positions, right: Positions, report: Report = None) -> NDArray[np.float64]:
        """The exact similarity of pairs (float64, one a pair), in parts of pairs that hang together."""
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
        told = None if report is None else lambda done, _: report(before + done, total)
        return {"similarity": self.compare(left, right, told)}

    def compare(self, left: Positions, right: Positions, report: Report = None) -> NDArray[np.float64]:
        """The exact similarity of pairs, in one go."""
        weights, batch_bytes = self.schema.weights, self.memory.batch_bytes
        return verify(self.corpus, left, right, weights, self.threads, report, batch_bytes)


class SpilledKeys:
    """Rows of band keys (uint64, n x `width`) that are written one after another to a temporary file.

    They are written as bytes, not through a mapping, so that a full disk is an error and no crash; what is read is
    mapped, so that the system may drop it from memory at any time. The file has no name and ends with the process.
    """

    def __init__(self, width: int) -> None:
        self._file = tempfile.TemporaryFile(prefix="benzer-keys-")  # it is mapped beyond this call
        self._width = width

    def __setitem__(self, rows: slice, keys: NDArray[np.uint64]) -> None:
        self._file.seek(rows.start * self._width * keys.itemsize)
        self._file.write(np.ascontiguousarray(keys).data)

    def array(self, count: int) -> NDArray[np.uint64]:
        """All rows, mapped."""
        with self._file:
            self._file.flush()
            return np.memmap(self._file, dtype=np.uint64, mode="r", shape=(count, self._width))


def runs(count: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut `count` things into parts of at most `most`, by start and end.

    >>> list(runs(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, count, most):
        yield start, min(start + most, count)
