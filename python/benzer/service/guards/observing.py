"""Gives each request an id, a log line and an entry in the metrics, and responds to unexpected exceptions."""

from __future__ import annotations

import re
import secrets
import traceback
from time import perf_counter

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benzer.service.errors import bug
from benzer.service.state import State
from benzer.service.telemetry.trace import Trace, trace_of

SANE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+=@-]{0,127}")
"""Request ids accepted from clients: they cannot break a log line or a header."""


class Observed:
    """The outer guard, so that refusals of the other guards are logged too. Contents are never logged."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app, self.state = app, state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        seen = Seen(receive, send, trace_of(scope))
        seen.trace.id = id_of(Headers(scope=scope))
        try:
            await self.app(scope, seen.receive, seen.send)
        except Exception:
            self.state.log.write("error", "bug", id=seen.trace.id, traceback=traceback.format_exc())
            if seen.status == 0:
                await bug()(scope, seen.receive, seen.send)
            elif not seen.whole:  # an incomplete response: the server closes the connection
                raise
        finally:
            self.note(scope, seen)

    def note(self, scope: Scope, seen: Seen) -> None:
        """Write the log line and update the metrics."""
        seconds, trace = perf_counter() - seen.start, seen.trace
        route, status = route_of(scope), seen.status or 499  # the client closed the connection
        self.state.metrics.request(route, scope["method"], status, seconds, trace.error)
        self.state.log.write(
            "error" if status == 500 else "warning" if status == 503 else "info", "request",
            id=trace.id, method=scope["method"], route=route, status=status, seconds=round(seconds, 6),
            key=trace.key, received=seen.received, sent=seen.sent, error=trace.error,
        )  # fmt: skip


class Seen:
    """`receive` and `send` of a request, with counts of the bytes."""

    __slots__ = ("given", "receive_next", "received", "sent", "start", "status", "trace", "whole")

    def __init__(self, receive: Receive, send: Send, trace: Trace) -> None:
        self.receive_next, self.given, self.trace = receive, send, trace
        self.start, self.status, self.received, self.sent = perf_counter(), 0, 0, 0
        self.whole = False

    async def receive(self) -> Message:
        """Receive and count the bytes."""
        message = await self.receive_next()
        self.received += len(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        """Send and count the bytes; the response header gets the request id."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message["headers"], (b"x-request-id", self.trace.id.encode())]
        else:
            self.sent += len(message.get("body", b""))
            self.whole = not message.get("more_body")
        await self.given(message)


def id_of(headers: Headers) -> str:
    """The request id sent by a client or a proxy; a new one if it is missing or invalid.

    >>> id_of(Headers({"x-request-id": "a1-7"})), len(id_of(Headers({"x-request-id": "a b"})))
    ('a1-7', 16)
    """
    given = headers.get("x-request-id", "")
    return given if SANE.fullmatch(given) else secrets.token_hex(8)


def route_of(scope: Scope) -> str:
    """The route template of a request, such as /v1/indexes/{index}; never the path itself."""
    path = getattr(scope.get("route"), "path", None)
    if isinstance(path, str):
        return path
    return "/static" if scope["path"].startswith("/static/") else "none"
