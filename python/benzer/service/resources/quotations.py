"""Containment and quotations: `POST …/containing`, `…/contained` and `…/passages`, for indexes with passages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from benzer.index import ContainmentMatches, Index
from benzer.service.access import READS, Served, Shared
from benzer.service.errors import Answer
from benzer.service.questions.asked import Asked, Limit, question_of
from benzer.service.questions.explaining import SimilarDocument
from benzer.service.settings import Limits
from benzer.service.wire.documents import Id

router = APIRouter(prefix="/v1/indexes/{index}", tags=["questions"])
MOST_COMPARED = 1_000_000


class ContainmentQuestion(Asked):
    """A stored document, a text, or fields; and the minimum containment."""

    threshold: Annotated[float, Field(gt=0, le=1, description="The minimum containment.", examples=[0.8])] = (
        0.8
    )
    limit: Limit = 10
    most: Annotated[
        int, Field(ge=1, le=MOST_COMPARED, description="Maximum number of documents to compare.")
    ] = 10_000


class PassagesQuestion(Asked):
    """A stored document, a text, or fields, whose passages are searched in the index."""

    least_words: Annotated[
        int, Field(ge=1, description="Minimum number of words of a passage.", examples=[8])
    ] = 8
    limit: Limit = 10
    most: Annotated[
        int, Field(ge=1, le=MOST_COMPARED, description="Maximum number of documents to read for each field.")
    ] = 1000


class ContainedDocument(SimilarDocument):
    """A document, and the exact share of the contained document that appears in the other."""

    containment: float = Field(examples=[0.93])


class ContainmentAnswer(BaseModel):
    """Matches, best first; the number of candidates, and how many of them were compared."""

    matches: list[ContainedDocument]
    candidates: int = Field(examples=[12])
    compared: int = Field(examples=[12])
    short: list[str] = Field(
        description="Fields that are too short to find every document that contains them.", examples=[[]]
    )


class FoundPassage(BaseModel):
    """A passage in both texts: `a` is the query, `b` the document. Positions are code points."""

    a: tuple[int, int] = Field(examples=[(10, 49)])
    b: tuple[int, int] = Field(examples=[(16, 55)])
    tokens: int = Field(examples=[10])
    shared: int = Field(examples=[10])
    differences: list[tuple[int, int, int, int]] = Field(examples=[[]])


class PassagesOfDocument(BaseModel):
    """A document with its passages, longest first, and the number of words of the text that they cover."""

    id: Id = Field(examples=["page"])
    field: str = Field(examples=["text"])
    words: int = Field(examples=[10])
    passages: list[FoundPassage]


class CoveredText(BaseModel):
    """The parts of a text found in any document: spans of code points, and the share of its words."""

    spans: list[tuple[int, int]] = Field(examples=[[(10, 49)]])
    share: float = Field(examples=[0.83])


class PassagesAnswer(BaseModel):
    """Documents with passages, most words first, and the share of the text that appears in any document."""

    matches: list[PassagesOfDocument]
    covered: dict[str, CoveredText]
    candidates: int = Field(description="Documents that may have passages.", examples=[3])
    unread: int = Field(description="Candidates that were not read because of `most`.", examples=[0])


@router.post("/containing", response_model=ContainmentAnswer, openapi_extra=READS)
async def containing(question: ContainmentQuestion, served: Served, shared: Shared) -> Answer:
    """Find the documents that contain a document, such as a longer page or a book that quotes it."""
    return Answer(await served.read(contained_by(question, shared.limits, Index.find_containing)))


@router.post("/contained", response_model=ContainmentAnswer, openapi_extra=READS)
async def contained(question: ContainmentQuestion, served: Served, shared: Shared) -> Answer:
    """Find the documents that are contained in a document."""
    return Answer(await served.read(contained_by(question, shared.limits, Index.find_contained)))


@router.post("/passages", response_model=PassagesAnswer, openapi_extra=READS)
async def passages(question: PassagesQuestion, served: Served, shared: Shared) -> Answer:
    """Find the passages of a text that appear in the index, with their documents and positions."""

    def work(index: Index) -> dict[str, Any]:
        query = question_of(question, index, shared.limits)
        return index.find_passages(query, question.least_words, question.limit, question.most).to_dict()

    return Answer(await served.read(work))


def contained_by(
    question: ContainmentQuestion, limits: Limits, find: Callable[..., ContainmentMatches]
) -> Callable[[Index], dict[str, Any]]:
    """The work of a containment query."""

    def work(index: Index) -> dict[str, Any]:
        query = question_of(question, index, limits)
        matches = find(index, query, question.threshold, question.limit, question.most)
        return {
            "matches": [{**item._asdict(), "fields": dict(item.fields)} for item in matches],
            "candidates": matches.candidates,
            "compared": matches.compared,
            "short": list(matches.short),
        }

    return work
