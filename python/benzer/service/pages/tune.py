"""The Tune page: shows what each setting finds and what it costs."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from benzer.service.access import Shared
from benzer.service.errors import only_html
from benzer.service.pages.rendering import origin_of, page
from benzer.views.tuning import general_schema, settings_html

router = APIRouter()
HIGHEST = 0.999
"""The highest recall that bands can have."""


@router.get("/tune")
async def tune_page(request: Request, shared: Shared) -> HTMLResponse:
    """The page; its script reads the settings in the address (`?index=&threshold=&recall=&unit=&size=`).

    For a request that accepts only HTML, the parts of the page that depend on these settings.
    """
    if only_html(request.scope):
        return HTMLResponse(await asyncio.to_thread(parts, request))
    return page(request, "tune.html", twin="/v1/tune", names=list(shared.catalog))


def parts(request: Request) -> str:
    """The parts of the page for the settings in the address; invalid values are replaced by defaults."""
    query = request.query_params
    threshold, recall = within(query.get("threshold"), 0.8), within(query.get("recall"), 0.95)
    schema = None
    if not query.get("index"):
        size = query.get("size", "")
        schema = general_schema(query.get("unit", "word"), int(size) if size.isdecimal() else 3)
    return settings_html(threshold, min(recall, HIGHEST), schema, origin_of(request))


def within(text: str | None, usual: float) -> float:
    """A number in (0, 1]; `usual` for other texts.

    >>> within("0.7", 0.8), within("x", 0.8), within("nan", 0.8)
    (0.7, 0.8, 0.8)
    """
    try:
        value = float(text or "")
    except ValueError:
        return usual
    return value if 0 < value <= 1 else usual
