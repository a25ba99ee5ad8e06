"""What may a browser do with an answer? Only what its own pages need: headers say so, on every answer."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benzer.service.errors import failure
from benzer.service.guards.access import STATIC
from benzer.service.state import State

PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
NO_PAGE = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    # Not "no-referrer": a browser would then send "Origin: null" with the forms of our own pages.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}
BUG = "this is a bug in Benzer, not in the request; the server's log has the traceback"


class SecurityHeaders:
    """Adds them to all answers, also to those of guards and of errors that nobody foresaw.

    A route that sets a policy of its own (`Content-Security-Policy`), or how long its answer may be kept
    (`Cache-Control`), keeps it; but for its static files, nothing is kept anywhere unless a route says so.
    """

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of the ASGI protocol."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                add(MutableHeaders(scope=message), kept(scope["path"], message["status"]))
            await send(message)

        try:
            await self.app(scope, receive, guarded)
        except Exception:
            if not begun:  # the framework would answer outside all guards
                await failure(500, BUG)(scope, receive, guarded)
            raise


def kept(path: str, status: int) -> str:
    """How long an answer may be kept: of static files the server says at once when they have not changed."""
    return "no-cache" if path.startswith(STATIC) and status < 400 else "no-store"


def add(headers: MutableHeaders, keeping: str) -> None:
    headers.update(ALWAYS)
    page = headers.get("content-type", "").startswith("text/html")
    headers.setdefault("Content-Security-Policy", PAGE if page else NO_PAGE)
    headers.setdefault("Cache-Control", keeping)
