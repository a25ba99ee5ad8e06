"""Which resources does the service have? Each is a module with a `router`; here they become one application."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.routing import Match
from starlette.types import ASGIApp

from benzer._native import __version__
from benzer.service.catalog import Catalog
from benzer.service.errors import HANDLERS, Answer, ErrorAnswer, failure
from benzer.service.guards.load import Load
from benzer.service.guards.origins import Origins
from benzer.service.guards.requests import Guard
from benzer.service.pages import routes as pages
from benzer.service.resources import (
    candidates,
    compare,
    documents,
    health,
    indexes,
    nearest,
    quotations,
    seen,
    similar,
    thumbnails,
    tune,
)
from benzer.service.settings import Options
from benzer.service.state import State

RESOURCES = [
    indexes,
    documents,
    thumbnails,
    similar,
    nearest,
    candidates,
    quotations,
    seen,
    compare,
    tune,
    health,
]
GUARDS: list[Callable[..., ASGIApp]] = [
    Origins,  # before a key is looked at: another site's page may bring a cookie
    Load,  # after keys: who may not ask takes no place
    Guard,
]
"""Each stands before the application as `guard(app, state)`; the first sees a request first."""


def create_app(catalog: Catalog, options: Options | None = None) -> FastAPI:
    """The application of some indexes, which stay the caller's to close."""
    state = State(catalog, options or Options())
    app = FastAPI(
        title="Benzer",
        version=__version__,
        docs_url=None,  # their scripts come from other hosts
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=Answer,
        responses={"4XX": {"model": ErrorAnswer}, "5XX": {"model": ErrorAnswer}},
    )
    app.state.shared = state
    for guard in reversed(GUARDS):
        app.add_middleware(guard, state=state)
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    app.add_exception_handler(405, of_method)
    for resource in [*RESOURCES, *([pages] if state.options.pages else [])]:
        app.include_router(resource.router)
    return app


async def of_method(request: Request, error: Exception) -> Answer:
    """Answer for a method that a path does not have; the framework names those of one route only."""
    routes = [route for resource in RESOURCES for route in resource.router.routes]
    fitting = [
        route
        for route in routes
        if isinstance(route, APIRoute) and route.matches(request.scope)[0] is not Match.NONE
    ]
    methods = ", ".join(sorted({method for route in fitting for method in route.methods or ()})) or "GET"
    return failure(
        405, f"{request.url.path} takes {methods}, got {request.method}", headers={"Allow": methods}
    )
