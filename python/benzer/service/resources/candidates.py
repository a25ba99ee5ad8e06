"""Candidates of a document, unverified: `POST …/candidates`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from benzer.index import Index
from benzer.service.access import READS, Served, Shared
from benzer.service.errors import Answer
from benzer.service.questions.asked import Asked, Limit, question_of
from benzer.service.wire.documents import Id

router = APIRouter(prefix="/v1/indexes/{index}/candidates", tags=["questions"])


class CandidatesQuestion(Asked):
    """A stored document, a text, or fields."""

    limit: Limit = 10


class ShownCandidate(BaseModel):
    """A document that shares buckets with the query document, and the number of shared bands over all fields."""

    id: Id = Field(examples=["fox/again"])
    shared_bands: int = Field(examples=[7])


class Candidates(BaseModel):
    """Documents that may be similar, those with the most shared bands first."""

    candidates: list[ShownCandidate]


@router.post("", response_model=Candidates, openapi_extra=READS)
async def find(question: CandidatesQuestion, served: Served, shared: Shared) -> Answer:
    """Find the documents that share a bucket with a document: those that `similar` would compare, unverified."""

    def work(index: Index) -> list[dict[str, Any]]:
        result = index.find_candidates(question_of(question, index, shared.limits), question.limit)
        return [item._asdict() for item in result]

    return Answer({"candidates": await served.read(work)})
