"""Error pages: a browser gets the message of an error response as HTML."""

from __future__ import annotations

import json
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benzer.service.pages.rendering import page
from benzer.service.state import State

FOR_PROGRAMS = ("/v1/", "/static/", "/openapi.json", "/metrics", "/health", "/ready")
KEPT = ("retry-after", "www-authenticate", "allow", "set-cookie")
HEADINGS = {
    401: "Key required",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    429: "Too many requests",
    503: "Busy",
}


class FailurePages:
    """Converts error responses to pages for browsers that request a page."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app
        self.has_pages = state.options.pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if not (self.has_pages and scope["type"] == "http" and for_a_person(scope)):
            await self.app(scope, receive, send)
            return
        head: dict[str, Any] = {}
        body = b""

        async def turned(message: Message) -> None:
            nonlocal body
            if message["type"] == "http.response.start" and is_failure(message):
                head.update(message)
            elif not head or message["type"] != "http.response.body":
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    await failure_page(scope, head, body)(scope, receive, send)

        await self.app(scope, receive, turned)


def for_a_person(scope: Scope) -> bool:
    """Whether a request is from a browser for a page, not from a program for data."""
    accepted = Headers(scope=scope).get("accept", "")
    return (
        scope["method"] in ("GET", "HEAD")
        and "text/html" in accepted
        and not scope["path"].startswith(FOR_PROGRAMS)
    )


def is_failure(message: Message) -> bool:
    """Whether a message starts a JSON error response."""
    kind = Headers(raw=message["headers"]).get("content-type", "")
    return bool(message["status"] >= 400 and kind.startswith("application/json"))


def failure_page(scope: Scope, head: dict[str, Any], body: bytes) -> ASGIApp:
    """The page for an error."""
    status, error = head["status"], json.loads(body)["error"]
    heading = HEADINGS.get(status, "Request failed" if status < 500 else "Internal error")
    answer = page(Request(scope), "failure.html", status=status, heading=heading, error=error)
    for name, value in Headers(raw=head["headers"]).items():
        if name in KEPT:
            answer.headers.append(name, value)
    return answer
