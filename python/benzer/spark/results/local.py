"""Which documents come to the driver, for what a local result answers: its page, its alarms, its clusters?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benzer.candidates import Candidates, identical
from benzer.clusters import Decision
from benzer.errors import OutputError, SettingsError
from benzer.recall import RecallEstimate
from benzer.results import Duplicates, Reading, SourceCounts
from benzer.results.safety import Safety
from benzer.results.spread import Spread
from benzer.sources import MalformedRow, ReadOptions, ReadReport
from benzer.spark.frames import PAIR, REMOVED
from benzer.spark.results.choosing import Chosen, choose
from benzer.spark.results.tables import SOURCE_BITS, of_kind
from benzer.spark.session import to_arrow
from benzer.verify import verify

if TYPE_CHECKING:
    from benzer.spark.results.duplicates import SparkDuplicates

Positions = NDArray[np.uint32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Named:
    """A source of which the name is all that is here."""

    name: str
    suffix: str = ""
    path: None = None


class Placed:
    """A corpus whose documents have the ids, sources and rows that they have in the whole input."""

    def __init__(self, corpus: Any, ids: list[str | int], sources: NDArray[np.uint32], rows: NDArray[np.uint64]) -> None:
        self._corpus, self._ids, self._sources, self._rows = corpus, ids, sources, rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._corpus, name)

    def __len__(self) -> int:
        return len(self._ids)

    def ids(self, positions: Any = None) -> list[str | int]:
        """The ids at some positions, or all."""
        if positions is None:
            return list(self._ids)
        return [self._ids[int(at)] for at in positions]

    def sources(self) -> NDArray[np.uint32]:
        """The source of each document."""
        return self._sources

    def rows(self) -> NDArray[np.uint64]:
        """The row of each document in its source; 0 where it has none."""
        return self._rows


@dataclass(frozen=True)
class LocalDuplicates(Duplicates):
    """Some documents of a run on Spark: all that have candidates or copies, or the clusters that were chosen.

    Counts, sources and the spread of similarities and sizes are those of the whole run. Positions count the documents
    at hand, in the order of the input.
    """

    whole: SparkDuplicates = field(repr=False, kw_only=True)
    chosen: Chosen = field(repr=False, kw_only=True)
    numbers: Numbers = field(repr=False, kw_only=True)
    engine: ClassVar[str] = "benzer.spark"

    @property
    def part(self) -> str:  # type: ignore[override]
        """A sentence on how little of the run is at hand; "" where all is that has candidates or copies."""
        return self.chosen.told

    @cached_property
    def counts(self) -> dict[str, int]:
        """Those of the whole run."""
        return self.whole.counts

    @cached_property
    def _by_source(self) -> list[SourceCounts]:
        return self.whole.by_source()

    def by_source(self) -> list[SourceCounts]:
        """Those of the whole run."""
        return self._by_source

    def spread(self, edges: NDArray[np.float64]) -> Spread:
        """Those of the whole run; of candidates below the threshold only where all of them are at hand."""
        from benzer.spark.results import counting

        return super().spread(edges) if self.chosen.all else counting.spread(self.whole, edges)

    def cluster_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Those of the whole run."""
        from benzer.spark.results import counting

        return super().cluster_sizes() if self.chosen.all else counting.cluster_sizes(self.whole)

    @cached_property
    def safety(self) -> Safety:
        """The clusters at hand, in components of which the whole size is known."""
        return super().safety if self.chosen.all else PartSafety(self)

    def measure_recall(
        self, documents: int = 1000, confidence: float = 0.95, seed: int = 0, threads: int = 0
    ) -> RecallEstimate:
        """Of the whole run."""
        return self.whole.measure_recall(documents, confidence, seed)

    def rethreshold(self, threshold: float) -> Duplicates:
        """Refused: counts of the whole run cannot be told from the documents at hand."""
        raise SettingsError(f"the documents at hand cannot tell counts at {threshold}: run again with that threshold")

    def write(self, output: str | Path, *arguments: Any, **options: Any) -> dict[str, Path]:
        """Refused: what is here is not all that was read."""
        raise OutputError(f"{output} would hold only the documents at hand: use SparkDuplicates.write")


