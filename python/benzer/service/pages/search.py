"""Which documents are most like this one? The first page: a text or a picture is asked for, matches are opened."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from benzer.service.access import Shared
from benzer.service.pages.rendering import page

router = APIRouter()


@router.get("/")
async def show(request: Request, shared: Shared) -> HTMLResponse:
    """The page; what its address asks for (`?index=&q=&id=`) is asked by its script."""
    return page(request, "search.html", twin="/v1/indexes", names=list(shared.catalog))
