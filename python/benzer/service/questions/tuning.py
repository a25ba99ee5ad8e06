"""The effect of a threshold on a collection, with the schema of the index or another one.

A page with sliders sends many requests: the collection is read once and cached until it changes, as are the latest
results.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np

from benzer.bands import Bands
from benzer.clusters import Keep
from benzer.corpus import corpus_of
from benzer.document import Document
from benzer.fields import Schema, Text
from benzer.fields.base import Field
from benzer.index import Index
from benzer.pipeline import Options
from benzer.pipeline.memory import KEY
from benzer.pipeline.reading import Read
from benzer.planner import SampleSpread, filing_cost, look, plan
from benzer.pricing import THRESHOLDS, Prices, price_read
from benzer.recall import field_thresholds
from benzer.service.errors import Refusal
from benzer.service.indexes.served import ServedIndex
from benzer.service.questions.borders import Borders
from benzer.service.questions.explaining import (
    Allowance,
    Pictures,
    explained_pair,
    pictures_of,
    shown_contents,
)
from benzer.service.wire.recipes import schema_from
from benzer.sources import ReadOptions
from benzer.sources.rows import size_of

MOST_DOCUMENTS, MOST_BYTES = 20_000, 16_000_000
"""Size of the sample for the examples and, for a large collection, for the histogram."""
WHOLE_DOCUMENTS, WHOLE_BYTES = 200_000, 128_000_000
"""Maximum size of a collection that is read completely to estimate the removals. A sample does not suffice: a removed
document may be similar to only one other, and a tenth of the documents has only a hundredth of the pairs."""
MOST_SHOWN, MOST_READ = 2_000_000, 4_000_000
"""Maximum characters of the examples."""
MOST_SECONDS = 2.0
"""Maximum predicted cost of finding the neighbours of the sample on one core; above it the sample is reduced."""
LEAST_SAMPLE = 100
BINS = 100
KEPT_LOOKS, KEPT_ANSWERS = 2, 64
Value = TypeVar("Value")


@dataclass(frozen=True)
class Looked:
    """A collection read with a schema, and the similarities of its documents.

    held: number of documents in the collection. documents: a sample of them, or all. whole: all of them as a corpus;
    None if the collection is larger than `WHOLE_DOCUMENTS` or `WHOLE_BYTES`. spread: the estimated similarities in the
    whole collection.
    """

    count: int
    documents: Sequence[Document]
    schema: Schema
    whole: Read | None
    spread: SampleSpread
    borders: Borders

    @classmethod
    def from_sample(
        cls,
        count: int,
        documents: Sequence[Document],
        schema: Schema,
        whole: Sequence[Document] | None = None,
    ) -> Looked:
        """Read a sample of documents, and the whole collection if it is given or equals the sample."""
        sample = corpus_from(documents, schema)
        spread = look(sample.corpus, schema)
        borders = Borders.of(sample.corpus, schema, spread)
        if len(documents) >= count:
            return cls(count, documents, schema, sample, spread, borders)
        if whole is None or len(whole) < count:
            scaled = spread.scaled(count / max(len(documents), 1))
            return cls(count, documents, schema, None, scaled, borders)
        everything = corpus_from(whole, schema)
        return cls(count, documents, schema, everything, look(everything.corpus, schema), borders)

    def examples(
        self, sides: Mapping[str, Sequence[int]], pictures: Pictures
    ) -> dict[str, list[dict[str, Any]]]:
        """Pairs by their positions in `borders`, with their similarities and evidence."""
        texts, explained = Allowance(MOST_SHOWN), Allowance(MOST_READ)
        among = sum(map(len, sides.values()))

        def example(place: int) -> dict[str, Any]:
            left, right = (self.documents[side[place]] for side in (self.borders.left, self.borders.right))
            names = [
                name
                for name in self.schema.fields
                if left.fields.get(name) is not None and right.fields.get(name) is not None
            ]
            return {
                "left": {"id": left.id, **shown_contents(left, pictures, texts)},
                "right": {"id": right.id, **shown_contents(right, pictures, texts)},
                "similarity": float(self.borders.similarity[place]),
                "evidence": explained_pair(left, right, names, self.schema, explained, among),
            }

        return {side: [example(place) for place in places] for side, places in sides.items()}


def corpus_from(documents: Sequence[Document], schema: Schema) -> Read:
    """Read documents of an index with a schema; only its fields.

    They were validated when they were added, so they are passed to the core without another check.
    """
    corpus = corpus_of(schema)
    columns = [[document.fields.get(name) for document in documents] for name in schema.fields]
    corpus.add(0, range(1, len(documents) + 1), [document.id for document in documents], columns)
    return Read(corpus, (), (), ReadOptions())


def documents_for(index: Index) -> tuple[int, list[Document], list[Document] | None]:
    """Return the size of an index, a sample of it, and all of its documents where these are few enough to be read."""
    with index.snapshot():
        count = len(index)
        whole = index.sample(count, WHOLE_BYTES) if 0 < count <= WHOLE_DOCUMENTS else []
        if not whole or len(whole) < count:
            return count, index.sample(MOST_DOCUMENTS, MOST_BYTES), None
    if count <= MOST_DOCUMENTS and bytes_of(whole) <= MOST_BYTES:
        return count, whole, None
    places = np.random.default_rng(0).permutation(count)[:MOST_DOCUMENTS]
    most = max(int(len(places) * min(1.0, MOST_BYTES * count / (len(places) * bytes_of(whole)))), 1)
    return count, [whole[place] for place in sorted(places[:most].tolist())], whole


def bytes_of(documents: Sequence[Document]) -> int:
    """The approximate bytes of some documents, at least 1."""
    return 1 + sum(size_of(value) for document in documents for value in document.fields.values())


def curve(bands: Bands, threshold: float, recall: float) -> dict[str, Any]:
    """The probabilities of bands at every similarity, and their cost for one field of a document.

    >>> said = curve(Bands(10, 6), 0.8, 0.95)
    >>> said["num_hashes"], round(said["probability"], 3), said["curve"][50]
    (60, 0.952, [0.5, 0.14...])
    >>> said["cost"]["bytes_per_document"]
    80
    """
    return {
        "threshold": threshold,
        "recall": recall,
        "bands": bands.bands,
        "rows": bands.rows,
        "num_hashes": bands.num_values,
        "probability": bands.probability(threshold),
        "curve": bands.curve().tolist(),
        "cost": {
            "hashes": bands.num_values,
            "keys": bands.bands,
            "bytes_per_document": KEY * bands.bands,
            "seconds_per_million": 1e6 * filing_cost(bands),
            "met_by_chance": bands.met_by_chance(),
        },
    }


def recipe_of(index: Index, fields: dict[str, dict[str, Any]] | None, shingle_size: int | None) -> Schema:
    """The schema for reading an index: its own, or with other settings for texts and values."""
    own = index.settings.schema
    schema = own if fields is None else schema_from(fields)
    for name, item in schema.fields.items():
        check_recipe(own, name, item)
    if shingle_size is None:
        return schema
    texts = {name: field for name, field in schema.fields.items() if isinstance(field, Text)}
    if not texts:
        raise Refusal(
            422,
            "shingle_size needs a text field, but the index has none: remove shingle_size",
            field="body.shingle_size",
        )
    sized = {name: replace(text, shingle_size=shingle_size) for name, text in texts.items()}
    return Schema(**{**schema.fields, **sized})


def check_recipe(own: Schema, name: str, given: Field) -> None:
    """Reject settings for unknown fields and for fields of another type."""
    place = f"body.fields.{name}"
    if name not in own.fields:
        raise Refusal(422, f"unknown field {name!r}: the fields are {', '.join(own.fields)}", field=place)
    if given.kind != own.fields[name].kind:
        raise Refusal(
            422, f"the field {name!r} has the type {own.fields[name].kind}, not {given.kind}", field=place
        )
    settings = ({**item.to_dict(), "weight": 1.0} for item in (given, own.fields[name]))
    if name in own.foreign and next(settings) != next(settings):
        raise Refusal(
            422,
            f"the index stores only descriptions of the field {name!r}, so its settings cannot be changed: remove it",
            field=place,
        )


class Newest(Generic[Value]):
    """A cache of the most recently used values.

    >>> newest = Newest(2)
    >>> for key in "abc":
    ...     newest.keep(key, key.upper())
    >>> newest.find("a"), newest.find("c")
    (None, 'C')
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()

    def find(self, key: Hashable) -> Value | None:
        """Return a value and mark it as used."""
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def keep(self, key: Hashable, value: Value) -> None:
        """Store a value; the least recently used one is evicted."""
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._most:
            self._values.popitem(last=False)


