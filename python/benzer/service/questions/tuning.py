"""What would a threshold find in a collection, by this recipe or another? Asked of a sample, which is read once.

A page with sliders asks again and again: what was read is kept for as long as the collection is the same, and so are
the last answers.
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
from benzer.pipeline.memory import KEY
from benzer.pipeline.reading import Read
from benzer.planner import Spread, filing_cost, look, plan
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
"""The sample of a collection from which examples and, of a large collection, the histogram are taken."""
WHOLE_DOCUMENTS, WHOLE_BYTES = 200_000, 128_000_000
"""Up to this size the whole collection is read for the forecast of removals. A document that is removed may resemble
only one other, so a part of the collection does not tell how many are removed: of a tenth of the documents a hundredth
of the pairs remain."""
MOST_SHOWN, MOST_READ = 2_000_000, 4_000_000
"""Characters of the examples that are given, and compared."""
MOST_SECONDS = 2.0
"""What looking for the neighbours of the sample may cost, on one core: predicted; else the sample is smaller."""
LEAST_SAMPLE = 100
BINS = 100
KEPT_LOOKS, KEPT_ANSWERS = 2, 64
Value = TypeVar("Value")


@dataclass(frozen=True)
class Looked:
    """A collection that was read by a recipe, and how similar its documents are.

    held: number of documents in the collection. documents: a sample of them, or all. whole: all of them as a corpus;
    None where the collection is larger than `WHOLE_DOCUMENTS` or `WHOLE_BYTES`. spread: the similarities in the whole
    collection, estimated.
    """

    held: int
    documents: Sequence[Document]
    schema: Schema
    whole: Read | None
    spread: Spread
    borders: Borders

    @classmethod
    def at(
        cls, held: int, documents: Sequence[Document], schema: Schema, whole: Sequence[Document] | None = None
    ) -> Looked:
        """Read a sample of documents, and the whole collection where it is given or is the sample itself."""
        sample = corpus_from(documents, schema)
        spread = look(sample.corpus, schema)
        borders = Borders.of(sample.corpus, schema, spread)
        if len(documents) >= held:
            return cls(held, documents, schema, sample, spread, borders)
        if whole is None or len(whole) < held:
            scaled = spread.scaled(held / max(len(documents), 1))
            return cls(held, documents, schema, None, scaled, borders)
        everything = corpus_from(whole, schema)
        return cls(held, documents, schema, everything, look(everything.corpus, schema), borders)

    def examples(
        self, sides: Mapping[str, Sequence[int]], pictures: Pictures
    ) -> dict[str, list[dict[str, Any]]]:
        """Pairs by their places in `borders`, with their similarities, and where the two agree."""
        shown, explained = Allowance(MOST_SHOWN), Allowance(MOST_READ)
        among = sum(map(len, sides.values()))

        def example(place: int) -> dict[str, Any]:
            left, right = (self.documents[side[place]] for side in (self.borders.left, self.borders.right))
            names = [
                name
                for name in self.schema.fields
                if left.fields.get(name) is not None and right.fields.get(name) is not None
            ]
            return {
                "left": {"id": left.id, **shown_contents(left, pictures, shown)},
                "right": {"id": right.id, **shown_contents(right, pictures, shown)},
                "similarity": float(self.borders.similarity[place]),
                "evidence": explained_pair(left, right, names, self.schema, explained, among),
            }

        return {side: [example(place) for place in places] for side, places in sides.items()}


def corpus_from(documents: Sequence[Document], schema: Schema) -> Read:
    """Read documents of an index by a recipe; only the fields that it names.

    They were checked when they were added, so they are handed to the core without a look at each.
    """
    corpus = corpus_of(schema)
    columns = [[one.fields.get(name) for one in documents] for name in schema.fields]
    corpus.add(0, range(1, len(documents) + 1), [one.id for one in documents], columns)
    return Read(corpus, (), (), ReadOptions())


def documents_for(index: Index) -> tuple[int, list[Document], list[Document] | None]:
    """Return the size of an index, a sample of it, and all of its documents where these are few enough to be read."""
    with index.snapshot():
        held = len(index)
        whole = index.sample(held, WHOLE_BYTES) if 0 < held <= WHOLE_DOCUMENTS else []
        if not whole or len(whole) < held:
            return held, index.sample(MOST_DOCUMENTS, MOST_BYTES), None
    if held <= MOST_DOCUMENTS and bytes_of(whole) <= MOST_BYTES:
        return held, whole, None
    places = np.random.default_rng(0).permutation(held)[:MOST_DOCUMENTS]
    most = max(int(len(places) * min(1.0, MOST_BYTES * held / (len(places) * bytes_of(whole)))), 1)
    return held, [whole[place] for place in sorted(places[:most].tolist())], whole


def bytes_of(documents: Sequence[Document]) -> int:
    """About the bytes of some documents, at least 1."""
    return 1 + sum(size_of(value) for one in documents for value in one.fields.values())


def curve(bands: Bands, threshold: float, recall: float) -> dict[str, Any]:
    """What bands find at every similarity, and what they cost for one field of a document.

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
    """The fields of an index as they are to be read: by its own recipe, or another one for texts and values."""
    own = index.settings.schema
    schema = own if fields is None else schema_from(fields)
    for name, one in schema.fields.items():
        check_recipe(own, name, one)
    if shingle_size is None:
        return schema
    texts = {name: one for name, one in schema.fields.items() if isinstance(one, Text)}
    if not texts:
        raise Refusal(
            422,
            "shingles are of texts, and no field is one: leave out shingle_size",
            field="body.shingle_size",
        )
    sized = {name: replace(one, shingle_size=shingle_size) for name, one in texts.items()}
    return Schema(**{**schema.fields, **sized})


