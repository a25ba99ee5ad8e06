"""Which documents are nearest to one, however far away? `POST …/nearest`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request

from benzer.index import Index
from benzer.service.access import READS, Served, Shared
from benzer.service.errors import Answer
from benzer.service.questions.asked import Explained, FormOptions, Share, answered, ask, question_from
from benzer.service.resources.similar import Matches
from benzer.service.wire.bodies import described_body

router = APIRouter(prefix="/v1/indexes/{index}/nearest", tags=["questions"])


class NearestQuestion(Explained):
    """A document that is held, a text, or fields; and how surely its nearest are to be found."""

    recall: Annotated[
        float,
        Field(gt=0, le=1, description="The probability to find each; 1 compares all.", examples=[0.999]),
    ] = 0.999
    threshold: Annotated[
        Share | None, Field(description="The least similarity; none unless given.", examples=[0.1])
    ] = None


class Nearest(Matches):
    """The nearest documents, best first, and what is promised of them."""

    recall: float = Field(
        description="Each true neighbour of at least `threshold` is there with this probability.",
        examples=[1.0],
    )
    compared: int = Field(description="How many documents were compared exactly.", examples=[64])
    documents: int = Field(description="How many the index holds.", examples=[1764])
    threshold: float = Field(description="From which similarity on that is promised.", examples=[0.1])


class NearestOptions(FormOptions):
    """The options of a question that comes as a form."""

    recall: Annotated[float, Field(gt=0, le=1, description="The probability to find each.")] = 0.999


@router.post("", response_model=Nearest, openapi_extra=READS | described_body(NearestQuestion, form=True))
async def find(
    request: Request,
    options: Annotated[NearestOptions, Query()],
    served: Served,
    shared: Shared,
) -> Answer:
    """Find the nearest documents, also below the threshold of the index; each similarity is exact.

    The first such question reads the whole collection, and keeps 137 bytes a document of one field in memory.
    """
    question = await question_from(request, NearestQuestion, options, served, shared.limits)

    def work(opened: Index) -> dict[str, Any]:
        limit, recall, threshold = question.limit, question.recall, question.threshold
        found = ask(
            opened,
            question,
            shared.limits,
            lambda asked: opened.find_nearest(asked, limit, recall, threshold),
        )
        promised = {
            name: getattr(found.matches, name) for name in ("recall", "compared", "documents", "threshold")
        }
        return {**answered(found, question, opened, served), **promised}

    return Answer(await served.read(work))
