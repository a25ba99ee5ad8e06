"""How are the duplicates of many documents found? By a job, which `/v1/duplicates` starts, shows and ends.

Jobs belong to the service: whoever may read sees all of them, and may start, cancel and forget them, as they change
nothing but themselves.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator
from starlette.requests import ClientDisconnect, Request

from benzer.fields import Schema
from benzer.index import Index, IndexSettings
from benzer.service.access import READS, Shared
from benzer.service.bounds import check_batch
from benzer.service.errors import Answer, Refusal
from benzer.service.guards.requests import JSON, NDJSON, media_type
from benzer.service.jobs import Job
from benzer.service.jobs.reading import Spool
from benzer.service.jobs.running import Asked, Search, check
from benzer.service.served import ServedIndex
from benzer.service.state import State
from benzer.service.wire import Body

router = APIRouter(prefix="/v1/duplicates", tags=["duplicates"])
JobId = Annotated[str, Path(description="The id of the job.", examples=["5d41402abc4b2a76"])]
CANCEL_SECONDS = 1.0


def listed(value: Any) -> Any:
    """A list of names; in a query it is one text, with commas."""
    return [name for name in value.split(",") if name] if isinstance(value, str) else value


def unpacked(value: Any) -> Any:
    """An object; in a query it is the text of one."""
    return json.loads(value) if isinstance(value, str) else value


class Options(Body):
    """How duplicates are searched for; what is left out is as in the index, or as in `benzer.find_duplicates`."""

    threshold: float | None = Field(
        None, description="The similarity from which two documents are duplicates.", examples=[0.8]
    )
    recall: float | None = Field(
        None, description="The share of pairs at the threshold that is found; 1 for all.", examples=[0.95]
    )
    keep: str = Field(
        "first",
        description="Which document of a cluster stays: first, last, longest, largest:COLUMN, …",
        examples=["first"],
    )
    method: Literal["lsh", "exact", "auto"] | None = Field(
        None, description="How candidates are found.", examples=["lsh"]
    )
    against: Annotated[list[str], BeforeValidator(listed)] = Field(
        [],
        description="Names of indexes: documents like one of theirs go. They are only read.",
        examples=[[]],
    )
    measure: bool = Field(
        False, description="Whether the recall is measured when all is found.", examples=[True]
    )


class UploadOptions(Options):
    """How duplicates are searched for among documents that come with the request."""

    fields: Annotated[dict[str, dict[str, Any]] | None, BeforeValidator(unpacked)] = Field(
        None, description="How their fields are read, as in the settings of an index; by default one text called text.",
        examples=[{"text": {"type": "text", "shingle_size": 3}}],
    )  # fmt: skip
    on_error: Literal["stop", "skip"] = Field(
        "stop",
        description="What a malformed document does: it fails the job, or it is set aside and listed.",
        examples=["skip"],
    )


class NewJob(UploadOptions):
    """What to search: an index, or these documents."""

    index: str | None = Field(None, description="The name of an index.", examples=["demo"])
    documents: list[dict[str, Any]] | None = Field(
        None, description='Documents, each {"id", "fields": {...}}, or flat: {"id", "text"}.',
        examples=[[{"id": "a", "fields": {"text": "one two three"}}]],
    )  # fmt: skip

    @model_validator(mode="after")
    def searches_once(self) -> NewJob:
        """Refuse a job over two things, or over none."""
        if (self.index is None) == (self.documents is None):
            raise ValueError('give either "index" or "documents"')
        if self.index is not None and self.fields is not None:
            raise ValueError('an index has its own fields: leave out "fields"')
        return self


class JobProgress(BaseModel):
    """How far a stage is; `total` is null where that is not known."""

    stage: str = Field(examples=["sketch"])
    done: int = Field(examples=[1200])
    total: int | None = Field(examples=[1764])


class JobError(BaseModel):
    """Why a job failed."""

    type: str = Field(examples=["MalformedRowError"])
    message: str


class ShownJob(BaseModel):
    """A job; times are ISO 8601 in UTC."""

    id: str = Field(examples=["5d41402abc4b2a76"])
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    created: str = Field(examples=["2026-01-31T12:00:00.000Z"])
    started: str | None
    ended: str | None
    source: dict[str, Any] = Field(
        description='{"index": name}, or {"upload": documents}, null before they are read.',
        examples=[{"index": "demo"}],
    )
    settings: dict[str, Any] = Field(
        description="What was asked for; of a job that is done, all that its result depends on."
    )
    progress: JobProgress | None
    counts: dict[str, int] | None = Field(examples=[{"documents": 1764, "kept": 1500, "removed": 264}])
    recall: dict[str, Any] | None = Field(description="The recall that was measured, with its interval.")
    seconds: float = Field(description="How long it has run.", examples=[0.7])
    error: JobError | None


class Jobs(BaseModel):
    """All jobs that wait or run, and those kept that have ended; the newest first."""

    jobs: list[ShownJob]


def of_body(model: type[BaseModel], value: Any, place: str) -> Any:
    """A value as a model; what is wrong is told as of any other body or query."""
    try:
        return model.model_validate(value, strict=place == "body")
    except ValidationError as error:
        raise RequestValidationError(
            [{**one, "loc": (place, *one["loc"])} for one in error.errors()]
        ) from error


UPLOAD_PARAMETERS = [
    {
        "name": name,
        "in": "query",
        "required": False,
        "description": f"Of an upload: {field.description}",
        "schema": {
            "type": {"measure": "boolean", "threshold": "number", "recall": "number"}.get(name, "string")
        },
    }
    for name, field in UploadOptions.model_fields.items()
]
STARTS = {
    **READS,
    "parameters": UPLOAD_PARAMETERS,
    "requestBody": {
        "required": True,
        "content": {
            JSON: {"schema": {"$ref": "#/components/schemas/NewJob"}, "example": {"index": "demo", "threshold": 0.8}},
            NDJSON: {
                "schema": {"type": "string", "description": "One document a line; the options stand in the query."},
                "example": '{"id": "a", "text": "one two three"}\n{"id": "b", "text": "one two three four"}\n',
            },
        },
    },
}  # fmt: skip


@router.post("", response_model=ShownJob, status_code=202, openapi_extra=STARTS)
async def start(request: Request, shared: Shared) -> Answer:
    """Search an index, or the documents of this request, for duplicates; its answer says where to look for the result.

    Documents come in the body, or, any number of them, as NDJSON, one a line; the options then stand in the query.
    """
    with shared.jobs.place() as begin:
        if media_type(request.headers) == NDJSON:
            search, job = await of_upload(request, shared)
        else:
            search, job = await of_json(request, shared)
        begin(search, job)
    return Answer(job.to_dict(), 202, {"Location": f"/v1/duplicates/{job.id}"})


async def of_json(request: Request, shared: State) -> tuple[Search, Job]:
    """The job that a JSON body asks for."""
    try:
        value = json.loads(await request.body() or b"null")
    except (ValueError, RecursionError) as error:
        raise Refusal(422, f"the body is no JSON: {error}", field="body") from error
    asked: NewJob = of_body(NewJob, value, "body")
    check_batch(shared.limits, len(asked.documents or ()))
    own = None if asked.index is None else shared.catalog[asked.index]
    search, settings = await prepared(asked, asked.fields, own, asked.documents, shared)
    source = {"upload": len(asked.documents or ())} if own is None else {"index": asked.index}
    return search, Job(source, settings)


async def of_upload(request: Request, shared: State) -> tuple[Search, Job]:
    """The job that an upload asks for, which is complete when this returns."""
    asked: UploadOptions = of_body(UploadOptions, dict(request.query_params), "query")
    spool = Spool()
    try:
        search, settings = await prepared(asked, asked.fields, None, spool, shared)
        async for chunk in request.stream():
            await asyncio.to_thread(spool.write, chunk)
    except ClientDisconnect:
        spool.close()
        raise Refusal(400, "the upload was cut off") from None
    except BaseException:
        spool.close()
        raise
    return search, Job({"upload": None}, settings)


async def prepared(
    options: Options, fields: Mapping[str, Mapping[str, Any]] | None, own: ServedIndex | None,
    uploaded: Spool | Sequence[Any] | None, shared: State,
) -> tuple[Search, dict[str, Any]]:  # fmt: skip
    """What a job will do, and by which settings; refused where that cannot be."""
    against = {name: shared.catalog[name] for name in options.against}
    asked = Asked(
        options.threshold, options.recall, options.keep, options.method,
        None if fields is None else schema_of(fields),
        getattr(options, "on_error", "stop"), options.measure,
    )  # fmt: skip
    settings = None if own is None else await own.read(settings_of)
    known: dict[str, Index] = {}
    for name, one in against.items():
        known[name] = await one.read(lambda index: index)
    return Search(asked, own, uploaded, against), await asyncio.to_thread(check, asked, settings, known)


def settings_of(index: Index) -> IndexSettings:
    return index.settings


def schema_of(fields: Mapping[str, Mapping[str, Any]]) -> Schema:
    """The schema that a request describes."""
    try:
        return Schema.from_dict(fields)
    except (KeyError, TypeError) as error:
        raise Refusal(
            422, f"the fields cannot be read ({error}): give each a type and its settings", field="fields"
        ) from error


@router.get("", response_model=Jobs)
async def show_all(shared: Shared) -> Answer:
    """List the jobs, the newest first."""
    return Answer({"jobs": [job.to_dict() for job in shared.jobs]})


@router.get("/{job}", response_model=ShownJob)
async def show(job: JobId, shared: Shared) -> Answer:
    """Show a job, and how far it is."""
    return Answer(shared.jobs[job].to_dict())


@router.post("/{job}/cancel", response_model=ShownJob, openapi_extra=READS)
async def cancel(job: JobId, shared: Shared) -> Answer:
    """Ask a job to end, and show it when it has, or after a second; one that is over stays as it is."""
    shared.jobs.cancel(job)
    return Answer((await asyncio.to_thread(shared.jobs.wait, job, CANCEL_SECONDS)).to_dict())


@router.delete("/{job}", status_code=204, openapi_extra=READS)
async def delete(job: JobId, shared: Shared) -> Response:
    """Cancel a job, and forget it with its result."""
    shared.jobs.delete(job)
    return Response(status_code=204)
