"""Results of a job: tables as pages or files, single clusters, evidence and decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from benzer.report import report_html
from benzer.service.access import READS, JobId, Shared
from benzer.service.errors import Answer, Refusal
from benzer.service.jobs import clusters, decisions, files, sides
from benzer.service.jobs.files import MEDIA_TYPES
from benzer.service.jobs.results import Result, View
from benzer.service.jobs.tables import Table, rows_of
from benzer.service.jobs.wire import Cluster, DecidedRows, Decisions, Rows, TwoDocuments
from benzer.service.state import State
from benzer.wording import count

DECIDED: tuple[Literal["ndjson", "csv"], ...] = ("ndjson", "csv")
"""The formats of decided documents other than JSON."""


class TablePath(Convertor[str]):
    """The last part of a path, except names that accept only POST: a GET of those returns 405."""

    regex = "(?!(?:cancel|decisions)$)[^/]+"

    def convert(self, value: str) -> str:
        """The text itself."""
        return value

    def to_string(self, value: str) -> str:
        """The text itself."""
        return value


register_url_convertor("table", TablePath())
router = APIRouter(prefix="/v1/duplicates/{job}", tags=["duplicates"])
Answered = TypeVar("Answered")

PAGE_ROWS, MOST_ROWS = 100, 10_000
LENGTH, MOST_LENGTH = 2_000, 200_000
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'"

Format = Literal["json", "ndjson", "csv", "parquet"]
TableName = Annotated[
    Literal["pairs", "clusters", "removed", "kept", "malformed"],
    Path(description="The table.", examples=["pairs"]),
]
AtThreshold = Annotated[
    float | None,
    Query(
        alias="threshold",
        description="A threshold above that of the job: shows the result at this threshold without another run.",
        examples=[0.9],
    ),
]
Order = Annotated[
    Literal["largest", "doubtful", "source"],
    Query(
        description="The order of clusters: largest first, lowest inner similarity first, or in input order."
    ),
]
Offset = Annotated[int, Query(ge=0, le=2**53, description="Number of rows to skip.")]
Length = Annotated[
    int,
    Query(
        ge=1,
        le=MOST_LENGTH,
        description="Maximum characters of each text; contents_cut marks longer ones.",
    ),
]


async def viewed(
    shared: State, job: str, threshold: float | None, work: Callable[[View], Answered]
) -> Answered:
    """Run some work on the result of a job, off the event loop."""
    result = shared.jobs.result(job)
    return await asyncio.to_thread(contained, result, threshold, work)


def contained(result: Result, threshold: float | None, work: Callable[[View], Answered]) -> Answered:
    """Run the work; a panic of the native core becomes an exception that the server can handle."""
    try:
        return work(result.view_at(threshold))
    except Exception:
        raise
    except BaseException as panic:
        raise RuntimeError(f"the native core failed: {panic}") from panic


@router.get("/summary", response_model=dict[str, Any])
async def summary(job: JobId, shared: Shared, at: AtThreshold = None) -> Answer:
    """Return counts, settings, sources and seconds by stage, as in `Duplicates.summary`, and the alarms."""

    def work(view: View) -> dict[str, Any]:
        return {**view.result.summary(), "alarms": [alarm.to_dict() for alarm in view.result.alarms()]}

    about = {"job": shared.jobs[job].to_dict(), "at": at}
    return Answer(await viewed(shared, job, at, work), about=about)


@router.get("/report", response_class=HTMLResponse)
async def report(job: JobId, shared: Shared, at: AtThreshold = None) -> Response:
    """Return the report of a run as one self-contained HTML page."""
    recall = shared.jobs.result(job).recall if at is None else None
    page = await viewed(shared, job, at, lambda view: report_html(view.result, recall))
    return HTMLResponse(page.encode("utf-8", "replace"), headers={"Content-Security-Policy": REPORT_POLICY})


@router.get("/evidence", response_model=TwoDocuments)
async def evidence(
    job: JobId, shared: Shared, left: Annotated[str, Query(description="The id of a document.", examples=["fox"])],
    right: Annotated[str, Query(description="The id of another document.", examples=["fox/again"])],
    at: AtThreshold = None, length: Length = LENGTH,
    index: Annotated[
        str | None,
        Query(description="The index of the other document (kept_in), unless it is in the job.", examples=["demo"]),
    ] = None,
) -> Answer:  # fmt: skip
    """Compare any two documents of the job: their similarity and the evidence.

    Documents of an index that the job was compared with are available if the left document matches them. They are
    returned as currently stored in the index.
    """
    old = None if index is None else await shared.catalog[index].read(partial(sides.stored_document, right))

    def work(view: View) -> dict[str, Any]:
        if index is None:
            return sides.compared(view.result, left, right, length)
        return sides.compared_with_old(view.result, left, index, old, right, length)

    about = {"job": shared.jobs[job].to_dict(), "index": index}
    return Answer(await viewed(shared, job, at, work), about=about)


@router.get("/clusters/{number}", response_model=Cluster)
async def cluster(
    job: JobId, shared: Shared, number: Annotated[int, Path(description="The number of the cluster.", examples=[0])],
    at: AtThreshold = None, offset: Offset = 0, limit: Annotated[int, Query(ge=1, le=1000)] = PAGE_ROWS,
    length: Length = LENGTH,
) -> Answer:  # fmt: skip
    """Return a cluster: the kept document, the others with texts and similarity to it, and links to other clusters."""
    return Answer(
        await viewed(
            shared, job, at, lambda view: clusters.opened(view.result, number, offset, limit, length)
        )
    )


@router.post(
    "/decisions", response_model=DecidedRows, openapi_extra=READS,
    responses={200: {"content": {MEDIA_TYPES[kind]: {} for kind in DECIDED}}},
)  # fmt: skip
async def decide(
    job: JobId, body: Decisions, shared: Shared, at: AtThreshold = None,
    table: Annotated[Literal["kept", "removed"], Query(description="The documents to return.")] = "kept",
    format: Annotated[Literal["json", "ndjson", "csv"], Query(description="The response format.")] = "json",
) -> Response:  # fmt: skip
    """Return the kept or removed documents after decisions about clusters. The job is not changed.

    Each removed document still names a kept one, with the exact similarity found by the job.
    """
    given = [
        decisions.Decision(decision.cluster, decision.decision, decision.members)
        for decision in body.decisions
    ]

    def work(view: View) -> Response:
        decided = decisions.decided(view.result, given)
        chosen = decided.table(table)
        if format != "json":
            return download(chosen, 0, chosen.total, format, f"{job}-{table}")
        stay = int(decided.stays.sum())
        rows = rows_of(chosen.part(0, chosen.total))
        return Answer({"rows": rows, "total": len(rows), "kept": stay, "removed": len(decided.stays) - stay})

    return await viewed(shared, job, at, work)


@router.get(
    "/{table:table}", response_model=Rows,
    responses={200: {"content": {media: {} for media in MEDIA_TYPES.values()}}, 501: {}},
)  # fmt: skip
async def table(
    request: Request, job: JobId, table: TableName, shared: Shared, at: AtThreshold = None, order: Order = "largest",
    format: Annotated[Format, Query(description="json is paged; others are files.")] = "json", offset: Offset = 0,
    limit: Annotated[
        int | None, Query(ge=0, le=2**53, description="Maximum rows; default 100 for JSON, else all.", examples=[100])
    ] = None,
) -> Response:  # fmt: skip
    """Return rows of a table as a page of JSON, or as a file: JSON lines, CSV or Parquet.

    In CSV, a text that a spreadsheet could read as a formula is prefixed with an apostrophe.
    """

    def work(view: View) -> Response:
        whole = view.table(table, order)
        first = min(offset, whole.total)
        if format != "json":
            end = whole.total if limit is None else min(first + limit, whole.total)
            return download(whole, first, end, format, f"{job}-{table}")
        most = PAGE_ROWS if limit is None else limit
        if most > MOST_ROWS:
            raise Refusal(
                422,
                f"a page has at most {count(MOST_ROWS)} rows, got {count(most)}: request a file with format=ndjson",
                field="query.limit",
            )
        end = min(first + most, whole.total)
        rows = rows_of(whole.part(first, end))
        more = request.url.path + "?" + urlencode({**request.query_params, "offset": end, "limit": most})
        return Answer(
            {"rows": rows, "offset": offset, "limit": most, "total": whole.total,
             "next": more if most > 0 and end < whole.total else None}
        )  # fmt: skip

    return await viewed(shared, job, at, work)


def download(table: Table, start: int, end: int, format: files.FileFormat, name: str) -> Response:
    """Rows of a table as a file; it is written before the response begins and streamed to the client."""
    file = files.written(table, start, end, format)
    return StreamingResponse(
        files.Chunks(file),
        media_type=MEDIA_TYPES[format],
        headers={
            "Content-Length": str(files.size_of(file)),
            "Content-Disposition": f'attachment; filename="{name}.{format}"',
        },
    )
