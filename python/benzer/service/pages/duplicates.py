"""The pages of duplicate jobs: a list of all jobs, and one page per job."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from benzer.service.access import JobId, Shared
from benzer.service.pages.rendering import page
from benzer.views.html import part

router = APIRouter()


@router.get("/duplicates")
async def show_all(request: Request, shared: Shared) -> HTMLResponse:
    """The page of all jobs; its script fills in the query of the address (`?index=&threshold=&recall=`)."""
    return page(request, "duplicates.html", twin="/v1/duplicates", names=list(shared.catalog))


@router.get("/duplicates/{job}")
async def job_page(request: Request, job: JobId) -> HTMLResponse:
    """The page of one job; its script polls the job until it ends."""
    return page(request, "job.html", twin=f"/v1/duplicates/{part(job)}", job=job)
