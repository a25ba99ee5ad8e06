"""The tasks that measure recall: they draw documents by content and find their true neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer import recall as local
from benzer.fields import Schema
from benzer.fields.base import has_own_similarity
from benzer.registry import require
from benzer.spark.reading import corpus_of_batch
from benzer.verify import verify

Numbers = NDArray[np.int64]
TOGETHER = 32 << 20
"""Bytes of documents that are processed together: the drawn ones are read again each time."""
SIGN = np.uint64(1 << 63)
DRAWN = "number bigint, content_a bigint, content_b bigint, place bigint"
NEIGHBOURS = "query bigint, number bigint, similarity double"
LENGTHS = "number bigint, length bigint"


@dataclass(frozen=True)
class Least:
    """Returns the first drawn contents of the documents of a task, with one document per content."""

    count: int
    seed: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
        held = np.empty((0, 4), dtype=np.int64)
        for batch in batches:
            number, a, b = (
                batch.column(name).to_numpy(zero_copy_only=False)
                for name in ("number", "content_a", "content_b")
            )
            content = np.stack([a.view(np.uint64), b.view(np.uint64)], axis=1)
            place = (local.draw_places(content, self.seed) ^ SIGN).view(np.int64)
            held = self._least(np.concatenate((held, np.stack([number, a, b, place], axis=1))))
        columns = [pyarrow.array(np.ascontiguousarray(held[:, at])) for at in range(4)]
        yield pyarrow.RecordBatch.from_arrays(columns, ["number", "content_a", "content_b", "place"])

    def _least(self, rows: Numbers) -> Numbers:
        """One row per content, with the lowest places."""
        rows = rows[np.lexsort((rows[:, 0], rows[:, 2], rows[:, 1], rows[:, 3]))]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (np.diff(rows[:, 1:], axis=0) != 0).any(axis=1)
        return rows[new][: self.count]


@dataclass(frozen=True)
class Lengths:
    """Returns the size of each document's texts in bytes, as a local measurement counts it."""

    schema: Schema

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
        for batch in map(identified, batches):
            found = corpus_of_batch(self.schema, batch)
            lengths = found.corpus.text_sizes(np.arange(len(found.rows), dtype=np.uint32), 1)
            numbers = batch.column("number").take(pyarrow.array(found.rows))
            columns = [numbers, pyarrow.array(lengths.astype(np.int64))]
            yield pyarrow.RecordBatch.from_arrays(columns, ["number", "length"])


def identified(batch: Any) -> Any:
    """The rows with a number and a place; others are malformed."""
    compute = require("pyarrow.compute", extra="spark", purpose="runs on Spark")
    return batch.filter(compute.and_(batch.column("number").is_valid(), batch.column("place").is_valid()))


@dataclass(frozen=True)
class Ask:
    """Finds among the documents of a task the true neighbours of the drawn ones, without bands.

    drawn: their `number` and fields, in the order of the draw, as an Arrow table.
    """

    schema: Schema
    threshold: float
    drawn: Any

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        held: list[Any] = []
        for batch in batches:
            held.append(identified(batch).select(self.drawn.column_names))
            if sum(one.nbytes for one in held) >= max(TOGETHER, self.drawn.nbytes):
                yield from self._ask(held)
                held = []
        if held:
            yield from self._ask(held)

    def _ask(self, batches: list[Any]) -> Iterator[Any]:
        pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
        table = pyarrow.concat_tables(
            [self.drawn, pyarrow.Table.from_batches(batches).cast(self.drawn.schema)]
        )
        found = corpus_of_batch(self.schema, table)
        numbers = table["number"].to_numpy()[found.rows]
        count = self.drawn.num_rows
        drawn = np.arange(count, dtype=np.uint32)
        query, other = local.possible_neighbours(found.corpus, drawn, self.schema, self.threshold, 1)
        new = (other >= count) & (numbers[other] != numbers[query])
        query, other = query[new], other[new]
        similarity = verify(found.corpus, query, other, self.schema.weights, 1)
        several = len(self.schema.fields) > 1 or any(map(has_own_similarity, self.schema.fields.values()))
        alike = np.flatnonzero(similarity >= self.threshold) if several else np.arange(len(query))
        columns = [
            pyarrow.array(query[alike].astype(np.int64)),
            pyarrow.array(numbers[other[alike]]),
            pyarrow.array(similarity[alike]),
        ]
        yield pyarrow.RecordBatch.from_arrays(columns, ["query", "number", "similarity"])
