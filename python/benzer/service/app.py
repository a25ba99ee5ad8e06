"""Which resources does the service have? Each is a module with a `router`; here they become one application."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.routing import Match

from benzer._native import __version__
from benzer.service import documents, health, information, similar
from benzer.service.errors import HANDLERS, Answer, ErrorAnswer, failure
from benzer.service.guard import Guard
from benzer.service.served import ServedIndex
from benzer.service.serving import MAX_BODY_BYTES

RESOURCES = [documents, similar, information, health]


def create_app(
    served: ServedIndex, *, max_body_bytes: int = MAX_BODY_BYTES, loopback_only: bool = True
) -> FastAPI:
    """The application of one index, which stays the caller's to close.

    `loopback_only`: refuse requests whose Host header names another machine than this one.
    """
    app = FastAPI(
        title="Benzer",
        version=__version__,
        docs_url=None,  # their scripts come from other hosts
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=Answer,
        responses={"4XX": {"model": ErrorAnswer}, "5XX": {"model": ErrorAnswer}},
    )
    app.state.served = served
    app.add_middleware(Guard, max_body_bytes=max_body_bytes, loopback_only=loopback_only)
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    app.add_exception_handler(405, of_method)
    for resource in RESOURCES:
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
