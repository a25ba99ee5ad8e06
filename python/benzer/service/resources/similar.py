"""Which documents are like this one? `POST /similar`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field, model_validator

from benzer.document import Document
from benzer.index import Index, Match
from benzer.service.access import Served
from benzer.service.errors import Answer
from benzer.service.resources.documents import unknown
from benzer.service.wire import Body, Content, Id, contents_of

router = APIRouter(prefix="/v1/indexes/{index}/similar", tags=["similar"])
MOST = 1000


class Question(Body):
    """A document that is held, by its id, or one of these fields; of its likes the `limit` best."""

    id: Id | None = None
    fields: dict[str, Content] | None = None
    limit: Annotated[int, Field(ge=1, le=MOST)] = 10
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def asks_once(self) -> Question:
        """Refuse a question for two documents, or for none."""
        if (self.id is None) == (self.fields is None):
            raise ValueError('give either "id" or "fields"')
        return self


class SimilarDocument(BaseModel):
    """A document that is like the one asked for: its similarity, and that of each field that both hold."""

    id: Id
    similarity: float
    fields: dict[str, float]


class Matches(BaseModel):
    """The documents most like one, best first."""

    matches: list[SimilarDocument]


@router.post("", response_model=Matches)
async def find(question: Question, served: Served) -> Answer:
    """Find the documents most like one, best first; each similarity is exact.

    A document that is asked for by its id is not among them. `threshold` is that of the index unless given;
    a lower one is allowed, but pairs below that of the index are found with less than its promised recall.
    """

    def work(index: Index) -> list[Match] | None:
        if question.fields is not None:
            document = Document("", contents_of(question.fields, index.settings.schema))
            return index.find_similar(document.fields, question.limit, question.threshold)
        held = None if question.id is None else index.get(question.id)
        return None if held is None else index.find_similar(held, question.limit, question.threshold)

    matches = await served.read(work)
    if matches is None:
        raise unknown("" if question.id is None else question.id)
    return Answer(
        {
            "matches": [
                {"id": match.id, "similarity": match.similarity, "fields": dict(match.fields)}
                for match in matches
            ]
        }
    )
