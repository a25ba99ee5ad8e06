"""Similarity search: `POST …/similar`, and `…/similar/batch` for many queries."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.requests import Request

from benzer.index import Index
from benzer.service.access import READS, Served, Shared
from benzer.service.errors import Answer
from benzer.service.indexes.served import ServedIndex
from benzer.service.questions.asked import (
    Asked,
    Explained,
    FormOptions,
    Limit,
    Share,
    answered,
    ask,
    question_from,
    question_of,
)
from benzer.service.questions.explaining import AskedFor, ExplainedDocument, SimilarDocument, match_as_json
from benzer.service.state import State
from benzer.service.wire.bodies import check_listed, described_body, model_of
from benzer.service.wire.documents import Body, Many

SMALL = 20_000
"""Maximum characters and set values of a query that may run together with others."""
TOGETHER = 100
"""Queries of a batch that run at a time; between them other requests run, and a cancelled batch ends."""
router = APIRouter(prefix="/v1/indexes/{index}/similar", tags=["questions"])
LEAST = Field(description="The minimum similarity; default: the threshold of the index.", examples=[0.8])
Least = Annotated[Share | None, LEAST]


class Question(Explained):
    """A stored document, a text, or fields; and the number of matches to return."""

    threshold: Least = None


class Questions(Body):
    """Many queries with the same limit and threshold."""

    questions: Many[Asked]
    limit: Limit = 10
    threshold: Least = None


class Matches(BaseModel):
    """Matches, most similar first."""

    matches: list[ExplainedDocument]
    asked: AskedFor | None = Field(None, description="The query; only with evidence.")
    unexplained: int = Field(
        0,
        description="Matches without evidence, because the texts of the matches before them are too long.",
        examples=[0],
    )


class OnlyMatches(BaseModel):
    """Matches, most similar first."""

    matches: list[SimilarDocument]


class Answers(BaseModel):
    """The matches of each query, in the order of the request."""

    answers: list[OnlyMatches]


@router.post("", response_model=Matches, openapi_extra=READS | described_body(Question, form=True))
async def find(
    request: Request,
    options: Annotated[FormOptions, Query()],
    served: Served,
    shared: Shared,
) -> Answer:
    """Find the documents most similar to a query, most similar first. Similarities are exact.

    A query by id does not return the document itself. `threshold` defaults to that of the index; a lower value is
    allowed, but matches below the threshold of the index are found with a lower recall than guaranteed.
    """
    return await answer_question(
        await question_from(request, Question, options, served, shared.limits), served, shared
    )


async def find_by_json(request: Request) -> Answer:
    """The same for JSON only, called by `app.Short` without dependency injection."""
    shared: State = request.app.state.shared
    served = shared.catalog[request.path_params["index"]]
    return await answer_question(await model_of(request, Question), served, shared)


async def answer_question(question: Question, served: ServedIndex, shared: State) -> Answer:
    """The response to a query; small queries may run together with others."""
    if is_small(question):
        matches = await served.find_similar(
            lambda opened: question_of(question, opened, shared.limits), question.limit, question.threshold
        )
        return Answer({"matches": [match_as_json(match) for match in matches]})

    def work(opened: Index) -> dict[str, Any]:
        limit, threshold = question.limit, question.threshold
        matches = ask(
            opened, question, shared.limits, lambda query: opened.find_similar(query, limit, threshold)
        )
        return answered(matches, question, opened, served)

    begun = perf_counter()
    content = await served.read(work)
    return Answer(content, about=about(question, served, perf_counter() - begun))


def about(question: Explained, served: ServedIndex, seconds: float) -> dict[str, Any]:
    """Return the data that the fragment of a result shows in addition to the matches."""
    return {
        "index": served.name,
        "id": question.id,
        "least": getattr(question, "threshold", None) or served.settings.threshold,
        "seconds": seconds,
        "question": question,
    }


def is_small(question: Question) -> bool:
    """Whether a query is so fast that others can wait for it: no evidence, no images, no long texts."""
    if question.evidence or question.contents:
        return False
    contents = [question.text or "", *(question.fields or {}).values()]
    return (
        sum(len(content) if isinstance(content, str | list) else SMALL for content in contents if content)
        < SMALL
    )


@router.post("/batch", response_model=Answers, openapi_extra=READS | described_body(Questions))
async def find_batch(request: Request, served: Served, shared: Shared) -> Answer:
    """Find the documents most similar to each of many queries; faster than single requests."""
    batch = await model_of(request, Questions, partial(check_listed, shared.limits, "questions"))

    def work(start: int, opened: Index) -> list[dict[str, Any]]:
        part = batch.questions[start : start + TOGETHER]
        with opened.snapshot():
            queries = [
                question_of(item, opened, shared.limits, f"body.questions.{position}")
                for position, item in enumerate(part, start)
            ]
        results = opened.find_similar_batch(queries, batch.limit, batch.threshold, threads=1)
        return [{"matches": [match_as_json(match) for match in matches]} for matches in results]

    answers: list[dict[str, Any]] = []
    for start in range(0, len(batch.questions), TOGETHER):
        answers += await served.read(partial(work, start))
    return Answer({"answers": answers})
