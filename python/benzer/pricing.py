"""Estimates the removed documents and the cost for several thresholds from a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer.bands import Bands
from benzer.candidates import identical
from benzer.checks import check_recall, check_threads, check_threshold
from benzer.clusters import Keep
from benzer.corpora import DocumentCorpus
from benzer.errors import SettingsError
from benzer.fields import Schema
from benzer.fields.schema import DEFAULT_RECALL, check_schema
from benzer.minhash import MinHash
from benzer.pipeline.flow import ranked
from benzer.pipeline.memory import FILED, KEY, PER_DOCUMENT, PER_FIELD, SHINGLE
from benzer.pipeline.options import Options, chosen
from benzer.pipeline.promise import method_of
from benzer.pipeline.reading import Read, read
from benzer.planner import SHINGLE as MADE
from benzer.planner import SampleSpread, look, plan
from benzer.recall import check_sample, clopper_pearson, distinct, drawn, field_thresholds
from benzer.sketcher import Sketcher
from benzer.verify import verify

Positions = NDArray[np.uint32]

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
PER_PAIR = 16
DEFAULTS = Options()
MOST_COMPARED = 2_000_000
"""Pairs of sampled documents that are expected to be compared at most: large families make a smaller sample."""
LOOKED_AT = 4
"""Documents before a sampled one of which it is looked whether they stay."""


@dataclass(frozen=True)
class Price:
    """The estimated result and cost of one threshold.

    Attributes:
        threshold: The threshold.
        removed: Documents that would be removed, including copies. A sampled document is removed for certain if an
            earlier match in the keep order is kept, because that one has no earlier match; it can be removed if it
            has an earlier match at all. Both shares are estimated; this is the middle between them.
        low: Lower bound with the confidence of the `Prices`: the low end of the interval of the first share.
        high: Upper bound: the high end of the interval of the second share.
        pairs: Pairs of different contents at the threshold.
        candidates: Pairs that would be compared.
        method: How candidates would be found.
        bands: Number of bands.
        rows: Number of rows per band.
        seconds: For signatures, candidates and verification, on one core of the machine of the planner's constants.
        memory: Bytes of memory in addition to the documents' texts.
    """

    threshold: float
    removed: int
    low: int
    high: int
    pairs: int
    candidates: int
    method: str
    bands: int | None
    rows: int | None
    seconds: float
    memory: int


@dataclass(frozen=True)
class Prices:
    """The result of a dry run: counts of the input, and an estimate for each threshold.

    Attributes:
        documents: Documents read.
        identical: Documents with the same content as an earlier one.
        empty: Documents without shingles.
        contents: Different non-empty contents.
        sampled: Contents whose neighbours were searched.
        confidence: Confidence of the intervals.
        seconds: Duration of the dry run, including reading.
        prices: Estimates by ascending threshold.
        malformed: Skipped rows.
    """

    documents: int
    identical: int
    empty: int
    contents: int
    sampled: int
    confidence: float
    seconds: float
    prices: tuple[Price, ...]
    malformed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return all values as JSON values."""
        return asdict(self)


def price(
    source: Any,
    thresholds: Sequence[float] = THRESHOLDS,
    *,
    recall: float = DEFAULT_RECALL,
    schema: Schema | None = None,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    keep: str | Keep = "first",
    method: str | None = None,
    threads: int = 0,
    documents: int = 2000,
    confidence: float = 0.95,
    options: Options | None = None,
) -> Prices:
    """Estimate from a sample what `find_duplicates` would do at each threshold. Nothing is written.

    All neighbours of the sampled documents in the whole corpus are found exactly at the lowest threshold. The interval
    of the share of removed documents is that of Clopper and Pearson. Other arguments are those of
    `benzer.find_duplicates`.

    Args:
        source: Paths, globs, folders, "-", tables, or documents.
        thresholds: Thresholds to estimate.
        documents: Number of documents to sample, drawn by a seeded hash of their content.
        confidence: Confidence of the intervals, in (0, 1).
        options: Rarely changed settings of the run. `seed` also draws the sample; `bucket_limit` and `checkpoint` have
            no effect.

    Returns:
        The counts of the input and an estimate for each threshold.

    Raises:
        SettingsError: A setting is out of range.
        InputError: The input cannot be read.

    >>> texts = {"a": "one two three four five", "b": "One two three four five", "c": "one two three four six"}
    >>> prices = price(texts, thresholds=(0.4, 0.8))
    >>> [(one.threshold, one.removed) for one in prices.prices]
    [(0.4, 2), (0.8, 1)]
    """
    started = perf_counter()
    schema, keep, options = schema or Schema(), Keep.parse(keep), chosen(options)
    checked_thresholds = checked(thresholds, recall)
    check_sample(documents, confidence)
    check_schema(schema)
    check_threads(threads)
    way = method_of(method, recall, options.bands, schema)
    reading = read(source, schema, text, id, options, keep.column, threads)
    prices = price_read(
        reading, checked_thresholds, recall=recall, schema=schema, keep=keep, method=way, threads=threads,
        documents=documents, confidence=confidence, options=options,
    )  # fmt: skip
    return replace(prices, seconds=perf_counter() - started)


