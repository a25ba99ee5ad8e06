"""Comparison of two documents, with or without an index: `POST /v1/compare`."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from benzer import comparison
from benzer.comparison import Comparison, FieldComparison
from benzer.document import Document
from benzer.errors import SettingsError
from benzer.fields import Schema
from benzer.index import Index
from benzer.minhash import MinHash
from benzer.presets import PRESETS, preset
from benzer.service.access import READS, Shared
from benzer.service.errors import Answer, Refusal
from benzer.service.indexes.making import both_given
from benzer.service.questions import evidence
from benzer.service.questions.asked import Side, document_of, given_document
from benzer.service.questions.evidence import ShownEvidence
from benzer.service.settings import Limits
from benzer.service.wire.bounds import check_compared
from benzer.service.wire.choices import never_both
from benzer.service.wire.documents import Body, Few
from benzer.service.wire.recipes import schema_from

router = APIRouter(prefix="/v1/compare", tags=["questions"])
MOST_SHARED = 1000


class Pair(Body):
    """Two documents. If an index is named, ids refer to its documents and its settings apply."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"a": {"text": "to be or not to be"}, "b": {"text": "To be, or not to be?"}}],
            "allOf": [
                never_both("index", "fields"),
                never_both("index", "preset"),
                never_both("fields", "preset"),
            ],
        }
    )
    index: Annotated[str | None, Field(description="The name of an index.", examples=["demo"])] = None
    a: Side
    b: Side
    fields: Annotated[
        Few[dict[str, Any]] | None,
        Field(
            description="Without an index: the fields and their settings.",
            examples=[{"text": {"type": "text", "unit": "char", "shingle_size": 5}}],
        ),
    ] = None
    preset: Annotated[
        str | None,
        Field(
            description="Without an index and without fields: web, record, code or ocr.",
            examples=["web"],
            json_schema_extra={"enum": [*PRESETS, None]},
        ),
    ] = None
    evidence: Annotated[bool, Field(description="Include the evidence.")] = True


class ComparedField(BaseModel):
    """A field that both documents have."""

    similarity: float = Field(description="Exact.", examples=[0.6])
    estimate: float = Field(description="The estimate from the signatures.", examples=[0.59375])
    containment_a: float = Field(examples=[0.75])
    containment_b: float = Field(examples=[0.75])
    shingles_a: int = Field(examples=[4])
    shingles_b: int = Field(examples=[4])
    shared: list[str] = Field(description="Shared shingles; at most 1,000.", examples=[["to be or"]])
    more_shared: int = Field(description="Number of shared shingles that are not listed.", examples=[0])
    evidence: ShownEvidence | None


class Compared(BaseModel):
    """Two documents: the weighted mean over the fields that both have, and each of those fields."""

    similarity: float = Field(examples=[0.6])
    estimate: float = Field(examples=[0.59375])
    fields: dict[str, ComparedField]


@router.post("", response_model=Compared, openapi_extra=READS)
async def compare(pair: Pair, shared: Shared) -> Answer:
    """Compare two documents exactly and by signatures, with evidence."""
    if pair.index is None:
        return Answer(await asyncio.to_thread(of_given, pair, shared.limits))
    if pair.fields is not None or pair.preset is not None:
        name = "fields" if pair.fields is not None else "preset"
        raise Refusal(422, f"{name} cannot be combined with index: remove {name}", field=f"body.{name}")
    try:
        served = shared.catalog[pair.index]
    except Refusal as error:
        raise Refusal(error.status, error.message, field="body.index") from error
    content = await served.read(lambda index: of_index(pair, index, shared.limits))
    kinds = {name: field.kind for name, field in served.settings.schema.fields.items()}
    return Answer(content, about={"index": pair.index, "ids": (pair.a.id, pair.b.id), "kinds": kinds})


def of_index(pair: Pair, index: Index, limits: Limits) -> dict[str, Any]:
    """Compare with the settings of an index."""
    with index.snapshot():
        a, b = document_of(pair.a, index, limits, "body.a"), document_of(pair.b, index, limits, "body.b")
    check_compared(limits, a, b)
    settings = index.settings
    return compared(a, b, settings.schema, settings.minhash, pair.evidence)


def of_given(pair: Pair, limits: Limits) -> dict[str, Any]:
    """Compare with a given schema or the default schema."""
    for side, name in ((pair.a, "a"), (pair.b, "b")):
        if side.id is not None:
            raise Refusal(
                422, "an id needs an index: name the index, or give a text", field=f"body.{name}.id"
            )
    if pair.fields is not None and pair.preset is not None:
        raise both_given()
    schema = schema_of(pair)
    a, b = given_document(pair.a, schema, limits, "body.a"), given_document(pair.b, schema, limits, "body.b")
    check_compared(limits, a, b)
    return compared(a, b, schema, MinHash(), pair.evidence)


def schema_of(pair: Pair) -> Schema:
    """The schema of a comparison without an index."""
    if pair.preset is None:
        return Schema() if pair.fields is None else schema_from(pair.fields)
    try:
        return preset(pair.preset).schema
    except SettingsError as error:
        raise Refusal(422, str(error), field="body.preset", type="SettingsError") from error


def compared(a: Document, b: Document, schema: Schema, minhash: MinHash, explains: bool) -> dict[str, Any]:
    """The comparison of two documents as a response."""
    result: Comparison = comparison.compare(a, b, schema, minhash, evidence=explains)
    fields = {
        name: field_as_json(item, evidence.as_json(item.evidence, a.fields[name], b.fields[name]))
        for name, item in result.fields.items()
    }
    return {"similarity": result.similarity, "estimate": result.estimate, "fields": fields}


def field_as_json(field: FieldComparison, explained: dict[str, Any] | None) -> dict[str, Any]:
    """One field as part of a response."""
    return {
        "similarity": field.similarity,
        "estimate": field.estimate,
        "containment_a": field.containment_a,
        "containment_b": field.containment_b,
        "shingles_a": field.shingles_a,
        "shingles_b": field.shingles_b,
        "shared": field.shared[:MOST_SHARED],
        "more_shared": max(0, len(field.shared) - MOST_SHARED),
        "evidence": explained,
    }
