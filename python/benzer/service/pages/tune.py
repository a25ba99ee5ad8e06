"""The Tune page: shows what each setting finds and what it costs."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from benzer.service.access import Shared
from benzer.service.pages.rendering import page

router = APIRouter()


@router.get("/tune")
async def show(request: Request, shared: Shared) -> HTMLResponse:
    """The page; its script reads the settings in the address (`?index=&threshold=&recall=&unit=&size=`)."""
    return page(request, "tune.html", twin="/v1/tune", names=list(shared.catalog))
