"""Collects documents and decisions of a run on the driver, as the arrays of a local result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.buckets import LargeBuckets
from benzer.candidates import Candidates, identical
from benzer.clusters import ClusterDecision
from benzer.corpora import DocumentCorpus
from benzer.errors import SettingsError
from benzer.families import families_of
from benzer.results import Reading
from benzer.results.known import Known
from benzer.results.safety import packed
from benzer.sources import MalformedRow, ReadOptions, ReadReport
from benzer.spark.frames import PAIR, REMOVED
from benzer.spark.ranking import placed
from benzer.spark.reading import corpus_of_batch
from benzer.spark.results.base import SOURCE_BITS, ClusterTables, column, of_kind, plain_id
from benzer.spark.results.choosing import Chosen, choose
from benzer.spark.results.local import LocalDuplicates
from benzer.spark.session import to_arrow
from benzer.verify import verify

Positions = NDArray[np.uint32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class NamedSource:
    """A source with only a name."""

    name: str
    suffix: str = ""
    path: None = None


class Placed:
    """A corpus whose documents have the ids, sources and rows of the whole input."""

    def __init__(
        self,
        corpus: DocumentCorpus,
        ids: list[str | int],
        sources: NDArray[np.uint32],
        rows: NDArray[np.uint64],
    ) -> None:
        self._corpus, self._ids, self._sources, self._rows = corpus, ids, sources, rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._corpus, name)

    def __len__(self) -> int:
        return len(self._ids)

    def ids(self, positions: Any = None) -> list[str | int]:
        """The ids at some positions, or all."""
        if positions is None:
            return list(self._ids)
        return [self._ids[int(position)] for position in positions]

    def sources(self) -> NDArray[np.uint32]:
        """The source of each document."""
        return self._sources

    def rows(self) -> NDArray[np.uint64]:
        """The row of each document in its source; 0 where it has none."""
        return self._rows


def to_local(result: ClusterTables, documents: int) -> LocalDuplicates:
    """See `SparkDuplicates.to_local`."""
    if documents < 2:
        raise SettingsError(f"documents must be at least 2, got {documents}: use a larger number")
    chosen = choose(result, documents)
    corpus, numbers, rows = read(result, chosen)
    sketcher = result.run.sketcher
    sketches = sketcher.sketch(corpus)
    rank = ranked(result, corpus, rows)
    stands_for = identical(corpus, sketches.content, sketches.empty, rank)

    def compare(left: Positions, right: Positions) -> NDArray[np.float64]:
        return verify(corpus, left, right, result.settings.schema.weights)

    positions = Finder(numbers)
    pairs, similarity = verified_pairs(result, chosen, positions)
    proposed, values, second = split(result, chosen, positions, pairs, similarity, compare)
    leader, likeness = leaders(result, chosen, positions)
    return LocalDuplicates(
        settings=result.settings,
        reading=reading_of(result),
        corpus=corpus,
        empty=sketches.empty,
        short=sketcher.short(sketches),
        rank=rank,
        stands_for=stands_for,
        proposed=proposed,
        verified=values,
        decision=ClusterDecision(leader, likeness, *second, 0),
        compare=compare,
        families=families_of(corpus, result.settings.schema, compare),
        timings=result.timings,
        matches=matches_of(result, chosen, positions),
        whole=result,
        chosen=chosen,
        numbers=numbers,
    )


@dataclass(frozen=True)
class Finder:
    """The positions of documents by number."""

    numbers: Numbers

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self.numbers)

    def __call__(self, queries: Numbers) -> Positions:
        places = np.searchsorted(self.numbers[self._order], queries)
        positions: Positions = self._order[places].astype(np.uint32)
        return positions


def read(result: ClusterTables, chosen: Chosen) -> tuple[Placed, Numbers, Any]:
    """The corpus of the chosen documents in input order, their numbers, and their columns."""
    table = placed(to_arrow(result.documents.wanted(chosen.members, count=chosen.documents)))
    batch = corpus_of_batch(result.settings.schema, table)
    numbers = column(table, "number").astype(np.int64)
    ids = ids_of(result, table)
    sources = column(table, "source").astype(np.uint32)
    rows = (
        numbers & ((1 << SOURCE_BITS) - 1) if result.files is not None else np.zeros_like(numbers)
    ).astype(np.uint64)
    return Placed(batch.corpus, ids, sources, rows), numbers, table


def ids_of(result: ClusterTables, table: Any, name: str = "id") -> list[str | int]:
    """Ids as given by the user."""
    ids: list[str | int] = table.column(name).to_pylist()
    return [plain_id(result, item) for item in ids] if result.documents.id_form == "json" else ids


def ranked(result: ClusterTables, corpus: DocumentCorpus, rows: Any) -> Positions:
    """The keep order of the collected documents."""
    keep, count = result.settings.keep, len(corpus)
    extras = [None if item is None else item.encode() for item in rows.column("extra").to_pylist()]
    lengths = (
        corpus.text_lengths(np.arange(count, dtype=np.uint32), 0)
        if keep.rule == "longest"
        else np.zeros(count)
    )
    places = None
    if keep.rule == "source":
        places = np.array(keep.source_places(result.files or [result.documents.name]))[corpus.sources()]
    return keep.rank(lengths.astype(np.uint64), extras, places)


def rows_within(chosen: Chosen, rows: Any, ends: Sequence[str]) -> Any:
    """The rows whose documents are all chosen."""
    from pyspark.sql import functions as F

    if chosen.all:
        return rows
    for end in ends:
        rows = rows.join(chosen.members.select(F.col("number").alias(end)), end, "left_semi")
    return rows


def verified_pairs(
    result: ClusterTables, chosen: Chosen, position: Finder
) -> tuple[tuple[Positions, Positions], NDArray[np.float64]]:
    """The verified pairs of the chosen documents by position, the earlier one in the input first."""
    rows = of_kind(result, PAIR).select("left", "right", "similarity")
    table = to_arrow(rows_within(chosen, rows, ("left", "right")))
    left, right = position(column(table, "left")), position(column(table, "right"))
    return (np.minimum(left, right), np.maximum(left, right)), column(table, "similarity")


def split(
    result: ClusterTables,
    chosen: Chosen,
    position: Finder,
    pairs: tuple[Positions, Positions],
    similarity: NDArray[np.float64],
    compare: Any,
) -> tuple[Candidates, NDArray[np.float64], tuple[Positions, Positions, NDArray[np.float64]]]:
    """The candidates with their similarities, and separately the pairs of the second round.

    Candidates below the threshold were compared by the workers; if all documents are collected, they are compared
    again.
    """
    table = to_arrow(rows_within(chosen, result.joined.pairs.select("left", "right"), ("left", "right")))
    left, right = position(column(table, "left")), position(column(table, "right"))
    keys = np.unique(packed(np.minimum(left, right), np.maximum(left, right)))
    known = packed(*pairs)
    order = np.argsort(known)
    known, values = known[order], similarity[order]
    second = ~np.isin(known, keys, assume_unique=True)
    low, high = unpacked(keys)
    verified = np.full(len(keys), -1.0)
    verified[np.searchsorted(keys, known[~second])] = values[~second]
    new = verified < 0
    if not chosen.all:
        keys, low, high, verified = keys[~new], low[~new], high[~new], verified[~new]
    elif new.any():
        verified[new] = compare(low[new], high[new])
    return (
        Candidates(low, high, large_of(result, chosen, position)),
        verified,
        (*unpacked(known[second]), values[second]),
    )


def large_of(result: ClusterTables, chosen: Chosen, place: Finder) -> LargeBuckets:
    """The large buckets with their collected documents."""
    if result.joined.buckets is None:
        return LargeBuckets()
    table = to_arrow(rows_within(chosen, result.joined.buckets.select("number", "buckets"), ("number",)))
    buckets = table.column("buckets").combine_chunks()
    _, bucket = np.unique(buckets.flatten().to_numpy(), return_inverse=True)
    position = np.repeat(place(column(table, "number")), np.diff(buckets.offsets.to_numpy()))
    order = np.lexsort((position, bucket))
    ends = np.cumsum(np.bincount(bucket, minlength=result.joined.oversized_buckets))
    return LargeBuckets(position[order].astype(np.uint32), ends.astype(np.int64))


def unpacked(keys: NDArray[np.uint64]) -> tuple[Positions, Positions]:
    """The inverse."""
    return (keys >> np.uint64(32)).astype(np.uint32), (keys & np.uint64(2**32 - 1)).astype(np.uint32)


def leaders(result: ClusterTables, chosen: Chosen, position: Finder) -> tuple[Positions, NDArray[np.float64]]:
    """The kept document for each collected document, and their similarity."""
    count = len(position.numbers)
    leader, likeness = np.arange(count, dtype=np.uint32), np.ones(count)
    rows = of_kind(result, REMOVED).select("left", "right", "similarity")
    table = to_arrow(rows_within(chosen, rows, ("left", "right")))
    gone = position(column(table, "left"))
    leader[gone] = position(column(table, "right"))
    likeness[gone] = column(table, "similarity")
    return leader, likeness


def matches_of(result: ClusterTables, chosen: Chosen, value: Finder) -> Known | None:
    """The matches of the collected documents with older collections."""
    if result.known is None:
        return None
    matches = result.known.matches.join(chosen.members.select("number"), "number", "left_semi")
    table = to_arrow(matches.select("number", "old_id", "collection", "similarity", "rank"))
    position, collection = value(column(table, "number")), column(table, "collection").astype(np.uint32)
    order = np.lexsort((column(table, "rank"), collection, position))
    old_ids = [plain_id(result, item) for item in table["old_id"].to_pylist()]
    return Known(
        result.known.names,
        position[order],
        collection[order],
        [old_ids[place] for place in order.tolist()],
        column(table, "similarity")[order],
    )


def reading_of(result: ClusterTables) -> Reading:
    """The sources by name, and the malformed rows that were collected."""
    counts = result.by_source()
    rows: dict[str, list[MalformedRow]] = {count.name: [] for count in counts}
    for row in result.malformed_rows:
        rows.setdefault(row.source, []).append(row)
    own = result.documents
    given = getattr(own, "options", None)
    options = given or ReadOptions(fields=dict(own.fields), id_column=None if own.id == "id" else own.id)
    reports = [ReadReport(count.read, count.documents, rows[count.name]) for count in counts]
    return Reading([NamedSource(count.name) for count in counts], reports, options)  # type: ignore[misc]