def price_read(
    reading: Read,
    thresholds: Sequence[float],
    *,
    recall: float,
    schema: Schema,
    keep: Keep,
    method: str,
    threads: int = 0,
    documents: int = 2000,
    confidence: float = 0.95,
    options: Options = DEFAULTS,
    spread: SampleSpread | None = None,
) -> Prices:
    """Estimate as in `price` for documents that have been read and arguments that have been checked.

    Args:
        spread: Result of `benzer.planner.look` for these documents, if known.

    >>> schema = Schema()
    >>> found = read({"a": "one two three four", "b": "One two three four"}, schema)
    >>> price_read(found, [0.8], recall=0.95, schema=schema, keep=Keep.parse("first"), method="lsh").prices[0].removed
    1
    """
    started = perf_counter()
    known = _Known.of(reading, schema, keep, threads)
    spread = spread or look(reading.corpus, schema, threads)
    near = _near(known, spread, thresholds, documents, options.seed)
    counts = (len(reading.corpus), len(known.population))
    prices = tuple(
        _priced(near, known, spread, threshold, (method, recall, options, confidence))
        for threshold in thresholds
    )
    empty = int(known.empty.sum())
    return Prices(
        documents=counts[0],
        identical=counts[0] - counts[1] - empty,
        empty=empty,
        contents=counts[1],
        sampled=near.sampled,
        confidence=confidence,
        seconds=perf_counter() - started,
        prices=prices,
        malformed=sum(len(report.malformed) for report in reading.reports),
    )


def checked(thresholds: Sequence[float], recall: float) -> list[float]:
    """Check thresholds and return them in ascending order without repetition.

    >>> checked([0.8, 0.5, 0.8], 0.95)
    [0.5, 0.8]
    """
    given: Any = thresholds
    several = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str)
    if not several or not len(given):
        raise SettingsError(f"thresholds must be a list of numbers, got {thresholds!r}: use e.g. (0.7, 0.8)")
    for threshold in thresholds:
        check_threshold(threshold)
    check_recall(recall)
    return sorted({float(threshold) for threshold in thresholds})


class _Known(NamedTuple):
    """What is known of each document before comparing pairs: content, position in the keep order, first copy."""

    corpus: DocumentCorpus
    schema: Schema
    content: NDArray[np.uint64]
    empty: NDArray[np.bool_]
    rank: Positions
    stands_for: Positions
    population: Positions
    threads: int

    @classmethod
    def of(cls, reading: Read, schema: Schema, keep: Keep, threads: int) -> _Known:
        sketches = Sketcher(schema, MinHash("fast", 1), Bands(1, 1)).sketch(reading.corpus, threads)
        rank = ranked(keep, reading, threads)
        stands_for = identical(reading.corpus, sketches.content, sketches.empty, rank, threads)
        everyone = np.arange(len(reading.corpus), dtype=np.uint32)
        population = everyone[(stands_for == everyone) & ~sketches.empty]
        return cls(
            reading.corpus, schema, sketches.content, sketches.empty, rank, stands_for, population, threads
        )


class _Near(NamedTuple):
    """Sampled documents with their matches, one entry per pair.

    Attributes:
        query: Position in the sample.
        similarity: Similarity of the pair.
        earlier: Whether the other document comes first.
        unsure: Highest similarity of the other document to those before it: below the threshold it is kept; infinite
            if it was not measured.
    """

    sampled: int
    query: NDArray[np.int64]
    similarity: NDArray[np.float64]
    earlier: NDArray[np.bool_]
    unsure: NDArray[np.float64]

    def going(self, threshold: float) -> tuple[int, int]:
        """Return how many sampled documents are certainly removed, and how many have an earlier match."""
        before = self.earlier & (self.similarity >= threshold)
        surely = before & (self.unsure < threshold)
        return len(np.unique(self.query[surely])), len(np.unique(self.query[before]))


