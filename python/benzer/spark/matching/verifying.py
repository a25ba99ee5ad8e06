"""Finds the matches of the queries of a block by comparing a stream of documents of the collection.

The rows of a block are in this order: the queries, then the documents that share a key with any of them, in the order
of the collection, then the copies of the queries. A task holds the contents of the queries and their best matches so
far; the number and the size of the documents of the collection do not affect its memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer._native import Contents
from benzer.columns import as_array
from benzer.contents import Encoded, contents_of, own_fields, similarities
from benzer.fields import Schema
from benzer.spark.contents import encode
from benzer.spark.matching.pairing import arrow, batch_of, changes

ASKS, IS_HELD, IS_COPY = range(3)
"""The kinds of rows of a block, in order."""

COMPARED_TOGETHER = 1 << 12
COMPARED_BYTES = 16 << 20
HELD_MATCHES = 1 << 18
ANSWERED_TOGETHER = 1 << 14


@dataclass(frozen=True)
class Verify:
    """Converts rows of blocks to verified matches, most similar first for each query.

    threshold: minimum similarity of a match. limit: maximum matches per query, None for all. identified: whether equal
    ids mean the same document on both sides, which is then not a match. fields: whether to return the similarity of
    each field.
    """

    schema: Schema
    threshold: float
    limit: int | None
    identified: bool
    fields: bool

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        block: Block | None = None
        for batch in batches:
            if not batch.num_rows:
                continue
            keys = [batch.column(name).to_numpy() for name in ("block", "kind")]
            starts = changes(*keys).tolist()
            for start, end in zip(starts, [*starts[1:], batch.num_rows], strict=True):
                rows = arrow().Table.from_batches([batch.slice(start, end - start)])
                if block is None or block.number != keys[0][start]:
                    if block is not None:
                        yield from block.answers()
                    block = Block(self, int(keys[0][start]))
                yield from block.take(int(keys[1][start]), rows)
        if block is not None:
            yield from block.answers()

    @property
    def most(self) -> int | None:
        """The number of matches to keep per query: one more than the limit if one may be the document itself."""
        return None if self.limit is None else self.limit + self.identified


@dataclass
class CurrentMatches:
    """The current matches, in any order of queries; those of each query are in the order of the collection."""

    query: NDArray[np.int64]
    similarity: NDArray[np.float64]
    of_field: NDArray[np.float64]
    old_number: NDArray[np.int64]
    old_id: Any

    def __len__(self) -> int:
        return len(self.query)

    def rows_at(self, rows: NDArray[np.int64]) -> CurrentMatches:
        """Some of the matches."""
        return CurrentMatches(
            self.query[rows], self.similarity[rows], self.of_field[rows], self.old_number[rows], self.old_id.take(rows)
        )  # fmt: skip

    def best(self, most: int | None) -> CurrentMatches:
        """Sorted by query, most similar first, equal ones in their order; up to a maximum per query."""
        order = np.lexsort((-self.similarity, self.query))
        if most is not None:
            order = order[places(self.query[order]) < most]
        return self.rows_at(order)

    @classmethod
    def joined(cls, parts: list[CurrentMatches]) -> CurrentMatches:
        """Concatenated matches."""
        return cls(
            np.concatenate([part.query for part in parts]),
            np.concatenate([part.similarity for part in parts]),
            np.concatenate([part.of_field for part in parts]),
            np.concatenate([part.old_number for part in parts]),
            arrow().concat_arrays([part.old_id for part in parts]),
        )


class Block:
    """The state of one block while its rows are read."""

    def __init__(self, asks: Verify, number: int) -> None:
        self.number = number
        self._asks = asks
        self._rows: list[Any] = []  # rows of one kind, not processed yet
        self._waiting = IS_HELD
        self._askers: Any = None
        self._contents: Contents | None = None
        self._kept: dict[int, Encoded] = {}
        self._matches: list[CurrentMatches] = []
        self._answered = False

    def take(self, kind: int, rows: Any) -> Iterator[Any]:
        """Add rows of one kind; returns the finished matches."""
        if kind == ASKS:
            self._rows.append(rows)
            return
        if self._contents is None:
            self._read_askers()
        if kind == IS_HELD:
            self._rows.append(rows)
            if (
                sum(map(len, self._rows)) >= COMPARED_TOGETHER
                or sum(_row.nbytes for _row in self._rows) >= COMPARED_BYTES
            ):
                self._compare()
            return
        yield from self.answers()
        yield from self._answer(rows)

    def answers(self) -> Iterator[Any]:
        """The matches of the queries themselves."""
        if self._answered:
            return
        self._answered = True
        if self._contents is None:
            self._read_askers()
        self._compare()
        self._matches = [CurrentMatches.joined(self._matches).best(self._asks.most)] if self._matches else []
        yield from self._answer(self._askers)

    def _read_askers(self) -> None:
        pyarrow = arrow()
        rows = pyarrow.concat_tables(self._rows) if self._rows else None
        self._rows = []
        if rows is None:
            rows = pyarrow.table({"number": pyarrow.array([], pyarrow.int64())})
        self._askers = rows.sort_by("number")
        schema = self._asks.schema
        encoded: list[list[bytes | None]] = [[] for _ in schema.fields]
        if len(rows):
            columns = [
                as_array(self._askers.column(f"field_{number}")) for number in range(len(schema.fields))
            ]
            encoded = encode(schema, columns)[0]
        self._contents = contents_of(schema, encoded)
        self._kept = {number: encoded[number] for number in own_fields(schema)}

    def _compare(self) -> None:
        rows, self._rows = self._rows, []
        if not rows:
            return
        stored = arrow().concat_tables(rows)
        schema = self._asks.schema
        packed = stored.column("asked").to_pylist()
        askers = np.concatenate([np.frombuffer(item, dtype="<i8") for item in packed])
        right = np.repeat(np.arange(len(stored)), [len(item) // 8 for item in packed])
        left = np.searchsorted(self._askers.column("number").to_numpy(), askers)
        encoded = [stored.column(f"old_field_{number}").to_pylist() for number in range(len(schema.fields))]
        assert self._contents is not None
        ends = left.astype(np.uint32), right.astype(np.uint32)
        overlaps = self._contents.overlaps(contents_of(schema, encoded), *ends)
        table = similarities(schema, overlaps, *ends, self._kept, dict(enumerate(encoded)))
        similarity, of_field = table[:, 0], table[:, 1:]
        alike = np.flatnonzero(similarity >= self._asks.threshold)
        if not len(alike):
            return
        numbers = stored.column("number").to_numpy()[right[alike]]
        ids = as_array(stored.column("old_id")).take(right[alike])
        self._matches.append(CurrentMatches(left[alike], similarity[alike], of_field[alike], numbers, ids))
        if self._asks.limit is not None and sum(map(len, self._matches)) >= HELD_MATCHES:
            self._matches = [CurrentMatches.joined(self._matches).best(self._asks.most)]

    def _answer(self, members: Any) -> Iterator[Any]:
        """The matches of documents from the query with the same content: `number` is that of the query."""
        if not self._matches or not len(members):
            return
        matches = self._matches[0]
        known = self._askers.column("number").to_numpy()
        asker = np.searchsorted(known, members.column("number").to_numpy())
        starts = np.searchsorted(matches.query, asker, side="left")
        counts = np.searchsorted(matches.query, asker, side="right") - starts
        for start, end in portions(counts, ANSWERED_TOGETHER):
            yield from self._rows_of(members.slice(start, end - start), starts[start:end], counts[start:end])

    def _rows_of(self, members: Any, starts: NDArray[Any], counts: NDArray[Any]) -> Iterator[Any]:
        member = np.repeat(np.arange(len(members)), counts)
        position = np.arange(len(member)) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
        ids = as_array(members.column("id")).take(member)
        old_ids = self._matches[0].old_id.take(position)
        if self._asks.identified and ids.type == old_ids.type:
            others = np.flatnonzero(
                ids.to_numpy(zero_copy_only=False) != old_ids.to_numpy(zero_copy_only=False)
            )
            member, position = member[others], position[others]
        rank = places(member)
        if self._asks.limit is not None:
            stay = rank < self._asks.limit
            member, position, rank = member[stay], position[stay], rank[stay]
        if len(member):
            yield self._batch(members.take(member), self._matches[0].rows_at(position), rank)

    def _batch(self, members: Any, matches: CurrentMatches, rank: NDArray[np.int64]) -> Any:
        columns = {
            "number": as_array(members.column("member")),
            "id": as_array(members.column("id")),
            "old_number": matches.old_number,
            "old_id": matches.old_id,
            "similarity": matches.similarity,
            "rank": (rank + 1).astype(np.int32),
        }
        if self._asks.fields:
            for number in range(matches.of_field.shape[1]):
                item = matches.of_field[:, number]
                columns[f"similarity_{number}"] = arrow().array(item, mask=np.isnan(item))
        return batch_of(**columns)


def places(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """The position of each row in its run of equal ones.

    >>> places(np.array([4, 4, 7, 4])).tolist()
    [0, 1, 0, 0]
    """
    if not len(groups):
        return np.empty(0, dtype=np.int64)
    starts = changes(groups)
    return np.arange(len(groups)) - np.repeat(starts, np.diff(np.append(starts, len(groups))))


def portions(counts: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Divide rows into parts with a maximum total, or of a single row.

    >>> list(portions(np.array([2, 2, 9, 1]), 4))
    [(0, 2), (2, 3), (3, 4)]
    """
    start, together = 0, 0
    for position, count in enumerate(counts.tolist()):
        if position > start and together + count > most:
            yield start, position
            start, together = position, 0
        together += count
    if start < len(counts):
        yield start, len(counts)
