"""Which documents are like this one? `POST …/similar`; for many at once `…/similar/batch`."""

from __future__ import annotations

from functools import partial
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
"""Characters, and values of a set, of a question that is asked together with others."""
TOGETHER = 100
"""Questions of a batch that are asked at a time; between them others get their turn, and one given up ends."""
router = APIRouter(prefix="/v1/indexes/{index}/similar", tags=["questions"])
LEAST = Field(description="The least similarity; that of the index unless given.", examples=[0.8])
Least = Annotated[Share | None, LEAST]


class Question(Explained):
    """A document that is held, a text, or fields; of its likes the `limit` best."""

    threshold: Least = None


class Questions(Body):
    """Many questions at once, all of one limit and threshold."""

    questions: Many[Asked]
    limit: Limit = 10
    threshold: Least = None


class Matches(BaseModel):
    """The documents most like one, best first."""

    matches: list[ExplainedDocument]
    asked: AskedFor | None = Field(None, description="What was asked for; with evidence only.")
    unexplained: int = Field(
        0,
        description="Matches without evidence, as the texts of those before them are too long.",
        examples=[0],
    )


class OnlyMatches(BaseModel):
    """The documents most like one, best first."""

    matches: list[SimilarDocument]


class Answers(BaseModel):
    """The matches of each question, in the order asked."""

    answers: list[OnlyMatches]


@router.post("", response_model=Matches, openapi_extra=READS | described_body(Question, form=True))
async def find(
    request: Request,
    options: Annotated[FormOptions, Query()],
    served: Served,
    shared: Shared,
) -> Answer:
    """Find the documents most like one, best first; each similarity is exact.

    A document that is asked for by its id is not among them. `threshold` is that of the index unless given;
    a lower one is allowed, but pairs below that of the index are found with less than its promised recall.
    """
    return await found(await question_from(request, Question, options, served, shared.limits), served, shared)


async def find_by_json(request: Request) -> Answer:
    """The same for a question in JSON alone, as `app.Short` has it: nothing is injected."""
    shared: State = request.app.state.shared
    served = shared.catalog[request.path_params["index"]]
    return await found(await model_of(request, Question), served, shared)


async def found(question: Question, served: ServedIndex, shared: State) -> Answer:
    """The answer to a question; a small one may be asked together with others."""
    if is_small(question):
        matches = await served.find_similar(
            lambda opened: question_of(question, opened, shared.limits), question.limit, question.threshold
        )
        return Answer({"matches": [match_as_json(one) for one in matches]})

    def work(opened: Index) -> dict[str, Any]:
        limit, threshold = question.limit, question.threshold
        matches = ask(
            opened, question, shared.limits, lambda asked: opened.find_similar(asked, limit, threshold)
        )
        return answered(matches, question, opened, served)

    return Answer(await served.read(work))


def is_small(question: Question) -> bool:
    """Whether it takes so little time that others can wait for it: no evidence, no pictures, no long texts."""
    if question.evidence or question.contents:
        return False
    contents = [question.text or "", *(question.fields or {}).values()]
    return sum(len(one) if isinstance(one, str | list) else SMALL for one in contents if one) < SMALL


@router.post("/batch", response_model=Answers, openapi_extra=READS | described_body(Questions))
async def find_batch(request: Request, served: Served, shared: Shared) -> Answer:
    """Find the documents most like each of many; faster than one by one."""
    batch = await model_of(request, Questions, partial(check_listed, shared.limits, "questions"))

    def work(start: int, opened: Index) -> list[dict[str, Any]]:
        part = batch.questions[start : start + TOGETHER]
        with opened.snapshot():
            asked = [
                question_of(one, opened, shared.limits, f"body.questions.{at}")
                for at, one in enumerate(part, start)
            ]
        found = opened.find_similar_batch(asked, batch.limit, batch.threshold, threads=1)
        return [{"matches": [match_as_json(one) for one in matches]} for matches in found]

    answers: list[dict[str, Any]] = []
    for start in range(0, len(batch.questions), TOGETHER):
        answers += await served.read(partial(work, start))
    return Answer({"answers": answers})
