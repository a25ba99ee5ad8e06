"""From which similarity on are two documents the same? A page that shows what each setting finds, and costs."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from benzer.service.access import Shared
from benzer.service.pages.rendering import page

router = APIRouter()


@router.get("/tune")
async def show(request: Request, shared: Shared) -> HTMLResponse:
    """The page; the settings of its address (`?index=&threshold=&recall=&unit=&size=`) are read by its script."""
    return page(request, "tune.html", twin="/v1/tune", names=list(shared.catalog))
