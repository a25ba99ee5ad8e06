"""When documents were last seen: `…/seen`, `…/touch`, and `…/evict` for stale documents."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, PlainValidator, WithJsonSchema
from starlette.requests import Request

from benzer.checks import is_number
from benzer.index import Index
from benzer.index.documents import ids_of
from benzer.index.upkeep import LATEST, second_of
from benzer.service.access import Served, Shared
from benzer.service.errors import Answer, Refusal
from benzer.service.wire.bodies import check_listed, described_body, model_of
from benzer.service.wire.documents import Body, Id, Many

router = APIRouter(prefix="/v1/indexes/{index}", tags=["upkeep"])


def moment(given: Any) -> int:
    """A time in seconds since 1970, from ISO 8601 with a time zone or from a number of seconds.

    >>> moment("2026-01-31T12:00:00Z"), moment(12.9)
    (1769860800, 12)
    >>> moment("2026-01-31")
    Traceback (most recent call last):
    ValueError: 2026-01-31 00:00:00 has no time zone: use e.g. 2026-01-31T12:00:00Z, or seconds since 1970
    """
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given[:-1] + "+00:00" if given.endswith(("Z", "z")) else given)
        except ValueError:
            raise ValueError(f"{given[:40]!r} is not a time: use e.g. 2026-01-31T12:00:00Z") from None
        if given.tzinfo is None:
            raise ValueError(
                f"{given} has no time zone: use e.g. 2026-01-31T12:00:00Z, or seconds since 1970"
            )
    elif not is_number(given):
        raise ValueError(
            "a time must be a text as in 2026-01-31T12:00:00Z, or a number of seconds since 1970"
        )
    return second_of(given)


SINCE_1970 = "^(19[7-9]|[2-9][0-9][0-9])[0-9]-"
_SCHEMA = {
    "anyOf": [
        {"type": "string", "format": "date-time", "pattern": SINCE_1970},
        {"type": "number", "minimum": 0, "maximum": LATEST},
    ]
}
Moment = Annotated[int, PlainValidator(moment), WithJsonSchema(_SCHEMA)]


class Touch(Body):
    """Documents that were seen, by default at the current time."""

    ids: Many[Id] = Field(examples=[["fox", 4711]])
    seen_at: Moment | None = Field(None, examples=["2026-01-31T12:00:00Z"])


class Touched(BaseModel):
    """The number of ids that are stored."""

    held: int = Field(examples=[2])


class Evict(Body):
    """The time since which a document must have been seen to be kept."""

    unseen_since: Moment = Field(examples=["2026-01-31T12:00:00Z"])


class Evicted(BaseModel):
    """The number of removed documents and of documents now stored."""

    removed: int = Field(examples=[3])
    documents: int = Field(examples=[1761])


class Seen(BaseModel):
    """When a document was last seen, to the second, in UTC; null if an early version of Benzer added it."""

    id: Id = Field(examples=["fox"])
    last_seen: datetime | None = Field(examples=["2026-01-31T12:00:00Z"])


@router.post("/touch", response_model=Touched, openapi_extra=described_body(Touch))
async def touch(request: Request, served: Served, shared: Shared) -> Answer:
    """Record that documents were seen unchanged. A time before the recorded one changes nothing."""
    body = await model_of(request, Touch, partial(check_listed, shared.limits, "ids"))
    return Answer({"held": await served.write(lambda index: index.touch(body.ids, body.seen_at))})


@router.post("/evict", response_model=Evicted)
async def evict(body: Evict, served: Served) -> Answer:
    """Remove the documents that were last seen before a given time."""

    def work(index: Index) -> dict[str, int]:
        pictured = index.settings.schema.foreign
        gone = index.unseen(body.unseen_since) if pictured else []
        removed = index.evict(body.unseen_since)
        served.thumbnails.remove(gone)
        return {"removed": removed, "documents": len(index)}

    return Answer(await served.write(work))


@router.get("/seen", response_model=Seen)
async def seen(
    id: Annotated[str, Query(description="The id of the document.", examples=["fox"])], served: Served
) -> Answer:
    """Return when a document was added or last touched."""
    known = await served.read(last_seen(id))
    if known is None:
        raise Refusal(404, f"no document has the id {id!r}", field="query.id")
    known_id, second = known
    return Answer({"id": known_id, "last_seen": None if second is None else iso_time(second)})


def last_seen(text: str) -> Callable[[Index], tuple[str | int, datetime | None] | None]:
    """The work that looks up a document by its id as text, and when it was seen."""

    def work(index: Index) -> tuple[str | int, datetime | None] | None:
        with index.snapshot():
            known_id = next((id for id in ids_of(text) if id in index), None)
            return None if known_id is None else (known_id, index.last_seen(known_id))

    return work


def iso_time(moment: datetime) -> str:
    """A time in UTC as ISO 8601.

    >>> iso_time(datetime(2026, 1, 31, 12, tzinfo=timezone.utc))
    '2026-01-31T12:00:00Z'
    """
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
