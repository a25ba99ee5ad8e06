"""The application: combines the routers of all resources, the guards and the error handlers."""

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
from benzer.service.errors import HANDLERS, Answer, Draw, ErrorAnswer, failure
from benzer.service.guards.access import Access
from benzer.service.guards.bodies import Bodies
from benzer.service.guards.headers import SecurityHeaders
from benzer.service.guards.load import Load
from benzer.service.guards.observing import Observed
from benzer.service.guards.origins import Origins, cors
from benzer.service.guards.requests import Guard
from benzer.service.indexes.catalog import Catalog
from benzer.service.keys import Keyring
from benzer.service.media import JSON, media_type
from benzer.service.pages import fragments
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
from benzer.service.settings import ServiceOptions
from benzer.service.state import State
from benzer.service.telemetry.logs import Log

RESOURCES = [
    similar,  # first: routes are tried in this order, and this one is used most
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
FRAGMENTS: dict[Callable[..., object], Draw] = {
    similar.find: fragments.matches,
    similar.find_by_json: fragments.matches,
    nearest.find: fragments.nearest,
    compare.compare: fragments.compared,
    indexes.show_all: fragments.index_list,
    indexes.show: fragments.index,
    documents.show_all: fragments.documents,
    documents.get: fragments.document,
    documents.add: fragments.uploaded,
    ids.look_up: fragments.documents,
    tune.tune_index: fragments.tuned,
    duplicates.show_all: fragments.jobs,
    duplicates.show: fragments.job,
    duplicate_tables.summary: fragments.summary,
    duplicate_tables.table: fragments.clusters,
    duplicate_tables.cluster: fragments.cluster,
    duplicate_tables.evidence: fragments.pair,
}
"""The routes whose answer has an HTML fragment, for the pages."""
GUARDS: list[Callable[..., ASGIApp]] = [
    SecurityHeaders,  # on all responses, including those of the guards below
    Observed,  # logs and counts the refusals of the others
    FailurePages,  # for all refusals below
    Origins,  # before keys are checked: a page of another site may send a cookie
    cors,  # before keys are checked: a browser sends no key with a preflight request
    Access,
    Guard,
    Bodies,  # within the limits of the previous guard
    Load,  # last: a request takes a slot only when it need not wait for anything else
]
"""Middleware of the form `guard(app, state)`; the first in the list sees a request first."""


def create_app(catalog: Catalog, options: ServiceOptions | None = None, log: Log | None = None) -> FastAPI:
    """Create the application for a catalog of indexes. The caller closes the catalog and `log`."""
    options = options or ServiceOptions()
    keys = None if options.keys is None else Keyring(options.keys)
    state = State(catalog, options, keys, log=log or Log("off"))
    catalog.watch(state.metrics)
    app = Service(
        title="Benzer",
        version=__version__,
        openapi_url=None,  # served by `description`
        docs_url=None,  # it loads scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=Answer,
        responses={"4XX": {"model": ErrorAnswer}, "5XX": {"model": ErrorAnswer}},
    )
    app.state.shared = state
    app.state.fragments = FRAGMENTS if options.pages else {}
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
    """A shortcut for the most frequent request: JSON without a query, past the framework's own routes.

    Those routes and their dependencies took two thirds of a request's time in the event loop. The documented route
    remains: it accepts forms and reports invalid queries.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a request can take the shortcut."""
        plain = scope["type"] == "http" and scope["method"] == "POST" and not scope["query_string"]
        if not plain or media_type(Headers(scope=scope)) != JSON:
            return Match.NONE, {}
        match, child_scope = super().matches(scope)
        return match, {**child_scope, "route": self}


def flat(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """The routes of a router and of the routers that it includes, in matching order."""
    for route in routes:
        included = getattr(route, "original_router", None)
        yield from [route] if included is None else flat(included.routes)


async def of_method(request: Request, error: Exception) -> Answer:
    """Respond to an unsupported method with all methods of the path; the framework names those of one route only."""
    fitting = [
        route
        for route in request.app.state.routes
        if isinstance(route, APIRoute) and route.matches(request.scope)[0] is not Match.NONE
    ]
    methods = ", ".join(sorted({method for route in fitting for method in route.methods or ()})) or "GET"
    return failure(
        405, f"{request.url.path} supports {methods}, got {request.method}", headers={"Allow": methods}
    )