class PartSafety(Safety):
    """The same where not all clusters are at hand: components are as large as they are in the whole run."""

    def __init__(self, found: LocalDuplicates) -> None:
        super().__init__(found)
        self.facts = found.chosen.components

    @cached_property
    def component(self) -> Positions:
        """By the component that the run found, named by its first document at hand."""
        named = self.facts.of(self.found.numbers)  # type: ignore[attr-defined]
        _, first, back = np.unique(named, return_index=True, return_inverse=True)
        return first[back].astype(np.uint32)

    def _whole(self, name: str) -> NDArray[np.int64]:
        named = self.facts.of(self.found.numbers)  # type: ignore[attr-defined]
        found = np.zeros(len(named), dtype=np.int64)
        found[self.component] = self.facts.fact(name, named)
        return found

    @cached_property
    def component_sizes(self) -> NDArray[np.int64]:
        """In the whole run."""
        return self._whole("documents")

    @cached_property
    def component_clusters(self) -> NDArray[np.int64]:
        """In the whole run."""
        return self._whole("clusters")

    @cached_property
    def component_largest(self) -> NDArray[np.int64]:
        """In the whole run."""
        return self._whole("largest")


def to_local(found: SparkDuplicates, documents: int) -> LocalDuplicates:
    """See `SparkDuplicates.to_local`."""
    if documents < 2:
        raise SettingsError(f"documents must be at least 2, got {documents}: two make a pair")
    chosen = choose(found, documents)
    corpus, numbers, rows = read(found, chosen)
    sketcher = found.run.sketcher
    sketches = sketcher.sketch(corpus)
    rank = ranked(found, corpus, rows)
    stands_for = identical(sketches.content, sketches.empty, rank)

    def compare(left: Positions, right: Positions) -> NDArray[np.float64]:
        return verify(corpus, left, right, found.settings.schema.weights)

    at = Finder(numbers)
    pairs, similarity = verified_pairs(found, chosen, at)
    proposed, values, second = split(found, chosen, at, pairs, similarity, compare)
    leader, likeness = leaders(found, chosen, at)
    return LocalDuplicates(
        settings=found.settings,
        reading=reading_of(found),
        corpus=corpus,
        empty=sketches.empty,
        short=sketcher.short(sketches),
        rank=rank,
        stands_for=stands_for,
        proposed=proposed,
        verified=values,
        decision=Decision(leader, likeness, *second, 0),
        compare=compare,
        timings=found.timings,
        matches=matches_of(found, chosen, at),
        whole=found,
        chosen=chosen,
        numbers=numbers,
    )


@dataclass(frozen=True)
class Finder:
    """Where documents stand, by number."""

    numbers: Numbers

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self.numbers)

    def __call__(self, asked: Numbers) -> Positions:
        places = np.searchsorted(self.numbers[self._order], asked)
        found: Positions = self._order[places].astype(np.uint32)
        return found


def read(found: SparkDuplicates, chosen: Chosen) -> tuple[Placed, Numbers, Any]:
    """The corpus of the chosen documents in the order of the input, their numbers, and what is known of each."""
    from benzer.spark.ranking import placed
    from benzer.spark.reading import corpus_of_batch

    table = placed(to_arrow(found.documents.wanted(chosen.members, count=chosen.documents)))
    batch = corpus_of_batch(found.settings.schema, table)
    numbers = column(table, "number").astype(np.int64)
    ids = ids_of(found, table)
    sources = column(table, "source").astype(np.uint32)
    rows = (numbers & ((1 << SOURCE_BITS) - 1) if found.files is not None else np.zeros_like(numbers)).astype(np.uint64)
    return Placed(batch.corpus, ids, sources, rows), numbers, table


def column(table: Any, name: str) -> NDArray[Any]:
    """A column without nulls."""
    values: NDArray[Any] = table.column(name).to_numpy()
    return values


def ids_of(found: SparkDuplicates, table: Any, name: str = "id") -> list[str | int]:
    """Ids as they were given."""
    ids: list[str | int] = table.column(name).to_pylist()
    return [plain_id(found, one) for one in ids] if found.documents.id_form == "json" else ids


def plain_id(found: SparkDuplicates, one: Any) -> Any:
    """One id as it was given."""
    import json

    return json.loads(one) if found.documents.id_form == "json" and one is not None else one


