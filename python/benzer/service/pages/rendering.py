"""Renders templates to responses. Everything is escaped; the guard `headers` limits what a page may load."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from benzer._native import __version__
from benzer.service.pages.assets import address
from benzer.views.html import clean
from benzer.views.html import environment as view_environment

HEADERS = {"Cache-Control": "private, no-cache"}

NAVIGATION = [
    ("/", "Search"),
    ("/duplicates", "Duplicates"),
    ("/tune", "Tune"),
    ("/indexes", "Indexes"),
    ("/docs", "API"),
]


def page(
    request: Request, template: str, *, status: int = 200, twin: str = "/openapi.json", **context: Any
) -> HTMLResponse:
    """Render a template to a response.

    Args:
        twin: The path of the same content as JSON, which every page links.
    """
    text = (
        environment()
        .get_template(template)
        .render(request=request, twin=twin, access=access_of(request), **context)
    )
    return HTMLResponse(clean(text), status, HEADERS)


def access_of(request: Request) -> dict[str, Any]:
    """The name and scopes of the user, `{"name": …, "scopes": […]}`; all scopes if no keys are required."""
    everything = {"name": None, "scopes": ["read", "write"]}
    return request.scope.get("benzer.access", everything)  # type: ignore[no-any-return]


def origin_of(request: Request) -> str:
    """The address of the service."""
    return str(request.base_url).rstrip("/")


@cache
def environment() -> Any:
    """The template environment with its filters and globals."""
    made = view_environment("benzer.service.pages")
    made.filters.update(capitalized=capitalized, shown=indented_json)
    made.globals.update(static=address, navigation=NAVIGATION, version=__version__)
    return made


def indented_json(value: Any) -> str:
    """A value as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def capitalized(sentence: str) -> str:
    """A message as a sentence, with a capital first letter and a full stop.

    >>> capitalized("no document has the id 'A'")
    "No document has the id 'A'."
    """
    return sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith((".", "!", "?", "…")) else ".")
