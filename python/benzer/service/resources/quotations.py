"""What quotes what? `POST …/containing`, `…/contained` and `…/passages`, of an index that files passages."""

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
    """A document that is held, a text, or fields; and how much of the one is to stand in the other."""

    threshold: Annotated[float, Field(gt=0, le=1, description="The least containment.", examples=[0.8])] = 0.8
    limit: Limit = 10
    most: Annotated[
        int, Field(ge=1, le=MOST_COMPARED, description="How many documents are compared at most.")
    ] = 10_000


class PassagesQuestion(Asked):
    """A document that is held, a text, or fields; of its passages those that stand anywhere in the index."""

    least_words: Annotated[int, Field(ge=1, description="Words of a passage at least.", examples=[8])] = 8
    limit: Limit = 10
    most: Annotated[
        int, Field(ge=1, le=MOST_COMPARED, description="How many documents are read at most, for each field.")
    ] = 1000


class ContainedDocument(SimilarDocument):
    """A document, and the exact share of the contained one that the other has."""

    containment: float = Field(examples=[0.93])


class ContainmentAnswer(BaseModel):
    """Matches, best first; how many documents may be some, and how many of these were compared."""

    matches: list[ContainedDocument]
    candidates: int = Field(examples=[12])
    compared: int = Field(examples=[12])
    short: list[str] = Field(
        description="Fields too short for all that contains them to be found.", examples=[[]]
    )


class FoundPassage(BaseModel):
    """What stands in both texts: `a` is what was asked for, `b` the document; places are code points."""

    a: tuple[int, int] = Field(examples=[(10, 49)])
    b: tuple[int, int] = Field(examples=[(16, 55)])
    tokens: int = Field(examples=[10])
    shared: int = Field(examples=[10])
    differences: list[tuple[int, int, int, int]] = Field(examples=[[]])


class PassagesOfDocument(BaseModel):
    """A document in which passages stand, the longest first; and how many words of the text these are."""

    id: Id = Field(examples=["page"])
    field: str = Field(examples=["text"])
    words: int = Field(examples=[10])
    passages: list[FoundPassage]


class CoveredText(BaseModel):
    """What of a text was found anywhere: spans of code points, and the share of its words."""

    spans: list[tuple[int, int]] = Field(examples=[[(10, 49)]])
    share: float = Field(examples=[0.83])


class PassagesAnswer(BaseModel):
    """Documents with passages, those of most words first; and how much of the text stands in any document at all."""

    matches: list[PassagesOfDocument]
    covered: dict[str, CoveredText]
    candidates: int = Field(description="Documents that may hold passages.", examples=[3])
    unread: int = Field(description="Of those, how many were not read because of `most`.", examples=[0])


@router.post("/containing", response_model=ContainmentAnswer, openapi_extra=READS)
async def containing(question: ContainmentQuestion, served: Served, shared: Shared) -> Answer:
    """Find the documents that contain one: a page with more around it, a book that quotes it."""
    return Answer(await served.read(contained_by(question, shared.limits, Index.find_containing)))


@router.post("/contained", response_model=ContainmentAnswer, openapi_extra=READS)
async def contained(question: ContainmentQuestion, served: Served, shared: Shared) -> Answer:
    """Find the documents that stand in one."""
    return Answer(await served.read(contained_by(question, shared.limits, Index.find_contained)))


@router.post("/passages", response_model=PassagesAnswer, openapi_extra=READS)
async def passages(question: PassagesQuestion, served: Served, shared: Shared) -> Answer:
    """Find which passages of a text stand anywhere in the index, in which documents, and where there."""

    def work(index: Index) -> dict[str, Any]:
        asked = question_of(question, index, shared.limits)
        return index.find_passages(asked, question.least_words, question.limit, question.most).to_dict()

    return Answer(await served.read(work))


def contained_by(
    question: ContainmentQuestion, limits: Limits, find: Callable[..., ContainmentMatches]
) -> Callable[[Index], dict[str, Any]]:
    """The work that answers a question of containment."""

    def work(index: Index) -> dict[str, Any]:
        asked = question_of(question, index, limits)
        found = find(index, asked, question.threshold, question.limit, question.most)
        return {
            "matches": [{**one._asdict(), "fields": dict(one.fields)} for one in found],
            "candidates": found.candidates,
            "compared": found.compared,
            "short": list(found.short),
        }

    return work
