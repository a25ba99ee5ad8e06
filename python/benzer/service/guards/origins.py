"""Whose pages may ask? Those that the service gave itself, and those of the origins that its keeper named.

A page of any site can make a browser send requests to this machine, and a browser adds the cookies it has. Two
headers give such a request away, which no page can forge: `Origin`, and `Sec-Fetch-Site`. A page whose own name was
made to resolve to this machine is given away by `Host`.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benzer.service.errors import failure
from benzer.service.guards.addresses import is_loopback
from benzer.service.guards.refusing import refuse
from benzer.service.state import State

ASKING = ("GET", "HEAD", "OPTIONS")
"""The methods that change nothing. What they answer a browser keeps from the pages of other origins by itself."""

PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, X-Request-ID",
    "Access-Control-Max-Age": "600",
}
EXPOSED = "Location, Retry-After, Content-Disposition, X-Request-ID"


class Origins:
    """Refuses what another site's page had a browser send; answers the browsers of named origins that they may ask.

    Cookies are never taken from another origin: a page of a named origin sends a key.
    """

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app
        self.max_body_bytes = state.limits.max_body_bytes
        self.loopback_only = state.options.loopback_only
        self.origins = frozenset(state.options.origins)
        self.hosts = {urlsplit(origin).hostname for origin in self.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of the ASGI protocol."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if self.origins:
            send = self.told(send, origin)
        hosts = len(headers.getlist("host"))
        if hosts > 1 or (hosts == 0 and scope["http_version"] == "1.1"):
            answer = failure(400, f"a request has one Host header, got {hosts}: send one")
            await refuse(answer, scope, receive, send, self.max_body_bytes)
        elif message := self.refusal(scope["method"], headers):
            await refuse(failure(403, message), scope, receive, send, self.max_body_bytes)
        elif origin in self.origins and is_preflight(scope["method"], headers):
            await Response(status_code=204, headers=PREFLIGHT)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def refusal(self, method: str, headers: Headers) -> str | None:
        """Why a request is refused; None where it is not."""
        host, origin = host_of(headers), headers.get("origin")
        if self.loopback_only and not is_loopback(host) and host not in self.hosts:
            return f"the host {headers.get('host', '')!r} is not this machine: ask 127.0.0.1 or localhost"
        if origin in self.origins or (method in ASKING and not is_preflight(method, headers)):
            return None
        if is_foreign(headers):
            named = repr(origin) if origin else "of another site"
            return f"pages of the origin {named} may not ask: start the service with --origin and its address"
        return None

    def told(self, send: Send, origin: str | None) -> Send:
        """`send`, which tells a browser whether the page may read the answer."""

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.add_vary_header("Origin")
                if origin in self.origins:
                    headers["Access-Control-Allow-Origin"] = origin or ""
                    headers["Access-Control-Expose-Headers"] = EXPOSED
            await send(message)

        return tell


def is_preflight(method: str, headers: Headers) -> bool:
    return method == "OPTIONS" and "access-control-request-method" in headers and "origin" in headers


def is_foreign(headers: Headers) -> bool:
    """Whether a browser sends this for a page of another origin. What is no browser sends neither header.

    >>> is_foreign(Headers({"host": "localhost:8000", "origin": "http://localhost:8000"}))
    False
    >>> is_foreign(Headers({"host": "localhost:8000", "origin": "http://localhost:9000"}))
    True
    >>> is_foreign(Headers({"host": "127.0.0.1", "origin": "https://a.example", "sec-fetch-site": "same-origin"}))
    False
    """
    if site := headers.get("sec-fetch-site"):  # it holds, too, where a proxy has put another Host
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host", "").lower()


def host_of(headers: Headers) -> str:
    """The name in the Host header, without port and brackets; empty where there is none.

    >>> host_of(Headers({"host": "[::1]:8000"}))
    '::1'
    """
    try:
        return urlsplit("//" + headers.get("host", "")).hostname or ""
    except ValueError:
        return ""