def ranked(found: SparkDuplicates, corpus: Any, rows: Any) -> Positions:
    """The keep order of the documents at hand."""
    keep, count = found.settings.keep, len(corpus)
    extras = [None if one is None else one.encode() for one in rows.column("extra").to_pylist()]
    lengths = corpus.text_lengths(np.arange(count, dtype=np.uint32), 0) if keep.rule == "longest" else np.zeros(count)
    places = None
    if keep.rule == "source":
        places = np.array(keep.source_places(found.files or [found.documents.name]))[corpus.sources()]
    return keep.rank(lengths.astype(np.uint64), extras, places)


def rows_within(chosen: Chosen, rows: Any, ends: Sequence[str]) -> Any:
    """The rows whose ends are all among the chosen documents."""
    from pyspark.sql import functions as F

    if chosen.all:
        return rows
    for end in ends:
        rows = rows.join(chosen.members.select(F.col("number").alias(end)), end, "left_semi")
    return rows


def verified_pairs(
    found: SparkDuplicates, chosen: Chosen, at: Finder
) -> tuple[tuple[Positions, Positions], NDArray[np.float64]]:
    """The verified pairs of the chosen documents, by position, the one earlier in the input first."""
    rows = of_kind(found, PAIR).select("left", "right", "similarity")
    table = to_arrow(rows_within(chosen, rows, ("left", "right")))
    left, right = at(column(table, "left")), at(column(table, "right"))
    return (np.minimum(left, right), np.maximum(left, right)), column(table, "similarity")


def split(
    found: SparkDuplicates,
    chosen: Chosen,
    at: Finder,
    pairs: tuple[Positions, Positions],
    similarity: NDArray[np.float64],
    compare: Any,
) -> tuple[Candidates, NDArray[np.float64], tuple[Positions, Positions, NDArray[np.float64]]]:
    """The candidates with their similarities, and apart from them the pairs of the second look.

    Candidates below the threshold were compared where they lay; where all are at hand they are compared once more.
    """
    table = to_arrow(rows_within(chosen, found.joined.pairs.select("left", "right"), ("left", "right")))
    left, right = at(column(table, "left")), at(column(table, "right"))
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
    counts = found.joined.oversized_buckets, found.joined.oversized_documents
    return Candidates(low, high, *counts), verified, (*unpacked(known[second]), values[second])


def packed(low: Positions, high: Positions) -> NDArray[np.uint64]:
    """One number for each pair."""
    keys: NDArray[np.uint64] = (low.astype(np.uint64) << np.uint64(32)) | high.astype(np.uint64)
    return keys


def unpacked(keys: NDArray[np.uint64]) -> tuple[Positions, Positions]:
    """The other way."""
    return (keys >> np.uint64(32)).astype(np.uint32), (keys & np.uint64(2**32 - 1)).astype(np.uint32)


def leaders(found: SparkDuplicates, chosen: Chosen, at: Finder) -> tuple[Positions, NDArray[np.float64]]:
    """Who stays for each document at hand, and how similar the two are."""
    count = len(at.numbers)
    leader, likeness = np.arange(count, dtype=np.uint32), np.ones(count)
    rows = of_kind(found, REMOVED).select("left", "right", "similarity")
    table = to_arrow(rows_within(chosen, rows, ("left", "right")))
    gone = at(column(table, "left"))
    leader[gone] = at(column(table, "right"))
    likeness[gone] = column(table, "similarity")
    return leader, likeness


def matches_of(found: SparkDuplicates, chosen: Chosen, at: Finder) -> Any:
    """What older collections hold of the documents at hand."""
    if found.known is None:
        return None
    from benzer.spark.results.older import known_of

    return known_of(found, chosen, at)


def reading_of(found: SparkDuplicates) -> Reading:
    """What was read, by name; the malformed rows as far as they came to the driver."""
    counts = found.by_source()
    rows: dict[str, list[MalformedRow]] = {one.name: [] for one in counts}
    for row in found.malformed_rows:
        rows.setdefault(row.source, []).append(row)
    own = found.documents
    given = getattr(own, "options", None)
    options = given or ReadOptions(fields=dict(own.fields), id_column=None if own.id == "id" else own.id)
    reports = [ReadReport(one.read, one.documents, rows[one.name]) for one in counts]
    return Reading([Named(one.name) for one in counts], reports, options)  # type: ignore[list-item]
