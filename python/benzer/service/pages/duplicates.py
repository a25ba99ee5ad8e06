"""Which documents are near-duplicates? A page of all jobs, and one for each: its clusters, opened and decided on."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from benzer.service.access import JobId, Shared
from benzer.service.pages.rendering import page, part

router = APIRouter()


@router.get("/duplicates")
async def show_all(request: Request, shared: Shared) -> HTMLResponse:
    """The page of all jobs; what its address asks for (`?index=&threshold=&recall=`) is filled in by its script."""
    return page(request, "duplicates.html", twin="/v1/duplicates", names=list(shared.catalog))


@router.get("/duplicates/{job}")
async def show(request: Request, job: JobId) -> HTMLResponse:
    """The page of one job, while it is known; its script follows it until it is over."""
    return page(request, "job.html", twin=f"/v1/duplicates/{part(job)}", job=job)