def check_recipe(own: Schema, name: str, given: Field) -> None:
    """Refuse a recipe for a field that the index has not, or has as something else."""
    place = f"body.fields.{name}"
    if name not in own.fields:
        raise Refusal(422, f"there is no field {name!r}: there are {', '.join(own.fields)}", field=place)
    if given.kind != own.fields[name].kind:
        raise Refusal(422, f"the field {name!r} holds {own.fields[name].kind}, not {given.kind}", field=place)
    settings = ({**one.to_dict(), "weight": 1.0} for one in (given, own.fields[name]))
    if name in own.foreign and next(settings) != next(settings):
        raise Refusal(
            422,
            f"of the field {name!r} only descriptions are kept, which cannot be read by another recipe",
            field=place,
        )


class Newest(Generic[Value]):
    """The values that were asked for last, so many of them.

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
        """The value, which counts as asked for now."""
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def keep(self, key: Hashable, value: Value) -> None:
        """Keep a value; the one that was not asked for the longest gives way."""
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._most:
            self._values.popitem(last=False)


@dataclass(frozen=True)
class Sliders:
    """Where the sliders stand: what is asked of a collection that has been looked at."""

    threshold: float
    recall: float
    num_hashes: int | None
    bands: int | None
    rows: int | None
    sample: int
    examples: int

    def chosen(self, schema: Schema) -> Bands:
        """The bands that are asked for, or keep the recall."""
        least = schema.band_threshold(self.threshold)
        return Bands.choose(least, self.recall, self.num_hashes, bands=self.bands, rows=self.rows)

    def answer(self, looked: Looked, pictures: Pictures) -> dict[str, Any]:
        """All that is said of a threshold."""
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
            "documents": looked.held,
            "read": len(looked.documents),
            "identical": prices and prices.identical,
            "empty": prices and prices.empty,
            "contents": prices and prices.contents,
            "sampled": prices and prices.sampled,
            "confidence": prices and prices.confidence,
            "histogram": {
                "edges": [place / BINS for place in range(BINS + 1)],
                "counts": [round(one, 3) for one in spread.histogram(BINS).tolist()],
            },
            "prices": list(prices.to_dict()["prices"]) if prices else [],
            **looked.examples(sides, pictures),
        }

    def prices(self, looked: Looked) -> Prices | None:
        """Estimate what each threshold removes, as a dry run does; None for a collection that was not read whole."""
        if looked.whole is None:
            return None
        return price_read(
            looked.whole,
            sorted({*THRESHOLDS, self.threshold}),
            recall=self.recall,
            schema=looked.schema,
            keep=Keep.parse("first"),
            method="lsh",
            num_hashes=self.num_hashes,
            documents=affordable(
                self.sample, looked.spread, looked.schema, min(THRESHOLDS[0], self.threshold)
            ),
            spread=looked.spread,
        )


def affordable(sample: int, spread: Spread, schema: Schema, lowest: float) -> int:
    """As many of the documents of a sample as can be asked for all that is alike them in good time."""
    each = 4 * spread.exact_cost(field_thresholds(schema, lowest)) / max(spread.contents, 1)  # and theirs
    return min(sample, max(LEAST_SAMPLE, int(MOST_SECONDS / max(each, 1e-9))))


@dataclass(frozen=True)
class Tunings:
    """What was seen of each index, and the last answers. One question at a time is worked on: each takes all cores."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    looks: Newest[Looked] = field(default_factory=lambda: Newest(KEPT_LOOKS))
    answers: Newest[dict[str, Any]] = field(default_factory=lambda: Newest(KEPT_ANSWERS))

    async def answer(
        self, served: ServedIndex, recipe: Callable[[Index], Schema], sliders: Sliders
    ) -> dict[str, Any]:
        """What is asked about an index, whose documents are read by a recipe; what is known is not asked again."""
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
            held, documents, whole = await served.read(documents_for)
            known = await asyncio.to_thread(Looked.at, held, documents, schema, whole)
            self.looks.keep((served, state, schema), known)
        return known
