"""Chooses the exact join or bands by the estimated cost for a sample of the documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benzer._native import exact_join, jaccard
from benzer.bands import Bands
from benzer.checks import check_recall, check_threshold
from benzer.corpora import DocumentCorpus
from benzer.errors import SettingsError
from benzer.fields import Schema
from benzer.fields.base import has_own_similarity
from benzer.recall import field_thresholds
from benzer.wording import about, about_seconds

Floats = NDArray[np.float64]
Positions = NDArray[np.uint32]
Sets = tuple[NDArray[np.int64], NDArray[np.uint64]]
Method = Literal["lsh", "exact"]
METHODS = ("auto", "lsh", "exact")

SAMPLE = 4000
"""Documents of a sample."""
SAMPLE_ELEMENTS = 4_000_000
"""Shingles of all of them together: long documents make a smaller sample."""
ORDERED_ELEMENTS = 500_000
"""Shingles of those documents of the sample whose rare shingles are counted for the exact join."""
RANDOM_PAIRS = 100_000
COMPARED_ELEMENTS = 40_000_000
"""Shingles that are looked at for random pairs: long documents make fewer pairs."""
FLOORS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
MOST_JOINED = 300_000
MOST_SECONDS = 0.2
"""What the join of the sample may cost: predicted, not timed."""

# Nanoseconds of one core, measured once (two AMD EPYC cores, AVX-512), and never when it runs: so the choice is the
# same on every machine, and every time. Those of the exact join on six collections of texts and sets; those of
# shingles, signatures, bands and comparison again when their kernels had become faster, on the benchmark's corpus and
# a collection of large families (signature, keys and join of 26 bands of 5: 1.0 µs a document; a candidate: 0.2 to
# 3.8 µs).
SHINGLE = 6.0
"""One shingle made of text."""
VALUE = 4.4
"""One value of a signature."""
BAND = 16.0
"""One band key made and filed."""
PAIR = 60.0
"""One candidate pair proposed and compared, but for its shingles."""
COMPARED = 1.0
"""One shingle of a candidate pair: made again, and compared."""
ORDERED = 70.0
"""One shingle counted, ordered and filed by the exact join."""
MET = 10.0
"""One document met in the join under a shingle of another, but for its shingles."""
MET_SHINGLE = 0.08
"""One shingle of the documents met: most of them are refused by their lengths and bitmaps."""
WORTH = 2.0
"""What the exact join may cost beside the best bands: it misses nothing."""


@dataclass(frozen=True)
class SampleSpread:
    """The similarities of the documents of a corpus, estimated from pairs of a sample; each pair represents many.

    Attributes:
        contents: Number of different contents of the corpus.
        sample: Number of sampled contents.
        jaccard: The Jaccard similarity of each field, 0 if a document has no content there (float64, pairs x fields).
        similarity: The similarity of the documents (float64).
        elements: The number of shingles of both (float64).
        weight: The number of pairs of the corpus that a pair represents (float64).
        sizes: Mean number of shingles per document, by field.
        rarities: Which shingles are rare, by field.
    """

    contents: int
    sample: int
    jaccard: Floats
    similarity: Floats
    elements: Floats
    weight: Floats
    sizes: tuple[float, ...]
    rarities: tuple[Rarity, ...]

    def pairs(self, threshold: float) -> float:
        """Estimate how many pairs of different contents reach the threshold."""
        return float(self.weight[self.similarity >= threshold].sum())

    def scaled(self, times: float) -> SampleSpread:
        """Return the spread of a collection that is `times` as large and contains this corpus as a random part."""
        return replace(self, contents=round(self.contents * times), weight=self.weight * times**2)

    def histogram(self, bins: int) -> Floats:
        """Estimate how many pairs of different contents have a similarity in each of `bins` equal bins.

        The last bin includes 1.0.

        >>> from benzer.corpus import corpus_of
        >>> corpus = corpus_of(Schema())
        >>> corpus.add(0, [1, 2], ["a", "b"], [["one two three four", "one two three four five"]])
        >>> look(corpus, Schema()).histogram(bins=4).tolist()
        [0.0, 0.0, 1.0, 0.0]
        """
        edges = [place / bins for place in range(bins + 1)]
        return np.histogram(self.similarity, bins=edges, weights=self.weight)[0].astype(np.float64)

    def candidates(self, bands: Bands) -> float:
        """How many pairs share a band, estimated."""
        return float(self.weight @ self._probability(bands))

    def _probability(self, bands: Bands) -> Floats:
        missed = 1.0 - np.asarray(bands.probability(self.jaccard), dtype=np.float64)
        return np.asarray(1.0 - missed.prod(axis=1), dtype=np.float64)

    def bands_cost(self, bands: Bands) -> float:
        """Seconds of one core for signatures, buckets and the comparison of the candidates."""
        compared = (self.weight * self._probability(bands)) @ (PAIR + COMPARED * self.elements)
        return float(self.filed_cost(bands) + compared * 1e-9)

    def filed_cost(self, bands: Bands) -> float:
        """Seconds of one core for signatures and buckets alone."""
        return self.contents * len(self.sizes) * filing_cost(bands)

    def exact_cost(self, thresholds: list[float]) -> float:
        """Seconds of one core for making all sets again, and for the exact join of each field."""
        each = zip(self.rarities, self.sizes, thresholds, strict=True)
        joined = sum(join_cost(rarity, size, self.contents, threshold) for rarity, size, threshold in each)
        return self.contents * sum(self.sizes) * SHINGLE * 1e-9 + joined


@dataclass(frozen=True)
class Plan:
    """The chosen method to find candidates, with the reason.

    Attributes:
        method: "lsh" or "exact".
        bands: The best bands for these documents; None for a recall of 1, which no bands reach.
        predicted_candidates: Estimated number of pairs of different contents that the method compares, or finds if it
            is the exact join.
        predicted_pairs: Estimated number of pairs of different contents that reach the threshold.
        seconds: Predicted cost of each method, in seconds of one core of the machine of the constants.
        sample: Number of sampled contents.
        contents: Number of different contents.
        reason: A sentence that explains the choice.
    """

    method: Method
    bands: Bands | None
    predicted_candidates: int
    predicted_pairs: int
    seconds: dict[Method, float]
    sample: int
    contents: int
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return all values as JSON values."""
        bands = None if self.bands is None else {"bands": self.bands.bands, "rows": self.bands.rows}
        seconds = {name: round(cost, 6) for name, cost in self.seconds.items()}
        return {**vars(self), "bands": bands, "seconds": seconds}


