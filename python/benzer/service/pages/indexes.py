"""The pages of indexes: `/indexes`, and one page per index."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from benzer.presets import PRESETS
from benzer.service.access import IndexName, Served, Shared
from benzer.service.pages.rendering import page
from benzer.views.settings import flat, in_words

router = APIRouter()


@router.get("/indexes")
async def show_all(request: Request, shared: Shared) -> HTMLResponse:
    """All indexes, and a form that creates one."""
    presets = PRESETS.values()
    return page(request, "indexes.html", twin="/v1/indexes", grows=shared.catalog.grows, presets=presets)


@router.get("/indexes/{index}")
async def index_page(request: Request, index: IndexName, served: Served) -> HTMLResponse:
    """One index: its figures, its settings as sentences, its documents."""
    settings = await served.read(lambda index: index.settings)
    return page(
        request,
        "index.html",
        twin=f"/v1/indexes/{index}",
        name=index,
        sentences=in_words(settings),
        rows=list(flat(settings.to_dict())),
    )
