"""Which resources does the service have? Each is a module with a `router`; here they become one application."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Scope

from benzer._native import __version__
from benzer.service.description import Service, description
from benzer.service.errors import HANDLERS, Answer, ErrorAnswer, failure
from benzer.service.guards.access import Access
from benzer.service.guards.bodies import Bodies
from benzer.service.guards.headers import SecurityHeaders
from benzer.service.guards.load import Load
from benzer.service.guards.observing import Observed
from benzer.service.guards.origins import Origins
from benzer.service.guards.requests import Guard
from benzer.service.indexes.catalog import Catalog
from benzer.service.keys import Keyring
from benzer.service.media import JSON, media_type
from benzer.service.pages import routes as pages
from benzer.service.pages.failures import FailurePages
from benzer.service.resources import (
    candidates,
    compare,
    documents,
    duplicate_tables,
    duplicates,
    files,
    health,
    ids,
    indexes,
    metrics,
    nearest,
    quotations,
    seen,
    session,
    similar,
    thumbnails,
    tune,
)
from benzer.service.settings import Options
from benzer.service.state import State
from benzer.service.telemetry.logs import Log

RESOURCES = [
    similar,  # first: routes are tried in this order, and this one is asked most
    indexes,
    documents,
    ids,
    thumbnails,
    nearest,
    candidates,
    quotations,
    seen,
    compare,
    tune,
    duplicates,
    duplicate_tables,
    files,
    session,
    health,
    metrics,
]
GUARDS: list[Callable[..., ASGIApp]] = [
    SecurityHeaders,  # on all answers, also those of the guards below
    Observed,  # what the others refuse is logged and counted, too
    FailurePages,  # of all refusals below
    Origins,  # before a key is looked at: another site's page may bring a cookie
    Access,
    Guard,
    Bodies,  # within the limits of the guard before
    Load,  # last: a request takes a place when there is nothing left to wait for
]
"""Each stands before the application as `guard(app, state)`; the first sees a request first."""


def create_app(catalog: Catalog, options: Options | None = None, log: Log | None = None) -> FastAPI:
    """The application of some indexes, which stay the caller's to close, as does `log`."""
    options = options or Options()
    keys = None if options.keys is None else Keyring(options.keys)
    state = State(catalog, options, keys, log=log or Log("off"))
    catalog.watch(state.metrics)
    app = Service(
        title="Benzer",
        version=__version__,
        openapi_url=None,  # made anew for each request
        docs_url=None,  # their scripts come from other hosts
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=Answer,
        responses={"4XX": {"model": ErrorAnswer}, "5XX": {"model": ErrorAnswer}},
    )
    app.state.shared = state
    app.add_route("/openapi.json", description, include_in_schema=False)
    resources = [*RESOURCES, *([pages] if options.pages else [])]
    app.state.routes = [route for resource in resources for route in flat(resource.router.routes)]
    for guard in reversed(GUARDS):
        app.add_middleware(guard, state=state)
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    app.add_exception_handler(405, of_method)
    for resource in resources:
        app.include_router(resource.router)
    app.router.routes.insert(0, Short(f"{similar.router.prefix}", similar.find_by_json, methods=["POST"]))
    return app


class Short(Route):
    """The way of the questions that are asked most: JSON without a query, past the framework's own routes.

    Of a request's time in the event loop two thirds went into those, and into what they inject. The route that is
    described stays: it takes forms, and says what is wrong with a query.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether this is such a question."""
        plain = scope["type"] == "http" and scope["method"] == "POST" and not scope["query_string"]
        if not plain or media_type(Headers(scope=scope)) != JSON:
            return Match.NONE, {}
        match, found = super().matches(scope)
        return match, {**found, "route": self}


def flat(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """The routes of a router, and of those that it includes, in the order in which they are asked."""
    for route in routes:
        included = getattr(route, "original_router", None)
        yield from [route] if included is None else flat(included.routes)


async def of_method(request: Request, error: Exception) -> Answer:
    """Answer for a method that a path does not have; the framework names those of one route only."""
    fitting = [
        route
        for route in request.app.state.routes
        if isinstance(route, APIRoute) and route.matches(request.scope)[0] is not Match.NONE
    ]
    methods = ", ".join(sorted({method for route in fitting for method in route.methods or ()})) or "GET"
    return failure(
        405, f"{request.url.path} takes {methods}, got {request.method}", headers={"Allow": methods}
    )
