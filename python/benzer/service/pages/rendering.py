"""How does a template become an answer? Everything is escaped; the guard `headers` says what it may load."""

from __future__ import annotations

import json
from functools import cache
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse

from benzer._native import __version__
from benzer.report.writing import UNFIT
from benzer.report.writing import environment as report_environment
from benzer.service.pages.assets import address

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
    """A page made of a template and what it fills in.

    twin: where the same is told in JSON; every page links it.
    """
    text = (
        environment()
        .get_template(template)
        .render(request=request, twin=twin, access=access_of(request), **context)
    )
    return HTMLResponse(UNFIT.sub("\ufffd", text), status, HEADERS)


def access_of(request: Request) -> dict[str, Any]:
    """Who asks, and what they may: `{"name": …, "scopes": […]}`; without keys, all."""
    everything = {"name": None, "scopes": ["read", "write"]}
    return request.scope.get("benzer.access", everything)  # type: ignore[no-any-return]


@cache
def environment() -> Any:
    """Where the templates lie, and what they may call."""
    made = report_environment("benzer.service.pages")
    made.filters.update(part=part, capitalized=capitalized, shown=shown)
    made.globals.update(static=address, navigation=NAVIGATION, version=__version__)
    return made


def part(text: str) -> str:
    """A text as one part of a path.

    >>> part("a/b c")
    'a%2Fb%20c'
    """
    return quote(text, safe="")


def shown(value: Any) -> str:
    """A value as JSON that people can read."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def capitalized(sentence: str) -> str:
    """A message as a sentence; the rest of it stays as it is.

    >>> capitalized("no document has the id 'A'")
    "No document has the id 'A'."
    """
    return sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith((".", "!", "?", "…")) else ".")
