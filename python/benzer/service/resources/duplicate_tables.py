"""What has a job found? Tables page by page or as a file, clusters one by one, and what a person decides of them."""

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

DECIDED: tuple[Literal["ndjson", "csv"], ...] = ("ndjson", "csv")
"""The formats of decided documents beside JSON."""


class TablePath(Convertor[str]):
    """The last part of a path, except the names of what can only be posted: a GET of those is a 405."""

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
    Path(description="Which table.", examples=["pairs"]),
]
At = Annotated[
    float | None,
    Query(
        alias="threshold",
        description="A threshold above that of the job: the result is seen as it is there, without another run.",
        examples=[0.9],
    ),
]
Order = Annotated[
    Literal["largest", "doubtful", "source"],
    Query(
        description="The order of clusters: the largest first, the least alike inside first, or as they come."
    ),
]
Offset = Annotated[int, Query(ge=0, le=2**53, description="How many rows are passed over.")]
Length = Annotated[
    int,
    Query(
        ge=1,
        le=MOST_LENGTH,
        description="So many characters of each text; contents_cut says that one is longer.",
    ),
]


async def viewed(shared: State, job: str, at: float | None, work: Callable[[View], Answered]) -> Answered:
    """What some work makes of a job's result, off the event loop."""
    result = shared.jobs.result(job)
    return await asyncio.to_thread(contained, result, at, work)


def contained(result: Result, at: float | None, work: Callable[[View], Answered]) -> Answered:
    """Run the work; a panic of the native core becomes an exception that a server can answer."""
    try:
        return work(result.at(at))
    except Exception:
        raise
    except BaseException as panic:
        raise RuntimeError(f"the native core failed: {panic}") from panic


@router.get("/summary", response_model=dict[str, Any])
async def summary(job: JobId, shared: Shared, at: At = None) -> Answer:
    """Counts, settings, sources and seconds by stage, as `Duplicates.summary` gives them; and the alarms."""

    def work(view: View) -> dict[str, Any]:
        return {**view.found.summary(), "alarms": [alarm.to_dict() for alarm in view.found.alarms()]}

    return Answer(await viewed(shared, job, at, work))


@router.get("/report", response_class=HTMLResponse)
async def report(job: JobId, shared: Shared, at: At = None) -> Response:
    """The report of a run, as one HTML page that stands alone."""
    recall = shared.jobs.result(job).recall if at is None else None
    page = await viewed(shared, job, at, lambda view: report_html(view.found, recall))
    return HTMLResponse(page.encode("utf-8", "replace"), headers={"Content-Security-Policy": REPORT_POLICY})


@router.get("/evidence", response_model=TwoDocuments)
async def evidence(
    job: JobId, shared: Shared, left: Annotated[str, Query(description="The id of a document.", examples=["fox"])],
    right: Annotated[str, Query(description="That of another one.", examples=["fox/again"])],
    at: At = None, length: Length = LENGTH,
    index: Annotated[
        str | None,
        Query(description="Where the other one is kept (kept_in), unless it is one of the job's.", examples=["demo"]),
    ] = None,
) -> Answer:  # fmt: skip
    """Two documents of the job side by side: how alike they are, and what they share. Any two may be asked for.

    Of an index that the job was held against, those may be asked for that the left one is alike; they are shown as
    the index holds them now.
    """
    old = None if index is None else await shared.catalog[index].read(partial(sides.held, right))

    def work(view: View) -> dict[str, Any]:
        if index is None:
            return sides.compared(view.found, left, right, length)
        return sides.compared_with_old(view.found, left, index, old, right, length)

    return Answer(await viewed(shared, job, at, work))


@router.get("/clusters/{number}", response_model=Cluster)
async def cluster(
    job: JobId, shared: Shared, number: Annotated[int, Path(description="The number of the cluster.", examples=[0])],
    at: At = None, offset: Offset = 0, limit: Annotated[int, Query(ge=1, le=1000)] = PAGE_ROWS, length: Length = LENGTH,
) -> Answer:  # fmt: skip
    """One cluster: who stays, the others with their similarity to it and their texts, and what ties it to others."""
    return Answer(
        await viewed(shared, job, at, lambda view: clusters.opened(view.found, number, offset, limit, length))
    )


@router.post(
    "/decisions", response_model=DecidedRows, openapi_extra=READS,
    responses={200: {"content": {MEDIA_TYPES[kind]: {} for kind in DECIDED}}},
)  # fmt: skip
async def decide(
    job: JobId, asked: Decisions, shared: Shared, at: At = None,
    table: Annotated[Literal["kept", "removed"], Query(description="Which documents.")] = "kept",
    format: Annotated[Literal["json", "ndjson", "csv"], Query(description="The format of the answer.")] = "json",
) -> Response:  # fmt: skip
    """The documents that stay, or go, after some decisions about clusters; nothing of the job changes.

    Each document that goes still names one that stays, and is exactly as similar to it as the job found.
    """
    given = [decisions.Decision(one.cluster, one.decision, one.members) for one in asked.decisions]

    def work(view: View) -> Response:
        decided = decisions.decided(view.found, given)
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
    request: Request, job: JobId, table: TableName, shared: Shared, at: At = None, order: Order = "largest",
    format: Annotated[Format, Query(description="json is paged; the others are files.")] = "json", offset: Offset = 0,
    limit: Annotated[
        int | None, Query(ge=0, le=2**53, description="How many; by default 100 as JSON, else all.", examples=[100])
    ] = None,
) -> Response:  # fmt: skip
    """Some rows of a table, as JSON page by page, or as a file: JSON lines, CSV or Parquet.

    In CSV, a text that a spreadsheet could take for a formula stands behind an apostrophe.
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
                422, f"a page has {MOST_ROWS:,} rows at most, got {most:,}: ask for a file with format=ndjson",
                field="query.limit",
            )  # fmt: skip
        end = min(first + most, whole.total)
        rows = rows_of(whole.part(first, end))
        more = request.url.path + "?" + urlencode({**request.query_params, "offset": end, "limit": most})
        return Answer(
            {"rows": rows, "offset": offset, "limit": most, "total": whole.total,
             "next": more if most > 0 and end < whole.total else None}
        )  # fmt: skip

    return await viewed(shared, job, at, work)


def download(table: Table, start: int, end: int, format: files.FileFormat, name: str) -> Response:
    """Some rows of a table as a file; it is written before the answer begins, and read as the client takes it."""
    file = files.written(table, start, end, format)
    return StreamingResponse(
        files.Chunks(file),
        media_type=MEDIA_TYPES[format],
        headers={
            "Content-Length": str(files.size_of(file)),
            "Content-Disposition": f'attachment; filename="{name}.{format}"',
        },
    )
