"""What will a threshold find, and at which price? `GET /v1/tune` in general, `POST …/tune` in an index."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from benzer.bands import MAX_VALUES, Bands
from benzer.service.access import READS, Served, Shared
from benzer.service.errors import Answer
from benzer.service.questions.evidence import ShownEvidence
from benzer.service.questions.tuning import Sliders, curve, recipe_of
from benzer.service.wire.documents import Body, Content, Few, Id

router = APIRouter(prefix="/v1", tags=["tune"])

Threshold = Annotated[
    float, Field(gt=0, le=1, description="From which similarity on a pair counts.", examples=[0.8])
]
Recall = Annotated[
    float, Field(gt=0, lt=1, description="The share of pairs at the threshold to be found.", examples=[0.95])
]
Number = Annotated[int | None, Field(ge=1, le=MAX_VALUES)]


class Choice(BaseModel):
    """A threshold and a recall; or bands by number."""

    model_config = ConfigDict(extra="forbid")

    threshold: Threshold = 0.8
    recall: Recall = 0.95
    num_hashes: Annotated[Number, Field(description="Signature values that may be used.", examples=[128])] = (
        None
    )
    bands: Annotated[
        Number, Field(description="Bands, instead of a choice by recall; goes with rows.", examples=[20])
    ] = None
    rows: Annotated[
        Number, Field(description="Rows of a band; goes with bands or num_hashes.", examples=[5])
    ] = None


class Cost(BaseModel):
    """What bands cost for one field of a document."""

    hashes: int = Field(description="Values of its signature.", examples=[60])
    keys: int = Field(description="Band keys.", examples=[10])
    bytes_per_document: int = Field(description="Bytes of these keys.", examples=[80])
    seconds_per_million: float = Field(
        description="Of one core, for the signatures and keys of a million documents.", examples=[0.424]
    )
    met_by_chance: float = Field(
        description="The share of all pairs of unrelated documents that would be compared.",
        examples=[4.1e-07],
    )


class Curve(BaseModel):
    """What bands find at every similarity: the S-curve."""

    threshold: float = Field(examples=[0.8])
    recall: float = Field(description="What was asked for.", examples=[0.95])
    bands: int = Field(examples=[10])
    rows: int = Field(examples=[6])
    num_hashes: int = Field(description="Signature values that the bands use.", examples=[60])
    probability: float = Field(description="Of a pair at the threshold to be found.", examples=[0.952])
    curve: list[tuple[float, float]] = Field(
        description="101 similarities from 0 to 1, and the probability at each.",
        examples=[[(0.0, 0.0), (1.0, 1.0)]],
    )
    cost: Cost


class TuneQuestion(Body, Choice):
    """A threshold and a recall for the documents of an index, read as the index reads them or by another recipe."""

    model_config = ConfigDict(strict=True, extra="forbid")

    fields: Annotated[
        Few[dict[str, Any]] | None,
        Field(
            description="Fields of the index, and how they are to be read instead.",
            examples=[{"text": {"type": "text", "unit": "char", "shingle_size": 5}}],
        ),
    ] = None
    shingle_size: Annotated[
        int | None, Field(ge=1, le=64, description="That of all texts instead.", examples=[5])
    ] = None
    sample: Annotated[
        int, Field(ge=1, le=20_000, description="Documents whose neighbours are looked for, for the prices.")
    ] = 2000
    examples: Annotated[int, Field(ge=0, le=50, description="Pairs to show above, and below.")] = 5


class ShownPrice(BaseModel):
    """What one threshold would do to all documents of the index, as `benzer dedupe --dry-run` estimates it."""

    threshold: float = Field(examples=[0.8])
    removed: int = Field(description="Documents that would be removed, estimated.", examples=[478])
    low: int = Field(
        description="At least so many are removed, with the confidence of the answer.", examples=[465]
    )
    high: int = Field(description="At most so many are removed.", examples=[491])
    pairs: int = Field(description="Pairs of different contents alike by the threshold.", examples=[606])
    candidates: int = Field(description="Pairs that would be compared.", examples=[1187])
    method: str = Field(examples=["lsh"])
    bands: int | None = Field(examples=[10])
    rows: int | None = Field(examples=[6])
    seconds: float = Field(description="Of one core.", examples=[0.0024])
    memory: int = Field(description="Bytes held beside the texts.", examples=[308288])


class Histogram(BaseModel):
    """How many pairs of different contents have a similarity between two edges; estimated."""

    edges: list[float] = Field(description="101 similarities from 0 to 1.", examples=[[0.0, 0.01]])
    counts: list[float] = Field(
        description="100 numbers of pairs; the last holds 1.0, too.", examples=[[1200000.0]]
    )


class ShownSide(BaseModel):
    """One document of a pair."""

    id: Id = Field(examples=["fox"])
    contents: dict[str, Content] | None = Field(
        description="Texts and lists by field; null behind 2,000,000 characters.",
        examples=[{"text": "A fox …"}],
    )
    thumbnails: dict[str, str] = Field(
        description="The address of a small picture, by field of images.",
        examples=[{"photo": "/v1/indexes/demo/thumbnail?id=coast&field=photo"}],
    )


class Example(BaseModel):
    """A pair of documents near the threshold; the similarity is exact."""

    left: ShownSide
    right: ShownSide
    similarity: float = Field(examples=[0.81])
    evidence: dict[str, ShownEvidence | None] = Field(description="By field that both hold; null for images.")


class Tuned(BaseModel):
    """What a threshold finds in a collection. All numbers are about the whole collection.

    Very large collections are not read whole: `prices` is then empty, and what they count is null.
    """

    tune: Curve
    candidates: int = Field(description="Pairs that would share a band; estimated.", examples=[1187])
    plan: dict[str, Any] = Field(
        description="The method and the bands that suit these documents best, and why.",
        examples=[{"method": "lsh", "bands": 20, "rows": 5}],
    )
    documents: int = Field(description="That the index holds.", examples=[1764])
    read: int = Field(
        description="Size of the sample from which `above` and `below` are taken, and of a very large collection the "
        "histogram.",
        examples=[1764],
    )
    identical: int | None = Field(
        description="Documents with the content of one before them.", examples=[174]
    )
    empty: int | None = Field(description="Documents without a shingle.", examples=[1])
    contents: int | None = Field(description="Different contents.", examples=[1589])
    sampled: int | None = Field(
        description="Different contents whose neighbours were looked for in the whole collection.",
        examples=[1589],
    )
    confidence: float | None = Field(
        description="Of the intervals from `low` to `high`, each for itself.", examples=[0.95]
    )
    histogram: Histogram
    prices: list[ShownPrice] = Field(
        description="At 0.5, 0.6 … 0.9 and at the threshold; empty for a very large collection."
    )
    above: list[Example] = Field(description="Pairs that reach the threshold, the nearest to it first.")
    below: list[Example] = Field(description="Pairs that do not reach it, the nearest to it first.")


@router.get("/tune", response_model=Curve)
async def tune(choice: Annotated[Choice, Query()]) -> Answer:
    """Say which bands a threshold and a recall take, what these find at every similarity, and what they cost."""

    def work() -> dict[str, Any]:
        bands = Bands.choose(
            choice.threshold, choice.recall, choice.num_hashes, bands=choice.bands, rows=choice.rows
        )
        return curve(bands, choice.threshold, choice.recall)

    return Answer(await asyncio.to_thread(work))


@router.post("/indexes/{index}/tune", response_model=Tuned, openapi_extra=READS)
async def tune_index(asked: TuneQuestion, served: Served, shared: Shared) -> Answer:
    """Say how alike the documents of an index are, what thresholds would remove, and show pairs near this one.

    The documents are read once, by whatever recipe, and kept for the next such question.
    """
    sliders = Sliders(
        asked.threshold, asked.recall, asked.num_hashes, asked.bands, asked.rows, asked.sample, asked.examples
    )
    return Answer(
        await shared.tunings.answer(
            served, lambda opened: recipe_of(opened, asked.fields, asked.shingle_size), sliders
        )
    )
