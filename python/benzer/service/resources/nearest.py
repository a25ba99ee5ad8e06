"""The nearest documents, without a threshold: `POST …/nearest`."""

from __future__ import annotations

from time import perf_counter
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request

from benzer.index import Index
from benzer.service.access import READS, Served, Shared
from benzer.service.errors import Answer
from benzer.service.questions.asked import Explained, FormOptions, Share, answered, ask, question_from
from benzer.service.resources.similar import Matches, about
from benzer.service.wire.bodies import described_body

router = APIRouter(prefix="/v1/indexes/{index}/nearest", tags=["questions"])


class NearestQuestion(Explained):
    """A stored document, a text, or fields; and the recall of the search."""

    recall: Annotated[
        float,
        Field(
            gt=0,
            le=1,
            description="The probability to find each nearest document; 1 compares all documents.",
            examples=[0.999],
        ),
    ] = 0.999
    threshold: Annotated[
        Share | None, Field(description="The minimum similarity; default: no minimum.", examples=[0.1])
    ] = None


class Nearest(Matches):
    """The nearest documents, most similar first, and the guarantee of the search."""

    recall: float = Field(
        description="Each true neighbour of at least `threshold` is found with this probability.",
        examples=[1.0],
    )
    compared: int = Field(description="Number of documents compared exactly.", examples=[64])
    documents: int = Field(description="Number of documents in the index.", examples=[1764])
    threshold: float = Field(description="The minimum similarity that `recall` refers to.", examples=[0.1])


class NearestOptions(FormOptions):
    """The options of a query sent as a form."""

    recall: Annotated[
        float, Field(gt=0, le=1, description="The probability to find each nearest document.")
    ] = 0.999


@router.post("", response_model=Nearest, openapi_extra=READS | described_body(NearestQuestion, form=True))
async def find(
    request: Request,
    options: Annotated[NearestOptions, Query()],
    served: Served,
    shared: Shared,
) -> Answer:
    """Find the nearest documents, including those below the threshold of the index. Similarities are exact.

    The first such query reads the whole collection and keeps 137 bytes per document with one field in memory.
    """
    question = await question_from(request, NearestQuestion, options, served, shared.limits)

    def work(opened: Index) -> dict[str, Any]:
        limit, recall, threshold = question.limit, question.recall, question.threshold
        result = ask(
            opened,
            question,
            shared.limits,
            lambda query: opened.find_nearest(query, limit, recall, threshold),
        )
        promised = {
            name: getattr(result.matches, name) for name in ("recall", "compared", "documents", "threshold")
        }
        return {**answered(result, question, opened, served), **promised}

    begun = perf_counter()
    content = await served.read(work)
    return Answer(content, about=about(question, served, perf_counter() - begun))