def filing_cost(bands: Bands) -> float:
    """Return the seconds of one core for the signature of one field of a document, and for its band keys.

    >>> f"{filing_cost(Bands(10, 6)):.2e}"
    '4.24e-07'
    """
    return bands.bands * (BAND + VALUE * bands.rows) * 1e-9


def choose(
    corpus: DocumentCorpus,
    schema: Schema,
    threshold: float,
    recall: float,
    method: Literal["auto", "lsh", "exact"] = "auto",
    num_hashes: int | None = None,
    threads: int = 0,
) -> Plan:
    """Choose the cheapest method and bands that find pairs at the threshold with the recall, by a sample.

    "auto" selects the exact join if its predicted cost is at most twice that of the best bands, because it misses
    nothing. It is not selected for a field with a similarity of its own, which no join of sets can find. The sample
    has the documents with the lowest content hashes: the choice depends on the contents, not on their order, the
    threads or the clock.

    The cost is that of sketching at most 4,000 documents and of comparing 100,000 pairs of them.

    >>> from benzer.corpus import corpus_of
    >>> corpus = corpus_of(Schema())
    >>> corpus.add(0, [1, 2], ["a", "b"], [["one two three four", "one two three four five"]])
    >>> choose(corpus, Schema(), 0.8, 0.95).method
    'lsh'
    """
    return plan(look(corpus, schema, threads), schema, threshold, recall, method, num_hashes)


