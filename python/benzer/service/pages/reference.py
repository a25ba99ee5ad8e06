"""The API reference at `/docs`, rendered here without external scripts."""

from __future__ import annotations

import re
from dataclasses import asdict
from itertools import groupby
from typing import Any

from fastapi import APIRouter
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from benzer.service.access import Shared
from benzer.service.errors import TYPES
from benzer.service.pages.described import Operation, operations
from benzer.service.pages.rendering import origin_of, page

router = APIRouter()

ABOUT = {
    "indexes": "Create, list, describe and delete indexes.",
    "documents": "Add, look up and remove documents. A response means that the change is durable.",
    "questions": "Search and compare documents. These routes change nothing.",
    "upkeep": "Record when documents were last seen, and evict stale ones.",
    "duplicates": "Find all near-duplicates of an index or of an upload in a background job.",
    "tune": "Choose the threshold and the bands for a collection.",
    "health": "Health checks and metrics for operators.",
}
STATUSES = {
    400: "The body or the path cannot be parsed.",
    401: "A key is required, or the key is unknown.",
    403: "The key lacks the required scope, or the request comes from pages of another origin.",
    404: "The index, document or job does not exist.",
    405: "The path does not support this method; the Allow header lists those that it supports.",
    409: "The request conflicts with the current state, e.g. the name is taken.",
    413: "The body is too large.",
    415: "The path does not accept this content type.",
    422: "A value is invalid; `field` names it.",
    429: "Too many requests; the Retry-After header says when to retry.",
    503: "The service is busy; the Retry-After header says when to retry.",
}


@router.get("/docs")
async def reference_page(request: Request, shared: Shared) -> HTMLResponse:
    """The routes, grouped by tag."""
    described = sorted(operations(request.app.openapi()), key=place)
    groups = [(tag, list(of_tag)) for tag, of_tag in groupby(described, key=lambda item: item.tag)]
    return page(
        request, "reference.html", groups=groups, about=ABOUT, statuses=STATUSES, types=TYPES,
        origin=origin_of(request), prose=prose, limits=asdict(shared.limits),
        keys=shared.keys is not None,
    )  # fmt: skip


def place(operation: Operation) -> tuple[int, str]:
    """The sort key of a route: the order of `ABOUT`, then other tags."""
    tags = list(ABOUT)
    return (tags.index(operation.tag) if operation.tag in tags else len(tags), operation.tag)


def prose(text: str) -> Any:
    """Escaped paragraphs in which backticks mark code.

    >>> prose("Takes `<id>`.")
    Markup('<p>Takes <code>&lt;id&gt;</code>.</p>')
    """
    paragraphs = [
        Markup("<p>{}</p>").format(marked(item)) for item in re.split(r"\n\s*\n", text.strip()) if item
    ]
    return Markup("").join(paragraphs)


def marked(text: str) -> Markup:
    """An escaped text in which backticks mark code."""
    parts = re.split(r"`+([^`]+)`+", " ".join(text.split()))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if position % 2 else escape(part)
        for position, part in enumerate(parts)
    )
