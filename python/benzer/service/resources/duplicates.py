"""Duplicate jobs: `/v1/duplicates` starts, shows, cancels and deletes them.

A key with the scope read can start jobs, and can see, cancel and delete its own jobs only, because uploads are
private. A key with the scope write sees all jobs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from fastapi import APIRouter, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request

from benzer.fields import Schema
from benzer.index import Index
from benzer.service.access import READS, Asking, JobId, Shared
from benzer.service.errors import UPLOAD_CUT_SHORT, Answer, Refusal
from benzer.service.indexes.served import ServedIndex
from benzer.service.jobs import Job
from benzer.service.jobs.reading import Spool
from benzer.service.jobs.running import JobRequest, Search, check
from benzer.service.jobs.wire import NewJob, SearchOptions, ShownJob, ShownJobs, UploadOptions
from benzer.service.media import JSON, NDJSON, media_type
from benzer.service.state import State
from benzer.service.uploads.files import check_lines
from benzer.service.wire.bodies import check_listed, model_of

router = APIRouter(prefix="/v1/duplicates", tags=["duplicates"])
CANCEL_SECONDS = 1.0


UPLOAD_EXAMPLES = {
    "threshold": 0.8, "recall": 0.95, "keep": "first", "method": "lsh", "against": "news,archive", "measure": True,
    "fields": '{"text": {"type": "text", "shingle_size": 3}}', "on_error": "skip", "on_duplicate_id": "skip",
}  # fmt: skip
UPLOAD_PARAMETERS = [
    {
        "name": name,
        "in": "query",
        "required": False,
        "description": f"For uploads: {field.description}",
        "schema": {
            "type": {"measure": "boolean", "threshold": "number", "recall": "number"}.get(name, "string")
        },
        "example": UPLOAD_EXAMPLES[name],
    }
    for name, field in UploadOptions.model_fields.items()
]
STARTS = {
    **READS,
    "parameters": UPLOAD_PARAMETERS,
    "requestBody": {
        "required": True,
        "content": {
            JSON: {"schema": NewJob.model_json_schema(), "example": {"index": "demo", "threshold": 0.8}},
            NDJSON: {
                "schema": {"type": "string", "description": "One document per line; options are in the query."},
                "example": '{"id": "a", "text": "one two three"}\n{"id": "b", "text": "one two three four"}\n',
            },
        },
    },
}  # fmt: skip


@router.post("", response_model=ShownJob, status_code=202, openapi_extra=STARTS)
async def start(request: Request, shared: Shared, asker: Asking) -> Answer:
    """Start a job that searches an index, or the documents of this request, for duplicates.

    Documents are sent in the JSON body, or in any number as NDJSON, one per line, with the options in the query. The
    Location header is the address of the job.
    """
    with shared.jobs.place() as begin:
        if media_type(request.headers) == NDJSON:
            search, job = await of_upload(request, shared)
        else:
            search, job = await of_json(request, shared)
        job = begin(search, replace(job, owner=asker.key))
    return Answer(job.to_dict(), 202, {"Location": f"/v1/duplicates/{job.id}"})


async def of_json(request: Request, shared: State) -> tuple[Search, Job]:
    """The job described by a JSON body."""
    if request.query_params:
        name = next(iter(request.query_params))
        raise Refusal(
            422, f"{name} is only valid in the query of an upload: move it to the body", field=f"query.{name}"
        )
    body = await model_of(request, NewJob, partial(check_listed, shared.limits, "documents"))
    own = None if body.index is None else shared.catalog[body.index]
    search, settings = await prepared(body, body.fields, own, body.documents, shared)
    source = {"upload": len(body.documents or ())} if own is None else {"index": body.index}
    return search, Job(source, settings)


async def of_upload(request: Request, shared: State) -> tuple[Search, Job]:
    """The job of an upload; the upload is complete when this returns."""
    query = of_query(request)
    spool = Spool()
    try:
        search, settings = await prepared(query, query.fields, None, spool, shared)
        async for chunk in request.stream():
            await asyncio.to_thread(spool.write, chunk)
        await asyncio.to_thread(spool.complete)
        check_lines(await asyncio.to_thread(spool.head))
    except BaseException as error:
        spool.close()
        if isinstance(error, ClientDisconnect):
            raise Refusal(400, UPLOAD_CUT_SHORT) from None
        raise
    return search, Job({"upload": None}, settings)


def of_query(request: Request) -> UploadOptions:
    """The options of an upload, from its query."""
    try:
        return UploadOptions.model_validate(dict(request.query_params), strict=False)
    except ValidationError as error:
        faults = [{**error, "loc": ("query", *error["loc"])} for error in error.errors()]
        raise RequestValidationError(faults) from error


async def prepared(
    options: SearchOptions, fields: Mapping[str, Mapping[str, Any]] | None, own: ServedIndex | None,
    uploaded: Spool | Sequence[Any] | None, shared: State,
) -> tuple[Search, dict[str, Any]]:  # fmt: skip
    """The task and the settings of a job; rejects invalid combinations."""
    against = {name: shared.catalog[name] for name in options.against}
    request = JobRequest(
        options.threshold, options.recall, options.keep, options.method,
        None if fields is None else schema_of(fields),
        getattr(options, "on_error", "stop"), options.measure,
        getattr(options, "on_duplicate_id", "number"),
    )  # fmt: skip
    settings = None if own is None else own.settings
    known: dict[str, Index] = {}
    for name, item in against.items():
        known[name] = await item.read(lambda index: index)
    search = Search(request, own, uploaded, against, shared.limits)
    return search, await asyncio.to_thread(check, request, settings, known)


def schema_of(fields: Mapping[str, Mapping[str, Any]]) -> Schema:
    """The schema in a request."""
    try:
        return Schema.from_dict(fields)
    except (KeyError, TypeError) as error:
        raise Refusal(
            422, f"fields is invalid ({error}): give each field a type and its settings", field="fields"
        ) from error


@router.get("", response_model=ShownJobs)
async def show_all(shared: Shared, asker: Asking) -> Answer:
    """List the jobs of the key, or all jobs for a key with the scope write, newest first."""
    return Answer({"jobs": [job.to_dict() for job in shared.jobs if asker.sees(job)]})


@router.get("/{job}", response_model=ShownJob)
async def show(job: JobId, shared: Shared) -> Answer:
    """Return a job and its progress."""
    return Answer(shared.jobs[job].to_dict())


@router.post("/{job}/cancel", response_model=ShownJob, openapi_extra=READS)
async def cancel(job: JobId, shared: Shared) -> Answer:
    """Cancel a job and return it when it has ended, or after a second. A finished job is not changed."""
    shared.jobs.cancel(job)
    return Answer((await asyncio.to_thread(shared.jobs.wait, job, CANCEL_SECONDS)).to_dict())


@router.delete("/{job}", status_code=204, openapi_extra=READS)
async def delete(job: JobId, shared: Shared) -> Response:
    """Cancel a job and delete it with its result."""
    shared.jobs.delete(job)
    return Response(status_code=204)
