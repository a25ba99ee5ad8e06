"""The start page: searches an index for documents similar to a text or an image."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from benzer.service.access import Shared
from benzer.service.pages.rendering import page

router = APIRouter()


@router.get("/")
async def search_page(request: Request, shared: Shared) -> HTMLResponse:
    """The page; its script runs the query of the address (`?index=&q=&id=`)."""
    return page(request, "search.html", twin="/v1/indexes", names=list(shared.catalog))