def plan(
    spread: SampleSpread,
    schema: Schema,
    threshold: float,
    recall: float,
    method: Literal["auto", "lsh", "exact"] = "auto",
    num_hashes: int | None = None,
) -> Plan:
    """Choose as in `choose`, for a sample that was measured before."""
    check_threshold(threshold)
    check_recall(recall)
    if method not in METHODS:
        raise SettingsError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    joins = not any(has_own_similarity(item) for item in schema.fields.values())
    if (method == "lsh" or not joins) and recall == 1:
        raise SettingsError(
            "bands cannot find every pair, got recall 1: use method 'exact' for sets, or recall 0.999"
        )
    seconds: dict[Method, float] = {}
    bands = None
    if recall < 1:
        shapes = Bands.all_for_recall(schema.band_threshold(threshold), recall, num_hashes)
        bands = _cheapest(spread, shapes)
        seconds["lsh"] = spread.bands_cost(bands)
    if joins:
        seconds["exact"] = spread.exact_cost(field_thresholds(schema, threshold))
    if method not in ("auto", *seconds):
        raise SettingsError("method 'exact' supports only fields compared as sets: use 'lsh'")
    chosen = _cheaper(seconds) if method == "auto" else method
    pairs = spread.pairs(threshold)
    compared = spread.candidates(bands) if chosen == "lsh" and bands is not None else pairs
    return Plan(
        method=chosen,
        bands=bands,
        predicted_candidates=round(compared),
        predicted_pairs=round(pairs),
        seconds=seconds,
        sample=spread.sample,
        contents=spread.contents,
        reason=_reason(chosen, method == "auto", bands, seconds, spread, compared, pairs, threshold),
    )


def _cheapest(spread: SampleSpread, shapes: list[Bands]) -> Bands:
    """Return the shape with the lowest cost, and the one with fewer rows if costs are equal.

    At a threshold near 1 there are a thousand shapes: those whose filing alone costs more than the best are skipped.
    """
    best, least = shapes[0], (np.inf, 0)
    for shape in sorted(shapes, key=spread.filed_cost):
        if spread.filed_cost(shape) > least[0]:
            break
        cost = (spread.bands_cost(shape), shape.rows)
        if cost < least:
            best, least = shape, cost
    return best


def _cheaper(seconds: dict[Method, float]) -> Method:
    if len(seconds) == 1:
        return next(iter(seconds))
    return "exact" if seconds["exact"] <= WORTH * seconds["lsh"] else "lsh"


def _reason(
    chosen: Method,
    free: bool,
    bands: Bands | None,
    seconds: dict[Method, float],
    spread: SampleSpread,
    candidates: float,
    pairs: float,
    threshold: float,
) -> str:
    names = {"exact": "the exact join", "lsh": f"bands {bands.bands} x {bands.rows}" if bands else ""}
    other: Method = "lsh" if chosen == "exact" else "exact"
    seen = f"estimated from {spread.sample:,} of {spread.contents:,} different documents"
    expected = f"about {about(pairs)} pairs expected at {threshold:g}"
    if chosen == "lsh":
        expected += f", {about(candidates)} candidates"
    compared = (
        f" (compared with {about_seconds(seconds[other])} for {names[other]})" if other in seconds else ""
    )
    misses = ", which finds all pairs" if chosen == "exact" else ""
    picked = "" if free else " as requested"
    cost = f"{about_seconds(seconds[chosen])} on one core{compared}"
    return f"{names[chosen]}{misses}{picked}: {cost}, {seen}; {expected}"


