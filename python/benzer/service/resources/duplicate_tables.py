"""What has a job found? Tables page by page or as a file, clusters one by one, and what a person decides of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from benzer.report import report_html
from benzer.service.access import READS, Shared
from benzer.service.errors import Answer, Refusal
from benzer.service.evidence import ShownEvidence
from benzer.service.jobs import clusters, decisions, files
from benzer.service.jobs.files import MEDIA_TYPES
from benzer.service.jobs.results import Result, View
from benzer.service.jobs.tables import Table, rows_of
from benzer.service.resources.duplicates import JobId
from benzer.service.state import State
from benzer.service.wire import Body, Id

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


class Rows(BaseModel):
    """Some rows of a table."""

    rows: list[dict[str, Any]] = Field(examples=[[{"left_id": "a", "right_id": 7, "similarity": 0.9}]])
    offset: int
    limit: int
    total: int = Field(description="The rows of the whole table.")
    next: str | None = Field(description="Where the next rows are; null at the end.")


class Contents(BaseModel):
    """A document with its texts, each up to a length."""

    id: Id
    contents: dict[str, str | None] = Field(
        description="Texts by field; of other fields a job keeps no contents."
    )
    contents_cut: bool = Field(description="Whether a text is longer than what is shown.")


class Member(Contents):
    """A document of a cluster, and its exact similarity to the one that stays."""

    kept: bool
    similarity: float


class ClusterRow(BaseModel):
    """A cluster: a document that stays, and those that go for it."""

    cluster: int = Field(description="Its number: its place in the order of the input, at this threshold.")
    kept_id: Id
    size: int
    distinct: int = Field(description="Its different contents.")
    least: float = Field(
        description="The least similarity found between two of its documents: how doubtful it is."
    )
    mean: float = Field(description="The mean similarity to the one that stays.")
    least_left_id: Id
    least_right_id: Id
    compared: Literal["all", "some"] = Field(
        description="Whether `least` is that of all pairs, or of a part of them."
    )
    bridge_count: int = Field(description="The other clusters that a pair ties it to.")
    component_size: int = Field(
        description="The documents that pairs tie together, in this and other clusters."
    )
    component_clusters: int


class Bridge(BaseModel):
    """A pair that ties a document of the cluster to one of another cluster."""

    left_id: Id
    right_id: Id
    similarity: float
    representative: Id
    representatives: float


class Cluster(ClusterRow):
    """One cluster with some of its members, who stays first."""

    bridges: list[Bridge]
    members: list[Member]
    offset: int
    limit: int
    total: int


class SharedField(BaseModel):
    """How alike two documents are in one field, and what they share there."""

    similarity: float | None
    evidence: ShownEvidence | None


class TwoDocuments(BaseModel):
    """Two documents side by side."""

    left: Contents
    right: Contents
    similarity: float
    fields: dict[str, SharedField]


class OneDecision(Body):
    """What is decided about a cluster: it is kept as it was found, or split: all of it stays, or the named members."""

    cluster: int = Field(description="Its number.", examples=[0])
    decision: Literal["keep", "split"] = Field(examples=["split"])
    members: list[Id] | None = Field(
        None, description="Of a split: who stays; by default all.", examples=[["b"]]
    )


class Decisions(Body):
    """Decisions, one a cluster; the others are kept as they were found."""

    decisions: list[OneDecision]


class DecidedRows(BaseModel):
    """The documents that stay, or go, after some decisions, and how many do."""

    rows: list[dict[str, Any]]
    total: int
    kept: int
    removed: int


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
    job: JobId, shared: Shared, left: Annotated[str, Query(description="The id of a document.")],
    right: Annotated[str, Query(description="That of another one.")], at: At = None, length: Length = LENGTH,
) -> Answer:  # fmt: skip
    """Two documents of the job side by side: how alike they are, and what they share. Any two may be asked for."""
    return Answer(
        await viewed(shared, job, at, lambda view: clusters.compared(view.found, left, right, length))
    )


@router.get("/clusters/{number}", response_model=Cluster)
async def cluster(
    job: JobId, shared: Shared, number: Annotated[int, Path(description="The number of the cluster.", examples=[0])],
    at: At = None, offset: Offset = 0, limit: Annotated[int, Query(ge=1, le=1000)] = PAGE_ROWS, length: Length = LENGTH,
) -> Answer:  # fmt: skip
    """One cluster: who stays, the others with their similarity to it and their texts, and what ties it to others."""
    return Answer(
        await viewed(shared, job, at, lambda view: clusters.opened(view.found, number, offset, limit, length))
    )


@router.post("/decisions", response_model=DecidedRows, openapi_extra=READS)
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
    "/{table}", response_model=Rows,
    responses={200: {"content": {media: {} for media in MEDIA_TYPES.values()}}, 501: {}},
)  # fmt: skip
async def table(
    request: Request, job: JobId, table: TableName, shared: Shared, at: At = None, order: Order = "largest",
    format: Annotated[Format, Query(description="json is paged; the others are files.")] = "json", offset: Offset = 0,
    limit: Annotated[
        int | None, Query(ge=0, le=2**53, description="How many rows; by default 100 as JSON, else all.")
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
        files.chunks(file),
        media_type=MEDIA_TYPES[format],
        headers={
            "Content-Length": str(files.size_of(file)),
            "Content-Disposition": f'attachment; filename="{name}.{format}"',
        },
    )
