"""Security headers on every response: a browser may do only what the pages need."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benzer.service.guards.access import STATIC
from benzer.service.state import State

PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
NO_PAGE = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    # An address may contain a search text. Not "no-referrer": browsers would then send "Origin: null"
    # with the service's own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}


def raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def policy(text: str) -> tuple[bytes, bytes]:
    return (b"content-security-policy", text.encode())


# Built once, because every response uses it.
RAW, RAW_PAGE, RAW_NO_PAGE = raw(ALWAYS), policy(PAGE), policy(NO_PAGE)
NO_STORE, NO_CACHE = (b"cache-control", b"no-store"), (b"cache-control", b"no-cache")


class SecurityHeaders:
    """Adds the headers to all responses, including those of the other guards.

    Headers that a route sets itself, such as `Content-Security-Policy` or `Cache-Control`, are kept. Without a
    `Cache-Control` of their route, only static files are cached.
    """

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = secured(message, scope["path"])
            await send(message)

        await self.app(scope, receive, guarded)


def secured(message: Message, path: str) -> list[tuple[bytes, bytes]]:
    """The headers of a response with the missing ones added.

    >>> dict(secured({"status": 200, "headers": [(b"cache-control", b"no-cache")]}, "/"))[b"cache-control"]
    b'no-cache'
    """
    headers = list(message.get("headers", ()))
    present = dict(headers)
    page = present.get(b"content-type", b"").startswith(b"text/html")
    # A static file is revalidated cheaply.
    keeping = NO_CACHE if path.startswith(STATIC) and message["status"] < 400 else NO_STORE
    wanted = (*RAW, RAW_PAGE if page else RAW_NO_PAGE, keeping)
    return headers + [item for item in wanted if item[0] not in present]