def look(corpus: DocumentCorpus, schema: Schema, threads: int = 0) -> SampleSpread:
    """Measure the similarities of the documents of a corpus on a sample of pairs."""
    everyone = corpus.sample(len(corpus), 0, threads)
    positions = sampled(corpus, everyone, threads)
    sets = tuple(corpus.sets(number, positions, threads) for number in range(len(schema.fields)))
    count = len(positions)
    left, right = _random_pairs(count, _mean_size(sets))
    table = _jaccards(sets, left, right, threads)
    highest = table.max(axis=1, initial=0.0)
    scale = len(everyone) * max(len(everyone) - 1, 0) / 2
    every = np.full(len(left), scale / max(len(left), 1))
    sizes = tuple(len(hashes) / max(count, 1) for _, hashes in sets)
    rarities = tuple(Rarity.of(item, ORDERED_ELEMENTS) for item in sets)
    seen_all = len(left) == count * (count - 1) // 2
    floor = None if seen_all else _floor(highest, count, rarities, sizes)
    if floor is not None:
        more = _joined(sets, floor, threads)
        near = _jaccards(sets, *more, threads)
        below = highest < floor
        left, right = np.concatenate((left[below], more[0])), np.concatenate((right[below], more[1]))
        table = np.concatenate((table[below], near))
        every = np.concatenate((every[below], np.full(len(near), scale / (count * (count - 1) / 2))))
    lengths = [np.diff(offsets) for offsets, _ in sets]
    return SampleSpread(
        contents=len(everyone),
        sample=count,
        jaccard=table,
        similarity=_similarities(corpus, schema, positions, left, right, table, threads),
        elements=sum((length[left] + length[right] for length in lengths), np.zeros(len(left))),
        weight=every,
        sizes=sizes,
        rarities=rarities,
    )


def sampled(corpus: DocumentCorpus, everyone: Positions, threads: int = 0) -> Positions:
    """Return as many documents with the lowest content hashes as fit into a sample."""
    lengths = np.cumsum(corpus.text_sizes(everyone[:SAMPLE].copy(), threads))
    within = int(np.searchsorted(lengths, SAMPLE_ELEMENTS, side="right"))
    return everyone[: min(max(within, 100), SAMPLE)].copy()


def _mean_size(sets: tuple[Sets, ...]) -> float:
    return sum(len(hashes) / max(len(offsets) - 1, 1) for offsets, hashes in sets)


