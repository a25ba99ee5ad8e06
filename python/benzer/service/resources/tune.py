"""The effect and the cost of a threshold: `GET /v1/tune` in general, `POST …/tune` for an index."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from benzer.bands import MAX_VALUES, Bands
from benzer.service.access import READS, Served, Shared
from benzer.service.errors import Answer
from benzer.service.questions.evidence import ShownEvidence
from benzer.service.questions.explaining import THUMBNAIL_BY_FIELD
from benzer.service.questions.tuning import Sliders, curve, recipe_of
from benzer.service.wire.documents import Body, Content, Few, Id

router = APIRouter(prefix="/v1", tags=["tune"])

Threshold = Annotated[
    float, Field(gt=0, le=1, description="The minimum similarity of a match.", examples=[0.8])
]
Recall = Annotated[
    float,
    Field(
        gt=0, lt=1, description="The minimum share of pairs at the threshold that is found.", examples=[0.95]
    ),
]
Number = Annotated[int | None, Field(ge=1, le=MAX_VALUES)]


class Choice(BaseModel):
    """A threshold and a recall, or an explicit number of bands."""

    model_config = ConfigDict(extra="forbid")

    threshold: Threshold = 0.8
    recall: Recall = 0.95
    num_hashes: Annotated[
        Number, Field(description="Maximum number of signature values.", examples=[128])
    ] = None
    bands: Annotated[
        Number, Field(description="Number of bands instead of a recall; requires rows.", examples=[20])
    ] = None
    rows: Annotated[
        Number, Field(description="Rows per band; requires bands or num_hashes.", examples=[5])
    ] = None


class Cost(BaseModel):
    """The cost of bands for one field of a document."""

    hashes: int = Field(description="Values of the signature.", examples=[60])
    keys: int = Field(description="Band keys.", examples=[10])
    bytes_per_document: int = Field(description="Bytes of these keys.", examples=[80])
    seconds_per_million: float = Field(
        description="Time on one core for the signatures and keys of a million documents.", examples=[0.424]
    )
    met_by_chance: float = Field(
        description="The share of pairs of unrelated documents that would be compared.",
        examples=[4.1e-07],
    )


class Curve(BaseModel):
    """Bands with the probability to find a pair at every similarity: the S-curve."""

    threshold: float = Field(examples=[0.8])
    recall: float = Field(description="The requested recall.", examples=[0.95])
    bands: int = Field(examples=[10])
    rows: int = Field(examples=[6])
    num_hashes: int = Field(description="Signature values that the bands use.", examples=[60])
    probability: float = Field(
        description="The probability to find a pair at the threshold.", examples=[0.952]
    )
    curve: list[tuple[float, float]] = Field(
        description="101 similarities from 0 to 1 with their probabilities.",
        examples=[[(0.0, 0.0), (1.0, 1.0)]],
    )
    cost: Cost


class TuneQuestion(Body, Choice):
    """A threshold and a recall for the documents of an index, with the schema of the index or other field settings."""

    model_config = ConfigDict(strict=True, extra="forbid")

    fields: Annotated[
        Few[dict[str, Any]] | None,
        Field(
            description="Fields of the index with other settings.",
            examples=[{"text": {"type": "text", "unit": "char", "shingle_size": 5}}],
        ),
    ] = None
    shingle_size: Annotated[
        int | None, Field(ge=1, le=64, description="Another shingle size for all texts.", examples=[5])
    ] = None
    sample: Annotated[
        int,
        Field(
            ge=1,
            le=20_000,
            description="Number of documents whose neighbours are searched to estimate the prices.",
        ),
    ] = 2000
    examples: Annotated[
        int, Field(ge=0, le=50, description="Number of pairs to return above and below the threshold.")
    ] = 5


class ShownPrice(BaseModel):
    """The estimated effect of a threshold on all documents of the index, as in `benzer dedupe --dry-run`."""

    threshold: float = Field(examples=[0.8])
    removed: int = Field(description="Estimated number of removed documents.", examples=[478])
    low: int = Field(
        description="Lower bound of the removed documents, at the confidence of the response.", examples=[465]
    )
    high: int = Field(description="Upper bound of the removed documents.", examples=[491])
    pairs: int = Field(
        description="Pairs of different contents with at least this similarity.", examples=[606]
    )
    candidates: int = Field(description="Pairs that would be compared.", examples=[1187])
    method: str = Field(examples=["lsh"])
    bands: int | None = Field(examples=[10])
    rows: int | None = Field(examples=[6])
    seconds: float = Field(description="Time on one core.", examples=[0.0024])
    memory: int = Field(description="Bytes of memory in addition to the texts.", examples=[308288])


class Histogram(BaseModel):
    """The estimated number of pairs of different contents with a similarity between two edges."""

    edges: list[float] = Field(description="101 similarities from 0 to 1.", examples=[[0.0, 0.01]])
    counts: list[float] = Field(
        description="100 numbers of pairs; the last bin includes 1.0.", examples=[[1200000.0]]
    )


class ShownSide(BaseModel):
    """One document of a pair."""

    id: Id = Field(examples=["fox"])
    contents: dict[str, Content] | None = Field(
        description="Texts and lists by field; null after 2,000,000 characters.",
        examples=[{"text": "A fox …"}],
    )
    thumbnails: dict[str, str] = Field(
        description=THUMBNAIL_BY_FIELD,
        examples=[{"photo": "/v1/indexes/demo/thumbnail?id=coast&field=photo"}],
    )


class Example(BaseModel):
    """A pair of documents near the threshold; the similarity is exact."""

    left: ShownSide
    right: ShownSide
    similarity: float = Field(examples=[0.81])
    evidence: dict[str, ShownEvidence | None] = Field(
        description="Evidence by field that both documents have; null for images."
    )


class Tuned(BaseModel):
    """The effect of a threshold on a collection. All numbers refer to the whole collection.

    Very large collections are not read completely: `prices` is then empty, and the counts that it needs are null.
    """

    tune: Curve
    candidates: int = Field(description="Estimated number of pairs that share a band.", examples=[1187])
    plan: dict[str, Any] = Field(
        description="The cheapest method and bands for these documents, and the reason.",
        examples=[{"method": "lsh", "bands": 20, "rows": 5}],
    )
    documents: int = Field(description="Documents in the index.", examples=[1764])
    read: int = Field(
        description="Size of the sample from which `above` and `below` are taken, and of a very large collection the "
        "histogram.",
        examples=[1764],
    )
    identical: int | None = Field(
        description="Documents with the same content as an earlier one.", examples=[174]
    )
    empty: int | None = Field(description="Documents without a shingle.", examples=[1])
    contents: int | None = Field(description="Different contents.", examples=[1589])
    sampled: int | None = Field(
        description="Different contents whose neighbours were searched in the whole collection.",
        examples=[1589],
    )
    confidence: float | None = Field(
        description="The confidence of each interval from `low` to `high`.", examples=[0.95]
    )
    histogram: Histogram
    prices: list[ShownPrice] = Field(
        description="The effects at 0.5, 0.6 … 0.9 and at the threshold; empty for a very large collection."
    )
    above: list[Example] = Field(description="Pairs at or above the threshold, closest to it first.")
    below: list[Example] = Field(description="Pairs below the threshold, closest to it first.")


@router.get("/tune", response_model=Curve)
async def tune(choice: Annotated[Choice, Query()]) -> Answer:
    """Return the bands for a threshold and a recall, the probabilities at every similarity, and the cost."""

    def work() -> dict[str, Any]:
        bands = Bands.choose(
            choice.threshold, choice.recall, choice.num_hashes, bands=choice.bands, rows=choice.rows
        )
        return curve(bands, choice.threshold, choice.recall)

    return Answer(await asyncio.to_thread(work))


@router.post("/indexes/{index}/tune", response_model=Tuned, openapi_extra=READS)
async def tune_index(body: TuneQuestion, served: Served, shared: Shared) -> Answer:
    """Return the similarities in an index, the effect of thresholds, and pairs near the given threshold.

    The documents are read once, by whatever recipe, and kept for the next such question.
    """
    sliders = Sliders(
        body.threshold, body.recall, body.num_hashes, body.bands, body.rows, body.sample, body.examples
    )
    recipe = partial(recipe_of, fields=body.fields, shingle_size=body.shingle_size)
    content = await shared.tunings.answer(served, recipe, sliders)
    schema = await served.read(recipe)
    name = served.name if schema == served.settings.schema else ""
    return Answer(content, about={"schema": schema, "index": name})
