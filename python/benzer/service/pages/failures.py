"""What is a person shown where a program is answered an error? The same words, as a page."""

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
    401: "Who are you?",
    403: "Not allowed",
    404: "Nothing here",
    405: "Not this way",
    429: "Too fast",
    503: "Busy",
}


class FailurePages:
    """Turns errors into pages for whoever asks for HTML: a browser, at an address that is a page's."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app
        self.shown = state.options.pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of the ASGI protocol."""
        if not (self.shown and scope["type"] == "http" and for_a_person(scope)):
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
    """Whether a browser asks for a page, and no program for data."""
    accepted = Headers(scope=scope).get("accept", "")
    return (
        scope["method"] in ("GET", "HEAD")
        and "text/html" in accepted
        and not scope["path"].startswith(FOR_PROGRAMS)
    )


def is_failure(message: Message) -> bool:
    """Whether an answer begins that holds an error in JSON."""
    kind = Headers(raw=message["headers"]).get("content-type", "")
    return bool(message["status"] >= 400 and kind.startswith("application/json"))


def failure_page(scope: Scope, head: dict[str, Any], body: bytes) -> ASGIApp:
    """The page that says what the error says."""
    status, error = head["status"], json.loads(body)["error"]
    heading = HEADINGS.get(status, "This did not work" if status < 500 else "Something broke")
    answer = page(Request(scope), "failure.html", status=status, heading=heading, error=error)
    for name, value in Headers(raw=head["headers"]).items():
        if name in KEPT:
            answer.headers.append(name, value)
    return answer