def _random_pairs(count: int, mean_size: float) -> tuple[Positions, Positions]:
    """Return pairs of positions in the sample: all if they are few, otherwise each with those that follow it.

    The sample is in the order of a hash, so the following documents are as good as random ones.
    """
    wanted = min(RANDOM_PAIRS, int(COMPARED_ELEMENTS / max(2 * mean_size, 1.0)))
    if count * (count - 1) // 2 <= wanted:
        left, right = np.triu_indices(count, 1)
        return left.astype(np.uint32), right.astype(np.uint32)
    steps = max(min(wanted // count, (count - 1) // 2), 1)
    item = np.tile(np.arange(count), steps)
    other = (item + np.repeat(np.arange(1, steps + 1), count)) % count
    return item.astype(np.uint32), other.astype(np.uint32)


def _jaccards(sets: tuple[Sets, ...], left: Positions, right: Positions, threads: int) -> Floats:
    """Return the Jaccard similarity of each pair (pairs x fields); 0 if both are empty, as no band finds those."""
    columns = []
    for offsets, hashes in sets:
        sizes = np.diff(offsets)
        column = jaccard(offsets, hashes, left, right, threads)
        columns.append(np.where(sizes[left] + sizes[right] > 0, column, 0.0))
    return np.column_stack(columns)


def _floor(
    highest: Floats, count: int, rarities: tuple[Rarity, ...], sizes: tuple[float, ...]
) -> float | None:
    """Return the similarity from which all pairs of the sample are searched, because random ones are too few there.

    It is the lowest one with neither many pairs nor much work. None if even the most similar pairs are so many, e.g.
    pages from one template, that the random pairs represent them well.
    """
    pairs = count * (count - 1) / 2
    for floor in FLOORS[:-1]:
        each = zip(rarities, sizes, strict=True)
        seconds = sum(join_cost(rarity, size, count, floor) for rarity, size in each)
        if (highest >= floor).mean() * pairs <= MOST_JOINED and seconds <= MOST_SECONDS:
            return floor
    return FLOORS[-1] if (highest >= FLOORS[-1]).mean() * pairs <= MOST_JOINED else None


def _joined(sets: tuple[Sets, ...], floor: float, threads: int) -> tuple[Positions, Positions]:
    """Return all pairs of the sample with a field that reaches the floor."""
    keys = []
    for offsets, hashes in sets:
        left, right, _ = exact_join(offsets, hashes, floor, threads)
        keys.append((left.astype(np.uint64) << np.uint64(32)) | right)
    pairs = np.unique(np.concatenate(keys))
    return (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32)


def _similarities(
    corpus: DocumentCorpus,
    schema: Schema,
    positions: Positions,
    left: Positions,
    right: Positions,
    table: Floats,
    threads: int,
) -> Floats:
    """Return the similarity of each pair of documents; for dissimilar pairs that of the best field."""
    fields = list(schema.fields.values())
    highest: Floats = table.max(axis=1, initial=0.0)
    if len(fields) == 1 and not has_own_similarity(fields[0]):
        return highest
    least = min(field_thresholds(schema, FLOORS[0]))
    near = np.flatnonzero(highest >= least)
    near = near[np.argsort(left[near], kind="stable")]
    pairs = positions[left[near]], positions[right[near]]
    highest[near] = corpus.similarity(*pairs, schema.weights, threads)
    return highest


@dataclass(frozen=True)
class Rarity:
    """The rare shingles of some sets, under which the exact join files them.

    Attributes:
        sizes: Size of each set (int64).
        owner: The set of each shingle of each set.
        shingle: The number of the shingle.
        place: The number of shingles of the set that are rarer.
    """

    sizes: NDArray[np.int64]
    owner: NDArray[np.int64]
    shingle: NDArray[np.int64]
    place: NDArray[np.int64]

    @classmethod
    def of(cls, sets: Sets, most: int) -> Rarity:
        """Measure the first sets that have `most` shingles together."""
        offsets, hashes = sets
        count = min(max(int(np.searchsorted(offsets, most, side="right")) - 1, 2), len(offsets) - 1)
        offsets, hashes = offsets[: count + 1], hashes[: offsets[count]]
        sizes = np.diff(offsets)
        owner = np.repeat(np.arange(count), sizes)
        _, shingle, in_all = np.unique(hashes, return_inverse=True, return_counts=True)
        order = np.lexsort((hashes, in_all[shingle], owner))
        return cls(sizes, owner, shingle[order], np.arange(len(hashes)) - offsets[owner])

    def met(self, threshold: float) -> float:
        """Return the share of all pairs that meet in the exact join, counted once for each shingle that they share.

        A set of n elements is filed under its n - ceil(threshold n) + 1 rarest shingles; two similar sets share one
        of them. (Shingles can be rare in a sample by chance. On six collections the share was within a third of that
        of all documents, from 1,000 documents on.)
        """
        count = len(self.sizes)
        if count < 2:
            return 0.0
        filed_under = self.sizes - np.ceil(threshold * self.sizes - 1e-9).astype(np.int64) + 1
        filed = np.bincount(self.shingle[self.place < filed_under[self.owner]])
        return float((filed * (filed - 1.0)).sum() / (count * (count - 1)))


def join_cost(rarity: Rarity, size: float, count: int, threshold: float) -> float:
    """Return the seconds of one core for the exact join of `count` sets of this mean size."""
    met = rarity.met(threshold) * count * (count - 1) / 2
    return (count * size * ORDERED + met * (MET + MET_SHINGLE * size)) * 1e-9
