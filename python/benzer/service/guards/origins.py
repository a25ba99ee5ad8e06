"""Protection against requests of other sites: only the service's own pages and configured origins are accepted.

A page of any site can make a browser send requests to this machine, with the browser's cookies. Two headers that
pages cannot forge reveal such a request: `Origin` and `Sec-Fetch-Site`. A page whose own name was made to resolve to
this machine (DNS rebinding) is detected by `Host`.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from benzer.service.errors import failure
from benzer.service.guards.addresses import is_loopback
from benzer.service.guards.refusing import refuse
from benzer.service.state import State

ASKING = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing. Browsers hide their responses from pages of other origins."""


def cors(app: ASGIApp, state: State) -> ASGIApp:
    """Let pages of the configured origins read responses. Their cookies are never accepted: they must send a key."""
    if not state.options.origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=state.options.origins,
        allow_methods=["GET", "HEAD", "POST", "PUT", "DELETE"],
        allow_headers=["Authorization", "Content-Type", "X-Request-ID"],
        expose_headers=["Location", "Retry-After", "Content-Disposition", "X-Request-ID"],
    )


class Origins:
    """Rejects requests of pages of other sites, except the configured origins."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app
        self.max_body_bytes = state.limits.max_body_bytes
        self.loopback_only = state.options.loopback_only
        self.origins = frozenset(state.options.origins)
        self.hosts = {urlsplit(origin).hostname for origin in self.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        hosts = len(headers.getlist("host"))
        if hosts > 1 or (hosts == 0 and scope["http_version"] == "1.1"):
            answer = failure(400, f"a request must have one Host header, got {hosts}: send exactly one")
            await refuse(answer, scope, receive, send, self.max_body_bytes)
        elif message := self.refusal(scope["method"], headers):
            await refuse(failure(403, message), scope, receive, send, self.max_body_bytes)
        else:
            await self.app(scope, receive, send)

    def refusal(self, method: str, headers: Headers) -> str | None:
        """Why a request is rejected; None if it is accepted."""
        host, origin = host_of(headers), headers.get("origin")
        if self.loopback_only and not is_loopback(host) and host not in self.hosts:
            return f"the host {headers.get('host', '')!r} is not this machine: use 127.0.0.1 or localhost"
        if origin in self.origins or (method in ASKING and not is_preflight(method, headers)):
            return None
        if is_foreign(headers):
            named = repr(origin) if origin else "of another site"
            return f"pages of the origin {named} may not send requests: start the service with --origin and its address"
        return None


def is_preflight(method: str, headers: Headers) -> bool:
    return method == "OPTIONS" and "access-control-request-method" in headers and "origin" in headers


def is_foreign(headers: Headers) -> bool:
    """Whether a browser sends a request for a page of another origin. Other clients send neither header.

    >>> is_foreign(Headers({"host": "localhost:8000", "origin": "http://localhost:8000"}))
    False
    >>> is_foreign(Headers({"host": "localhost:8000", "origin": "http://localhost:9000"}))
    True
    >>> is_foreign(Headers({"host": "127.0.0.1", "origin": "https://a.example", "sec-fetch-site": "same-origin"}))
    False
    """
    if site := headers.get("sec-fetch-site"):  # also valid if a proxy changed Host
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host", "").lower()


def host_of(headers: Headers) -> str:
    """The name in the Host header without port and brackets; empty if it is missing.

    >>> host_of(Headers({"host": "[::1]:8000"}))
    '::1'
    """
    try:
        return urlsplit("//" + headers.get("host", "")).hostname or ""
    except ValueError:
        return ""