def _near(
    known: _Known, spread: SampleSpread, thresholds: Sequence[float], documents: int, seed: int
) -> _Near:
    """Find all matches of each sampled document at the lowest threshold, without bands."""
    count = max(len(known.population), 1)
    copies = len(known.stands_for) / count
    each = max(2 * spread.pairs(thresholds[0]) / count * copies, 1.0)
    draws = max(min(int(documents), int(MOST_COMPARED / each)), 1)
    order = drawn(known.content, known.population, draws, seed)
    query, left, right = _alike(known, order, thresholds[0])
    similarity = verify(known.corpus, left, right, known.schema.weights, known.threads)
    earlier = known.rank[right] < known.rank[left]
    unsure = np.full(len(query), np.inf)
    firsts = [_first(known, query, right, earlier & (similarity >= threshold)) for threshold in thresholds]
    others = np.unique(np.concatenate(firsts))
    best = np.zeros(len(others))
    place, item, before = _alike(known, others, thresholds[0], earlier=True)
    np.maximum.at(best, place, verify(known.corpus, item, before, known.schema.weights, known.threads))
    positions = np.minimum(np.searchsorted(others, right), max(len(others) - 1, 0))
    looked_at = others[positions] == right if len(others) else np.zeros(len(right), dtype=bool)
    unsure[looked_at] = best[positions[looked_at]]
    return _Near(len(order), query, similarity, earlier, unsure)


def _alike(
    known: _Known, order: Positions, threshold: float, earlier: bool = False
) -> tuple[NDArray[np.int64], Positions, Positions]:
    """Return documents (number and position) with their possible matches, without copies."""
    within = field_thresholds(known.schema, threshold)
    query, neighbour = known.corpus.exact_neighbours(order, within, known.threads)
    right, left = known.stands_for[neighbour], order[query]
    wanted = (left != right) & (~np.bool_(earlier) | (known.rank[right] < known.rank[left]))
    place, other = distinct(query[wanted], right[wanted])
    return place, order[place], other


def _first(known: _Known, query: NDArray[np.int64], right: Positions, before: NDArray[np.bool_]) -> Positions:
    """Return the few earliest matches of each sampled document: if any is kept, it is most likely one of them."""
    positions = np.flatnonzero(before)
    positions = positions[np.lexsort((known.rank[right[positions]], query[positions]))]
    starts = np.flatnonzero(np.diff(query[positions], prepend=-1))
    nth = np.arange(len(positions)) - np.repeat(starts, np.diff(np.append(starts, len(positions))))
    return right[positions[nth < LOOKED_AT]]


def _priced(
    near: _Near,
    known: _Known,
    spread: SampleSpread,
    threshold: float,
    arguments: tuple[str, float, Options, float],
) -> Price:
    method, recall, options, confidence = arguments
    contents, sampled = len(known.population), max(near.sampled, 1)
    copies = int((~known.empty).sum()) - contents
    alike = near.similarity >= threshold
    surely, most = near.going(threshold)
    low, high = surely / sampled, most / sampled
    if near.sampled < contents:
        low = clopper_pearson(surely, near.sampled, confidence)[0]
        high = clopper_pearson(most, near.sampled, confidence)[1]
    pairs = round(contents / sampled * int(alike.sum()) / 2)
    bands, chosen = _way(spread, known.schema, threshold, method, recall, options)
    candidates = pairs if bands is None else max(round(spread.candidates(bands)), 0)
    return Price(
        threshold=threshold,
        removed=copies + round(contents * (surely + most) / 2 / sampled),
        low=copies + round(contents * low),
        high=copies + round(contents * high),
        pairs=pairs,
        candidates=candidates,
        method=chosen,
        bands=bands.bands if bands else None,
        rows=bands.rows if bands else None,
        seconds=_seconds(spread, known.schema, threshold, bands),
        memory=_memory(len(known.stands_for), spread, bands, candidates),
    )


def _way(
    spread: SampleSpread, schema: Schema, threshold: float, method: str, recall: float, options: Options
) -> tuple[Bands | None, str]:
    """Return the bands that a run would use (None for the exact join), and the name of the method."""
    if method == "auto":
        planned = plan(spread, schema, threshold, recall, "auto", options.most_values)
        return (planned.bands if planned.method == "lsh" else None), planned.method
    if method == "exact":
        return None, method
    bands = options.bands or Bands.for_recall(schema.band_threshold(threshold), recall, options.most_values)
    return bands, method


def _seconds(spread: SampleSpread, schema: Schema, threshold: float, bands: Bands | None) -> float:
    made = spread.contents * sum(spread.sizes) * MADE * 1e-9
    if bands is None:
        return made + spread.exact_cost(field_thresholds(schema, threshold))
    return made + spread.bands_cost(bands)


def _memory(documents: int, spread: SampleSpread, bands: Bands | None, candidates: int) -> int:
    """Return the bytes in memory at the same time, in addition to the documents."""
    if bands is None:
        filed = spread.contents * sum(spread.sizes) * SHINGLE
    else:
        keys = len(spread.sizes) * bands.bands
        filed = documents * (KEY * keys + FILED)
    documents_memory = documents * (PER_DOCUMENT + PER_FIELD * len(spread.sizes))
    return round(documents_memory + filed + PER_PAIR * candidates)