@dataclass(frozen=True)
class Sliders:
    """The positions of the sliders: a request for a collection that was read."""

    threshold: float
    recall: float
    num_hashes: int | None
    bands: int | None
    rows: int | None
    sample: int
    examples: int

    def chosen(self, schema: Schema) -> Bands:
        """The requested bands, or those that reach the recall."""
        least = schema.band_threshold(self.threshold)
        return Bands.choose(least, self.recall, self.num_hashes, bands=self.bands, rows=self.rows)

    def answer(self, looked: Looked, pictures: Pictures) -> dict[str, Any]:
        """The complete response for a threshold."""
        threshold, schema, spread, borders = self.threshold, looked.schema, looked.spread, looked.borders
        bands = self.chosen(schema)
        prices = self.prices(looked)
        sides = {
            "above": borders.above(threshold, self.examples),
            "below": borders.below(threshold, self.examples),
        }
        return {
            "tune": curve(bands, threshold, self.recall),
            "candidates": max(round(spread.candidates(bands)), 0),
            "plan": plan(spread, schema, threshold, self.recall, num_hashes=self.num_hashes).to_dict(),
            "documents": looked.count,
            "read": len(looked.documents),
            "identical": prices and prices.identical,
            "empty": prices and prices.empty,
            "contents": prices and prices.contents,
            "sampled": prices and prices.sampled,
            "confidence": prices and prices.confidence,
            "histogram": {
                "edges": [place / BINS for place in range(BINS + 1)],
                "counts": [round(item, 3) for item in spread.histogram(BINS).tolist()],
            },
            "prices": list(prices.to_dict()["prices"]) if prices else [],
            **looked.examples(sides, pictures),
        }

    def prices(self, looked: Looked) -> Prices | None:
        """Estimate the removals of each threshold, as a dry run does; None if the collection was read in part only."""
        if looked.whole is None:
            return None
        return price_read(
            looked.whole,
            sorted({*THRESHOLDS, self.threshold}),
            recall=self.recall,
            schema=looked.schema,
            keep=Keep.parse("first"),
            method="lsh",
            options=Options(num_hashes=self.num_hashes),
            documents=affordable(
                self.sample, looked.spread, looked.schema, min(THRESHOLDS[0], self.threshold)
            ),
            spread=looked.spread,
        )


