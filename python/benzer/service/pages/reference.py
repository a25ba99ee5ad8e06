"""How do programs ask the service? `/docs`: the page of its description, made here, without scripts from elsewhere."""

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
from benzer.service.pages.rendering import page

router = APIRouter()

ABOUT = {
    "indexes": "Indexes are made, listed, described and deleted.",
    "documents": "Documents are added, looked up and removed. Each answer means that the change is durable.",
    "questions": "What is like this, what contains it, where do two agree? Nothing is changed.",
    "upkeep": "When was a document last seen, and which can go?",
    "duplicates": "All near-duplicates of an index or of an upload, as a job that runs by itself.",
    "tune": "Which threshold and which bands suit these documents?",
    "health": "For those who watch over the service.",
}
STATUSES = {
    400: "The body or the path cannot be read.",
    401: "A key is needed, or this one is not known.",
    403: "The key may not do this, or the service is not asked by its own pages.",
    404: "There is no such index, document or job.",
    405: "The path does not take this method; the header Allow says which it takes.",
    409: "It cannot be done as things stand: a name is taken, for one.",
    413: "The body is too large.",
    415: "The body is of a type that this path does not take.",
    422: "A value is wrong; `field` says which.",
    429: "Too many requests; the header Retry-After says when to come again.",
    503: "Busy; the header Retry-After says when to come again.",
}


@router.get("/docs")
async def show(request: Request, shared: Shared) -> HTMLResponse:
    """The description, by what the routes are about."""
    found = sorted(operations(request.app.openapi()), key=place)
    groups = [(tag, list(of_tag)) for tag, of_tag in groupby(found, key=lambda one: one.tag)]
    return page(
        request, "reference.html", groups=groups, about=ABOUT, statuses=STATUSES, types=TYPES,
        origin=str(request.base_url).rstrip("/"), prose=prose, limits=asdict(shared.limits),
        keys=shared.keys is not None,
    )  # fmt: skip


def place(operation: Operation) -> tuple[int, str]:
    """Where a route stands: in the order of `ABOUT`, then those of other tags."""
    tags = list(ABOUT)
    return (tags.index(operation.tag) if operation.tag in tags else len(tags), operation.tag)


def prose(text: str) -> Any:
    """Paragraphs with code in them, escaped.

    >>> prose("Takes `<id>`.")
    Markup('<p>Takes <code>&lt;id&gt;</code>.</p>')
    """
    paragraphs = [
        Markup("<p>{}</p>").format(marked(one)) for one in re.split(r"\n\s*\n", text.strip()) if one
    ]
    return Markup("").join(paragraphs)


def marked(text: str) -> Markup:
    """A text in which what stands in backticks is code."""
    parts = re.split(r"`+([^`]+)`+", " ".join(text.split()))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in enumerate(parts)
    )