def affordable(sample: int, spread: SampleSpread, schema: Schema, lowest: float) -> int:
    """The documents of a sample whose neighbours can be found within the maximum cost."""
    each = 4 * spread.exact_cost(field_thresholds(schema, lowest)) / max(spread.contents, 1)  # and theirs
    return min(sample, max(LEAST_SAMPLE, int(MOST_SECONDS / max(each, 1e-9))))


@dataclass(frozen=True)
class Tunings:
    """A cache of collections and results. Requests run one at a time, because each uses all cores."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    looks: Newest[Looked] = field(default_factory=lambda: Newest(KEPT_LOOKS))
    answers: Newest[dict[str, Any]] = field(default_factory=lambda: Newest(KEPT_ANSWERS))

    async def answer(
        self, served: ServedIndex, recipe: Callable[[Index], Schema], sliders: Sliders
    ) -> dict[str, Any]:
        """The result of a request about an index read with a schema; cached results are reused."""
        schema, state = await served.read(lambda index: (recipe(index), index.state()))
        known = self.answers.find((served, state, schema, sliders))
        if known is not None:
            return known
        async with self.turn:
            looked = await self._looked(served, schema, state)
            answer = await asyncio.to_thread(sliders.answer, looked, pictures_of(served))
        self.answers.keep((served, state, schema, sliders), answer)
        return answer

    async def _looked(self, served: ServedIndex, schema: Schema, state: tuple[int, int]) -> Looked:
        known = self.looks.find((served, state, schema))
        if known is None:
            count, documents, whole = await served.read(documents_for)
            known = await asyncio.to_thread(Looked.from_sample, count, documents, schema, whole)
            self.looks.keep((served, state, schema), known)
        return known
